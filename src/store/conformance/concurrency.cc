// What holds when several do it at once. Threads of one process stand for many; tests with processes and
// kills are beyond a library.
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/conformance/subject.h"

namespace parley::store::conformance {
namespace {

constexpr std::size_t kThreads = 6;

// Runs `work` in several threads, which use the two openings by turns. The first error that one gave.
Result<void> at_once(const Subject& s, const std::function<Result<void>(Store& store, std::size_t)>& work) {
  std::vector<Result<void>> results(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] { results[i] = work(i % 2 == 0 ? *s.one : *s.two, i); });
  }
  for (std::thread& thread : threads) thread.join();
  for (Result<void>& result : results) PARLEY_CHECK(std::move(result));
  return {};
}

// Every batch stands whole where its answer said.
Result<void> batches_at_once_are_whole(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("at once");
  constexpr std::size_t kBatches = 20;
  PARLEY_CHECK(at_once(s, [&](Store& store, std::size_t thread) -> Result<void> {
    Position last = 0;
    for (std::size_t i = 0; i < kBatches; ++i) {
      const std::string what = "thread " + std::to_string(thread) + " batch " + std::to_string(i);
      const std::size_t count = 1 + (thread + i) % 4;
      PARLEY_TRY(const Appended came, append(store, key, numbered(0, count, what)));
      PARLEY_TRY(const Page page, must("read", store.read(key, {.first = came.first, .count = count})));
      PARLEY_CHECK(expect_equal("records where the batch is", count, page.records.size()));
      for (std::size_t k = 0; k < count; ++k) {
        PARLEY_CHECK(
            expect_equal("a record of the batch", what + " " + std::to_string(k), page.records[k].body));
      }
      PARLEY_CHECK(expect("a thread's batches are in its order", i == 0 || came.first > last));
      last = came.first;
    }
    return {};
  }));
  std::size_t expected = 0;
  for (std::size_t thread = 0; thread < kThreads; ++thread) {
    for (std::size_t i = 0; i < kBatches; ++i) expected += 1 + (thread + i) % 4;
  }
  PARLEY_TRY(const SessionInfo info, must("head", s.two->head(key)));
  return expect_equal("records of all threads", expected, info.size);
}

Result<void> one_batch_at_once_is_kept_once(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("same");
  constexpr std::size_t kBatches = 15;
  for (std::size_t i = 0; i < kBatches; ++i) {
    std::atomic<std::size_t> first_times = 0;
    const Batch batch(std::to_string(i), numbered(i * 2, 2));
    PARLEY_CHECK(at_once(s, [&](Store& store, std::size_t) -> Result<void> {
      PARLEY_TRY(const Appended came, must("a batch that all append", store.append(key, batch)));
      if (!came.repeated) ++first_times;
      return expect_equal("its position", i * 2, came.first);
    }));
    PARLEY_CHECK(expect_equal("how many appends reported a new batch", std::size_t{1}, first_times.load()));
  }
  return expect_numbered(*s.two, key, kBatches * 2);
}

Result<void> one_of_many_has_the_size_it_expects(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("sizes");
  constexpr std::size_t kRounds = 10;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::atomic<std::size_t> taken = 0;
    PARLEY_CHECK(at_once(s, [&](Store& store, std::size_t) -> Result<void> {
      Batch batch(numbered(round, 1));
      batch.expected_size = round;
      const Result<Appended> came = store.append(key, batch);
      if (came) ++taken;
      return came ? Result<void>() : expect_fails("the size of before", Code::Conflict, came);
    }));
    PARLEY_CHECK(expect_equal("how many batches were taken", std::size_t{1}, taken.load()));
  }
  return expect_numbered(*s.two, key, kRounds);
}

