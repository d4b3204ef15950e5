// Tools that Converse ran itself: a history with their calls is refused unless the request declares tools.
#include "dialect/converse/parts.h"
#include "dialect/core/patch.h"
#include "dialect/core/write_blocks.h"

namespace parley::dialect::converse {

std::set<std::string> server_tools(std::span<const Message> messages) {
  std::set<std::string> names;
  for (const Message& message : messages) {
    const Arena& arena = Arena::of(message);
    for (const BlockRecord& block : arena.blocks(Arena::record_of(message))) {
      if (block.type != BlockType::Raw || !raw_belongs_to(arena, block, Dialect::Converse)) continue;
      const auto name = arena.value(block.raw_value()).at("/toolUse/name").value_or(Json()).as_string();
      if (name && !name->empty()) names.insert(name->str());
    }
  }
  return names;
}

std::optional<Json> with_server_tools(const Json& request, const Json& natural,
                                      const std::set<std::string>& names) {
  if (!request.at("/toolConfig/tools").value_or(Json()).elements().empty()) return std::nullopt;
  json::Writer w;
  w.begin_array();
  for (const Json& tool : natural.at("/toolConfig/tools").value_or(Json()).elements()) w.value(tool);
  for (const std::string& name : names) {
    w.begin_object().key("systemTool").begin_object().key("name").string(said(name));
    w.end_object().end_object();
  }
  return with_value(request, "/toolConfig/tools", w.end_array().take());
}

}  // namespace parley::dialect::converse
