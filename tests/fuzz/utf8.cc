// UTF-8 against a decoder that knows characters as numbers (json/judge_testing.h): validation, repair,
// boundaries, and the text type that stands on them.
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "json/judge_testing.h"
#include "parley/base/text.h"
#include "require.h"

namespace {

namespace judge = parley::json::judge;

std::size_t valid_prefix(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t length = judge::character(bytes, at);
    if (length == 0) break;
    at += length;
  }
  return at;
}

// Every proper start of a character of more than one byte.
const std::unordered_set<std::string>& starts() {
  static const std::unordered_set<std::string> all = [] {
    std::unordered_set<std::string> found;
    for (unsigned long code = 128; code < 0x110000; code += 64) {
      if (!judge::is_scalar_value(code)) continue;
      const std::string bytes = judge::encoded(code);
      for (std::size_t i = 1; i < bytes.size(); ++i) found.insert(bytes.substr(0, i));
    }
    return found;
  }();
  return all;
}

// One U+FFFD for the longest start of a character, or for one byte.
std::string repaired(std::string_view bytes, std::size_t& replaced) {
  std::string out;
  replaced = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t length = judge::character(bytes, at);
    if (length != 0) {
      out += bytes.substr(at, length);
    } else {
      out += "\xEF\xBF\xBD";
      ++replaced;
      length = 1;
      while (at + length < bytes.size() && starts().contains(std::string(bytes.substr(at, length + 1))))
        ++length;
    }
    at += length;
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t prefix = valid_prefix(bytes);
  require(parley::valid_utf8_prefix(bytes) == prefix, "the valid prefix");
  require(parley::is_utf8_constexpr(bytes) == (prefix == size), "the compile-time check");

  std::size_t expected = 0;
  std::size_t replaced = 0;
  const std::string right = repaired(bytes, expected);
  const std::string repair = parley::repair_utf8(bytes, &replaced);
  require(repair == right && replaced == expected, "the repair");
  require(parley::is_utf8(repair) && parley::repair_utf8(repair) == repair, "the repair of the repair");

  const auto copied = parley::Text::checked(bytes);
  require(copied.has_value() == (prefix == size), "Text::copy");
  const parley::Text text = parley::Text(bytes);
  require(text.view() == right, "Text::repaired");

  std::size_t characters = 0;
  std::size_t floor = 0;
  std::string again;
  for (std::size_t at = 0; at < right.size(); ++at) {
    if (at == floor + judge::character(right, floor)) floor = at;
    if (at == floor) ++characters;
    require(parley::utf8_floor(right, at) == floor, "the boundary below");
  }
  require(parley::utf8_floor(right, right.size()) == right.size(), "the end is a boundary");
  require(parley::utf8_length(right) == characters, "the number of characters");
  if (!right.empty()) {
    // TEXT3: a slice never splits a code point.
    const std::size_t from = data[0] % right.size();
    const std::size_t length = data[size - 1] % right.size();
    const parley::Text slice = text.slice(from, length);
    require(judge::is_utf8(slice), "a slice");
    require(slice.size() <= length + 3 && text.slice(from).size() <= right.size() - from + 3,
            "the size of a slice");
  }
  return 0;
}
