#include "base/shorten.h"

#include <gtest/gtest.h>

#include "parley/base/text.h"

namespace parley {
namespace {

std::string times(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Both halves consist of whole copies of a grapheme, and the marker counts what is missing.
TEST(ShortenedText, CutsBetweenGraphemes) {
  for (const std::string_view grapheme :
       {"x", "\u00E9", "e\u0301", "\u6F22", "\U0001F468\u200D\U0001F469\u200D\U0001F467",
        "\U0001F1E9\U0001F1EA", "\r\n", "\u0928\u093F"}) {
    for (const std::size_t most : {64U, 65U, 66U, 67U, 100U, 1000U}) {
      const std::string text = times(grapheme, 2000);
      const std::string cut = shortened_text(text, most);
      ASSERT_LE(cut.size(), most) << grapheme;
      ASSERT_TRUE(is_utf8(cut));
      const std::size_t marker = cut.find("[... ");
      const std::size_t end = cut.find(" characters cut ...]");
      ASSERT_NE(end, std::string::npos);
      EXPECT_EQ(marker % grapheme.size(), 0U) << grapheme;
      const std::size_t tail = cut.size() - end - 20;
      EXPECT_EQ(tail % grapheme.size(), 0U) << grapheme;
      EXPECT_EQ(cut.substr(0, marker), text.substr(0, marker));
      EXPECT_EQ(cut.substr(cut.size() - tail), text.substr(text.size() - tail));
      std::size_t points = 0;
      for (const char c : text.substr(marker, text.size() - marker - tail))
        points += (c & 0xC0) != 0x80 ? 1 : 0;
      EXPECT_EQ(cut.substr(marker + 5, end - marker - 5), std::to_string(points));
    }
  }
}

TEST(ShortenedText, LeavesWhatFits) {
  EXPECT_EQ(shortened_text(times("x", 64), 64), times("x", 64));
  EXPECT_EQ(shortened_text("", 64), "");
}

// A grapheme of a megabyte is an attack.
TEST(ShortenedText, CutsAnEndlessGraphemeBetweenCodePoints) {
  const std::string text = "e" + times("\u0301", 500'000);
  const std::string cut = shortened_text(text, 5000);
  EXPECT_LE(cut.size(), 5000U);
  EXPECT_TRUE(is_utf8(cut));
}

}  // namespace
}  // namespace parley
