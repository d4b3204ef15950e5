#include "model/async_call.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "model/server_testing.h"
#include "parley/model/rehearsal.h"
#include "parley/net/server.h"

namespace parley::model {
namespace {

using namespace std::chrono_literals;

std::string event(std::string_view text) {
  return "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(text) + "\"}}]}\n\n";
}

std::shared_ptr<Model> model_at(const net::Server& server) {
  ModelConfig config;
  config.model = "compatible/m";
  config.base_url = server.url("");
  return open_model(std::move(config)).value();
}

struct Started {
  std::shared_ptr<ModelCall> call;
  std::future<Called<ModelAnswer>> answer;
};

Started start(Model& model, net::EventLoop& loop, CallOptions options) {
  auto promise = std::make_shared<std::promise<Called<ModelAnswer>>>();
  Started out{nullptr, promise->get_future()};
  out.call = model.start(hello(), std::move(options), loop,
                         [promise](Called<ModelAnswer> answer) { promise->set_value(std::move(answer)); });
  return out;
}

// MODEL4
TEST(AsyncCall, KeepsWhatWasSaidBeforeAStop) {
  net::Server server = net::Server::listen({}, [](const net::ServerRequest&, net::ServerResponse& reply) {
                         reply.start(200, {{"Content-Type", "text/event-stream"}});
                         while (reply.send(event("word "))) {
                         }
                       }).value();
  const auto model = model_at(server);
  const auto loop = net::EventLoop::start().value();
  std::latch heard(1);
  CallOptions options;
  std::atomic<bool> is_heard = false;
  options.on_event = [&](const StreamEvent& each) {
    EXPECT_TRUE(loop->is_this_thread());
    if (std::holds_alternative<stream::Delta>(each) && !is_heard.exchange(true)) heard.count_down();
  };
  Started started = start(*model, *loop, options);
  heard.wait();
  started.call->stop();
  const auto answer = started.answer.get();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->cut);
  EXPECT_TRUE(answer->message.get_text_content()->view().starts_with("word "));
}

TEST(AsyncCall, StopsBeforeItBegins) {
  const net::Server server =
      net::Server::listen({}, [](const net::ServerRequest&, net::ServerResponse&) { FAIL(); }).value();
  const auto model = model_at(server);
  const auto loop = net::EventLoop::start().value();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(outcome(start(*model, *loop, {.stop = stop.get_token()}).answer.get()),
            "cancelled transport after 0");
}

TEST(AsyncCall, MakesAFastModelWaitWhileItIsPaused) {
  constexpr int kEvents = 20'000;
  const std::string word(1000, 'x');
  std::atomic<int> sent = 0;
  net::Server server = net::Server::listen({}, [&](const net::ServerRequest&, net::ServerResponse& reply) {
                         reply.start(200, {});
                         while (sent < kEvents && reply.send(event(word))) ++sent;
                         reply.send("data: [DONE]\n\n");
                       }).value();
  const auto model = model_at(server);
  const auto loop = net::EventLoop::start().value();
  std::promise<void> paused;
  std::shared_ptr<ModelCall> call;
  bool is_first = true;
  CallOptions options;
  options.on_event = [&](const StreamEvent& each) {
    if (!std::holds_alternative<stream::Delta>(each) || !std::exchange(is_first, false)) return;
    call->pause();
    paused.set_value();
  };
  std::promise<Called<ModelAnswer>> done;
  std::promise<void> begun;
  loop->post([&] {
    call = model->start(hello(), options, *loop,
                        [&](Called<ModelAnswer> answer) { done.set_value(std::move(answer)); });
    begun.set_value();
  });
  begun.get_future().wait();
  paused.get_future().wait();
  int before = 0;
  do {  // until the buffers of the system are full
    before = sent;
    std::this_thread::sleep_for(100ms);
  } while (sent != before);
  EXPECT_LT(sent, kEvents);
  loop->post([&] { call->resume(); });
  const auto answer = done.get_future().get();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->message.get_text_content()->size(), word.size() * kEvents);
}

// A model without a form of its own.
TEST(AsyncCall, RunsAnyModelOnAThread) {
  const auto model = rehearsal_model().value();
  const auto loop = net::EventLoop::start().value();
  std::string text;
  CallOptions options;
  options.on_event = [&](const StreamEvent& each) {
    EXPECT_TRUE(loop->is_this_thread());
    if (const auto* delta = std::get_if<stream::Delta>(&each)) text += delta->text;
  };
  const auto answer = start(*model, *loop, options).answer.get();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->message.get_text_content()->view(), "Rehearsal heard: Hello");
  EXPECT_EQ(text, "Rehearsal heard: Hello");
}

}  // namespace
}  // namespace parley::model
