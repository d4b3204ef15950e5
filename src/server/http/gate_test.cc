#include "server/http/gate.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "server/http/responder_testing.h"
#include "server/http/server_testing.h"

namespace parley::server {
namespace {

using testing::Got;
using testing::TestServer;
using testing::TestServerOptions;

// Says who asks.
void show_identity(Service&, const std::shared_ptr<Exchange>& exchange) {
  const Identity& who = exchange->identity;
  exchange->answer(200, Json::string(who.tenant + "/" + who.key + "/" + std::string(to_string(who.role))));
}

class Gates : public ::testing::Test {
 protected:
  TestServer& server(GateOptions options = {}) {
    if (!server_) {
      server_.emplace(TestServerOptions{.store = store_,
                                        .gate = std::move(options),
                                        .routes = {{"GET", "/who", show_identity},
                                                   {"POST", "/who", show_identity},
                                                   {"GET", "/health", show_identity}}});
    }
    return *server_;
  }
  std::string create(KeyInfo info) {
    return std::string(create_key(*store_, std::move(info)).value().secret.reveal());
  }
  static std::string code_of(const Got& got) {
    return std::to_string(got.status) + " " + got.at("/error/code");
  }

  std::shared_ptr<store::Store> store_ = testing::memory_store();
  std::optional<TestServer> server_;
};

// GATE1
TEST_F(Gates, GiveEveryAnswerARequestId) {
  EXPECT_EQ(server().get("/who", {{"X-Request-ID", "a-B_1.2:3"}}).header("x-request-id"), "a-B_1.2:3");
  for (const std::string& id : {std::string("a b"), std::string(129, 'a'), std::string("<x>")}) {
    EXPECT_TRUE(server().get("/who", {{"x-request-id", id}}).header("x-request-id").starts_with("req_0"))
        << id;
  }
  EXPECT_EQ(server().get("/who", {{"x-request-id", std::string(128, 'a')}}).header("x-request-id").size(),
            128);
  const Got missing = server().get("/nowhere");
  EXPECT_EQ(missing.status, 404);
  EXPECT_TRUE(missing.header("x-request-id").starts_with("req_"));
  EXPECT_NE(missing.header("x-request-id"), server().get("/nowhere").header("x-request-id"));
}

// GATE2
TEST_F(Gates, RefuseHostsOfOtherSites) {
  GateOptions options;
  options.hosts = {"parley.example", "*.team.example"};
  const auto code = [&](std::string host) {
    return code_of(server(options).get("/who", {{"Host", std::move(host)}}));
  };
  for (const char* host : {"localhost", "LOCALHOST:7557", "a.localhost", "127.0.0.1:1", "[::1]:80", "[::1]",
                           "192.168.0.7", "Parley.Example", "parley.example.:80", "x.team.example"}) {
    EXPECT_EQ(code(host), "200 ") << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "team.example", "127.0.0.1.evil.example",
                           "[::1].evil.example", "parley.example.evil", "[::1"}) {
    EXPECT_EQ(code(host), "403 host_not_allowed") << host;
  }
}

// GATE3
TEST_F(Gates, RefuseWritesFromPagesOfOtherSites) {
  const auto post = [&](std::string origin) {
    return code_of(server().post("/who", "{}", {{"Origin", std::move(origin)}, {"Host", "localhost:7557"}}));
  };
  EXPECT_EQ(post("http://localhost:7557"), "200 ");
  EXPECT_EQ(post("https://LOCALHOST:7557"), "200 ");
  EXPECT_EQ(post("http://localhost:8000"), "403 origin_not_allowed");
  EXPECT_EQ(post("https://evil.example"), "403 origin_not_allowed");
  EXPECT_EQ(post("null"), "403 origin_not_allowed");
  const Got read = server().get("/who", {{"Origin", "https://evil.example"}});
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.header("Access-Control-Allow-Origin"), "");
}

// GATE4
TEST_F(Gates, AnswerPreflightsOfListedOrigins) {
  const std::vector<net::Header> preflight = {
      {"Origin", "https://app.example"},
      {"Access-Control-Request-Method", "POST"},
      {"Access-Control-Request-Headers", "authorization,content-type"}};
  EXPECT_EQ(code_of(server().send("OPTIONS", "/who", {}, preflight)), "403 origin_not_allowed");
  server_.reset();

  create({.name = "a"});  // a preflight has no key
  GateOptions options;
  options.origins = {"https://app.example"};
  const Got allowed = server(options).send("OPTIONS", "/who", {}, preflight);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.header("Access-Control-Allow-Origin"), "https://app.example");
  EXPECT_EQ(allowed.header("Access-Control-Allow-Headers"), "authorization,content-type");
  EXPECT_EQ(allowed.header("Access-Control-Allow-Methods"), "GET, POST, DELETE, OPTIONS");
  const Got answered = server().post("/who", "{}", {{"Origin", "https://app.example"}});
  EXPECT_EQ(answered.status, 401);
  EXPECT_EQ(answered.header("Access-Control-Allow-Origin"), "https://app.example");
  EXPECT_EQ(answered.header("Vary"), "Origin");
}

