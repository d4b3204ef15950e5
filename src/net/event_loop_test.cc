#include "parley/net/event_loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

namespace parley::net {
namespace {

using namespace std::chrono_literals;

// EVENT_LOOP1
TEST(EventLoop, RunsCallsInOrder) {
  const auto loop = EventLoop::start().value();
  std::vector<int> order;
  std::promise<void> done;
  EXPECT_FALSE(loop->is_this_thread());
  loop->post([&] {
    EXPECT_TRUE(loop->is_this_thread());
    loop->post([&] { order.push_back(3); });
    loop->run([&] { order.push_back(1); });
    order.push_back(2);
    loop->post([&] { done.set_value(); });
  });
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

// EVENT_LOOP2
TEST(EventLoop, RunsACallAfterItsTime) {
  const auto loop = EventLoop::start().value();
  std::promise<std::chrono::steady_clock::time_point> ran;
  const auto before = std::chrono::steady_clock::now();
  loop->after(20ms, [&] { ran.set_value(std::chrono::steady_clock::now()); });
  EXPECT_GE(ran.get_future().get() - before, 20ms);
}

// EVENT_LOOP3
TEST(EventLoop, DropsWhatIsGivenAfterItsEnd) {
  const auto loop = EventLoop::start().value();
  const auto token = std::make_shared<int>(0);
  loop->after(1h, [token] { FAIL(); });
  loop->finish();
  EXPECT_EQ(token.use_count(), 1) << "a timer does not hold the loop, and its call is freed";
  for (const auto give : {&EventLoop::run, &EventLoop::post}) ((*loop).*give)([token] { FAIL(); });
  loop->after(0ms, [token] { FAIL(); });
  EXPECT_EQ(token.use_count(), 1);
  loop->finish();
}

// EVENT_LOOP3
TEST(EventLoop, EndsWhileOthersGiveItCalls) {
  const auto loop = EventLoop::start().value();
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      loop->post([&] { loop->post([] {}); });
      std::this_thread::yield();
    }
  });
  loop->finish();
}

// EVENT_LOOP4
TEST(EventLoop, IsKnownToItsOwnThread) {
  const auto one = EventLoop::start().value();
  const auto other = EventLoop::start().value();
  const auto current_of = [](EventLoop& loop) {
    std::promise<EventLoop*> current;
    loop.post([&] { current.set_value(EventLoop::current()); });
    return current.get_future().get();
  };
  EXPECT_EQ(current_of(*one), one.get());
  EXPECT_EQ(current_of(*other), other.get());
  EXPECT_EQ(EventLoop::current(), nullptr);
}

}  // namespace
}  // namespace parley::net
