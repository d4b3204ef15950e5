#include "server/openai/responses_socket.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "net/websocket_client_testing.h"
#include "server/http/responder_testing.h"
#include "server/openai/responses_local.h"
#include "server/openai/responses_server_testing.h"

namespace parley::server {
namespace {

using testing::ManualCall;

// A client of the WebSocket.
class SocketClient {
 public:
  explicit SocketClient(std::uint16_t port, const std::string& path = "/v1/responses",
                        const std::string& more = {})
      : raw_(port) {
    head = raw_.say("GET " + path +
                    " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" + more +
                    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
               .hear("\r\n\r\n");
  }

  void create(const std::string& members) {
    text(R"({"type":"response.create","model":"test/manual")" + members + "}");
  }
  void text(std::string_view payload) { raw_.say(net::client_frame(0x81, payload)); }

  // The next event; null when the connection ends, or is closed.
  Json event() {
    const std::string first = raw_.hear_bytes(2);
    if (first.size() < 2 || static_cast<unsigned char>(first[0]) != 0x81) return {};
    auto size = std::size_t{static_cast<unsigned char>(first[1])};
    if (size >= 126) {
      const std::string number = raw_.hear_bytes(size == 126 ? 2 : 8);
      size = 0;
      for (const char c : number) size = size << 8 | static_cast<unsigned char>(c);
    }
    return Json::parse(raw_.hear_bytes(size)).value_or(Json());
  }
  // Up to the last event of a response, or an error.
  std::vector<Json> response() {
    std::vector<Json> out;
    while (true) {
      out.push_back(event());
      const std::string type =
          out.back().get("type").value_or(Json()).as_string().value_or(Text("end")).str();
      if (type == "end" || type == "error" || type == "response.completed" || type == "response.failed" ||
          type == "response.incomplete") {
        return out;
      }
    }
  }

  std::string head;

 private:
  net::RawClient raw_;
};

std::string string_at(const Json& json, std::string_view pointer) {
  return json.at(pointer).value_or(Json()).as_string().value_or(Text()).str();
}

// A WebSocket that a test plays. On its loop.
class PlayedSocket : public net::WebSocket {
 public:
  void send(std::string text) override { sent.push_back(std::move(text)); }
  void close(int code, std::string) override { closed_with = code; }
  std::size_t backlog() const override { return unread; }
  void on_message(std::function<void(std::string text)> call) override { message = std::move(call); }
  void on_drained(std::function<void()> call) override { drained = std::move(call); }
  void on_drain(std::function<void()> call) override { stopping = std::move(call); }
  void on_closed(std::function<void(int code, std::string reason)> call) override { gone = std::move(call); }

  std::vector<std::string> sent = {};
  std::size_t unread = 0;
  int closed_with = 0;
  std::function<void(std::string text)> message = {};
  std::function<void()> drained = {}, stopping = {};
  std::function<void(int code, std::string reason)> gone = {};
};

class UpgradedResponse : public KeptResponse {
 public:
  explicit UpgradedResponse(std::shared_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}
  std::shared_ptr<net::WebSocket> upgrade(const net::ServerRequest&, const net::WebSocketOptions&) override {
    return socket_;
  }

