#include "server/http/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace parley::server {
namespace {

TEST(Glob, StarsTakeAnythingAndQuestionMarksOneCharacter) {
  EXPECT_TRUE(matches("", ""));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("**", "a"));
  EXPECT_TRUE(matches("a*b*c", "axbxbc"));
  EXPECT_TRUE(matches("*.json", "a.b.json"));
  EXPECT_TRUE(matches("a?c", "abc"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("a", "ab"));
  EXPECT_FALSE(matches("a?c", "ac"));
  EXPECT_FALSE(matches("a*b", "abc"));
  EXPECT_FALSE(matches("[a]", "a"));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(10'000, 'a')));
}

}  // namespace
}  // namespace parley::server
