// Rules of repair.h that are about a target, as far as data files would be too large. The rest is in
// tests/corpus.
#include <gtest/gtest.h>

#include "parley/dialect/repair.h"
#include "parley/dialect/rules.h"

namespace parley {
namespace {

constexpr std::string_view kPng = "iVBORw0KGgoAAAAN";  // twelve bytes

Block image(std::size_t base64_size) {
  std::string data(kPng);
  data.resize(base64_size, 'A');
  return ImageBlock{Base64Source{"image/png", Text::checked(std::move(data)).value()}};
}

Message user(std::vector<Block> blocks) {
  return MessageBuilder(Role::User).anonymous().blocks(std::move(blocks)).build().value();
}

std::vector<std::string> places(const Repairing& repairing) {
  std::vector<std::string> out;
  for (const Note& note : repairing.notes) {
    out.push_back(std::string(note.code) + " " + std::to_string(note.message_index.value()) + "." +
                  std::to_string(note.block_index.value()));
  }
  return out;
}

std::vector<std::string> findings(const Conversation& conversation, Dialect target) {
  std::vector<std::string> out;
  const auto writing = write(conversation, target);
  for (const Finding& finding : check_rules(Json::parse(writing.value().text).value(), target)) {
    out.push_back(finding.code);
  }
  return out;
}

std::size_t images(const Message& message) { return message.get_content_blocks({BlockType::Image}).size(); }

TEST(Fit, LeavesAsManyImagesAsARequestMayHaveAndTakesTheOldest) {
  const std::vector<Block> sixty(60, image(16));
  std::vector<Block> shown = {TextBlock{"seen"}};
  shown.resize(11, image(16));
  const ToolUseBlock use{"call_1", "look", "{}"};
  Conversation conversation(
      {user(sixty), MessageBuilder(Role::Assistant).anonymous().block(use).build().value(),
       user({ToolResultBlock{"call_1", "look", shown}}), user(std::vector<Block>(30, image(16)))});
  EXPECT_TRUE(repair(conversation, {.target = Dialect::Anthropic}).notes.empty());
  EXPECT_TRUE(findings(conversation, Dialect::Anthropic).empty());

  conversation.append(user({image(16), image(16)}));
  EXPECT_EQ(findings(conversation, Dialect::Anthropic), std::vector<std::string>{"a14_image_count"});
  const Repairing fitted = repair(conversation, {.target = Dialect::Anthropic});
  EXPECT_EQ(places(fitted), (std::vector<std::string>{"media_over_limit 0.0", "media_over_limit 0.1"}));
  EXPECT_EQ(images(fitted.conversation.messages()[0]), 58U);
  EXPECT_EQ(fitted.conversation.messages()[0].blocks()[1], Block(TextBlock{"[image omitted: limit]"}));
  EXPECT_TRUE(findings(fitted.conversation, Dialect::Anthropic).empty());
  EXPECT_TRUE(repair(fitted.conversation, {.target = Dialect::Anthropic}).notes.empty());
  EXPECT_TRUE(repair(conversation, {.target = Dialect::OpenAI}).notes.empty());
}

TEST(Fit, TakesTheImagesOfResultsToo) {
  std::vector<Block> shown(3, image(16));
  const ToolUseBlock use{"call_1", "look", "{}"};
  const Conversation conversation(
      {user({TextBlock{"Look."}}), MessageBuilder(Role::Assistant).anonymous().block(use).build().value(),
       user({ToolResultBlock{"call_1", "look", shown}}), user(std::vector<Block>(19, image(16)))});
  const Repairing fitted = repair(conversation, {.target = Dialect::Converse});
  EXPECT_EQ(places(fitted), (std::vector<std::string>{"media_over_limit 2.0", "media_over_limit 2.0"}));
  EXPECT_TRUE(findings(fitted.conversation, Dialect::Converse).empty());
}

TEST(Fit, TakesWhatIsTooLargeAndNothingSmaller) {
  const std::size_t anthropic = std::size_t{5} * 1024 * 1024 / 3 * 4;
  const Conversation large({user({TextBlock{"Look."}, image(anthropic), image(anthropic + 8)})});
  EXPECT_EQ(places(repair(large, {.target = Dialect::Anthropic})),
            std::vector<std::string>{"media_over_limit 0.2"});
  const std::size_t converse = std::size_t{5} * 1024 * 1024;
  const Conversation smaller({user({TextBlock{"Look."}, image(converse), image(converse + 4)})});
  EXPECT_EQ(places(repair(smaller, {.target = Dialect::Converse})),
            std::vector<std::string>{"media_over_limit 0.2"});
}

}  // namespace
}  // namespace parley
