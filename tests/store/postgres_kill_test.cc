// Clients and servers of PostgreSQL that are killed with SIGKILL while they work, and a judge for what
// everybody saw (history.h).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <thread>

#include "history.h"
#include "parley/base/ids.h"
#include "postgres_server.h"
#include "workload.h"

extern char** environ;

namespace parley::store {
namespace {

constexpr std::size_t kClientKills = 100;
constexpr std::size_t kServerKills = 10;

void expect_sound(const std::vector<std::string>& told) {
  std::vector<Operation> history;
  for (const std::string& lines : told) {
    Result<std::vector<Operation>> part = read_history(lines);
    ASSERT_TRUE(part) << part.error().message;
    std::move(part->begin(), part->end(), std::back_inserter(history));
  }
  for (const Violation& violation : check_history(history)) {
    ADD_FAILURE() << "invariant " << violation.invariant << ": " << violation.what;
  }
}

// Runs one worker as a process, and kills it when it has told `most` bytes.
std::string run_and_kill(const std::string& uri, const Workload& workload, std::size_t index,
                         std::size_t most) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> words = {PARLEY_STORE_WORKER, uri, workload.tenant};
  for (const std::size_t n : {workload.workers, workload.steps, workload.sessions, index}) {
    words.push_back(std::to_string(n));
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawn(&child, PARLEY_STORE_WORKER, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string told;
  std::array<char, 4096> buffer = {};
  for (ssize_t count = 1; error == 0 && count > 0;) {
    count = read(ends[0], buffer.data(), buffer.size());
    if (count > 0) told.append(buffer.data(), static_cast<std::size_t>(count));
    if (told.size() >= most) ::kill(child, SIGKILL);  // what it has told by then is still read
  }
  close(ends[0]);
  int status = 0;
  if (error == 0) waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the worker ended before it was killed";
  return told;
}

TEST(PostgresKill, ClientsLeaveNothingTorn) {
  Result<std::shared_ptr<PostgresServer>> server = PostgresServer::shared();
  ASSERT_TRUE(server) << server.error().message;
  Workload workload;
  workload.workers = kClientKills;
  workload.steps = 1'000'000;
  std::vector<std::string> told(kClientKills + 1);
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < kClientKills; at = next++) {
        told[at] = run_and_kill((*server)->uri(), workload, at, 300 + random_uuid()[1] % 8'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Result<Store> store = open_store((*server)->uri());
  ASSERT_TRUE(store);
  run_last_reader(*store, workload, [&](std::string_view lines) { told.back() += lines; });
  expect_sound(told);
}

TEST(PostgresKill, ServersLoseNothingThatWasAcknowledged) {
  Result<std::shared_ptr<PostgresServer>> server = PostgresServer::start();
  ASSERT_TRUE(server) << server.error().message;
  for (std::size_t round = 0; round < kServerKills; ++round) {
    Workload workload;
    workload.tenant = "round " + std::to_string(round);
    workload.workers = 8;
    workload.steps = 400;
    std::vector<std::string> told(workload.workers + 1);
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
    run_last_reader(*store, workload, [&](std::string_view lines) { told.back() += lines; });
    expect_sound(told);
    EXPECT_FALSE(told.back().contains("fail"));
    EXPECT_TRUE(std::any_of(told.begin(), told.end(), [](const std::string& lines) {
      return lines.contains("fail ") || lines.contains("unknown ");
    })) << "the server was killed too late";
  }
}

}  // namespace
}  // namespace parley::store
