// For tests of this room: a provider on the loopback interface that answers what a test says, and a timer
// that waits for nothing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "net/loopback_server_testing.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/stream.h"
#include "parley/model/http_model.h"
#include "parley/net/event_loop.h"

namespace parley::model {

inline constexpr std::string_view kTestKey = "swordfish-0123456789";

// Time passes by waiting only; every wait is kept.
class FakeTimer final : public Timer {
 public:
  Time now() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  bool wait(std::chrono::milliseconds time, const std::stop_token& stop) override {
    const std::lock_guard lock(mutex_);
    if (stop_at_wait) stop_at_wait->request_stop();
    waits.push_back(time.count());
    now_ += time;
    return !stop.stop_requested();
  }
  void wait_on(net::EventLoop& loop, std::chrono::milliseconds time, std::function<void()> then) override {
    (void)wait(time, {});
    loop.post(std::move(then));
  }
  double chance() override { return 0.5; }

  std::vector<std::int64_t> waits;  // in milliseconds
  std::stop_source* stop_at_wait = nullptr;

 private:
  std::mutex mutex_;
  Time now_ = Time(std::chrono::hours(1));
};

// Answers the first request with the first text, and so on; the last one again and again.
class TestProvider {
 public:
  explicit TestProvider(std::vector<std::string> answers)
      : server([this, answers = std::move(answers)](net::LoopbackServer::Connection& connection,
                                                    const net::SeenRequest&) {
          connection.send(answers[std::min(count_++, answers.size() - 1)]);
        }) {}
  explicit TestProvider(net::LoopbackServer::Script script) : server(std::move(script)) {}

  ModelConfig config(std::string_view provider = "openai") {
    ModelConfig config;
    config.model = std::string(provider) + "/a-model";
    config.key = Secret(kTestKey);
    config.base_url = server.url("");
    config.timer = timer;
    config.ledger = ledger;
    return config;
  }

  std::shared_ptr<FakeTimer> timer = std::make_shared<FakeTimer>();
  std::shared_ptr<UsageLedger> ledger = std::make_shared<UsageLedger>();

 private:
  std::size_t count_ = 0;

 public:
  net::LoopbackServer server;  // last, as its thread uses what is above
};

// The loopback server has one connection at a time, so none is kept.
inline std::string sse(std::string_view body) {
  return net::answer("200 OK", "Content-Type: text/event-stream\r\nConnection: close\r\n", body);
}
inline std::string json_answer(std::string_view status, std::string_view body,
                               std::string_view headers = "") {
  return net::answer(status, "Content-Type: application/json\r\nConnection: close\r\n" + std::string(headers),
                     body);
}

// A message as the dialect streams it.
inline std::string streamed(Dialect dialect, const Message& message, const Outcome& outcome) {
  std::string bytes;
  StreamWriter writer = StreamWriter::of(dialect).value();
  (void)to_events(message, outcome, [&](const StreamEvent& event) { writer.write(event, bytes); }, 5);
  return bytes;
}

// The same as a whole answer.
inline std::string written(Dialect dialect, const Message& message, const Outcome& outcome) {
  Conversation conversation({message});
  conversation.set_shape(DocumentShape::Response);
  conversation.set_outcome(outcome);
  return write(conversation, dialect).value().text.str();
}

inline Outcome plain_outcome() {
  Outcome outcome;
  outcome.id = "answer-1";
  outcome.model = "a-model";
  outcome.finish = Finish::Stop;
  outcome.usage.input = 11;
  outcome.usage.output = 7;
  return outcome;
}

inline ModelRequest hello(bool stream = true) {
  ModelRequest request;
  request.conversation = Conversation({Message::user_message("Hello")});
  request.stream = stream;
  return request;
}

inline std::string hi_stream() {
  return sse(
      streamed(Dialect::OpenAI, Message::assistant_message("Hi, how are you today?"), plain_outcome()));
}

// Runs each call on an event loop and waits for it.
class ModelOnLoop final : public Model {
 public:
  explicit ModelOnLoop(std::shared_ptr<Model> model) : model_(std::move(model)) {}

  const ModelInfo& info() const override { return model_->info(); }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options) override {
    std::promise<Called<ModelAnswer>> promise;
    const auto call = model_->start(
        request, options, *loop_, [&](Called<ModelAnswer> answer) { promise.set_value(std::move(answer)); });
    return promise.get_future().get();
  }
  Result<std::string> body_of(const ModelRequest& request) const override { return model_->body_of(request); }
  Result<net::Request> request_to(std::string_view path) const override { return model_->request_to(path); }

 private:
  std::shared_ptr<Model> model_;
  std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::start().value();
};

// The test model.on_a_loop runs the same tests with calls on an event loop.
inline std::shared_ptr<Model> opened(ModelConfig config) {
  auto model = open_model(std::move(config));
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  const bool is_on_loop = std::getenv("PARLEY_TEST_ON_LOOP") != nullptr;
  return is_on_loop ? std::make_shared<ModelOnLoop>(*model) : *model;
}

// The outcome of a call, in one line.
inline std::string outcome(const Called<ModelAnswer>& called) {
  if (called) {
    return "said '" + called->message.get_text_content().value_or(Text()).str() + "'" +
           (called->cut ? ", cut" : "");
  }
  return std::string(to_string(called.error().code)) + " " +
         std::string(to_string(called.error().failure.kind)) + " after " +
         std::to_string(called.error().call.attempts);
}

// The beginning of a stream that says these texts.
inline std::string deltas(std::initializer_list<std::string_view> texts) {
  std::string out = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
  out +=
      "data: "
      "{\"id\":\"a\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\"}}]}\n\n";
  for (const std::string_view text : texts) {
    out += "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(text) + "\"}}]}\n\n";
  }
  return out;
}

}  // namespace parley::model
