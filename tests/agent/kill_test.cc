// Runs that are killed with SIGKILL at any moment, and resumed until they end (AGENT3, AGENT4).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "parley/base/ids.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/validate.h"

extern char** environ;

namespace parley {
namespace {

constexpr std::size_t kSteps = 20;
constexpr std::size_t kCalls = 30;

struct Task {
  std::string uri, session, effects, policy;
};

// Runs a worker and kills it when it has told `most` characters. True if it was too late: the run has ended.
bool run_and_kill(const Task& task, std::size_t most) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  std::vector<std::string> words = {PARLEY_RUN_WORKER, task.uri, task.session, task.effects, task.policy};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = -1;
  const int error = posix_spawn(&child, PARLEY_RUN_WORKER, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  EXPECT_EQ(error, 0);
  std::size_t told = 0;
  std::array<char, 16> buffer = {};
  for (ssize_t count = 1; error == 0 && count > 0;) {
    count = ::read(ends[0], buffer.data(), std::min(buffer.size(), most - told));
    if (count > 0) told += static_cast<std::size_t>(count);
    if (told >= most) {
      ::kill(child, SIGKILL);
      break;
    }
  }
  close(ends[0]);
  int status = 0;
  if (error == 0) waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "exit " << WEXITSTATUS(status);
  return !WIFSIGNALED(status);
}

std::map<std::string, std::size_t> lines_in(const std::string& path) {
  std::map<std::string, std::size_t> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) ++out[line];
  return out;
}

// What must hold whenever a worker has died: calls are stored before they have an effect, no call has its
// effect twice unless it was run again, and nothing is wrong with the history but calls that wait.
void expect_sound(const Task& task, const std::vector<Message>& log) {
  for (const Finding& finding : validate(log)) EXPECT_EQ(finding.code, "pending_call") << finding.sentence;
  std::map<std::string, bool> called;
  for (const Message& message : log) {
    for (const ToolCall& call : message.tool_calls()) called[call.id.str().substr(5)] = true;
  }
  for (const auto& [line, times] : lines_in(task.effects)) {
    EXPECT_TRUE(called.contains(line)) << line;
    EXPECT_TRUE(times == 1 || task.policy == "rerun") << line << " " << times << " times";
  }
}

// Gives the number of calls that were answered as interrupted.
std::size_t expect_finished(const Task& task, const std::vector<Message>& log) {
  if (log.empty()) {
    ADD_FAILURE() << "nothing was stored";
    return 0;
  }
  EXPECT_TRUE(validate(log).empty());
  EXPECT_EQ(log.back().content(), Text("finished"));
  EXPECT_EQ(log.size(), 1 + kSteps + kCalls + 1);
  const auto effects = lines_in(task.effects);
  std::size_t results = 0, interrupted = 0;
  for (const Message& message : log) {
    for (const Block& block : message.get_content_blocks({BlockType::ToolResult})) {
      const auto& result = *block.as<ToolResultBlock>();
      const bool is_done = effects.contains(result.id.str().substr(5));
      const bool is_error = result.is_error.value_or(false);
      EXPECT_TRUE(is_error || is_done) << result.id.view();
      EXPECT_FALSE(is_error && task.policy == "rerun") << result.id.view();
      ++results;
      interrupted += is_error ? 1 : 0;
    }
  }
  EXPECT_EQ(results, kCalls);
  return interrupted;
}

TEST(RunKills, AtAnyMomentAreMadeGoodByResuming) {
  const std::size_t goal = std::getenv("PARLEY_SOAK") != nullptr ? 5'000 : 200;
  std::string folder = (std::filesystem::temp_directory_path() / "parley-runs-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::size_t kills = 0, interrupted = 0;
  for (std::size_t n = 0; kills < goal && !testing::Test::HasFailure(); ++n) {
    const std::string name = "run" + std::to_string(n);
    const Task task{"sqlite:" + folder + "/store.db", name, folder + "/" + name,
                    n % 2 == 0 ? "interrupted" : "rerun"};
    for (bool has_ended = false; !has_ended && !testing::Test::HasFailure();) {
      // A run has some 180 events; it is killed about six times.
      has_ended = run_and_kill(task, kills < goal ? 1 + random_uuid()[1] % 60 : 1'000'000);
      kills += has_ended ? 0 : 1;
      auto store = store::open_store(task.uri);
      ASSERT_TRUE(store);
      const auto memory =
          StoredMemory::open(std::make_shared<store::Store>(*std::move(store)), {.session = task.session});
      ASSERT_TRUE(memory) << memory.error().message;
      expect_sound(task, memory->log().value());
      if (has_ended) interrupted += expect_finished(task, memory->log().value());
    }
  }
  EXPECT_GE(kills, goal);
  EXPECT_GT(interrupted, 0U) << "no kill fell between a call and its result";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace parley
