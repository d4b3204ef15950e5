// The input as a document: every reader of JSON must agree with the judge and with simdjson's DOM (see
// verdicts_testing.h). The input as the rest of a string, and as a text to be escaped: all kernels must
// agree.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "json/verdicts_testing.h"
#include "require.h"

namespace {

using namespace parley::json;

// Memory of exactly the size a kernel may touch, so that the sanitizer sees a byte too much.
std::string escaped_by(const Kernel& kernel, std::string_view text) {
  const auto in = std::make_unique<char[]>(text.size());
  const auto out = std::make_unique<char[]>(6 * text.size() + 64);
  text.copy(in.get(), text.size());
  return {out.get(), kernel.escape(in.get(), text.size(), out.get())};
}

std::string unescaped_by(const Kernel& kernel, std::string_view spelled) {
  const auto in = std::make_unique<char[]>(spelled.size());
  const auto out = std::make_unique<char[]>(spelled.size() + 64);
  spelled.copy(in.get(), spelled.size());
  return {out.get(), kernel.unescape(in.get(), spelled.size(), out.get())};
}

void check_string(std::string_view text) {
  const auto in = std::make_unique<char[]>(text.size() + kPadding);  // zeros
  text.copy(in.get(), text.size());
  const judge::String right = judge::read_string(text, 0);
  const bool valid = right.fault == StringFault::None;
  const std::string escaped = judge::escaped(text);
  for (const Kernel* kernel : kernels()) {
    if (!kernel->supported()) continue;
    const char* const end = kernel->scan(in.get());
    require(end == (valid ? in.get() + right.at : nullptr), kernel->name);
    if (valid) require(unescaped_by(*kernel, text.substr(0, right.at)) == right.text, kernel->name);
    require(escaped_by(*kernel, text) == escaped, kernel->name);
    require(unescaped_by(*kernel, escaped) == text, kernel->name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check_string(bytes);
  const std::string why = disagreement(bytes);
  require(why.empty(), why);
  return 0;
}
