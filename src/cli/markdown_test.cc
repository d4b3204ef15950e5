#include "cli/markdown.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace parley::cli {
namespace {

const MarkdownLook kNoStyles{.has_styles = false};

std::string shown(std::string_view text, const MarkdownLook& look = {}) {
  return markdown_text(text, look).bytes();
}

std::string in_pieces(std::string_view text, std::size_t size, const MarkdownLook& look) {
  Markdown markdown(look);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += size) out += markdown.add(text.substr(at, size)).bytes();
  return out + markdown.end().bytes();
}

TEST(Markdown, ShowsEmphasisCodeAndHeadings) {
  EXPECT_EQ(shown("# A *b*"), "\x1b[1mA\x1b[0m\x1b[1m \x1b[0m\x1b[1;3mb\x1b[0m\n");
  EXPECT_EQ(shown("a **b c** _d_ ~~e~~ `f`"),
            "a \x1b[1mb\x1b[0m\x1b[1m c\x1b[0m \x1b[3md\x1b[0m \x1b[9me\x1b[0m \x1b[94mf\x1b[0m\n");
  EXPECT_EQ(shown("2 * 3 * 4, snake_case_name, 5*3"), "2 * 3 * 4, snake_case_name, 5*3\n");
  EXPECT_EQ(shown("\\*a\\* &amp; &#42; `a*b*`", kNoStyles), "*a* & * `a*b*`\n");
}

TEST(Markdown, KeepsTheMarksIfThereAreNoStyles) {
  EXPECT_EQ(shown("## A\n**b** *c* `d` ~~e~~", kNoStyles), "## A\n**b** *c* `d` ~~e~~\n");
}

TEST(Markdown, ShowsListsAndQuotes) {
  EXPECT_EQ(shown("- a\n- b\n  - c\n\n  d\n\n1. e\n2. f\n"),
            "\u2022 a\n\u2022 b\n  \u2022 c\n\n  d\n\n1. e\n2. f\n");
  EXPECT_EQ(shown("> a\n> b\n\nc", kNoStyles), "\u2502 a\n\u2502 b\n\nc\n");
  EXPECT_EQ(shown("- a\n\n> b", {.has_styles = false, .is_utf8 = false}), "- a\n\n> b\n");
  EXPECT_EQ(shown("-\n- a", kNoStyles), "\u2022 \n\u2022 a\n");
}

TEST(Markdown, ShowsCodeAsItIs) {
  EXPECT_EQ(shown("```py\ndef f():\n\n\treturn **x**\n```\nb", kNoStyles),
            "  def f():\n\n      return **x**\nb\n");
  EXPECT_EQ(shown("    a\n\n    b", kNoStyles), "  a\n\n  b\n");
  const std::string wide(100, 'x');
  EXPECT_EQ(shown("```\n" + wide + " y\n```", {.has_styles = false, .width = 40}), "  " + wide + " y\n");
}

TEST(Markdown, ShowsTablesByTheWidthOfTheirColumns) {
  EXPECT_EQ(shown("| a | b |\n|---|--:|\n| \u6c34\u4f4d | 1 |\n| x | 22 |\n", kNoStyles),
            "  a      b\n  "
            "\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\n  \u6c34\u4f4d   1\n  x     22\n");
  EXPECT_EQ(shown("| not a table |\n| at all |\n", kNoStyles), "| not a table |\n| at all |\n");
  EXPECT_EQ(
      shown("|a|b|\n|-|-|\n|one two three four|x|\n", {.has_styles = false, .is_utf8 = false, .width = 20}),
      "  a                b\n  ------------------\n  one two three    x\n  four\n");
}

TEST(Markdown, WrapsWordsAtTheWidth) {
  EXPECT_EQ(shown("aaaa bbbb cccc dddd eeee", {.width = 20}), "aaaa bbbb cccc dddd\neeee\n");
  EXPECT_EQ(shown("- aaaa bbbb cccc dddd", {.width = 20}), "\u2022 aaaa bbbb cccc\n  dddd\n");
  // A line ends between wide characters, but not before a closing mark.
  EXPECT_EQ(shown("\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\u3002\u4e00", {.width = 20}),
            "\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\n\u5341\u3002\u4e00\n");
  // A longer word stays whole, so that it can be copied.
  const std::string address = "https://example.org/" + std::string(40, 'x');
  EXPECT_EQ(shown("see " + address + " now", {.width = 20}), "see\n" + address + "\nnow\n");
}

TEST(Markdown, LinksAreCheckedAndTheirAddressIsShownUnlessItOpens) {
  EXPECT_EQ(shown("[a](https://b.c)", kNoStyles), "a (https://b.c)\n");
  EXPECT_EQ(shown("[a](https://b.c)", {.opens_links = true}),
            "\x1b]8;id=1;https://b.c\x1b\\\x1b[4ma\x1b[0m\x1b]8;;\x1b\\\n");
  EXPECT_EQ(shown("<https://b.c>", kNoStyles), "https://b.c\n");
  EXPECT_EQ(shown("[a](javascript:x)", {.opens_links = true}),
            "\x1b[4ma\x1b[0m\x1b[2m (javascript:x)\x1b[0m\n");
  EXPECT_EQ(shown("![a](b.png) [c] d](e)", kNoStyles), "[image a] (b.png) [c] d](e)\n");
  EXPECT_FALSE(is_safe_link("https://a b"));
  EXPECT_FALSE(is_safe_link("https://a\x1b\\"));
  EXPECT_FALSE(is_safe_link("file:///a"));
  EXPECT_TRUE(is_safe_link("HTTPS://a"));
}

