#include "json/walk.h"

#include <cstring>

#include "json/kernel.h"
#include "parley/json/json.h"

namespace parley::json {
namespace {

// The end of the string whose opening quote is at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (std::size_t from = at + 1;;) {
    const std::size_t quote = text.find('"', from);
    std::size_t backslashes = 0;
    while (text[quote - 1 - backslashes] == '\\') ++backslashes;  // stops at the opening quote at the latest
    from = quote + 1;
    if (backslashes % 2 == 0) return from;
  }
}

}  // namespace

std::size_t token_end(std::string_view text, std::size_t at) {
  switch (text[at]) {
    case '"':
      return string_end(text, at);
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
      return at + 1;
    default:
      break;
  }
  while (at < text.size() && !is_space(text[at]) && text[at] != ',' && text[at] != '}' && text[at] != ']')
    ++at;
  return at;
}

std::size_t value_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  do {
    const char c = text[at];
    depth += static_cast<std::size_t>(c == '{' || c == '[');
    depth -= static_cast<std::size_t>(c == '}' || c == ']');
    at = token_end(text, at);
    if (depth != 0) at = skip_space(text, at);
  } while (depth != 0);
  return at;
}

Text unescaped(const Text& spelled) {
  if (spelled.view().find('\\') == std::string_view::npos) return spelled;
  std::shared_ptr<char[]> plain = std::make_shared_for_overwrite<char[]>(spelled.size() + kPadding);
  const char* end = kernel().unescape(spelled.data(), spelled.size(), plain.get());
  const std::string_view text(plain.get(), static_cast<std::size_t>(end - plain.get()));
  return Text::trusted(std::move(plain), text);
}

}  // namespace parley::json
