#include "server/http/own_routes.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "parley/base/log.h"
#include "server/http/server_testing.h"

namespace parley::server {
namespace {

using testing::Got;
using testing::TestServer;
using testing::TestServerOptions;

// A store as /ready finds it.
class StoreState {
 public:
  store::Health look() {
    std::unique_lock lock(mutex_);
    ++looks_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_held_; });
    store::Health out;
    out.is_ok = is_ok_;
    if (!is_ok_) out.error = fail(Code::Unavailable, "cannot open '/srv/secret/store.db'").error();
    return out;
  }
  void hold(bool is_held) {
    const std::lock_guard lock(mutex_);
    is_held_ = is_held;
    changed_.notify_all();
  }
  void wait_for_look() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return looks_ > 0; });
  }
  void break_it() {
    const std::lock_guard lock(mutex_);
    is_ok_ = false;
  }
  int looks() {
    const std::lock_guard lock(mutex_);
    return looks_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false, is_ok_ = true;
  int looks_ = 0;
};

class Ready : public ::testing::Test {
 protected:
  StoreState state_;
  std::shared_ptr<std::atomic<bool>> is_draining_ = std::make_shared<std::atomic<bool>>(false);
  TestServer server_{
      TestServerOptions{.routes = own_routes(is_draining_, [this](store::Store&) { return state_.look(); })}};
};

// OWN_ROUTES1
TEST_F(Ready, LooksAtTheStoreOnceASecond) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(server_.get("/ready").text, R"({"status":"ready"})");
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LE(state_.looks(), seconds + 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const int before = state_.looks();
  EXPECT_EQ(server_.get("/ready").status, 200);
  EXPECT_EQ(state_.looks(), before + 1);
}

// OWN_ROUTES1
TEST_F(Ready, WaitsForTheOneThatLooks) {
  state_.hold(true);
  std::vector<Got> got(8);
  {
    std::vector<std::jthread> clients;
    for (Got& each : got) clients.emplace_back([&] { each = server_.get("/ready"); });
    state_.wait_for_look();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    state_.hold(false);
  }
  for (const Got& each : got) EXPECT_EQ(each.status, 200) << each.text;
  EXPECT_EQ(state_.looks(), 1);
}

// OWN_ROUTES2
TEST_F(Ready, TellsTheErrorOfTheStoreToTheLogAlone) {
  std::mutex mutex;
  std::string logged;
  set_log_sink([&](LogLevel, std::string_view line) {
    const std::lock_guard lock(mutex);
    logged += line;
  });
  state_.break_it();
  const Got got = server_.get("/ready");
  set_log_sink({});
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.at("/error/code"), "not_ready");
  EXPECT_EQ(got.at("/error/message"), "the store does not work");
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(logged.contains("/srv/secret/store.db")) << logged;
}

TEST_F(Ready, IsOverWhenTheServerStops) {
  *is_draining_ = true;
  const Got got = server_.get("/ready");
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(state_.looks(), 0);
}

}  // namespace
}  // namespace parley::server
