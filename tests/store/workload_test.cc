// Many writers at once, a fifth of the batches delivered twice, and a judge for what they saw. Threads on
// every backend; processes too where the data can be opened by them.
#include "workload.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "history.h"
#include "kills.h"
#include "test_backends.h"

extern char** environ;

namespace parley::store {
namespace {

const std::size_t kAppends = kill_count(20'000, 200'000);
constexpr std::size_t kThreads = 8;
constexpr std::size_t kProcesses = 4;

// Runs one worker as a process, to its end; what it told.
std::string run_process(const std::string& uri, const Workload& workload, std::size_t index, int& status) {
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
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawn(&child, PARLEY_STORE_WORKER, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string told;
  std::array<char, 65536> buffer = {};
  for (ssize_t count = 1; error == 0 && count > 0;) {
    count = read(ends[0], buffer.data(), buffer.size());
    if (count > 0) told.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  if (error == 0) waitpid(child, &status, 0);
  return told;
}

class Workloads : public testing::TestWithParam<std::size_t> {};

TEST_P(Workloads, LoseTearDoubleAndReorderNothing) {
  Result<std::unique_ptr<TestBackend>> place = test_backend_kinds()[GetParam()].make();
  ASSERT_TRUE(place) << place.error().message;
  const std::string uri = (*place)->uri();
  Workload workload;
  workload.workers = uri.empty() ? kThreads : kThreads + kProcesses;
  while (appends_of(workload) < kAppends) ++workload.steps;

  std::vector<std::string> told(workload.workers);
  std::vector<int> statuses(workload.workers, 0);
  std::vector<std::thread> threads;
  threads.reserve(workload.workers);
  for (std::size_t i = 0; i < workload.workers; ++i) {
    threads.emplace_back([&, i] {
      if (i >= kThreads) {
        statuses[i] = -1;
        told[i] = run_process(uri, workload, i, statuses[i]);
        return;
      }
      const auto opened = (*place)->open();
      if (!opened) return;
      run_worker(**opened, workload, i, [&](std::string_view lines) { told[i] += lines; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto store = (*place)->open();
  ASSERT_TRUE(store) << store.error().message;
  told.emplace_back();
  run_last_reader(**store, workload, [&](std::string_view lines) { told.back() += lines; });

  EXPECT_EQ(statuses, std::vector<int>(workload.workers, 0));

  std::vector<Operation> history;
  for (const std::string& lines : told) {
    Result<std::vector<Operation>> part = read_history(lines);
    ASSERT_TRUE(part) << part.error().message;
    std::move(part->begin(), part->end(), std::back_inserter(history));
  }
  std::size_t appends = 0;
  for (const Operation& op : history) {
    EXPECT_EQ(op.outcome, Operation::Outcome::Ok) << op.writer << " " << op.session << " " << op.batch;
    appends += op.kind == Operation::Kind::Append ? 1 : 0;
  }
  EXPECT_EQ(appends, appends_of(workload));
  EXPECT_GE(appends, kAppends);
  for (const Violation& violation : check_history(history)) {
    ADD_FAILURE() << "invariant " << violation.invariant << ": " << violation.what;
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, Workloads, testing::Range(std::size_t{0}, test_backend_kinds().size()),
                         [](const auto& kind) { return std::string(test_backend_kinds()[kind.param].name); });

}  // namespace
}  // namespace parley::store
