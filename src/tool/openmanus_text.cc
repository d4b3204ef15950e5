// What OpenManus says of the outcome of a call: execute_tool() of its app/agent/toolcall.py.
#include <algorithm>
#include <array>
#include <optional>

#include "parley/tool/builtin.h"
#include "schema/decimal.h"
#include "tool/python_repr.h"

namespace parley {
namespace {

// What Python takes for false.
bool is_falsy(const Json& json) {
  if (json.type() == Json::Type::Number) return Decimal::of(json.text()).is_zero();
  constexpr auto kFalsy = std::to_array<std::string_view>({"null", "\"\"", "false", "{}", "[]"});
  return std::ranges::find(kFalsy, json.compact().text().view()) != kFalsy.end();
}

// The value a tool gave back as str() has it; nothing if Python takes it for false.
std::optional<std::string> text_of(const ToolOutput& output) {
  std::string text = output.joined_text();
  if (!text.empty()) return text;
  if (!output.structured || is_falsy(*output.structured)) return std::nullopt;
  if (const auto string = output.structured->as_string()) return string->str();
  return python_repr(*output.structured);
}

std::string problem(const std::string& name, const std::string& what) {
  return "Error: \u26A0\uFE0F Tool '" + name + "' encountered a problem: " + what;
}

std::string observed(const std::string& name, const std::string& what) {
  return "Observed output of cmd `" + name + "` executed:\n" + what;
}

bool has_media(const ToolOutput& output) {
  return std::ranges::any_of(output.content,
                             [](const Block& block) { return block.type() != BlockType::Text; });
}

std::string words_of(const std::string& name, const ToolOutput& output) {
  const std::optional<std::string> text = text_of(output);
  switch (output.status) {
    case ToolStatus::Unnamed:
      return "Error: Invalid command format";
    case ToolStatus::Unknown:
      return "Error: Unknown tool '" + name + "'";
    case ToolStatus::NotJson:
      return "Error: Error parsing arguments for " + name + ": Invalid JSON format";
    case ToolStatus::Broken:
      return problem(name, text.value_or(""));
    // OpenManus knows neither a denied nor a stopped call; a tool that fails is the nearest.
    case ToolStatus::Failed:
    case ToolStatus::Denied:
    case ToolStatus::Interrupted:
      if (text) return observed(name, "Error: " + *text);
      break;
    case ToolStatus::Ok:
      if (text) return observed(name, *text);
      // There, a result without an output is true if it has an image, but cannot be made a text.
      if (has_media(output)) return problem(name, "__str__ returned non-string (type NoneType)");
      break;
  }
  return "Cmd `" + name + "` completed with no output";
}

}  // namespace

Text openmanus_text(std::string_view name, const ToolOutput& output) {
  return Text(words_of(std::string(name), output));
}

}  // namespace parley