 private:
  std::shared_ptr<net::WebSocket> socket_;
};

std::vector<net::Header> upgrade_headers() {
  return {{"Host", "localhost"},
          {"Connection", "Upgrade"},
          {"Upgrade", "websocket"},
          {"Sec-WebSocket-Version", "13"},
          {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
}

// A connection with a PlayedSocket, on a loop of its own.
class PlayedConnection {
 public:
  explicit PlayedConnection(TurnEngine& engine, std::function<bool()> is_still_allowed = {})
      : engine_(engine) {
    const auto exchange = std::make_shared<Exchange>();
    exchange->responder = std::make_shared<UpgradedResponse>(socket_);
    exchange->loop = loop_.get();
    exchange->request.method = "GET";
    exchange->request.headers = upgrade_headers();
    exchange->is_still_allowed = std::move(is_still_allowed);
    on_loop([&](PlayedSocket&) { open_responses_socket(service_, exchange); });
  }
  PlayedConnection(const PlayedConnection&) = delete;
  PlayedConnection& operator=(const PlayedConnection&) = delete;
  ~PlayedConnection() {
    on_loop([](PlayedSocket& socket) {
      socket.gone(1006, "");
      socket.message = {};
      socket.drained = {};
      socket.stopping = {};
      socket.gone = {};
    });
    for (int i = 0; i < 1'000 && engine_.running() != 0; ++i)  // turns on the loop
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  void on_loop(const std::function<void(PlayedSocket& socket)>& call) {
    std::promise<void> done;
    loop_->post([&] {
      call(*socket_);
      done.set_value();
    });
    done.get_future().wait();
  }
  void say(const std::string& text) {
    on_loop([&](PlayedSocket& socket) { socket.message(text); });
  }
  void set_unread(std::size_t bytes) {
    on_loop([&](PlayedSocket& socket) { socket.unread = bytes; });
  }
  int closed_with() {
    int out = 0;
    on_loop([&](PlayedSocket& socket) { out = socket.closed_with; });
    return out;
  }
  // The statuses of the errors that were sent.
  std::vector<std::int64_t> errors() {
    std::vector<std::int64_t> out;
    on_loop([&](PlayedSocket& socket) {
      for (const std::string& text : socket.sent) {
        const auto status = Json::parse(text).value_or(Json()).get("status");
        if (status) out.push_back(status->as_int64().value_or(0));
      }
    });
    return out;
  }

 private:
  TurnEngine& engine_;
  Service service_{engine_};
  std::shared_ptr<PlayedSocket> socket_ = std::make_shared<PlayedSocket>();
  std::unique_ptr<net::EventLoop> loop_ = net::EventLoop::start().value();
};

class ResponsesSockets : public ResponsesServer {
 protected:
  // The last event of a response whose model says this.
  Json answered(SocketClient& client, const std::string& members, const std::string& words = "Hello") {
    const std::size_t number = server_->model().calls();
    client.create(members);
    const auto call = server_->model().call(number);
    call->say(words);
    call->finish();
    return client.response().back();
  }
  SocketClient connected() { return SocketClient(server_->port()); }
};

TEST_F(ResponsesSockets, SendTheEventsOfAStream) {
  auto client = connected();
  EXPECT_TRUE(client.head.starts_with("HTTP/1.1 101 ")) << client.head;
  client.create(R"(,"input":"hi")");
  say_hello(*server_->model().call(0));
  const std::vector<Json> events = client.response();
  ASSERT_EQ(events.size(), 10U);
  EXPECT_EQ(string_at(events[0], "/type"), "response.created");
  for (std::size_t i = 0; i < events.size(); ++i)
    EXPECT_EQ(events[i].get("sequence_number"), Json::number(static_cast<std::int64_t>(i)));
  const std::string id = string_at(events[0], "/response/id");
  EXPECT_EQ(events.back().at("/response")->text(), server_->get("/v1/responses/" + id).text);
}

// RESPONSES_SOCKET1
TEST_F(ResponsesSockets, RunOneResponseAfterTheOther) {
  auto client = connected();
  client.create(R"(,"input":"one","stream_id":"a")");
  client.create(R"(,"input":"two")");
  const auto first = server_->model().call(0);
  EXPECT_EQ(server_->model().calls(), 1U);
  say_hello(*first);
  const std::vector<Json> one = client.response();
  for (const Json& event : one) EXPECT_EQ(event.get("stream_id"), Json::string("a"));
  say_hello(*server_->model().call(1));
  const std::vector<Json> two = client.response();
  EXPECT_EQ(two.size(), 10U);
  EXPECT_FALSE(two.front().get("stream_id"));
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: two"}));
}

TEST_F(ResponsesSockets, RefuseMoreRequestsThanMayWait) {
  auto client = connected();
  client.create(R"(,"input":"one")");
  const auto call = server_->model().call(0);
  for (int i = 0; i < 17; ++i) client.create(R"(,"input":"more")");
  Json event;
  do event = client.event();
  while (string_at(event, "/type") != "error");
  EXPECT_EQ(event.get("status"), Json::number(429));
  call->finish();
}

// RESPONSES_SOCKET1
TEST_F(ResponsesSockets, RefuseMoreBytesThanMayWait) {
  PlayedConnection connection(server_->engine());
  connection.say(R"({"type":"response.create","model":"test/manual","input":"one","store":false})");
  server_->model().call(0);
  const std::string large(std::size_t{10} << 20, 'x');
  connection.say(large);
  EXPECT_TRUE(connection.errors().empty());
  connection.say(large);
  EXPECT_EQ(connection.errors(), std::vector<std::int64_t>{429});
  connection.say("small");
  EXPECT_EQ(connection.errors().size(), 1U);
}

TEST_F(ResponsesSockets, ParseLargeMessagesOnAnotherThread) {
  PlayedConnection connection(server_->engine());
  connection.on_loop([](PlayedSocket& socket) {
    socket.message("{");
    EXPECT_EQ(socket.sent.size(), 1U);
  });
  connection.on_loop([](PlayedSocket& socket) {
    socket.message("{" + std::string(std::size_t{1} << 20, ' '));
    EXPECT_EQ(socket.sent.size(), 1U);
  });
  for (int i = 0; i < 1'000 && connection.errors().size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(connection.errors(), (std::vector<std::int64_t>{400, 400}));

  auto client = connected();
  const std::string text(std::size_t{300} * 1024, 'x');
  const Json first = answered(client, R"(,"store":false,"input":")" + text + "\"");
  answered(client, R"(,"store":false,"input":")" + text + R"(","previous_response_id":")" +
                       string_at(first, "/response/id") + "\"");
  EXPECT_EQ(seen().size(), 3U);
}

// RESPONSES_SOCKET2
TEST_F(ResponsesSockets, ContinueAResponseThatIsNotStored) {
  auto client = connected();
  const Json first = answered(client, R"(,"input":"The word is cobalt.","store":false)", "OK");
  const std::string id = string_at(first, "/response/id");
  EXPECT_TRUE(store_->list("default")->sessions.empty());
  const Json second =
      answered(client, R"(,"input":"Which word?","store":false,"previous_response_id":")" + id + "\"");
  EXPECT_EQ(seen(),
            (std::vector<std::string>{"user: The word is cobalt.", "assistant: OK", "user: Which word?"}));
  EXPECT_EQ(string_at(second, "/response/previous_response_id"), id);
  answered(client, R"(,"input":"Sure?","store":false,"previous_response_id":")" +
                       string_at(second, "/response/id") + "\"");
  EXPECT_EQ(seen().size(), 5U);

  auto other = connected();
  other.create(R"(,"input":"x","store":false,"previous_response_id":")" + id + "\"");
  const Json missing = other.response().back();
  EXPECT_EQ(string_at(missing, "/type"), "error");
  EXPECT_EQ(missing.get("status"), Json::number(400));
  EXPECT_EQ(string_at(missing, "/error/code"), "previous_response_not_found");
  EXPECT_EQ(string_at(missing, "/error/param"), "previous_response_id");
}

TEST_F(ResponsesSockets, ContinueAStoredResponseWithoutStoring) {
  const std::string stored = ask(body("one")).at("/id");
  auto client = connected();
  const Json second =
      answered(client, R"(,"input":"two","store":false,"previous_response_id":")" + stored + "\"", "B");
  answered(client, R"(,"input":"three","store":false,"previous_response_id":")" +
                       string_at(second, "/response/id") + "\"");
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: one", "assistant: Hello", "user: two", "assistant: B",
                                              "user: three"}));
  EXPECT_EQ(store_->list("default")->sessions.size(), 1U);
}

