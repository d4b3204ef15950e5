#include "server/http/server_testing.h"

#include <utility>

#include "net/fields.h"
#include "parley/base/framing.h"
#include "parley/model/rehearsal.h"
#include "server/http/handler.h"

namespace parley::server::testing {
namespace {

class TwoModels : public ModelDirectory {
 public:
  explicit TwoModels(std::shared_ptr<Model> manual) : manual_(std::move(manual)) {}

  Result<std::shared_ptr<Model>> find(std::string_view name) override {
    if (name == "test/manual") return manual_;
    if (name == "rehearsal") return rehearsal_;
    return fail(Code::NotFound, "there is no model '" + std::string(name) + "'", "/model");
  }
  std::vector<Entry> list() override {
    return {{"rehearsal", "parley", 0}, {"test/manual", "test", 1'700'000'000}};
  }

 private:
  std::shared_ptr<Model> manual_;
  std::shared_ptr<Model> rehearsal_ = rehearsal_model().value();
};

}  // namespace

std::string Got::header(std::string_view name) const {
  return std::string(net::find_header(headers, name).value_or(""));
}

std::string Got::at(std::string_view pointer) const {
  const auto value = body.at(pointer);
  if (!value) return {};
  const auto string = value->as_string();
  return string ? string->str() : value->text().str();
}

std::vector<Json> Got::events() const {
  std::vector<Json> out;
  SseFramer framer;
  const auto fed = framer.feed(text, [&](const SseEvent& event) {
    if (const auto json = Json::parse(event.data)) out.push_back(*json);
  });
  return fed ? out : std::vector<Json>();
}

TestServer::TestServer(TestServerOptions options) : options_(std::move(options)) {
  for (int i = 0; i < 2; ++i) loops_.push_back(net::EventLoop::start().value());
  TurnEngineOptions engine = options_.engine;
  engine.store = options_.store;
  engine.models = options_.models ? options_.models : std::make_shared<TwoModels>(model_);
  engine_ = TurnEngine::start(std::move(engine)).value();
  service_ = std::make_unique<Service>(Service{*engine_, options_.ping});
  gate_ = std::make_unique<Gate>(options_.gate, std::make_shared<KeyRing>(*options_.store));
  router_ = std::make_shared<const Router>(options_.routes);
  net::ServerOptions server;
  for (const auto& loop : loops_) server.event_loops.push_back(loop.get());
  server_ =
      net::AsyncServer::listen(server, make_handler(*service_, *gate_, [this] { return router_; })).value();
}

// The engine waits for turns on the loops, and these outlive it.
TestServer::~TestServer() {
  server_->stop();
  engine_->drain(std::chrono::milliseconds(0));
  for (const auto& loop : loops_) loop->finish();
}

Got TestServer::send(std::string method, std::string_view path, std::string body, Headers headers) {
  net::Request request;
  request.method = std::move(method);
  request.url = parse_url(server_->url(path)).value();
  request.headers = std::move(headers);
  request.body = std::move(body);
  const Result<net::Response> response = net::send(request);
  if (!response) return {.text = response.error().message};
  return {response->status, response->body, Json::parse(response->body).value_or(Json()), response->headers};
}

std::unique_ptr<net::RawClient> TestServer::raw_post(std::string_view path, std::string_view body) {
  auto out = std::make_unique<net::RawClient>(port());
  out->say("POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
  return out;
}

}  // namespace parley::server::testing
