#include "trace/clean.h"

#include <algorithm>

#include "base/shorten.h"
#include "parley/base/redact.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::trace {

std::string clean_text(std::string_view text, std::size_t most_bytes) {
  std::string clean = redacted(text);
  most_bytes = std::max(most_bytes, kLeastTextBytes);
  return clean.size() > most_bytes ? shortened_text(clean, most_bytes) : clean;
}

// Redacting the JSON itself would miss what is escaped, and could take the quotes between two strings.
std::string clean_json(std::string_view json, std::size_t most_bytes) {
  std::string out;
  out.reserve(json.size());
  while (true) {
    const std::size_t begin = std::min(json.find('"'), json.size());
    out += json.substr(0, begin);
    json.remove_prefix(begin);
    if (json.empty()) return out;
    std::size_t end = 1;
    while (json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    const Text spelled = Text::trusted(nullptr, json.substr(0, end + 1));
    json::append_string(out, clean_text(*Json::trusted(spelled).as_string(), most_bytes));
    json.remove_prefix(end + 1);
  }
}

}  // namespace parley::trace
