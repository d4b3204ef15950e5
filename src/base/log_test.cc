#include "parley/base/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/planted_secret_testing.h"

namespace parley {
namespace {

class LogHook : public testing::Test {
 protected:
  ~LogHook() override { set_log_sink({}); }
};

TEST_F(LogHook, IsSilentUnlessASinkIsSet) {
  EXPECT_FALSE(is_logging());
  log(LogLevel::Error, "not logged");
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel level, std::string_view line) {
    lines.push_back(std::string(to_string(level)) + " " + std::string(line));
  });
  EXPECT_TRUE(is_logging());
  log(LogLevel::Warning, "a line");
  set_log_sink({});
  log(LogLevel::Warning, "another");
  EXPECT_EQ(lines, (std::vector<std::string>{"warning a line"}));
}

TEST_F(LogHook, SinksNeverSeeASecret) {
  std::string seen;
  set_log_sink([&](LogLevel, std::string_view line) { seen = line; });
  log(LogLevel::Info, "GET /v1/models?key=" + planted_secret() + "&alt=sse");
  EXPECT_EQ(seen, "GET /v1/models?key=[redacted: query parameter]&alt=sse");
}

TEST_F(LogHook, TakesLinesFromSeveralThreads) {
  std::atomic<int> count = 0;
  set_log_sink([&](LogLevel, std::string_view) { ++count; });
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) log(LogLevel::Debug, "line");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 400);
}

// A sink may log, or replace itself: no lock is held while it runs.
TEST_F(LogHook, SinksMayCallBack) {
  int count = 0;
  set_log_sink([&](LogLevel level, std::string_view) {
    if (++count == 1) log(level, "again");
    set_log_sink({});
  });
  log(LogLevel::Info, "once");
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace parley
