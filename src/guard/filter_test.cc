#include "parley/guard/filter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/allocations_testing.h"
#include "base/planted_secret_testing.h"
#include "parley/base/text.h"
#include "parley/dialect/dialect.h"

namespace parley::guard {
namespace {

FilterChain chain(std::vector<std::string_view> names, const FilterOptions& options = {}) {
  return *FilterChain::of(names, options);
}
std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const Filter& filter : filters()) names.push_back(filter.name);
  return names;
}
Text text_of(std::string_view bytes) { return *Text::checked(bytes); }

constexpr std::string_view kDirty =
    "a\u200Bb <|im_start|> ### Page state\n- Page URL: x\n```yaml\ny\n```\nredis://:secret@host ";

TEST(Filters, HaveUniqueNamesAndADescription) {
  std::set<std::string_view> names;
  for (const Filter& filter : filters()) {
    EXPECT_TRUE(names.insert(filter.name).second);
    EXPECT_FALSE(filter.does.empty());
    EXPECT_EQ(*filter_named(filter.name), &filter);
  }
  const auto none = filter_named("nothing");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::NotFound);
  EXPECT_NE(none.error().message.find("invisible, browser, "), std::string::npos);
}

TEST(FilterChain, RefusesInvalidNamesAndOptions) {
  const std::vector<std::string_view> names = {"invisible", "nothing"};
  EXPECT_EQ(FilterChain::of(names).error().code, Code::NotFound);
  const std::vector<std::string_view> size = {"size"};
  EXPECT_EQ(FilterChain::of(size, {.size_bytes = 63}).error().code, Code::Invalid);
  EXPECT_TRUE(FilterChain::of(size, {.size_bytes = 64}));
}

// FILTER1
TEST(FilterChain, GivesCleanTextsBackAsTheyAre) {
  const FilterChain all = chain(all_names());
  const Text clean =
      text_of("A plain text, \u00E9\u6F22 \U0001F468\u200D\U0001F469\u200D\U0001F467 and <b>tags</b>.");
  const FilteredText out = all.run(clean);
  EXPECT_EQ(out.text.data(), clean.data());
  EXPECT_TRUE(out.changes.empty());
  EXPECT_EQ(test::allocations_of([&] { EXPECT_TRUE(all.run(clean).changes.empty()); }), 0U);
  EXPECT_TRUE(FilterChain().run(text_of(kDirty)).changes.empty());
}

// FILTER1
TEST(FilterChain, GivesCleanMessagesBackWithTheirWire) {
  const Result<Reading> reading =
      read(R"([{"role":"user","content":"plain","mood":"curious"}])", Dialect::OpenManus);
  const Message message = reading->conversation.messages().front();
  const FilteredMessage out = chain(all_names()).run(message);
  EXPECT_TRUE(out.changes.empty());
  EXPECT_FALSE(out.dropped_members);
  ASSERT_TRUE(out.message.wire());
  EXPECT_EQ(out.message.wire()->text().data(), message.wire()->text().data());
}

TEST(FilterChain, ReportsLostMembersOfAChangedMessage) {
  const Result<Reading> reading =
      read("[{\"role\":\"user\",\"content\":\"a\u200Bb\",\"mood\":\"curious\"}]", Dialect::OpenManus);
  const FilteredMessage out = chain({"invisible"}).run(reading->conversation.messages().front());
  EXPECT_TRUE(out.dropped_members);
  EXPECT_FALSE(out.message.wire());
  EXPECT_EQ(out.message.content()->view(), "ab");
  const FilteredMessage built = chain({"invisible"}).run(Message::user_message("a\u200Bb"));
  EXPECT_FALSE(built.dropped_members);
}

// FILTER5
TEST(FilterChain, NeverTouchesSignedThinkingAndArguments) {
  const Text dirty = text_of(kDirty);
  const Message message = *MessageBuilder(Role::Assistant)
                               .block(ThinkingBlock{dirty, "c2ln", "anthropic"})
                               .block(ToolUseBlock{"c1", "f", dirty})
                               .build();
  const FilteredMessage out = chain(all_names(), {.size_bytes = 64}).run(message);
  EXPECT_TRUE(out.changes.empty());
  EXPECT_EQ(out.message.blocks(), message.blocks());

  const Message beside = *MessageBuilder(Role::Assistant)
                              .block(ThinkingBlock{dirty, "c2ln", "anthropic"})
                              .block(ThinkingBlock{dirty})
                              .block(ToolUseBlock{"c1", "f", dirty})
                              .text(dirty)
                              .build();
  const FilteredMessage changed = chain(all_names()).run(beside);
  EXPECT_FALSE(changed.changes.empty());
  const std::vector<Block> blocks = changed.message.blocks();
  EXPECT_EQ(blocks[0], beside.blocks()[0]);
  EXPECT_NE(blocks[1], beside.blocks()[1]);
  EXPECT_EQ(blocks[2], beside.blocks()[2]);
  EXPECT_NE(blocks[3], beside.blocks()[3]);
}

