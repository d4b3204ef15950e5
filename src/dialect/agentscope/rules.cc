// Messages of AgentScope: no server refuses them, but its formatters leave out or fail on what is found here.
#include <algorithm>
#include <array>
#include <span>

#include "dialect/agentscope/parts.h"
#include "dialect/rules/report.h"
#include "dialect/rules/text.h"

namespace parley::rules {
namespace {

constexpr Rule kBlock = {"agentscope_block", kError,
                         "AgentScope does not define this block type; its formatters drop the block"};
constexpr Rule kContent = {"agentscope_content", kError, "content is a string or a list of blocks, not null"};
constexpr Rule kUrl = {"agentscope_url", kError,
                       "a URL has a scheme; a local file has a path or an extension"};

constexpr std::array<std::string_view, 7> kBlocks = {"text",  "thinking", "image",      "audio",
                                                     "video", "tool_use", "tool_result"};
constexpr Layout kLayout = {"messages", "role"};

class AgentScope {
 public:
  AgentScope(Report& report, std::span<const std::string_view> block_types)
      : report_(report), block_types_(block_types) {}

  void run(const Json& document) {
    const Talk talk = find_talk(report_, document, kLayout);
    each_message(report_, talk, [&](const Object& message) {
      for (const Json::Member& member : message.members()) {
        if (member.key.view() == "content" && member.value.is_null()) {
          report_.add(kContent, member.value);
          return;
        }
      }
      const Json* content = message.need("content", kString | kList);
      if (content == nullptr || content->is_string()) return;
      each_block(report_, *content, [&](const Object& each) { block(each); });
    });
  }

 private:
  void block(const Object& block) {
    const auto type = known_type(block);
    const Json* output = block.find("output");
    if (output == nullptr || !output->is_array() || (type && type->view() != "tool_result")) return;
    each_object(report_, *output, [&](const Object& inner) { known_type(inner); });
  }

  // The type of a block, of a message or of a result's output.
  std::optional<Text> known_type(const Object& block) {
    auto type = block.string("type");
    const bool is_known = type && std::ranges::find(block_types_, type->view()) != block_types_.end();
    if (type && !is_known) report_.add(kBlock, block.json());
    if (const Json* source = block.get("source", kObject)) url(Object(report_, *source));
    return type;
  }

  // A URL, or where a file is. A bare word is neither.
  void url(const Object& source) {
    const auto url = source.string("url");
    if (url && url->view().find_first_of(":/\\.") == std::string_view::npos)
      report_.add(kUrl, *source.find("url"));
  }

  Report& report_;
  std::span<const std::string_view> block_types_;
};

}  // namespace

void check_agentscope(Report& report, const Json& document) { check_agentscope(report, document, kBlocks); }

void check_agentscope(Report& report, const Json& document, std::span<const std::string_view> block_types) {
  AgentScope(report, block_types).run(document);
}

}  // namespace parley::rules
