#include <algorithm>

#include "parley/tool/openmanus.h"
#include "tool/python_repr.h"

namespace parley {
namespace {

std::string problem(const std::string& name, const std::string& text) {
  return "Error: \u26A0\uFE0F Tool '" + name + "' encountered a problem: " + text;
}

std::string observed(const std::string& name, const std::string& text) {
  return "Observed output of cmd `" + name + "` executed:\n" + text;
}

std::string shown(const std::string& name, const ToolOutput& output) {
  const std::string text = output.joined_text();
  if (!text.empty()) return observed(name, text);
  const bool has_media =
      std::ranges::any_of(output.content, [](const Block& block) { return block.type() != BlockType::Text; });
  // There, a result without an output cannot be made a text.
  if (has_media) return problem(name, "__str__ returned non-string (type NoneType)");
  if (!output.structured) return "Cmd `" + name + "` completed with no output";
  return observed(name, python_repr(*output.structured));
}

}  // namespace

Text openmanus_text(std::string_view tool, const ToolOutput& output) {
  const std::string name(tool);
  const auto text = [&] {
    switch (output.status) {
      case ToolStatus::Unnamed:
        return std::string("Error: Invalid command format");
      case ToolStatus::Unknown:
        return "Error: Unknown tool '" + name + "'";
      case ToolStatus::NotJson:
        return "Error: Error parsing arguments for " + name + ": Invalid JSON format";
      case ToolStatus::Broken:
      case ToolStatus::Interrupted:
        return problem(name, output.joined_text());
      case ToolStatus::Failed:
      case ToolStatus::Denied:  // nobody can say no there; a tool that cannot is the nearest
        return observed(name, "Error: " + output.joined_text());
      case ToolStatus::Ok:
        break;
    }
    return shown(name, output);
  };
  return Text::repaired(text());
}

}  // namespace parley
