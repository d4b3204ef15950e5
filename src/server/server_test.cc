#include "parley/server/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "net/websocket_client_testing.h"
#include "parley/json/json.h"
#include "parley/model/http_model.h"
#include "server/engine/engine_testing.h"
#include "server/http/keys.h"

namespace parley::server {
namespace {

using namespace std::chrono_literals;
using net::RawClient;

// Models of a provider at this address.
class ProviderModels : public ModelDirectory {
 public:
  explicit ProviderModels(std::string base_url) : base_url_(std::move(base_url)) {}

  Result<std::shared_ptr<Model>> find(std::string_view name) override {
    ModelConfig config;
    config.model = name;
    config.base_url = base_url_;
    config.key = Secret("operator-key");
    return open_model(std::move(config));
  }
  std::vector<Entry> list() override { return {{"openai/first", "openai", 0}}; }

 private:
  std::string base_url_;
};

std::string text_request(std::string_view method, std::string_view path, std::string_view host,
                         std::string_view body = "") {
  return std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: " + std::string(host) +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

class Servers : public ::testing::Test {
 protected:
  ~Servers() override {
    server_.reset();
    asked_.reset();
  }

  Result<Server> start(ServerConfig config) {
    config.loops = 2;
    config.engine.store = store_;
    config.engine.models = std::make_shared<ProviderModels>(provider_.url("/v1"));
    return Server::start(std::move(config));
  }
  Server& server(ServerConfig config = {}) {
    if (!server_) server_.emplace(start(std::move(config)).value());
    return *server_;
  }
  std::uint16_t port() { return parse_url(server().url()).value().port.value(); }
  int status(std::string_view path, std::string_view host = "localhost") {
    const std::string heard = RawClient(port()).say(text_request("GET", path, host)).hear();
    return heard.size() > 12 ? std::stoi(heard.substr(9, 3)) : 0;
  }

  std::shared_ptr<store::Store> store_ = testing::memory_store();
  std::promise<std::shared_ptr<net::Responder>> asked_promise_;
  std::shared_ptr<net::Responder> asked_;  // what the provider was asked first and has not answered
  net::AsyncServer provider_ =
      net::AsyncServer::listen({}, [this](net::ServerRequest, std::shared_ptr<net::Responder> responder) {
        asked_promise_.set_value(std::move(responder));
      }).value();
  std::optional<Server> server_;
};

// A socket of the caller that listens on this address.
int open_socket(std::uint32_t address) {
  const int out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(address);
  EXPECT_EQ(::bind(out, reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
  EXPECT_EQ(::listen(out, 8), 0);
  return out;
}

// SERVER1
TEST_F(Servers, NeedAKeyForASocketThatOtherMachinesReach) {
  ServerConfig local;
  local.http.sockets = {open_socket(INADDR_LOOPBACK)};
  EXPECT_TRUE(start(std::move(local)));

  ServerConfig open;
  open.http.sockets = {open_socket(INADDR_ANY)};
  const int socket = open.http.sockets[0];
  const auto refused = start(open);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "listening on 0.0.0.0 needs a key: create one with 'parley keys create NAME', or use --insecure");
  ServerConfig insecure = open;
  insecure.http.sockets = {::dup(socket)};
  insecure.is_insecure = true;
  EXPECT_TRUE(start(std::move(insecure)));
  ASSERT_TRUE(create_key(*store_, {.name = "a"}));
  EXPECT_TRUE(start(std::move(open)));
}

// SERVER2: a request that is no turn gets the whole time.
TEST_F(Servers, AnswerARequestToTheProviderWhenTheyDrain) {
  RawClient client(port());
  client.say(text_request("POST", "/v1/embeddings", "localhost", R"({"model":"openai/e","input":"x"})"));
  asked_ = asked_promise_.get_future().get();
  std::jthread provider([this] {
    std::this_thread::sleep_for(1200ms);  // longer than the last bytes of an answer get
    asked_->whole(200, {{"Content-Type", "application/json"}}, R"({"late":true})");
  });
  server().drain(20s);
  EXPECT_TRUE(client.hear().contains(R"({"late":true})"));
}

// SERVER2
TEST_F(Servers, CutWhatDoesNotEndInTime) {
  RawClient client(port());
  client.say(text_request("POST", "/v1/embeddings", "localhost", R"({"model":"openai/e","input":"x"})"));
  asked_ = asked_promise_.get_future().get();
  const auto start = std::chrono::steady_clock::now();
  server().drain(700ms);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 700ms);
  EXPECT_EQ(client.hear(), "");
}

// SERVER2: an idle WebSocket does not hold up the end.
TEST_F(Servers, CloseIdleWebSocketsWhenTheyDrain) {
  RawClient client(port());
  client.say(
      "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
  ASSERT_TRUE(client.hear("\r\n\r\n").starts_with("HTTP/1.1 101 "));
  std::string frame;
  std::jthread reader([&] {
    frame = client.hear_bytes(4);
    client.say(net::client_frame(0x88, net::close_payload(1001)));
  });
  const auto start = std::chrono::steady_clock::now();
  server().drain(30s);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 15s);
  reader.join();
  ASSERT_GE(frame.size(), 4U);
  EXPECT_EQ(frame[0], '\x88');
  EXPECT_EQ(frame.substr(2), net::close_payload(1001));
}

// SERVER4
TEST_F(Servers, TakeNewSettingsWhileTheyRun) {
  EXPECT_EQ(status("/v1/models", "parley.example"), 403);
  EXPECT_EQ(status("/v1/rerank"), 404);
  ASSERT_TRUE(server().reload({.hosts = {"parley.example"}, .pass_through = {"/v1/rerank"}}));
  EXPECT_EQ(status("/v1/models", "parley.example"), 200);
  RawClient client(port());
  client.say(text_request("POST", "/v1/rerank", "localhost", R"({"model":"openai/e"})"));
  asked_ = asked_promise_.get_future().get();
  ASSERT_TRUE(server().reload(ServerSettings{}));
  asked_->whole(200, {}, "ranked");
  EXPECT_TRUE(client.hear().contains("ranked")) << "it began before";
  EXPECT_EQ(status("/v1/models", "parley.example"), 403);
  EXPECT_EQ(status("/v1/rerank"), 404);
}

// SERVER5, GATE1
TEST_F(Servers, RefuseWhatIsNoRequestInOpenAisForm) {
  ServerConfig config;
  config.http.max_body_bytes = 10;
  config.http.head_timeout = 300ms;
  server(std::move(config));
  const auto check = [&](std::string_view request, int status, std::string_view code) {
    const std::string heard = RawClient(port()).say(request).hear();
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 " + std::to_string(status))) << heard;
    EXPECT_TRUE(heard.contains("\r\nContent-Type: application/json\r\n")) << heard;
    EXPECT_TRUE(heard.contains("\r\nx-request-id: req_0")) << heard;
    const auto body = Json::parse(heard.substr(heard.find("\r\n\r\n") + 4));
    ASSERT_TRUE(body) << heard;
    EXPECT_EQ(body->at("/error/code").value_or(Json()).as_string().value_or(Text()), code);
    EXPECT_TRUE(
        body->at("/error/message").value_or(Json()).as_string().value_or(Text()).view().ends_with("."));
  };
  check(text_request("POST", "/v1/responses", "localhost", std::string(11, 'x')), 413, "request_too_large");
  check("GET / HTTP/1.1\r\n\r\n", 400, "invalid_http");
  check("GET / HTTP/1.1\r\n", 408, "request_timeout");
  check("GET / HTTP/1.1\r\nA: " + std::string(70'000, 'x') + "\r\n\r\n", 431, "headers_too_large");
}

}  // namespace
}  // namespace parley::server
