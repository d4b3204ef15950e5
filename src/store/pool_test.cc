#include "store/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

namespace parley::store {
namespace {

using std::chrono::milliseconds;

// A server that counts.
struct Server {
  std::atomic<int> made = 0;
  std::atomic<int> open = 0;
  std::mutex mutex;
  int most = 1'000;
  bool is_down = false;
  bool is_slow = false;
  bool has_restarted = false;
};

struct Line {
  explicit Line(Server& s) : server(s), number(++s.made) { ++s.open; }
  ~Line() { --server.open; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  bool is_alive() const { return !server.has_restarted; }
  Server& server;
  int number;
};

Pool<Line> pool_of(Server& server, const StoreOptions& options) {
  return Pool<Line>(
      [&server](Deadline) -> Result<std::unique_ptr<Line>> {
        if (server.is_slow) return fail(Code::Timeout, "slow");
        if (server.is_down) return fail(Code::Unavailable, "down");
        const std::lock_guard lock(server.mutex);
        if (server.open >= server.most) return fail(Code::Unavailable, "too many clients");
        return std::make_unique<Line>(server);
      },
      options);
}

Deadline soon() { return Deadline::in(milliseconds(10'000)); }

TEST(Pool, ConnectsAtTheFirstCallAndLendsTheSameAgain) {
  Server server;
  Pool<Line> pool = pool_of(server, {});
  EXPECT_EQ(server.made, 0);
  for (int i = 0; i < 3; ++i) {
    auto lent = pool.take(soon());
    ASSERT_TRUE(lent);
    EXPECT_EQ((*lent)->number, 1);
    std::move(*lent).keep();
  }
  EXPECT_EQ(server.open, 1);
}

TEST(Pool, ClosesConnectionsThatWereNotKept) {  // POOL2
  Server server;
  Pool<Line> pool = pool_of(server, {});
  {
    ASSERT_TRUE(pool.take(soon()));
  }
  EXPECT_EQ(server.open, 0);
  ASSERT_TRUE(pool.take(soon()));
  EXPECT_EQ(server.made, 2);
}

TEST(Pool, LendsTheOneThatWasUsedLast) {
  Server server;
  Pool<Line> pool = pool_of(server, {});
  auto a = pool.take(soon());
  auto b = pool.take(soon());
  ASSERT_TRUE(a && b);
  std::move(*b).keep();
  std::move(*a).keep();
  EXPECT_EQ((*pool.take(soon()))->number, 1);
}

TEST(Pool, HasNoMoreThanItMay) {  // POOL1
  Server server;
  Pool<Line> pool = pool_of(server, {.connections = 1});
  auto first = pool.take(soon());
  ASSERT_TRUE(first);
  EXPECT_EQ(pool.take(Deadline::in(milliseconds(1))).error().code, Code::Timeout);
  EXPECT_EQ(server.made, 1);
  std::move(*first).keep();
  EXPECT_TRUE(pool.take(Deadline::in(milliseconds(10'000))));
  EXPECT_EQ(pool.take(Deadline::in(milliseconds(0))).error().code, Code::Timeout);
}

TEST(Pool, LendsToManyThreadsInTurn) {  // POOL1
  Server server;
  Pool<Line> pool = pool_of(server, {.connections = 2});
  std::mutex mutex;
  std::multiset<int> busy;
  bool is_shared = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto lent = pool.take(soon());
        ASSERT_TRUE(lent);
        const int number = (*lent)->number;
        {
          const std::lock_guard lock(mutex);
          busy.insert(number);
          if (busy.count(number) > 1 || busy.size() > 2) is_shared = true;
        }
        const std::lock_guard lock(mutex);
        busy.erase(number);
        std::move(*lent).keep();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(is_shared);
  EXPECT_LE(server.made, 2);
}

TEST(Pool, LendsNothingOldOrDead) {  // POOL3
  const StoreOptions no_idle{.idle_limit = milliseconds(0)};
  const StoreOptions no_life{.life_limit = milliseconds(0)};
  for (const StoreOptions& options : {no_idle, no_life}) {
    Server server;
    Pool<Line> pool = pool_of(server, options);
    for (int i = 1; i <= 3; ++i) {
      auto lent = pool.take(soon());
      ASSERT_TRUE(lent);
      EXPECT_EQ(server.made, i);
      std::move(*lent).keep();
    }
    EXPECT_EQ(server.open, 1);
  }
  Server server;
  Pool<Line> pool = pool_of(server, {});
  auto a = pool.take(soon());
  auto b = pool.take(soon());
  ASSERT_TRUE(a && b);
  std::move(*a).keep();
  std::move(*b).keep();
  server.has_restarted = true;
  ASSERT_TRUE(pool.take(soon()));
  EXPECT_EQ(server.made, 3);
  EXPECT_EQ(server.open, 0);
}

TEST(Pool, OpensTheCircuitWhileTheServerIsDown) {  // POOL4
  Server server;
  server.is_down = true;
  Pool<Line> pool = pool_of(server, {.connections = 1});
  EXPECT_EQ(pool.circuit(), Circuit::Closed);
  EXPECT_EQ(pool.take(soon()).error().message, "down");
  EXPECT_NE(pool.circuit(), Circuit::Closed);
  EXPECT_TRUE(pool.take(soon()).error().message.ends_with("down"));  // at once, or after one more try
  server.is_down = false;
  while (pool.circuit() == Circuit::Open) std::this_thread::yield();
  EXPECT_EQ(pool.circuit(), Circuit::HalfOpen);
  ASSERT_TRUE(pool.take(soon()));
  EXPECT_EQ(pool.circuit(), Circuit::Closed);
}

TEST(Pool, MakesDoWithWhatTheServerGives) {  // POOL6
  Server server;
  server.most = 2;
  Pool<Line> pool = pool_of(server, {.connections = 8});
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto lent = pool.take(soon());
        if (!lent) {
          ++failures;
          continue;
        }
        std::this_thread::yield();
        std::move(*lent).keep();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(pool.circuit(), Circuit::Closed);
  // It gives more again.
  server.most = 3;
  auto a = pool.take(soon());
  auto b = pool.take(soon());
  auto c = pool.take(soon());
  EXPECT_TRUE(a && b && c);
}

TEST(Pool, WaitsForALiveConnectionUntilItsDeadline) {  // POOL6
  Server server;
  server.most = 1;
  Pool<Line> pool = pool_of(server, {.connections = 2});
  auto first = pool.take(soon());
  ASSERT_TRUE(first);
  EXPECT_EQ(pool.take(Deadline::in(milliseconds(20))).error().code, Code::Timeout);
  EXPECT_EQ(pool.circuit(), Circuit::Closed);
  // With the last one goes the last hope.
  server.is_down = true;
  {
    const auto gone = *std::move(first);
  }
  EXPECT_EQ(pool.take(soon()).error().code, Code::Unavailable);
  EXPECT_NE(pool.circuit(), Circuit::Closed);
}

TEST(Pool, DoesNotBlameTheServerForShortDeadlines) {  // POOL4
  Server server;
  Pool<Line> pool = pool_of(server, {.connections = 1});
  server.is_slow = true;
  EXPECT_EQ(pool.take(soon()).error().code, Code::Timeout);
  EXPECT_EQ(pool.circuit(), Circuit::Closed);
  server.is_slow = false;
  EXPECT_TRUE(pool.take(soon()));
}

TEST(Breaker, PausesLongerWithEveryFailureAndLetsOneTry) {  // POOL4
  Breaker breaker;
  Breaker::Time now{};
  EXPECT_EQ(breaker.state(now), Circuit::Closed);
  EXPECT_TRUE(breaker.may_try(now));
  EXPECT_TRUE(breaker.may_try(now));  // as many as like to, while it is closed
  milliseconds most = Breaker::kFirstPause;
  for (int failure = 0; failure < 1'100; ++failure) {
    const auto longest = static_cast<std::uint64_t>(most.count() - 1);
    breaker.failed(now, longest);
    EXPECT_EQ(breaker.state(now + most - milliseconds(1)), Circuit::Open);
    EXPECT_FALSE(breaker.may_try(now + most - milliseconds(1)));
    now += most;
    EXPECT_EQ(breaker.state(now), Circuit::HalfOpen);
    EXPECT_TRUE(breaker.may_try(now));
    EXPECT_FALSE(breaker.may_try(now));  // one is trying
    breaker.gave_up();
    EXPECT_TRUE(breaker.may_try(now));
    most = std::min(most * 2, Breaker::kLongestPause);
  }
  breaker.failed(now, 0);
  EXPECT_EQ(breaker.state(now), Circuit::Open);
  EXPECT_EQ(breaker.state(now + milliseconds(1)), Circuit::HalfOpen);
  breaker.succeeded();
  EXPECT_EQ(breaker.state(now), Circuit::Closed);
  EXPECT_TRUE(breaker.may_try(now));
}

}  // namespace
}  // namespace parley::store