// RESPONSES_SOCKET2
TEST_F(ResponsesSockets, ContinueInAConversationWithoutStoring) {
  const std::string conversation =
      server_->post("/v1/conversations", R"({"items":[{"type":"message","role":"user","content":"before"}]})")
          .at("/id");
  const std::string member = R"(,"conversation":")" + conversation + "\"";
  auto client = connected();
  const std::string first =
      string_at(answered(client, R"(,"input":"a","store":false)" + member, "A"), "/response/id");
  ask(body("meanwhile", member));  // what comes later is not part of what is continued
  const Json second =
      answered(client, R"(,"input":"b","store":false,"previous_response_id":")" + first + "\"", "B");
  const std::vector<std::string> two = {"user: before", "user: a", "assistant: A", "user: b"};
  EXPECT_EQ(seen(), two);
  answered(client, R"(,"input":"c","store":false,"previous_response_id":")" +
                       string_at(second, "/response/id") + "\"");
  EXPECT_EQ(seen().size(), 6U);
  client.create(R"(,"input":"d","store":false,"previous_response_id":")" + first + "\"" + member);
  EXPECT_EQ(string_at(client.response().back(), "/error/code"), "mutually_exclusive_parameters");
}

TEST_F(ResponsesSockets, StoreWhatContinuesAResponseThatIsNotStored) {
  auto client = connected();
  const Json first = answered(client, R"(,"input":"one","store":false)");
  const Json second = answered(
      client, R"(,"input":"two","previous_response_id":")" + string_at(first, "/response/id") + "\"");
  const std::string id = string_at(second, "/response/id");
  EXPECT_EQ(server_->get("/v1/responses/" + id).status, 200);
  ask(body("three", R"(,"previous_response_id":")" + id + "\""));
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: one", "assistant: Hello", "user: two",
                                              "assistant: Hello", "user: three"}));
}

