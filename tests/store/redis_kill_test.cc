// Kills, and a judge for what the survivors tell (history.h): nothing that was acknowledged is lost, and
// nothing is torn, doubled or out of order.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "kills.h"
#include "redis_server.h"

namespace parley::store {
namespace {

TEST(RedisKills, OfTheServerLoseNothingThatWasAcknowledged) {
  auto server = RedisServer::start();
  ASSERT_TRUE(server) << server.error().message;
  const std::size_t wanted = kill_count(10, 100);
  // What fails while the server is away is work too, and some must be left for the last kill.
  const Workload workload{"default", 4, 80 * wanted, 4};
  constexpr std::size_t kBetweenKills = 100;  // answers

  std::vector<std::string> told(workload.workers);
  std::atomic<std::size_t> answers = 0;
  std::atomic<std::size_t> at_work = workload.workers;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < workload.workers; ++i) {
    threads.emplace_back([&, i] {
      Result<Store> store = open_store((*server)->uri());
      if (store) {
        run_worker(*store, workload, i, [&](std::string_view lines) {
          told[i] += lines;
          if (lines.starts_with("ok")) ++answers;
          // While the server is away everything fails at once: leave some work for when it is back.
          if (lines.starts_with("fail")) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        });
      }
      --at_work;
    });
  }
  std::size_t kills = 0;
  while (kills < wanted && at_work > 0) {
    if (answers < (kills + 1) * kBetweenKills) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    (*server)->kill();
    ++kills;
    const Result<void> again = (*server)->start_again();
    EXPECT_TRUE(again) << again.error().message;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kills, wanted);
  expect_sound((*server)->uri(), workload, std::move(told));
}

// What such a kill leaves in the file is made by hand: the beginning of a transaction, cut at several places.
// What is acknowledged after it must still be there after one more start.
TEST(RedisKills, InTheMidstOfAWriteLoseNothingThatIsAcknowledgedLater) {
  auto server = RedisServer::start();
  ASSERT_TRUE(server) << server.error().message;
  Result<Store> store = open_store((*server)->uri());
  ASSERT_TRUE(store) << store.error().message;
  const SessionKey key{"t", "s"};
  constexpr std::uintmax_t kCuts = 10;
  std::vector<std::string> kept;
  for (std::uintmax_t cut = 0; cut < kCuts; ++cut) {
    const std::uintmax_t begin = std::filesystem::file_size((*server)->file());
    ASSERT_TRUE(store->append(key, batch_named("cut" + std::to_string(cut))));
    const std::uintmax_t end = std::filesystem::file_size((*server)->file());
    (*server)->kill();
    std::filesystem::resize_file((*server)->file(), begin + (end - begin) * cut / kCuts);
    ASSERT_TRUE((*server)->start_again());

    const Batch batch = batch_named("kept" + std::to_string(cut));
    const Result<Appended> appended = store->append(key, batch);
    ASSERT_TRUE(appended) << appended.error().message;
    EXPECT_EQ(appended->durability, Durability::Full);
    for (const Record& record : batch.records) kept.push_back(record.message_id);
    (*server)->kill();
    ASSERT_TRUE((*server)->start_again());

    const Result<Page> page = store->read(key);
    ASSERT_TRUE(page) << page.error().message;
    std::vector<std::string> found;
    for (const StoredRecord& record : page->records) found.push_back(record.message_id);
    ASSERT_EQ(found, kept) << "cut " << cut;
  }
}

TEST(RedisKills, OfClientsLeaveNothingTornOrDoubled) {
  auto server = RedisServer::start();
  ASSERT_TRUE(server) << server.error().message;
  kill_clients((*server)->uri(), "default", kill_count(100, 1'000));
}

}  // namespace
}  // namespace parley::store
