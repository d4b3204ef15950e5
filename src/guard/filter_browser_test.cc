#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "guard/edits.h"
#include "guard/filter_rows.h"

namespace parley::guard {
namespace {

std::string by_lines(std::string_view text, const FilterOptions& options = {}) {
  Edits edits("browser", text);
  browser(text, options, edits);
  return edits.take();
}
std::string to_the_letter(std::string_view text, const FilterOptions& options = {}) {
  Edits edits("browser-agentscope", text);
  browser_agentscope(text, options, edits);
  return edits.take();
}

constexpr std::string_view kResult =
    "### Ran Playwright code\n```js\nawait page.goto('x');\n```\n\n"
    "### New console messages\n- [ERROR] 404\n\n"
    "### Page state\n- Page URL: https://example.com/\n- Page Title: Example\n- Page Snapshot:\n"
    "```yaml\n- generic [ref=e1]:\n```\n";

TEST(BrowserAgentScope, LeavesTheHeadings) {
  EXPECT_EQ(to_the_letter(kResult), "### Ran Playwright code\n\n\n### Page state");
}

TEST(BrowserAgentScope, KeepsAnUnterminatedScript) { EXPECT_EQ(to_the_letter("a ```js b"), "a ```js b"); }

TEST(BrowserAgentScope, TakesJsonForAScript) { EXPECT_EQ(to_the_letter("```json\n{}\n```x"), "x"); }

TEST(BrowserAgentScope, KeepsConsoleMessagesWithoutPageState) {
  EXPECT_EQ(to_the_letter("### New console messages\na\n### Other\nb"),
            "### New console messages\na\n### Other\nb");
}

TEST(BrowserAgentScope, DeletesToTheEndOfTheText) {
  EXPECT_EQ(to_the_letter("The list:\n- Page URL and more\nall gone"), "The list:");
}

TEST(BrowserAgentScope, KeepsPageStateIfAsked) {
  const FilterOptions options{.keep_page_state = true};
  EXPECT_EQ(to_the_letter("```yaml\na\n``` - Page URL x", options), "```yaml\na\n``` - Page URL x");
  EXPECT_EQ(to_the_letter("```js\na\n``` - Page URL x", options), "- Page URL x");
}

TEST(BrowserAgentScope, StripsAsPythonDoes) {
  EXPECT_EQ(to_the_letter("\u3000\x1C\t a b \u00A0\u0085\n"), "a b");
  EXPECT_EQ(to_the_letter(" \n"), "");
  EXPECT_EQ(to_the_letter("a"), "a");
}

// An opening fence ends the one before it, and what is left of it stays.
TEST(BrowserAgentScope, TakesTheShortestSpans) {
  EXPECT_EQ(to_the_letter("```js a ```js b"), "js b");
  EXPECT_EQ(to_the_letter("```js``````js```x"), "x");
}

TEST(Browser, TakesTheSamePartsOutOfAnOrdinaryResult) {
  EXPECT_EQ(by_lines(kResult), "### Ran Playwright code\n\n### Page state");
}

TEST(Browser, KeepsWhatFollowsThePageState) {
  EXPECT_EQ(by_lines("### Page state\n- Page URL: x\n- Page Title: y\n### Result\n42\n"),
            "### Page state\n### Result\n42");
}

TEST(Browser, KeepsPageTextThatOnlyLooksLikePageState) {
  const std::string_view list = "### Fields\n- Page URL of the form\n- Title\n";
  EXPECT_EQ(by_lines(list), list);
  const std::string_view inside = "see - Page URL: x\nand more";
  EXPECT_EQ(by_lines(inside), inside);
}

TEST(Browser, KeepsJson) {
  const std::string_view json = "### Result\n```json\n{}\n```\n```jsx\n<a/>\n```\n";
  EXPECT_EQ(by_lines(json), json);
}

TEST(Browser, DoesNotTakeWhatIsInAFenceForStructure) {
  const std::string_view text = "```\n### New console messages\n### Page state\n- Page URL: x\n```\nrest\n";
  EXPECT_EQ(by_lines(text), text);
  EXPECT_EQ(by_lines("### New console messages\n```\n### no heading\n```\n### Next\nx"), "### Next\nx");
}

TEST(Browser, EndsConsoleMessagesAtAnyHeading) {
  EXPECT_EQ(by_lines("a\n### New console messages\nb\n### Modal state\nc"), "a\n### Modal state\nc");
  EXPECT_EQ(by_lines("a\n### New console messages\nb\n"), "a");
}

TEST(Browser, KeepsAnUnterminatedFence) {
  const std::string_view text = "a\n```js\nb\n";
  EXPECT_EQ(by_lines(text), text);
}

TEST(Browser, KeepsPageStateIfAsked) {
  const FilterOptions options{.keep_page_state = true};
  EXPECT_EQ(
      by_lines(kResult, options),
      "### Ran Playwright code\n\n### Page state\n- Page URL: https://example.com/\n- Page Title: Example\n"
      "- Page Snapshot:\n```yaml\n- generic [ref=e1]:\n```");
}

TEST(Browser, LeavesTheRestToTheByte) {
  const std::string_view text = "  indented\n\ttext \r\n";
  EXPECT_EQ(by_lines(text), text);
  EXPECT_EQ(by_lines("\n\n  a\r\n```js\r\nb\r\n```\r\nc \r\n"), "  a\r\nc");
  EXPECT_EQ(by_lines("```js\nb\n```\n"), "");
}

TEST(Browser, ReportsWhatItRemoved) {
  Edits edits("browser", kResult);
  browser(kResult, {}, edits);
  std::vector<std::string> said;
  for (const FilterChange& change : edits.changes()) said.push_back(to_string(change));
  EXPECT_EQ(said, (std::vector<std::string>{"browser: 1 x script (32 bytes, first at 24)",
                                            "browser: 1 x console messages (40 bytes, first at 57)",
                                            "browser: 1 x space at the ends (1 bytes, first at 111)",
                                            "browser: 1 x page state (104 bytes, first at 112)"}));
}

RC_GTEST_PROP(Browser, IsIdempotent, ()) {
  static const std::vector<std::string> pieces = {"### Page state\n",
                                                  "### New console messages\n",
                                                  "- Page URL: x\n",
                                                  "```yaml\n",
                                                  "```js\n",
                                                  "```\n",
                                                  "```json\n",
                                                  "### Other\n",
                                                  "text\n",
                                                  "\n",
                                                  "  ",
                                                  " ```\n",
                                                  "```",
                                                  "a",
                                                  "\r\n",
                                                  "\t"};
  std::string text;
  for (const auto i :
       *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, pieces.size())))
    text += pieces[i];
  const std::string once = by_lines(text);
  RC_ASSERT(by_lines(once) == once);
  RC_ASSERT(once.size() <= text.size());
}

}  // namespace
}  // namespace parley::guard
