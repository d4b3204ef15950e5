// Clients and servers of PostgreSQL that are killed with SIGKILL while they work, and a judge for what
// all clients saw (history.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "kills.h"
#include "parley/base/ids.h"
#include "postgres_server.h"

namespace parley::store {
namespace {

TEST(PostgresKill, ClientsLeaveNothingTorn) {
  Result<std::shared_ptr<PostgresServer>> server = PostgresServer::shared();
  ASSERT_TRUE(server) << server.error().message;
  kill_clients((*server)->uri(), "killed " + new_short_id(), kill_count(100, 1'000));
}

TEST(PostgresKill, ServersLoseNothingThatWasAcknowledged) {
  Result<std::shared_ptr<PostgresServer>> server = PostgresServer::start();
  ASSERT_TRUE(server) << server.error().message;
  for (std::size_t round = 0; round < kill_count(10, 100); ++round) {
    Workload workload;
    workload.tenant = "round " + std::to_string(round);
    workload.workers = 8;
    workload.steps = 400;
    std::vector<std::string> told(workload.workers);
    Result<Store> store = open_store((*server)->uri());
    ASSERT_TRUE(store);
    const std::size_t enough = 20'000 + random_uuid()[1] % 100'000;
    std::atomic<std::size_t> bytes = 0;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < workload.workers; ++i) {
      threads.emplace_back([&, i] {
        run_worker(*store, workload, i, [&](std::string_view lines) {
          told[i] += lines;
          bytes += lines.size();
        });
      });
    }
    while (bytes < enough) std::this_thread::yield();
    EXPECT_TRUE((*server)->kill());
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE((*server)->restart());
    while (store->health().circuit != Circuit::Closed) std::this_thread::yield();
    expect_sound((*server)->uri(), workload, told);
    EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const std::string& lines) {
      return lines.contains("fail ") || lines.contains("unknown ");
    })) << "the server was killed too late";
  }
}

}  // namespace
}  // namespace parley::store
