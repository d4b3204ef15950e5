// For tests of the Responses API: a whole server with a model that the test drives.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "server/http/server_testing.h"
#include "server/openai/conversations.h"
#include "server/openai/responses_routes.h"

namespace parley::server {

class ResponsesServer : public ::testing::Test {
 protected:
  using Drive = std::function<void(testing::ManualCall& call)>;

  static std::vector<Route> routes() {
    std::vector<Route> out = responses_routes();
    for (Route& route : conversation_routes()) out.push_back(std::move(route));
    return out;
  }
  // A request to the model that a test drives; `more` are further members: R"(,"stream":true)".
  static std::string body(const std::string& input = "hi", const std::string& more = {}) {
    return R"({"model":"test/manual","input":")" + input + "\"" + more + "}";
  }
  static void say_hello(testing::ManualCall& call) {
    call.say("Hel");
    call.say("lo");
    call.finish();
  }
  // The response to a request, while `drive` plays the model.
  testing::Got ask(const std::string& text, const Drive& drive = say_hello,
                   testing::TestServer::Headers headers = {}) {
    const std::size_t number = server_->model().calls();
    auto got = std::async(std::launch::async,
                          [&] { return server_->post("/v1/responses", text, std::move(headers)); });
    drive(*server_->model().call(number));
    return got.get();
  }
  // The texts of what the model was sent by its newest call.
  std::vector<std::string> seen() {
    std::vector<std::string> out;
    for (const Message& message :
         server_->model().call(server_->model().calls() - 1)->request.conversation.messages())
      out.push_back(to_line(message));
    return out;
  }
  // A server that starts again on the same store.
  void restart() {
    server_.reset();
    server_ = std::make_unique<testing::TestServer>(
        testing::TestServerOptions{.store = store_, .routes = routes()});
  }

  std::shared_ptr<store::Store> store_ = testing::memory_store();
  std::unique_ptr<testing::TestServer> server_ =
      std::make_unique<testing::TestServer>(testing::TestServerOptions{.store = store_, .routes = routes()});
};

}  // namespace parley::server
