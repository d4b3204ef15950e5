#include "store/rules.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace parley::store {
namespace {

template <typename T>
std::string code_of(const Result<T>& result) {
  return std::string(result ? "ok" : to_string(result.error().code));
}

RowBatch batch_with_lease(const std::string& token) {
  RowBatch out;
  out.lease = token;
  return out;
}

TEST(Rules, TakeABatchAgainOnlyIfItIsTheSame) {
  const RowBatch batch{.id = "b", .hash = 7, .rows = {}};
  const Result<Appended> same = repeated(batch, 7, {3, 2, Durability::Full, false});
  ASSERT_TRUE(same);
  EXPECT_EQ(same->first, 3U);
  EXPECT_EQ(same->count, 2U);
  EXPECT_EQ(same->durability, Durability::Full);
  EXPECT_TRUE(same->repeated);
  EXPECT_EQ(code_of(repeated(batch, 8, {})), "invalid");
}

TEST(Rules, TakeABatchOfTheExpectedSize) {
  RowBatch batch;
  EXPECT_EQ(code_of(check_size(batch, 5)), "ok");
  batch.expected_size = 5;
  EXPECT_EQ(code_of(check_size(batch, 4)), "conflict");
  EXPECT_EQ(code_of(check_size(batch, 5)), "ok");
  EXPECT_EQ(code_of(check_size(batch, 6)), "conflict");
}

TEST(Rules, HoldALeaseUntilItsTime) {
  const Lease held{"token", "owner", 1'000};
  struct Case {
    const char* token;
    std::int64_t now;
    const char* code;
  };
  for (const Case& c :
       {Case{"token", 999, "ok"}, Case{"", 999, "conflict"}, Case{"other", 999, "conflict"},
        Case{"token", 1'000, "conflict"}, Case{"", 1'000, "ok"}, Case{"other", 1'000, "conflict"}}) {
    EXPECT_EQ(code_of(check_lease(batch_with_lease(c.token), held, c.now).batch), c.code)
        << c.token << " at " << c.now;
  }
  EXPECT_EQ(code_of(check_lease(batch_with_lease(""), {}, 0).batch), "ok");
  EXPECT_EQ(code_of(check_lease(batch_with_lease("token"), {}, 0).batch), "conflict");
}

TEST(Rules, GrantALeaseThatIsFree) {
  const Lease held{"token", "the owner", 1'000};
  const auto ask = [&](const char* token, std::int64_t now, bool takes_over) {
    return granted(held, {"me", token, std::chrono::milliseconds(50), takes_over}, now);
  };
  EXPECT_EQ(code_of(ask("other", 999, false)), "conflict");
  EXPECT_TRUE(ask("other", 999, false).error().message.contains("the owner"));
  EXPECT_EQ(code_of(ask("token", 999, false)), "ok");
  EXPECT_EQ(code_of(ask("other", 999, true)), "ok");
  const Result<Lease> next = ask("other", 1'000, false);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->token, "other");
  EXPECT_EQ(next->owner, "me");
  EXPECT_EQ(next->until_ms, 1'050);
}

TEST(Rules, ForkWhatIsThere) {
  EXPECT_EQ(code_of(check_fork({"t", "s"}, 3, 2)), "ok");
  EXPECT_EQ(code_of(check_fork({"t", "s"}, 3, 3)), "ok");
  EXPECT_EQ(code_of(check_fork({"t", "s"}, 3, 4)), "invalid");
}

// How many rows of 10 bytes a page takes, half of them in a medium.
std::size_t taken(const Range& range) {
  Row row;
  row.record.body = "12345";
  row.media.push_back({0, {}, std::make_shared<const std::string>("67890")});
  row.media.push_back({0, {}, nullptr});  // lost, and of no size
  PageLimit limit(range);
  std::size_t out = 0;
  while (out < 10 && limit.takes(row)) ++out;
  return out;
}

TEST(PageLimit, TakesUpToItsCountAndBytes) {
  EXPECT_EQ(taken({.count = 0}), 0U);
  EXPECT_EQ(taken({.count = 3}), 3U);
  EXPECT_EQ(taken({.bytes = 0}), 1U);
  EXPECT_EQ(taken({.bytes = 19}), 1U);
  EXPECT_EQ(taken({.bytes = 20}), 2U);
  EXPECT_EQ(taken({.bytes = 21}), 2U);
  EXPECT_EQ(taken({.count = 0, .bytes = 0}), 0U);
  EXPECT_EQ(taken({.bytes = std::numeric_limits<std::size_t>::max()}), 10U);
}

SessionInfo info(const std::string& name, std::int64_t updated_ms) {
  SessionInfo out;
  out.session = name;
  out.updated_ms = updated_ms;
  return out;
}

TEST(Lists, HaveTheLatestFirstAndThenTheName) {
  EXPECT_TRUE(comes_before(info("b", 2), info("a", 1)));
  EXPECT_FALSE(comes_before(info("a", 1), info("b", 2)));
  EXPECT_TRUE(comes_before(info("a", 1), info("b", 1)));
  EXPECT_FALSE(comes_before(info("a", 1), info("a", 1)));
  EXPECT_TRUE(comes_before(info("z", 1), info("\u00e9", 1)));  // by bytes, not as chars that have a sign
}

TEST(Lists, ContinueAfterTheirCursor) {
  for (const SessionInfo& last : {info("a:b", 5), info("", 0), info("1:2", -5), info("\u00e9", 5)}) {
    const Result<ListCursor> cursor = ListCursor::read(ListCursor::write(last));
    ASSERT_TRUE(cursor);
    EXPECT_EQ(cursor->session, last.session);
    EXPECT_EQ(cursor->updated_ms, last.updated_ms);
    EXPECT_FALSE(cursor->is_before(last));
    EXPECT_TRUE(cursor->is_before(info(last.session, last.updated_ms - 1)));
    EXPECT_TRUE(cursor->is_before(info(last.session + "!", last.updated_ms)));
    EXPECT_FALSE(cursor->is_before(info(last.session, last.updated_ms + 1)));
  }
  const Result<ListCursor> start = ListCursor::read("");
  ASSERT_TRUE(start);
  EXPECT_TRUE(start->is_before(info("", 0)));
  for (const char* text : {"x", "1", ":", "1;a", "99999999999999999999:a"}) {
    EXPECT_EQ(code_of(ListCursor::read(text)), "invalid") << text;
  }
}

TEST(Lists, SayWhereToGoOnOnlyIfThereIsMore) {
  const std::vector<SessionInfo> two = {info("a", 2), info("b", 1)};
  EXPECT_EQ(first_of(two, 1).next, "2:a");
  EXPECT_EQ(first_of(two, 1).sessions.size(), 1U);
  EXPECT_EQ(first_of(two, 2).next, "");
  EXPECT_EQ(first_of(two, 3).next, "");
  EXPECT_EQ(first_of({}, 1).sessions.size(), 0U);
}

}  // namespace
}  // namespace parley::store
