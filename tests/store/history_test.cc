// The judge is judged: a history that is fine has no violation, and every invariant that is broken on
// purpose is found broken.
#include "history.h"

#include <gtest/gtest.h>

#include <set>

namespace parley::store {
namespace {

std::set<int> violated(const std::string& lines) {
  const Result<std::vector<Operation>> operations = read_history(lines);
  EXPECT_TRUE(operations) << operations.error().message;
  std::set<int> out;
  if (!operations) return out;
  for (const Violation& violation : check_history(*operations)) out.insert(violation.invariant);
  return out;
}

constexpr const char* kFine = R"(
invoke a:1 100 append s x 1
invoke b:1 110 append s y 2
ok a:1 200 0 new
ok b:1 210 1 new
invoke c:1 220 read s 0
ok c:1 230 3 x/0/1 y/0/2 y/1/2
invoke a:2 240 append s x 1
ok a:2 250 0 repeated
invoke b:2 260 append s z 3
unknown b:2 300
invoke b:3 310 resolve s z
ok b:3 320 3
invoke b:4 330 append s lost 1
unknown b:4 340
invoke b:5 350 resolve s lost
ok b:5 360 none
invoke a:3 370 append s refused 1
fail a:3 380
invoke a:4 390 append other x 1
ok a:4 400 0 new
invoke a:5 410 append s killed 2
invoke c:2 900 read s 2
ok c:2 910 6 y/1/2 z/0/3 z/1/3 z/2/3
invoke c:3 920 read other 0
ok c:3 930 1 x/0/1
)";

struct Planted {
  const char* name;
  const char* lines;  // a history of their own
  std::set<int> finds;
};

const Planted kPlanted[] = {
    {"an acknowledged batch is missing from a later read",
     R"(
invoke a:1 100 append s x 1
ok a:1 200 0 new
invoke c:1 210 read s 0
ok c:1 220 0
invoke c:2 300 read s 0
ok c:2 310 1 x/0/1
)",
     {1}},
    {"an acknowledged batch is nowhere",
     R"(
invoke a:1 100 append s x 1
ok a:1 200 0 new
invoke c:1 150 read s 0
ok c:1 220 0
)",
     {1}},
    {"a record that was never sent",
     R"(
invoke c:1 100 read s 0
ok c:1 110 1 ghost/0/1
)",
     {2}},
    {"a record of a batch with another count",
     R"(
invoke a:1 100 append s x 1
unknown a:1 110
invoke c:1 120 read s 0
ok c:1 130 2 x/0/2 x/1/2
)",
     {2}},
    {"a record that is no value at all",
     R"(
invoke c:1 100 read s 0
ok c:1 110 1 torn
)",
     {2}},
    {"a record of a batch that failed",
     R"(
invoke a:1 100 append s x 1
fail a:1 110
invoke c:1 120 read s 0
ok c:1 130 1 x/0/1
)",
     {2}},
    {"a batch that lost its end",
     R"(
invoke a:1 100 append s x 3
unknown a:1 110
invoke c:1 120 read s 0
ok c:1 130 1 x/0/3
)",
     {3}},
    {"a batch with a record of another inside",
     R"(
invoke a:1 100 append s x 3
invoke b:1 100 append s y 1
unknown a:1 110
unknown b:1 110
invoke c:1 120 read s 0
ok c:1 130 4 x/0/3 y/0/1 x/1/3 x/2/3
)",
     {3}},
    {"a read that ended inside a batch",
     R"(
invoke a:1 100 append s x 3
invoke c:1 120 read s 0
ok c:1 130 1 x/0/3
invoke c:2 140 read s 0
ok c:2 150 3 x/0/3 x/1/3 x/2/3
)",
     {3}},
    {"a batch that is there twice",
     R"(
invoke a:1 100 append s x 1
ok a:1 110 0 new
invoke a:2 120 append s x 1
ok a:2 130 0 repeated
invoke c:1 140 read s 0
ok c:1 150 2 x/0/1 x/0/1
)",
     {4}},
    {"a batch that was new to two",
     R"(
invoke a:1 100 append s x 1
invoke b:1 100 append s x 1
ok a:1 110 0 new
ok b:1 110 0 new
invoke c:1 140 read s 0
ok c:1 150 1 x/0/1
)",
     {4}},
    {"a position that no read returns",
     R"(
invoke a:1 100 append s x 1
unknown a:1 110
invoke c:1 140 read s 1
ok c:1 150 2 x/0/1
)",
     {5}},
    {"more records than the size",
     R"(
invoke a:1 100 append s x 1
unknown a:1 110
invoke c:1 140 read s 0
ok c:1 150 0 x/0/1
)",
     {5}},
    {"two reads that do not agree",
     R"(
invoke a:1 100 append s x 1
invoke b:1 100 append s y 1
unknown a:1 110
unknown b:1 110
invoke c:1 120 read s 0
ok c:1 130 2 x/0/1 y/0/1
invoke c:2 120 read s 0
ok c:2 130 2 y/0/1 x/0/1
)",
     {6}},
    {"a later read that is shorter",
     R"(
invoke a:1 100 append s x 1
unknown a:1 110
invoke c:1 120 read s 0
ok c:1 130 1 x/0/1
invoke d:1 140 read s 0
ok d:1 150 0
)",
     {6}},
    // At one time, so that only the order in which the writer asked tells.
    {"the batches of a writer in another order",
     R"(
invoke a:1 100 append s x 1
invoke a:2 110 append s y 1
ok a:1 120 1 new
ok a:2 120 0 new
invoke c:1 130 read s 0
ok c:1 140 2 y/0/1 x/0/1
)",
     {7}},
    {"a batch before one that was acknowledged before it was sent",
     R"(
invoke a:1 100 append s x 1
ok a:1 110 1 new
invoke b:1 120 append s y 1
ok b:1 130 0 new
invoke c:1 140 read s 0
ok c:1 150 2 y/0/1 x/0/1
)",
     {8}},
    {"a batch without an answer, too early",
     R"(
invoke a:1 100 append s x 1
ok a:1 110 1 new
invoke b:1 120 append s y 1
invoke c:1 140 read s 0
ok c:1 150 2 y/0/1 x/0/1
)",
     {8}},
    {"a batch that is not where it was said to be",
     R"(
invoke a:1 100 append s x 1
invoke b:1 100 append s y 1
ok a:1 110 1 new
ok b:1 110 0 new
invoke c:1 140 read s 0
ok c:1 150 2 x/0/1 y/0/1
)",
     {9}},
    {"a repeat with another position",
     R"(
invoke a:1 100 append s x 1
ok a:1 110 0 new
invoke a:2 120 append s x 1
ok a:2 130 7 repeated
invoke c:1 105 read s 0
ok c:1 150 1 x/0/1
)",
     {9}},
    {"a batch that was resolved and then not",
     R"(
invoke a:1 100 append s x 1
unknown a:1 110
invoke a:2 120 resolve s x
ok a:2 130 0
invoke a:3 140 resolve s x
ok a:3 150 none
invoke c:1 160 read s 0
ok c:1 170 1 x/0/1
)",
     {10}},
    {"a batch that was resolved to nothing and came later",
     R"(
invoke a:1 100 append s x 1
unknown a:1 110
invoke a:2 120 resolve s x
ok a:2 130 none
invoke c:1 160 read s 0
ok c:1 170 1 x/0/1
)",
     {10}},
    {"a batch of a killed writer that came after its resolve",
     R"(
invoke a:1 100 append s x 1
invoke b:1 120 resolve s x
ok b:1 130 none
invoke c:1 160 read s 0
ok c:1 170 1 x/0/1
)",
     {10}},
    {"a batch that was resolved to another place",
     R"(
invoke a:1 100 append s x 1
unknown a:1 110
invoke a:2 120 resolve s x
ok a:2 130 4
invoke c:1 160 read s 0
ok c:1 170 1 x/0/1
)",
     {10}},
    // A call without its result is half a batch, so 3 is broken as well.
    {"a view with a call that was never answered",
     R"(
invoke a:1 100 append s x 2
invoke b:1 100 append s y 1
unknown a:1 110
unknown b:1 110
invoke c:1 160 read s 0
ok c:1 170 1 x/0/2
invoke c:2 180 read s 0
ok c:2 190 3 x/0/2 y/0/1 x/1/2
)",
     {3, 11}},
};