Result<void> one_of_many_has_the_lease(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("leased");
  constexpr std::size_t kTurns = 5;
  PARLEY_CHECK(at_once(s, [&](Store& store, std::size_t thread) -> Result<void> {
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      PARLEY_TRY(const Lease lease,
                 must("waiting for a turn",
                      store.lease(key, std::to_string(thread), std::chrono::hours(1), LeaseMode::Wait)));
      // No other append comes between reading the size and this append.
      PARLEY_TRY(const SessionInfo info, must("head", store.head(key)));
      Batch batch(numbered(info.size, 2));
      batch.lease = lease.token;
      PARLEY_TRY(const Appended came, must("an append under the lease", store.append(key, batch)));
      PARLEY_CHECK(expect_equal("the position under the lease", info.size, came.first));
      PARLEY_CHECK(must("release", store.release(key, lease)));
    }
    return {};
  }));
  return expect_numbered(*s.one, key, kThreads * kTurns * 2);
}

Result<void> reads_at_once_are_beginnings_of_each_other(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  const SessionKey key = s.key("read");
  constexpr std::size_t kBatches = 60;
  PARLEY_CHECK(append(*s.one, key, numbered(0, 3)));
  return at_once(s, [&](Store& store, std::size_t thread) -> Result<void> {
    if (thread == 0) {
      for (std::size_t i = 1; i < kBatches; ++i) {
        PARLEY_CHECK(append(store, key, numbered(i * 3, 3)));
      }
      return {};
    }
    std::size_t last = 0;
    while (last < kBatches * 3) {
      PARLEY_TRY(const Page page, must("read", store.read(key)));
      PARLEY_CHECK(
          expect_equal("a batch is there whole: records beyond", std::size_t{0}, page.records.size() % 3));
      PARLEY_CHECK(expect_equal("the size and the records", page.size, page.records.size()));
      PARLEY_CHECK(expect("a later read is not shorter", page.records.size() >= last));
      last = page.records.size();
      for (std::size_t i = 0; i < last; ++i) {
        PARLEY_CHECK(expect_equal("a record", "record " + std::to_string(i), page.records[i].body));
      }
    }
    return {};
  });
}

Result<void> one_of_many_makes_the_fork(const Open& open) {
  PARLEY_TRY(const Subject s, subject(open));
  PARLEY_CHECK(append(*s.one, s.key("from"), numbered(0, 4)));
  for (const char* name : {"a", "b", "c", "d"}) {
    std::atomic<std::size_t> made = 0;
    PARLEY_CHECK(at_once(s, [&](Store& store, std::size_t) -> Result<void> {
      const Result<SessionInfo> came = store.fork(s.key("from"), name, 4);
      if (came) ++made;
      return came ? Result<void>() : expect_fails("a fork that exists", Code::Conflict, came);
    }));
    PARLEY_CHECK(expect_equal("how many made the fork", std::size_t{1}, made.load()));
    PARLEY_CHECK(expect_numbered(*s.two, s.key(name), 4));
  }
  return {};
}

constexpr Check kChecks[] = {
    {"batches_at_once_are_whole", "P1",
     "Batches of concurrent writers are whole, at their reported positions.", batches_at_once_are_whole},
    {"one_batch_at_once_is_kept_once", "P4", "A batch that many writers append is stored once.",
     one_batch_at_once_is_kept_once},
    {"one_of_many_has_the_size_it_expects", "P3", "Of many batches with one expected size, one succeeds.",
     one_of_many_has_the_size_it_expects},
    {"one_of_many_has_the_lease", "P3", "A lease has one owner at a time.", one_of_many_has_the_lease},
    {"reads_at_once_are_beginnings_of_each_other", "P1", "A reader sees whole batches, and never fewer.",
     reads_at_once_are_beginnings_of_each_other},
    {"one_of_many_makes_the_fork", "P12", "Of many equal forks, one succeeds.", one_of_many_makes_the_fork},
};

}  // namespace

std::span<const Check> concurrency_checks() { return kChecks; }

}  // namespace parley::store::conformance