// RESPONSES_SOCKET3
TEST_F(ResponsesSockets, ForgetWhatAFailedContinuationContinued) {
  auto client = connected();
  const std::string id = string_at(answered(client, R"(,"input":"one","store":false)"), "/response/id");
  client.create(R"(,"store":false,"previous_response_id":")" + id +
                R"(","input":[{"type":"function_call_output","call_id":"none","output":"x"}])");
  const Json failed = client.response().back();
  EXPECT_EQ(string_at(failed, "/type"), "error") << failed;
  EXPECT_EQ(failed.get("status"), Json::number(400));
  client.create(R"(,"store":false,"input":"x","previous_response_id":")" + id + "\"");
  EXPECT_EQ(string_at(client.response().back(), "/error/code"), "previous_response_not_found");
}

TEST_F(ResponsesSockets, ForgetWhatAFailedTurnContinued) {
  auto client = connected();
  const std::string id = string_at(answered(client, R"(,"input":"one","store":false)"), "/response/id");
  client.create(R"(,"store":false,"input":"x","previous_response_id":")" + id + "\"");
  server_->model().call(1)->fail_with(FailureKind::Server, false);
  EXPECT_EQ(string_at(client.response().back(), "/type"), "response.failed");
  client.create(R"(,"store":false,"input":"x","previous_response_id":")" + id + "\"");
  EXPECT_EQ(string_at(client.response().back(), "/error/code"), "previous_response_not_found");
}

// RESPONSES_SOCKET4
TEST_F(ResponsesSockets, EndAfterTheirTime) {
  testing::TestServer server(
      {.routes = {{"GET", "/v1/responses", [](Service& service, const std::shared_ptr<Exchange>& exchange) {
                     open_responses_socket_for(service, exchange, std::chrono::milliseconds(50));
                   }}}});
  SocketClient idle(server.port());
  EXPECT_EQ(string_at(idle.event(), "/error/code"), "websocket_connection_limit_reached");
  EXPECT_TRUE(idle.event().is_null());

  SocketClient busy(server.port());
  busy.create(R"(,"input":"one")");
  const auto call = server.model().call(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  say_hello(*call);
  EXPECT_EQ(string_at(busy.response().back(), "/type"), "response.completed");
  EXPECT_EQ(string_at(busy.event(), "/error/code"), "websocket_connection_limit_reached");
}

// RESPONSES_SOCKET5
TEST_F(ResponsesSockets, WarmUpWithoutAModel) {
  auto client = connected();
  client.create(R"(,"input":"The word is slate.","generate":false,"store":false)");
  const std::vector<Json> events = client.response();
  EXPECT_EQ(string_at(events.back(), "/type"), "response.completed");
  EXPECT_EQ(server_->model().calls(), 0U);
  answered(client, R"(,"input":"Go.","store":false,"previous_response_id":")" +
                       string_at(events.back(), "/response/id") + "\"");
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: The word is slate.", "user: Go."}));
}

TEST_F(ResponsesSockets, WarmUpInAConversation) {
  const std::string conversation =
      server_->post("/v1/conversations", R"({"items":[{"type":"message","role":"user","content":"before"}]})")
          .at("/id");
  auto client = connected();
  client.create(R"(,"input":"a","generate":false,"conversation":")" + conversation + "\"");
  const std::string id = string_at(client.response().back(), "/response/id");
  answered(client, R"(,"input":"b","store":false,"previous_response_id":")" + id + "\"");
  EXPECT_EQ(seen(), (std::vector<std::string>{"user: before", "user: a", "user: b"}));
}