TEST(History, FindsNothingWhereNothingIs) { EXPECT_EQ(violated(kFine + 1), std::set<int>{}); }

TEST(History, FindsEveryPlantedViolation) {
  std::set<int> all;
  for (const Planted& planted : kPlanted) {
    const std::set<int> found = violated(planted.lines + 1);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), planted.finds.begin(), planted.finds.end()))
        << planted.name << ": found " << testing::PrintToString(found);
    all.insert(planted.finds.begin(), planted.finds.end());
  }
  EXPECT_EQ(all.size(), 11U);
}

// Sending a batch again after it was resolved to nothing is no violation.
TEST(History, LetsAResolvedBatchBeSentAgain) {
  EXPECT_EQ(
      violated(
          "invoke a:1 100 append s x 1\nunknown a:1 110\ninvoke a:2 120 resolve s x\nok a:2 130 none\n"
          "invoke a:3 140 append s x 1\nok a:3 150 0 new\ninvoke c:1 160 read s 0\nok c:1 170 1 x/0/1\n"),
      std::set<int>{});
}

TEST(History, LeavesOutALineThatAKillCut) {
  const auto operations = read_history("invoke a:1 100 append s x 1\nok a:1 1");
  ASSERT_TRUE(operations);
  ASSERT_EQ(operations->size(), 1U);
  EXPECT_EQ(operations->at(0).outcome, Operation::Outcome::Unknown);
}

TEST(History, NamesTheInvalidLine) {
  for (const char* line : {"hello", "invoke a:1 x append s x 1", "invoke a:1 1 append s x",
                           "invoke a:1 1 jump s x", "ok a:1 1 0 new", "fail a:1 1"}) {
    const auto operations = read_history("invoke a:9 1 read s 0\n" + std::string(line) + "\n");
    ASSERT_FALSE(operations) << line;
    EXPECT_TRUE(operations.error().message.contains("line 2")) << operations.error().message;
  }
}

}  // namespace
}  // namespace parley::store
