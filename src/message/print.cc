// Messages and findings as one line for people.
#include <ostream>

#include "parley/message/message.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

std::string words(const Block& block);

std::string words(const ToolResultBlock& result) {
  if (const Text* text = std::get_if<Text>(&result.output)) return text->str();
  std::string out;
  if (const auto* blocks = std::get_if<std::vector<Block>>(&result.output)) {
    for (const Block& block : *blocks) out.append(out.empty() ? "" : " ").append(words(block));
  }
  return out;
}

std::string words(const Block& block) {
  if (const auto* text = block.as<TextBlock>()) return text->text.str();
  if (const auto* use = block.as<ToolUseBlock>()) return use->name.str() + "(" + use->arguments.str() + ")";
  if (const auto* result = block.as<ToolResultBlock>()) return words(*result);
  return "[" + std::string(to_string(block.type())) + "]";
}

}  // namespace

std::string to_line(const Message& message) {
  std::string out = std::string(to_string(message.role())) + ":";
  for (const Block& block : message.blocks()) out.append(" ").append(words(block));
  for (char& c : out) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Message& message) { return out << to_line(message); }

std::string to_line(const Finding& finding) {
  std::string out = finding.level == FindingLevel::Error ? "error" : "warning";
  return out.append(" ").append(finding.path).append(": ").append(finding.sentence);
}

std::ostream& operator<<(std::ostream& out, const Finding& finding) { return out << to_line(finding); }

}  // namespace parley