// RESPONSES_SOCKET6
TEST_F(ResponsesSockets, LeaveTheTurnOfAClientThatIsGone) {
  auto client = std::make_unique<SocketClient>(server_->port());
  client->create(R"(,"input":"one","store":false)");
  const auto call = server_->model().call(0);
  call->say("Hel");
  client.reset();
  for (int i = 0; i < 1'000 && !call->is_stopped; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(call->is_stopped);
}

TEST_F(ResponsesSockets, AnswerMistakesWithAnError) {
  auto client = connected();
  const auto code = [&](std::string_view text) {
    client.text(text);
    const Json event = client.event();
    EXPECT_EQ(string_at(event, "/type"), "error") << text;
    EXPECT_FALSE(string_at(event, "/error/code").empty()) << event;
    return event.get("status").value_or(Json()).text().str() + " " + string_at(event, "/error/param");
  };
  EXPECT_EQ(code("{"), "400 ");
  EXPECT_EQ(code("[]"), "400 message");
  EXPECT_EQ(code(R"({"type":"response.steer"})"), "400 type");
  EXPECT_EQ(code(R"({"type":"response.create","input":"x"})"), "400 model");
  EXPECT_EQ(code(R"({"type":"response.create","model":"none","input":"x"})"), "404 model");
  EXPECT_EQ(code(R"({"type":"response.create","model":"test/manual","input":"x","background":true})"),
            "400 background");
  EXPECT_EQ(string_at(answered(client, R"(,"input":"hi")"), "/type"), "response.completed");
}

// RESPONSES_SOCKET7
TEST_F(ResponsesSockets, AreNotForPagesOfOtherSites) {
  const SocketClient page(server_->port(), "/v1/responses", "Origin: https://evil.example\r\n");
  EXPECT_TRUE(page.head.starts_with("HTTP/1.1 403 ")) << page.head;
}

TEST_F(ResponsesSockets, AreNotForKeysThatMayOnlyRead) {
  const auto kept = std::make_shared<KeptResponse>();
  const auto exchange = std::make_shared<Exchange>();
  exchange->responder = kept;
  exchange->identity.role = Identity::Role::Read;
  exchange->request.method = "GET";
  exchange->request.headers = upgrade_headers();
  Service service{server_->engine()};
  open_responses_socket(service, exchange);
  EXPECT_EQ(kept->status, 403) << kept->body;
}

// RESPONSES_SOCKET8
TEST_F(ResponsesSockets, EndWhenTheirKeyIsNotValidAnyMore) {
  std::atomic<bool> is_allowed = true;
  PlayedConnection connection(server_->engine(), [&] { return is_allowed.load(); });
  connection.say("{");
  EXPECT_EQ(connection.errors(), std::vector<std::int64_t>{400});
  EXPECT_EQ(connection.closed_with(), 0);
  is_allowed = false;
  connection.say(R"({"type":"response.create","model":"test/manual","input":"one"})");
  EXPECT_EQ(connection.errors(), (std::vector<std::int64_t>{400, 401}));
  EXPECT_EQ(connection.closed_with(), 1008);
  EXPECT_EQ(server_->model().calls(), 0U);
}

// RESPONSES_SOCKET9
TEST_F(ResponsesSockets, CloseAClientThatDoesNotRead) {
  PlayedConnection connection(server_->engine());
  connection.set_unread(std::size_t{1} << 20);
  connection.say("{");
  EXPECT_EQ(connection.closed_with(), 0);
  connection.set_unread((std::size_t{1} << 20) + 1);
  connection.say("{");
  EXPECT_EQ(connection.closed_with(), 1008);
  EXPECT_EQ(connection.errors().size(), 1U);
}

TEST_F(ResponsesSockets, AreClosedWhenTheServerDrains) {
  PlayedConnection idle(server_->engine());
  idle.on_loop([](PlayedSocket& socket) { socket.stopping(); });
  EXPECT_EQ(idle.closed_with(), 1001);
}

TEST(LocalResponses, ForgetTheOldest) {
  LocalResponses local;
  for (std::size_t i = 0; i < LocalResponses::kMostResponses + 1; ++i)
    local.add("r" + std::to_string(i), {.messages = {Message::user_message("x")}});
  EXPECT_EQ(local.find("r0"), nullptr);
  ASSERT_NE(local.find("r1"), nullptr);
  EXPECT_EQ(local.find("r1")->messages.size(), 1U);
  local.forget("r1");
  EXPECT_EQ(local.find("r1"), nullptr);
  const Text large(std::string(LocalResponses::kMostBytes, 'x'));
  local.add("large", {.messages = {Message::user_message(large)}});
  EXPECT_NE(local.find("large"), nullptr);
  EXPECT_EQ(local.find("r32"), nullptr);
}

}  // namespace
}  // namespace parley::server
