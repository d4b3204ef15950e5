#include "kills.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <thread>
#include <utility>

#include "history.h"
#include "parley/base/ids.h"

extern char** environ;

namespace parley::store {
namespace {

// Starts a worker whose standard output is `output`; -1 if that fails.
pid_t start_worker(const std::string& uri, const Workload& workload, std::size_t index, int output) {
  std::vector<std::string> words = {PARLEY_STORE_WORKER, uri, workload.tenant};
  for (const std::size_t n : {workload.workers, workload.steps, workload.sessions, index}) {
    words.push_back(std::to_string(n));
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, PARLEY_STORE_WORKER, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : -1;
}

}  // namespace

std::size_t kill_count(std::size_t in_gate, std::size_t in_soak) {
  return std::getenv("PARLEY_SOAK") != nullptr ? in_soak : in_gate;
}

std::string run_and_kill(const std::string& uri, const Workload& workload, std::size_t index,
                         std::size_t most) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = start_worker(uri, workload, index, ends[1]);
  close(ends[1]);
  std::string told;
  std::array<char, 4096> buffer = {};
  for (ssize_t count = 1; child > 0 && count > 0;) {
    count = read(ends[0], buffer.data(), buffer.size());
    if (count > 0) told.append(buffer.data(), static_cast<std::size_t>(count));
    if (told.size() >= most) ::kill(child, SIGKILL);  // what it has told by then is still read
  }
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the worker ended before it was killed";
  return told;
}

void expect_sound(const std::string& uri, const Workload& workload, std::vector<std::string> told) {
  Result<Store> store = open_store(uri);
  ASSERT_TRUE(store) << store.error().message;
  told.emplace_back();
  run_last_reader(*store, workload, [&](std::string_view lines) { told.back() += lines; });
  EXPECT_FALSE(told.back().contains("fail"));
  std::vector<Operation> history;
  std::size_t acknowledged = 0;
  for (const std::string& lines : told) {
    Result<std::vector<Operation>> part = read_history(lines);
    ASSERT_TRUE(part) << part.error().message;
    for (const Operation& operation : *part) {
      const bool is_append = operation.kind == Operation::Kind::Append;
      acknowledged += is_append && operation.outcome == Operation::Outcome::Ok ? 1 : 0;
    }
    std::move(part->begin(), part->end(), std::back_inserter(history));
  }
  EXPECT_GT(acknowledged, 0U);
  for (const Violation& violation : check_history(history)) {
    ADD_FAILURE() << "invariant " << violation.invariant << ": " << violation.what;
  }
}

void kill_clients(const std::string& uri, const std::string& tenant, std::size_t count) {
  constexpr std::size_t kAtATime = 4;
  Workload workload;
  workload.tenant = tenant;
  workload.workers = count;
  workload.steps = 1'000'000;  // more than any run reaches
  std::vector<std::string> told(count);
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < kAtATime; ++i) {
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < count; at = next++) {
        told[at] = run_and_kill(uri, workload, at, 300 + random_uuid()[1] % 4'000);
      }
    });
  }
  threads.clear();
  expect_sound(uri, workload, std::move(told));
}

}  // namespace parley::store
