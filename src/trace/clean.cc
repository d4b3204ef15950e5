#include "trace/clean.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/shorten.h"
#include "json/strings.h"
#include "parley/base/secret.h"

namespace parley::trace {

std::string clean_text(std::string_view text, std::size_t most_bytes) {
  std::string clean = redacted(text);
  most_bytes = std::max(most_bytes, kLeastTextBytes);
  return clean.size() > most_bytes ? shortened_text(clean, most_bytes) : clean;
}

// Redacting the JSON itself would miss what is escaped, and could take the quotes between two strings.
std::string clean_json(std::string_view json, std::size_t most_bytes) {
  return json::with_strings(
      json, [&](const Text& text, bool) { return std::optional<std::string>(clean_text(text, most_bytes)); });
}

}  // namespace parley::trace