// GATE5
TEST_F(Gates, NeedAKeyOnceTheStoreHasOne) {
  const std::string key = create({.name = "team", .tenant = "acme"});
  EXPECT_EQ(code_of(server().get("/who")), "401 invalid_api_key");
  EXPECT_EQ(server().get("/who").header("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(code_of(server().get("/who", {{"Authorization", "Bearer " + key + "x"}})), "401 invalid_api_key");
  EXPECT_EQ(code_of(server().get("/who", {{"Authorization", "Basic " + key}})), "401 invalid_api_key");
  EXPECT_EQ(server().get("/who", {{"Authorization", "Bearer " + key}}).text, "\"acme/team/use\"");
  EXPECT_EQ(server().get("/who", {{"authorization", "bearer " + key}}).text, "\"acme/team/use\"");
  EXPECT_EQ(server().get("/who", {{"x-api-key", key}}).text, "\"acme/team/use\"");
  EXPECT_EQ(server().get("/who", {{"x-goog-api-key", key}}).text, "\"acme/team/use\"");
  EXPECT_EQ(server().get("/health").status, 200);
}

// GATE6
TEST_F(Gates, LetReadersReadOnly) {
  const std::string key = create({.name = "a", .role = Identity::Role::Read});
  EXPECT_EQ(server().get("/who", {{"x-api-key", key}}).text, "\"default/a/read\"");
  EXPECT_EQ(code_of(server().post("/who", "{}", {{"x-api-key", key}})), "403 insufficient_permissions");
}

// GATE7
TEST_F(Gates, NeedNoKeyWithoutKeys) {
  EXPECT_EQ(server().get("/who").text, "\"default//admin\"");
  EXPECT_EQ(server().get("/who", {{"Authorization", "Bearer whatever"}}).text, "\"default//admin\"");
}

// A gate without a server, whose keys are fresh for a moment only.
class LongLived : public ::testing::Test {
 protected:
  LongLived() {
    TurnEngineOptions options;
    options.store = store_;
    options.models = std::make_shared<testing::OneModel>(std::make_shared<testing::ManualModel>());
    engine_ = TurnEngine::start(std::move(options)).value();
    service_.emplace(Service{.engine = *engine_});
  }
  ~LongLived() override {
    engine_.reset();
    loop_->finish();
  }

  // The request of this key, once it is admitted; null if it is answered.
  std::shared_ptr<Exchange> pass(const std::string& key, std::string host = "localhost") {
    net::ServerRequest request;
    request.method = "GET";
    request.path = "/v1/responses";
    request.headers = {{"Host", std::move(host)}};
    if (!key.empty()) request.headers.push_back({"x-api-key", key});
    std::promise<std::shared_ptr<Exchange>> passed;
    const auto response = std::make_shared<KeptResponse>();
    loop_->post([&] {
      gate_.pass(*service_, *loop_, request, response,
                 [&](const std::shared_ptr<Exchange>& exchange) { passed.set_value(exchange); });
      if (response->is_ended) passed.set_value(nullptr);
    });
    return passed.get_future().get();
  }
  bool is_allowed(const Exchange& exchange) {
    std::promise<bool> out;
    loop_->post([&] { out.set_value(exchange.is_still_allowed()); });
    return out.get_future().get();
  }
  // Nothing else makes the keys be read again.
  bool is_refused_soon(const Exchange& exchange) {
    for (int i = 0; i < 1'000; ++i) {
      if (!is_allowed(exchange)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::shared_ptr<store::Store> store_ = testing::memory_store();
  std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::start().value();
  Gate gate_{{}, std::make_shared<KeyRing>(*store_, std::chrono::milliseconds(5))};
  std::unique_ptr<TurnEngine> engine_;
  std::optional<Service> service_;
};

// GATE8
TEST_F(LongLived, ConnectionsLearnThatTheirKeyIsRevoked) {
  const std::string key(create_key(*store_, {.name = "a"}).value().secret.reveal());
  const std::shared_ptr<Exchange> exchange = pass(key);
  ASSERT_TRUE(exchange && exchange->is_still_allowed);
  EXPECT_TRUE(is_allowed(*exchange));
  ASSERT_TRUE(create_key(*store_, {.name = "b"}));
  EXPECT_TRUE(is_allowed(*exchange));
  ASSERT_TRUE(revoke_key(*store_, "a"));
  EXPECT_TRUE(is_refused_soon(*exchange));
}

// GATE8
TEST_F(LongLived, ConnectionsWithoutAKeyEndWhenTheStoreGetsOne) {
  const std::shared_ptr<Exchange> exchange = pass("");
  ASSERT_TRUE(exchange && exchange->is_still_allowed);
  EXPECT_TRUE(is_allowed(*exchange));
  ASSERT_TRUE(create_key(*store_, {.name = "a"}));
  EXPECT_TRUE(is_refused_soon(*exchange));
}

// GATE9
TEST_F(LongLived, GatesTakeNewHosts) {
  EXPECT_EQ(pass("", "parley.example"), nullptr);
  gate_.change({.hosts = {"parley.example"}});
  EXPECT_NE(pass("", "parley.example"), nullptr);
}

}  // namespace
}  // namespace parley::server
