#include "cli/tokens.h"

#include <fmt/format.h>

#include <iterator>

#include "cli/output.h"
#include "cli/say.h"
#include "parley/json/buffer.h"

namespace parley::cli {
namespace {

// What an Encoding takes.
constexpr std::size_t kMaxBytes = 0xFFFF'FFFF - json::kPadding;

std::string line_of(const std::vector<std::uint32_t>& ids) {
  std::string line;
  for (const std::uint32_t id : ids) {
    if (!line.empty()) line += ' ';
    fmt::format_to(std::back_inserter(line), "{}", id);
  }
  return line + "\n";
}

}  // namespace

Exit tokens(const TokensOptions& options, const Encoding& encoding) {
  const Result<json::Buffer> text = json::Buffer::from_file(options.file.c_str(), kMaxBytes);
  if (!text) return complain(text.error(), {options.file});
  Result<Output> output = Output::open(options.output);
  if (!output) return complain(output.error(), {options.output});
  Result<void> outcome = output->write(options.ids ? line_of(encoding.encode(text->view()))
                                                   : fmt::format("{}\n", encoding.count(text->view())));
  if (outcome) outcome = output->commit();
  return outcome ? Exit::Ok : output->end(outcome.error());
}

}  // namespace parley::cli
