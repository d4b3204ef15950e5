// Kills, and a judge for what the survivors tell (history.h): nothing that was acknowledged is lost, and
// nothing is torn, doubled or out of order.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "history.h"
#include "redis_server.h"
#include "workload.h"

extern char** environ;

namespace parley::store {
namespace {

constexpr std::size_t kServerKills = 10;
constexpr std::size_t kClientKills = 100;

std::size_t lines_of(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The last reader sees what is there; then all that was told must fit together.
void judge_all(const std::string& uri, const Workload& workload, std::vector<std::string> told) {
  Result<Store> store = open_store(uri);
  ASSERT_TRUE(store) << store.error().message;
  told.emplace_back();
  run_last_reader(*store, workload, [&](std::string_view lines) { told.back() += lines; });
  std::vector<Operation> history;
  std::size_t acknowledged = 0;
  for (const std::string& lines : told) {
    Result<std::vector<Operation>> part = read_history(lines);
    ASSERT_TRUE(part) << part.error().message;
    for (Operation& operation : *part) {
      acknowledged +=
          operation.kind == Operation::Kind::Append && operation.outcome == Operation::Outcome::Ok ? 1 : 0;
      history.push_back(std::move(operation));
    }
  }
  EXPECT_GT(acknowledged, 0U);
  for (const Violation& violation : check_history(history)) {
    ADD_FAILURE() << "invariant " << violation.invariant << ": " << violation.what;
  }
}

TEST(RedisKills, OfTheServerLoseNothingThatWasAcknowledged) {
  auto server = RedisServer::start();
  ASSERT_TRUE(server) << server.error().message;
  const Workload workload{"default", 4, 400, 4};
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
  while (kills < kServerKills && at_work > 0) {
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
  EXPECT_EQ(kills, kServerKills);
  judge_all((*server)->uri(), workload, std::move(told));
}

// Runs a worker as a process and kills it when it has told some lines. What it told.
std::string run_and_kill(const std::string& uri, const Workload& workload, std::size_t index,
                         std::size_t lines, int& status) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<std::string> words = {PARLEY_STORE_WORKER,
                                    uri,
                                    workload.tenant,
                                    std::to_string(workload.workers),
                                    std::to_string(workload.steps),
                                    std::to_string(workload.sessions),
                                    std::to_string(index)};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawn(&child, PARLEY_STORE_WORKER, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string told;
  std::array<char, 4096> buffer = {};
  bool is_killed = false;
  for (ssize_t count = 1; error == 0 && count > 0;) {
    count = read(ends[0], buffer.data(), buffer.size());
    if (count > 0) told.append(buffer.data(), static_cast<std::size_t>(count));
    if (!is_killed && lines_of(told) >= lines) {
      ::kill(child, SIGKILL);
      is_killed = true;  // and the rest of the pipe is read
    }
  }
  close(ends[0]);
  if (error == 0) waitpid(child, &status, 0);
  return told;
}

TEST(RedisKills, OfClientsLeaveNothingTornOrDoubled) {
  auto server = RedisServer::start();
  ASSERT_TRUE(server) << server.error().message;
  const Workload workload{"default", kClientKills, 1'000'000, 4};
  std::vector<std::string> told(kClientKills);
  std::vector<int> statuses(kClientKills, 0);
  // Two at a time, so that the one that dies has a neighbour at work in the same sessions.
  std::vector<std::thread> threads;
  for (std::size_t first = 0; first < 2; ++first) {
    threads.emplace_back([&, first] {
      std::mt19937 random(static_cast<std::uint32_t>(first));
      for (std::size_t i = first; i < kClientKills; i += 2) {
        told[i] = run_and_kill((*server)->uri(), workload, i, 1 + random() % 60, statuses[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int status : statuses) EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  judge_all((*server)->uri(), workload, std::move(told));
}

}  // namespace
}  // namespace parley::store
