#include "dialect/gemini/names.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

// Objects, and lists of objects, whose members are looked at, and how deep they stand in one another.
constexpr std::string_view kLookedInto[] = {
    "tools",
    "functionDeclarations",
    "toolConfig",
    "functionCallingConfig",
    "generationConfig",
    "candidates",
    "usageMetadata",
    "promptFeedback",
    "parts",
    "functionCall",
    "functionResponse",
    "inlineData",
    "fileData",
};
constexpr std::size_t kDeepest = 6;

// "max_output_tokens" is "maxOutputTokens".
std::string usual(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool joins = name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z';
    out += joins ? static_cast<char>(name[++i] - 'a' + 'A') : name[i];
  }
  return out;
}

void put_members(json::Writer& w, const Json& object, std::size_t depth);

void put_inside(json::Writer& w, const Json& value, std::size_t depth) {
  if (value.is_object()) return put_members(w, value, depth);
  if (!value.is_array()) {
    w.value(value);
    return;
  }
  w.begin_array();
  for (const Json& element : value.elements()) {
    element.is_object() ? put_members(w, element, depth) : static_cast<void>(w.value(element));
  }
  w.end_array();
}

void put_members(json::Writer& w, const Json& object, std::size_t depth) {
  w.begin_object();
  for (const Json::Member& member : object.members()) {
    const std::string name = usual(member.key);
    const bool is_one = depth == 0 && name == "tools" && member.value.is_object();
    w.key(name);
    if (is_one) w.begin_array();
    const bool is_looked_into =
        depth < kDeepest && std::ranges::find(kLookedInto, name) != std::end(kLookedInto);
    is_looked_into ? put_inside(w, member.value, depth + 1) : static_cast<void>(w.value(member.value));
    if (is_one) w.end_array();
  }
  w.end_object();
}

}  // namespace

Json with_usual_names(const Json& document) {
  const auto tools = document.get("tools");
  const bool may_differ = document.text().view().find('_') != std::string_view::npos;
  if (!document.is_object() || (!may_differ && !(tools && tools->is_object()))) return document;
  json::Writer w;
  put_members(w, document, 0);
  return w.take();
}

}  // namespace parley::dialect
