// How OpenManus calls a tool: json.loads() of the arguments, then tool(**arguments). What Python refuses is
// told in Python's words, with the names of OpenManus' classes.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "parley/tool/builtin.h"
#include "tool/python_repr.h"

namespace parley {
namespace {

// ---- Arguments as json.loads() takes them

// A tool of Parley gets JSON, which has no such numbers: it gets what Python's str() makes of them.
constexpr auto kNumbers = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"NaN", "\"nan\""}, {"Infinity", "\"inf\""}, {"-Infinity", "\"-inf\""}});

// The unit that a \uXXXX escape at `i` spells; -1 if invalid.
int unit_at(std::string_view text, std::size_t i) {
  if (text.substr(i, 2) != "\\u" || text.size() < i + 6) return -1;
  int unit = 0;
  for (const char c : text.substr(i + 2, 4)) {
    const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
    if (digit == std::string_view::npos) return -1;
    unit = unit * 16 + static_cast<int>(digit < 16 ? digit : digit - 6);
  }
  return unit;
}
bool is_high(int unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(int unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Appends what stands at `i` within a string, and returns the position after it. A surrogate without its
// other half, which Python keeps, has no place in UTF-8: it becomes U+FFFD.
std::size_t append_character(std::string& out, std::string_view text, std::size_t i) {
  const int unit = unit_at(text, i);
  const bool is_pair = is_high(unit) && is_low(unit_at(text, i + 6));
  if (!is_pair && (is_high(unit) || is_low(unit))) {
    out += "\\ufffd";
    return i + 6;
  }
  const std::size_t length = is_pair ? 12 : text[i] == '\\' ? 2 : 1;
  out += text.substr(i, length);
  return std::min(i + length, text.size());
}

// The same value as JSON, if it is one that Python reads.
std::string strict(std::string_view text) {
  std::string out;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size();) {
    if (is_string && text[i] != '"') {
      i = append_character(out, text, i);
      continue;
    }
    const auto number = std::ranges::find_if(
        kNumbers, [&](const auto& each) { return !is_string && text.substr(i).starts_with(each.first); });
    if (number != kNumbers.end()) {
      out += number->second;
      i += number->first.size();
      continue;
    }
    is_string = is_string != (text[i] == '"');
    out += text[i++];
  }
  return out;
}

// ---- What Python says

struct PythonClass {
  std::string_view tool, name;
  bool is_keyword_only;  // execute(self, *, ...)
};
// Those whose class is not the tool's name with capitals, or whose arguments are not positional.
constexpr auto kClasses = std::to_array<PythonClass>(
    {{"planning", "PlanningTool", true}, {"str_replace_editor", "StrReplaceEditor", true}});

std::string class_of(std::string_view tool) {
  const auto known = std::ranges::find(kClasses, tool, &PythonClass::tool);
  if (known != kClasses.end()) return std::string(known->name);
  std::string out;
  bool is_first = true;
  for (const char c : tool) {
    if (c != '_') out += is_first && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    is_first = c == '_';
  }
  return out;
}

std::string_view type_of(const Json& value) {
  switch (value.type()) {
    case Json::Type::Null:
      return "NoneType";
    case Json::Type::Bool:
      return "bool";
    case Json::Type::Number:
      return value.text().view().find_first_of(".eE") == std::string_view::npos ? "int" : "float";
    case Json::Type::String:
      return "str";
    case Json::Type::Array:
      return "list";
    case Json::Type::Object:
      break;
  }
  return "dict";
}

// tool(**arguments), where a tool is shown as pydantic shows it.
std::string not_a_mapping(const Tool& tool, const Json& arguments) {
  return "name=" + python_repr(tool.name.view()) + " description=" + python_repr(tool.description.view()) +
         " parameters=" + python_repr(tool.parameters) + " argument after ** must be a mapping, not " +
         std::string(type_of(arguments));
}

// "'a'", "'a' and 'b'", "'a', 'b', and 'c'".
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_last = i + 1 == names.size();
    if (i != 0) out += names.size() > 2 ? (is_last ? ", and " : ", ") : " and ";
    out += "'" + names[i] + "'";
  }
  return out;
}

std::string missing(const Tool& tool, const std::vector<std::string>& names) {
  const auto known = std::ranges::find(kClasses, tool.name.view(), &PythonClass::tool);
  const bool is_keyword_only = known != kClasses.end() && known->is_keyword_only;
  return class_of(tool.name) + ".execute() missing " + std::to_string(names.size()) + " required " +
         (is_keyword_only ? "keyword-only" : "positional") + " argument" + (names.size() == 1 ? "" : "s") +
         ": " + listed(names);
}

// What Python says of arguments that execute() does not take; empty if it takes them.
std::string mismatch(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) return not_a_mapping(tool, arguments);
  const auto closed = tool.parameters.get("additionalProperties");
  const auto properties = tool.parameters.get("properties");
  if (closed && closed->as_bool() == false && properties) {
    for (const Json::Member& member : arguments.members()) {
      if (properties->get(member.key)) continue;
      return class_of(tool.name) + ".execute() got an unexpected keyword argument '" + member.key.str() + "'";
    }
  }
  std::vector<std::string> names;
  const auto required = tool.parameters.get("required");
  for (const Json& name : required ? required->elements() : std::vector<Json>()) {
    const auto text = name.as_string();
    if (text && !arguments.get(*text)) names.push_back(text->str());
  }
  return names.empty() ? std::string() : missing(tool, names);
}

}  // namespace

ToolOutput openmanus_run(const ToolBox& tools, const ToolUseBlock& use, const ToolContext& context) {
  const RunnableTool* tool = tools.find(use.name);
  if (tool == nullptr) return tools.run(use, context);
  ToolUseBlock own = use;
  if (!use.arguments.empty()) own.arguments = Text(strict(use.arguments));
  const Result<Json> arguments =
      use.arguments.empty() ? Json::trusted(Text("{}")) : Json::parse(own.arguments);
  if (!arguments || use.arguments.view().starts_with("\xEF\xBB\xBF")) {  // Python takes no byte order mark
    return ToolOutput::of(ToolStatus::NotJson, Text("the arguments are not JSON"));
  }
  const std::string wrong = mismatch(tool->spec(), *arguments);
  if (!wrong.empty()) return ToolOutput::of(ToolStatus::Broken, Text(wrong));
  return tools.run(own, context);
}

}  // namespace parley
