#include "cli/terminal_query.h"

#include <gtest/gtest.h>

#include "cli/styled_text.h"

namespace parley::cli {
namespace {

TEST(TerminalQuery, FindsTheAttributeOfSixels) {
  EXPECT_TRUE(has_sixel_attribute("\x1b[?62;4;22c"));
  EXPECT_TRUE(has_sixel_attribute("\x1b[?4c"));
  EXPECT_TRUE(has_sixel_attribute("\x1b[?62;4c"));
  EXPECT_TRUE(has_sixel_attribute("typed\x1b[?\x1b[A\x1b[?1;4c")) << "keys come before the answer";
}

TEST(TerminalQuery, FindsNoOtherNumberAndNoPart) {
  for (const char* answer : {"", "\x1b[?c", "\x1b[?1;2c", "\x1b[?64;14;40c", "\x1b[?62;4", "\x1b[?62;4R",
                             "62;4c", "\x1b[>62;4c", "\x1b[?1;2c\x1b[?62;4c"}) {
    EXPECT_FALSE(has_sixel_attribute(answer)) << testing::PrintToString(answer);
  }
}

TEST(StyledText, STYLED1_SixelsAreOneImageAndNothingElse) {
  const auto bytes = [](std::string_view image) { return StyledText(true).sixels(image).bytes(); };
  for (const char* image : {"\x1bPq\"1;1;2;6#0;2;0;0;0#0~~\x1b\\", "\x1bP0;1;8q~\x1b\\", "\x1bPq\x1b\\"}) {
    EXPECT_EQ(bytes(image), image);
    EXPECT_EQ(StyledText(false).sixels(image).bytes(), "") << "STYLED2";
  }
  for (const char* image : {"", "\x1bP", "\x1b\\", "\x1bP\x1b\\", "\x1bPq~", "\x1bPp~\x1b\\", "Pq~\x1b\\",
                            "\x1bPq ~\x1b\\", "\x1bPq\n~\x1b\\", "\x1bPq~\x1b\\\x1b]0;t\x07\x1bPq~\x1b\\",
                            "\x1bPq~\x1b\\ ", "\x1bPq\x7f\x1b\\", "\x1bPq\xc2\x9b\x1b\\"}) {
    EXPECT_EQ(bytes(image), "") << image;
  }
}

}  // namespace
}  // namespace parley::cli