TEST(Markdown, ReturnsWordsAsTheyAreComplete) {
  Markdown markdown({});
  EXPECT_EQ(markdown.add("one tw").bytes(), "one");
  EXPECT_EQ(markdown.add("o three").bytes(), " two");
  EXPECT_TRUE(markdown.line_is_open());
  EXPECT_EQ(markdown.add("\n").bytes(), " three\n");
  EXPECT_FALSE(markdown.line_is_open());
  EXPECT_EQ(markdown.add("**a b").bytes(), "");  // it may be bold
  EXPECT_EQ(markdown.add("** c ").bytes(), "\x1b[1ma\x1b[0m\x1b[1m b\x1b[0m c");
  EXPECT_EQ(markdown.end().bytes(), "\n");
}

// MARKDOWN1 and MARKDOWN3.
TEST(Markdown, DependsOnTheTextOnlyAndMakesNoOtherEscapeSequence) {
  const std::string_view parts[] = {"*",
                                    "**",
                                    "_",
                                    "`",
                                    "``",
                                    "```",
                                    "\n",
                                    "\n\n",
                                    "- ",
                                    "1. ",
                                    "> ",
                                    "# ",
                                    "|",
                                    "a",
                                    "b ",
                                    "word",
                                    " ",
                                    "[",
                                    "](",
                                    "http://x.y/z",
                                    ")",
                                    "!",
                                    "<",
                                    ">",
                                    "~~",
                                    "\\",
                                    "&amp;",
                                    "    ",
                                    "\t",
                                    "\u6c34",
                                    "\r",
                                    "\r\n",
                                    "\x1b",
                                    "\x9b",
                                    "\xe6",
                                    "---",
                                    "===",
                                    "[a](b)",
                                    "|a|b|\n|-|-|\n|c|d|\n",
                                    "<br>"};
  std::mt19937 random(20261118);  // NOLINT: the same texts in every run
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (auto left = random() % 50; left > 0; --left) text += parts[random() % std::size(parts)];
    const MarkdownLook look{random() % 4 != 0, random() % 2 == 0, random() % 2 == 0,
                            random() % 2 == 0 ? 20U : 60U};
    const std::string whole = shown(text, look);
    for (const std::size_t size : {1U, 2U, 7U})
      ASSERT_EQ(in_pieces(text, size, look), whole) << testing::PrintToString(text);
    for (std::size_t at = whole.find('\x1b'); at != std::string::npos; at = whole.find('\x1b', at + 1)) {
      ASSERT_TRUE(look.has_styles);
      const std::string_view rest = std::string_view(whole).substr(at + 1);
      ASSERT_TRUE(rest[0] == '[' || rest[0] == ']' || rest[0] == '\\') << testing::PrintToString(text);
      if (rest[0] == '[') {
        ASSERT_EQ(rest[rest.find_first_not_of("0123456789;", 1)], 'm');
      } else if (rest[0] == ']') {
        ASSERT_TRUE(rest.starts_with("]8;;\x1b\\") || rest.starts_with("]8;id="));
      }
    }
    ASSERT_TRUE(whole.empty() || whole.ends_with('\n'));
  }
}

// MARKDOWN4: what is quadratic in other programs takes a moment here. (A bound on a hang, not a measure.)
TEST(Markdown, TakesLinearTime) {
  for (const std::string_view part :
       {"*a ", "**a_", "` `` ", "[", "[a](b", "![[a](", "<a", "> ", "- ", "&#", "|", "a* "}) {
    std::string text;
    while (text.size() < 300'000) text += part;
    EXPECT_FALSE(shown(text).empty());
  }
}

// MARKDOWN2.
TEST(Markdown, ShowsAllWordsInTheirOrder) {
  const char* parts[] = {"w%d ",        "**w%d** ", "\n- w%d\n", "\n\n> w%d\n\n",    "`w%d` ",
                         "\n\n# w%d\n", "*w%d ",    "[w%d](u) ", "\n\n|w%d|\n|-|\n", "\n1. w%d\n"};
  std::mt19937 random(7);  // NOLINT: the same texts in every run
  for (int i = 0; i < 500; ++i) {
    std::string text, words;
    for (int word = 0; word < 20; ++word) {
      std::string part = parts[random() % std::size(parts)];
      const std::string name = "w" + std::to_string(word) + "x";
      part.replace(part.find("w%d"), 3, name);
      text += part;
      words += name + " ";
    }
    const std::string out = shown(text, kNoStyles);
    std::string found;
    for (std::size_t at = out.find('w'); at != std::string::npos; at = out.find('w', at + 1)) {
      found += out.substr(at, out.find('x', at) + 1 - at) + " ";
    }
    ASSERT_EQ(found, words) << text;
  }
}

}  // namespace
}  // namespace parley::cli