TEST(FilterChain, FiltersBrowserResultsAndNoOtherTexts) {
  const Text page = "### Page state\n- Page URL: x\n";
  const FilterChain browser = chain({"browser"});
  EXPECT_TRUE(browser.run(Message::user_message(page)).changes.empty());
  const FilteredMessage result = browser.run(Message::tool_message(page, "browse", "c1"));
  EXPECT_EQ(std::get<Text>(result.message.blocks()[0].as<ToolResultBlock>()->output).view(),
            "### Page state");
  EXPECT_EQ(result.message.tool_call_id()->view(), "c1");
  // All results of a message, and strings as well as lists.
  const Message several =
      *MessageBuilder(Role::Tool)
           .block(ToolResultBlock{"c1", "b", page})
           .block(ToolResultBlock{"c2", "b", std::vector<Block>{TextBlock{"x"}, TextBlock{page}}})
           .build();
  const FilteredMessage both = browser.run(several);
  ASSERT_EQ(both.changes.size(), 4U);
  EXPECT_EQ(both.changes[0].block, 0U);
  EXPECT_FALSE(both.changes[0].part);
  EXPECT_EQ(both.changes[2].block, 1U);
  EXPECT_EQ(both.changes[2].part, 1U);
}

// In the order of the table, what hides is gone before it is searched, and nothing is cut before that.
TEST(FilterChain, FindsWhatInvisibleCharactersHide) {
  const Text text = text_of("<|im_\u200Bstart|> " + planted_secret().insert(9, "\u2060"));
  const FilteredText out = chain(all_names()).run(text);
  EXPECT_EQ(out.text.view(), "<\\|im_start|> [redacted: anthropic key]");
  std::vector<std::string> said;
  for (const FilterChange& change : out.changes) said.push_back(to_string(change));
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said[0], "invisible: 2 x zero-width character (6 bytes, first at 5)");
  EXPECT_EQ(said[1], "control-tokens: 1 x control token (0 bytes, first at 1)");
  EXPECT_EQ(said[2].substr(0, 26), "secrets: 1 x anthropic key");
}

TEST(FilterChain, CutsWithSizes) {
  const FilteredText out = chain({"size"}, {.size_bytes = 100}).run(text_of(std::string(1000, 'x')));
  EXPECT_LE(out.text.size(), 100U);
  const std::size_t marker = out.text.view().find("[... ");
  ASSERT_EQ(out.changes.size(), 1U);
  EXPECT_EQ(out.changes[0].first, marker);
  EXPECT_NE(out.text.view().find("[... " + std::to_string(out.changes[0].bytes) + " characters cut ...]"),
            std::string_view::npos);
}

std::string any_text() {
  static const std::vector<std::string> pieces = {
      "a",
      " ",
      "\n",
      "\u200B",
      "\u200D",
      "\U0001F468",
      "\u0645",
      "\u202E",
      "\uFE0F",
      "<|",
      "im_end",
      "|>",
      "[INST]",
      "</s>",
      "<",
      "\\",
      "### Page state\n",
      "- Page URL: ",
      "```yaml\n",
      "```js\n",
      "```\n",
      "```",
      "### New console messages\n",
      "redis://:",
      "p",
      "@",
      ";pwd=",
      "Bearer ",
      "abcdefgh12345678",
      "sk-",
      "eyJ",
      ".",
      "key=",
      "?",
      "\u6F22",
      "e\u0301",
      "-----BEGIN PRIVATE KEY-----",
      "-----END ",
      "long long long long long long long long long long long text "};
  std::string text;
  for (const auto i :
       *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, pieces.size())))
    text += pieces[i];
  return text;
}

RC_GTEST_PROP(EachFilter, KeepsItsPromises, ()) {
  const Text text = text_of(any_text());
  for (const Filter& filter : filters()) {
    const FilterChain one = chain({filter.name}, {.size_bytes = 64});
    const FilteredText out = one.run(text);
    RC_ASSERT(is_utf8(out.text));                                       // FILTER3
    RC_ASSERT(out.text.size() <= 4 * text.size());                      // FILTER4
    RC_ASSERT(!out.changes.empty() || out.text.data() == text.data());  // FILTER1
    if (filter.name == "browser-agentscope") continue;
    RC_ASSERT(one.run(out.text).text == out.text);  // FILTER2
    RC_ASSERT(one.run(out.text).changes.empty());
  }
}

// The text of a message is filtered as the same text alone is.
RC_GTEST_PROP(FilterChain, TreatsMessagesAsTheirTexts, ()) {
  const Text text = text_of(any_text());
  const FilterChain all = chain(all_names(), {.size_bytes = 64});
  const FilteredText alone = all.run(text);
  const FilteredMessage in_message = all.run(Message::tool_message(text, "f", "c1"));
  RC_ASSERT(std::get<Text>(in_message.message.blocks()[0].as<ToolResultBlock>()->output) == alone.text);
  RC_ASSERT(in_message.changes.size() == alone.changes.size());
}

}  // namespace
}  // namespace parley::guard
