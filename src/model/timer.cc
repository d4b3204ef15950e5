#include <condition_variable>
#include <mutex>
#include <random>

#include "parley/model/http_model.h"
#include "parley/net/event_loop.h"

namespace parley {
namespace {

class SystemTimer final : public Timer {
 public:
  Time now() override { return std::chrono::steady_clock::now(); }

  bool wait(std::chrono::milliseconds time, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
  }

  double chance() override {
    thread_local std::minstd_rand generator(std::random_device{}());
    return std::uniform_real_distribution<double>()(generator);
  }
};

}  // namespace

void Timer::wait_on(net::EventLoop& loop, std::chrono::milliseconds time, std::function<void()> then) {
  loop.after(time, std::move(then));
}

std::shared_ptr<Timer> system_timer() {
  static const auto kTimer = std::make_shared<SystemTimer>();
  return kTimer;
}

}  // namespace parley
