// The streams by Parley: by calls that block, each with a thread, and by calls on one event loop.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agent/streams.h"
#include "agent/task.h"
#include "parley/model/http_model.h"
#include "parley/net/event_loop.h"

namespace bench::agent_task {

using namespace ::parley;

namespace {

std::shared_ptr<Model> model_at(const std::string& url) {
  ModelConfig config;
  config.model = "compatible/m";
  config.base_url = url;
  auto model = open_model(std::move(config));
  check(model.has_value(), "opening a model");
  return *std::move(model);
}

ModelRequest request() { return {.conversation = Conversation({Message::user_message(Text("Go on."))})}; }

CallOptions counting(std::size_t& count) {
  return {.on_event = [&](const StreamEvent& event) {
    count += std::holds_alternative<stream::Delta>(event) ? 1 : 0;
  }};
}

bool is_whole(const Called<ModelAnswer>& answer) { return answer.has_value() && !answer->cut; }

}  // namespace

std::size_t take_by_threads(const std::string& url) {
  const auto model = model_at(url);
  std::atomic<std::size_t> tokens = 0;
  const auto take = [&] {
    std::size_t count = 0;
    check(is_whole(model->complete(request(), counting(count))), "a stream of Parley");
    tokens += count;
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kStreams);
    for (std::size_t i = 0; i < kStreams; ++i) threads.emplace_back(take);
  }
  return tokens;
}

std::size_t take_by_loop(const std::string& url) {
  const auto model = model_at(url);
  auto loop = net::EventLoop::start();
  check(loop.has_value(), "starting an event loop");
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t tokens = 0;  // the loop's
  std::size_t left = kStreams;
  for (std::size_t i = 0; i < kStreams; ++i) {
    model->start(request(), counting(tokens), **loop, [&](const Called<ModelAnswer>& answer) {
      check(is_whole(answer), "a stream of Parley");
      const std::lock_guard lock(mutex);
      if (--left == 0) ended.notify_one();
    });
  }
  {
    std::unique_lock lock(mutex);
    ended.wait(lock, [&] { return left == 0; });
  }
  (*loop)->finish();
  return tokens;
}

}  // namespace bench::agent_task
