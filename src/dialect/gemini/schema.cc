#include "dialect/gemini/schema.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "json/walk.h"

namespace parley::dialect {
namespace {

// What an object or a list holds.
enum class Holds : std::uint8_t { Keywords, Schemas, Other };

struct Keyword {
  std::string_view spelled;  // with its quotes
  Holds holds;
};
constexpr Keyword kKeywords[] = {
    {R"("properties")", Holds::Schemas},
    {R"("items")", Holds::Keywords},
    {R"("prefixItems")", Holds::Schemas},
    {R"("anyOf")", Holds::Schemas},
    {R"("$defs")", Holds::Schemas},
    {R"("defs")", Holds::Schemas},
    {R"("additionalProperties")", Holds::Keywords},
};

struct Type {
  std::string_view gemini, plain;
};
constexpr Type kTypes[] = {
    {R"("STRING")", R"("string")"},   {R"("NUMBER")", R"("number")"}, {R"("INTEGER")", R"("integer")"},
    {R"("BOOLEAN")", R"("boolean")"}, {R"("ARRAY")", R"("array")"},   {R"("OBJECT")", R"("object")"},
    {R"("NULL")", R"("null")"},
};

// What the value of `key` holds, in an object that holds `outer`.
Holds inside(Holds outer, std::string_view key) {
  if (outer == Holds::Schemas) return Holds::Keywords;
  if (outer == Holds::Other) return Holds::Other;
  const auto* row = std::ranges::find(kKeywords, key, &Keyword::spelled);
  return row == std::end(kKeywords) ? Holds::Other : row->holds;
}

std::string_view plain(std::string_view type) {
  const auto* row = std::ranges::find(kTypes, type, &Type::gemini);
  return row == std::end(kTypes) ? type : row->plain;
}

struct Level {
  Holds holds;
  bool is_list;
  bool wants_key;
};

}  // namespace

Json with_plain_types(const Json& schema) {
  const std::string_view text = schema.text().view();
  std::string out;
  out.reserve(text.size());
  std::vector<Level> levels;
  std::string_view key;
  for (std::size_t at = json::skip_space(text, 0); at < text.size();) {
    const std::size_t end = json::token_end(text, at);
    const std::string_view token = text.substr(at, end - at);
    const char first = token.front();
    if (first == '{' || first == '[') {
      const Holds holds = levels.empty() ? Holds::Keywords : inside(levels.back().holds, key);
      // A list of schemas and a map of them are the same to what is inside.
      levels.push_back({holds, first == '[', first == '{'});
      key = {};
      out += token;
    } else if (first == '}' || first == ']') {
      levels.pop_back();
      key = {};
      out += token;
    } else if (first == ',') {
      if (!levels.empty()) levels.back().wants_key = !levels.back().is_list;
      out += token;
    } else if (first == '"' && !levels.empty() && levels.back().wants_key) {
      levels.back().wants_key = false;
      key = token;
      out += token;
    } else {
      const bool is_type = !levels.empty() && levels.back().holds == Holds::Keywords && key == R"("type")";
      out += is_type ? plain(token) : token;
    }
    at = json::skip_space(text, end);
  }
  return Json::trusted(*Text::checked(out));
}

}  // namespace parley::dialect
