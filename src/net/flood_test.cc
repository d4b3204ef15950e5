#include "net/flood.h"

#include <gtest/gtest.h>

namespace parley::net {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Flood flooded() {
  Flood flood;
  for (int i = 0; i < 50; ++i) flood.note(microseconds(100), 200);
  return flood;
}

TEST(Flood, BeginsAfterSomeTwentyQuickPieces) {
  Flood flood;
  int pieces = 0;
  for (; !flood.is_on() && pieces < 100; ++pieces) flood.note(microseconds(100), 200);
  EXPECT_GT(pieces, 15);
  EXPECT_LT(pieces, 30);
}

TEST(Flood, IsNoneAtThePaceOfAModel) {
  Flood flood;
  for (int i = 0; i < 1000; ++i) {
    flood.note(milliseconds(6), 200);
    EXPECT_FALSE(flood.is_on());
  }
}

TEST(Flood, IsNoneWhereMuchComes) {
  Flood flood;
  for (int i = 0; i < 1000; ++i) {
    flood.note(microseconds(100), 16'384);
    EXPECT_FALSE(flood.is_on());
  }
}

TEST(Flood, StandsOneLatePieceAndManyAtOnce) {
  Flood flood = flooded();
  flood.note(milliseconds(20), 200);
  EXPECT_TRUE(flood.is_on());
  flood.note(microseconds(0), 20'000);
  EXPECT_TRUE(flood.is_on());
}

TEST(Flood, EndsWithSilenceWithBulkAndWithNothing) {
  Flood silent = flooded(), bulky = flooded(), idle = flooded();
  silent.note(milliseconds(500), 200);
  EXPECT_FALSE(silent.is_on());
  bulky.note(microseconds(0), 100'000);
  EXPECT_FALSE(bulky.is_on());
  idle.note(microseconds(0), 0);
  EXPECT_FALSE(idle.is_on());
}

}  // namespace
}  // namespace parley::net
