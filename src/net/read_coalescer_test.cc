#include "net/read_coalescer.h"

#include <gtest/gtest.h>

namespace parley::net {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

ReadCoalescer coalescing() {
  ReadCoalescer coalescer;
  for (int i = 0; i < 50; ++i) coalescer.note(microseconds(100), 200);
  return coalescer;
}

TEST(ReadCoalescer, BeginsAfterSomeTwentyQuickChunks) {
  ReadCoalescer coalescer;
  int chunks = 0;
  for (; !coalescer.is_on() && chunks < 100; ++chunks) coalescer.note(microseconds(100), 200);
  EXPECT_GT(chunks, 15);
  EXPECT_LT(chunks, 30);
}

TEST(ReadCoalescer, DoesNotPauseAtThePaceOfAModel) {
  ReadCoalescer coalescer;
  for (int i = 0; i < 1000; ++i) {
    coalescer.note(milliseconds(8), 200);
    EXPECT_FALSE(coalescer.is_on());
  }
}

TEST(ReadCoalescer, DoesNotPauseWhereMuchComes) {
  ReadCoalescer coalescer;
  for (int i = 0; i < 1000; ++i) {
    coalescer.note(microseconds(100), 16'384);
    EXPECT_FALSE(coalescer.is_on());
  }
}

TEST(ReadCoalescer, ToleratesOneLateChunkAndManyAtOnce) {
  ReadCoalescer coalescer = coalescing();
  coalescer.note(milliseconds(20), 200);
  EXPECT_TRUE(coalescer.is_on());
  coalescer.note(microseconds(0), 20'000);
  EXPECT_TRUE(coalescer.is_on());
}

TEST(ReadCoalescer, EndsWithSilenceWithBulkAndWithNothing) {
  ReadCoalescer silent = coalescing(), bulky = coalescing(), idle = coalescing();
  silent.note(milliseconds(500), 200);
  EXPECT_FALSE(silent.is_on());
  bulky.note(microseconds(0), 100'000);
  EXPECT_FALSE(bulky.is_on());
  idle.note(microseconds(0), 0);
  EXPECT_FALSE(idle.is_on());
}

}  // namespace
}  // namespace parley::net
