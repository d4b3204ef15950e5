#include "agent/history.h"

namespace parley::agent {

std::vector<ToolUseBlock> calls_of(const Message& message) {
  std::vector<ToolUseBlock> out;
  for (const Block& block : message.get_content_blocks({BlockType::ToolUse})) {
    out.push_back(*block.as<ToolUseBlock>());
  }
  return out;
}

}  // namespace parley::agent
