// Filters in a memory: on the way in, and on what is shown.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "base/planted_secret_testing.h"
#include "parley/guard/filter.h"
#include "parley/parley.h"

namespace parley {
namespace {

FilterChain chain(std::vector<std::string_view> names, const FilterOptions& options = {}) {
  return *FilterChain::of(names, options);
}

Memory memory(MessageFilter add_filter, MessageFilter window_filter) {
  MemoryOptions options;
  options.add_filter = std::move(add_filter);
  options.window_filter = std::move(window_filter);
  return Memory::create(options).value();
}

std::string text(const Message& message) { return message.blocks().front().as<TextBlock>()->text.str(); }

TEST(MemoryFilter, OnAddChangesWhatIsKept) {
  std::vector<FilterChange> changes;
  Memory kept = memory(chain({"secrets"}).for_messages([&](const FilteredMessage& filtered) {
    changes.insert(changes.end(), filtered.changes.begin(), filtered.changes.end());
  }),
                       {});
  const std::string secret = planted_secret();
  ASSERT_TRUE(kept.add(Message::user_message(*Text::checked("My key is " + secret))));
  ASSERT_TRUE(kept.add(Message::user_message("No key here.")));
  EXPECT_EQ(text(kept.log().front()).find(secret), std::string::npos);
  EXPECT_EQ(kept.state_dict()->text().view().find(secret), std::string_view::npos);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes.front().filter, "secrets");
}

TEST(MemoryFilter, OnGetChangesWhatIsShownAndLeavesTheLog) {
  Memory shown = memory({}, chain({"invisible"}).for_messages());
  const char* hidden = "a\u200Bb";
  ASSERT_TRUE(shown.add(Message::user_message(*Text::checked(hidden))));
  EXPECT_EQ(text(shown.window().front()), "ab");
  EXPECT_EQ(text(shown.get().front()), "ab");
  EXPECT_EQ(text(shown.log().front()), hidden);
  EXPECT_EQ(shown.bytes(), 2U);
}

// What was stored before there was a filter is filtered when it is read.
TEST(MemoryFilter, OnGetSeesWhatAStateBrings) {
  Memory plain = memory({}, {});
  ASSERT_TRUE(plain.add(Message::user_message("a\u200Bb")));
  Memory shown = memory(chain({"invisible"}).for_messages(), chain({"invisible"}).for_messages());
  ASSERT_TRUE(shown.load_state_dict(*plain.state_dict()));
  EXPECT_EQ(text(shown.window().front()), "ab");
  EXPECT_EQ(text(shown.log().front()), "a\u200Bb");
}

TEST(MemoryFilter, WorksWithTheLimitOfTexts) {
  MemoryOptions options;
  options.text_bytes = 64;
  options.window_filter = chain({"invisible"}).for_messages();
  Memory shown = Memory::create(options).value();
  std::string longer;
  for (int i = 0; i < 100; ++i) longer += "a\u200B";
  ASSERT_TRUE(shown.add(Message::user_message(*Text::checked(longer))));
  EXPECT_NE(text(shown.window().front()).find("characters cut"), std::string::npos);
  EXPECT_EQ(text(shown.window().front()).find("\u200B"), std::string::npos);
}

TEST(MemoryFilter, ThatBreaksAnExchangeIsRefusedAndNothingChanges) {
  const ToolCall call{"c1", "function", {"search", "{}"}};
  const Message calls = Message::from_tool_calls({&call, 1});
  const auto other_call = [](const Message&) -> std::optional<Message> {
    const ToolCall other{"c2", "function", {"search", "{}"}};
    return Message::from_tool_calls({&other, 1});
  };
  const auto no_call = [](const Message&) -> std::optional<Message> {
    return Message::assistant_message("");
  };
  const auto other_role = [](const Message& message) -> std::optional<Message> {
    return MessageBuilder(Role::User).blocks(message.blocks()).build().value();
  };
  const auto thrower = [](const Message&) -> std::optional<Message> { throw std::runtime_error("no"); };
  for (const MessageFilter& filter : {MessageFilter(other_call), MessageFilter(no_call),
                                      MessageFilter(other_role), MessageFilter(thrower)}) {
    Memory shown = memory({}, filter);
    const auto added = shown.add(calls);
    ASSERT_FALSE(added);
    EXPECT_TRUE(added.error().code == Code::Invalid || added.error().code == Code::Unavailable);
    EXPECT_EQ(shown.log_size(), 0U);
    EXPECT_TRUE(shown.pending().empty());
  }
}

// What was fetched is treated by stricter rules than what the user typed.
TEST(MemoryFilter, TreatsUntrustedTextsAlone) {
  const FilterChain untrusted = chain({"control-tokens"}, {.up_to = Trust::Untrusted});
  Memory kept = memory(untrusted.for_messages(), {});
  const char* token = "<|im_start|>";
  ASSERT_TRUE(kept.add(Message::user_message(*Text::checked(token))));
  const Message page = with_provenance(Message::user_message(*Text::checked(token)), 0,
                                       {"https://example.com", Trust::Untrusted})
                           .value();
  ASSERT_TRUE(kept.add(page));
  EXPECT_EQ(text(kept.log()[0]), token);
  EXPECT_EQ(text(kept.log()[1]), "<\\|im_start|>");
  EXPECT_EQ(provenance(kept.log()[1], 0).source.view(), "https://example.com");
}

}  // namespace
}  // namespace parley
