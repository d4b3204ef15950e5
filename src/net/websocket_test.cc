#include "parley/net/websocket.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "net/websocket_client_testing.h"
#include "parley/net/async_server.h"

namespace parley::net {
namespace {

using namespace std::chrono_literals;

// A server whose handler upgrades each request, and then calls `opened`.
class WebSocketServer {
 public:
  using Opened = std::function<void(const std::shared_ptr<WebSocket>& socket)>;

  explicit WebSocketServer(Opened opened, WebSocketOptions options = {}, const ServerOptions& limits = {})
      : server_(AsyncServer::listen(limits, [opened = std::move(opened), options = std::move(options)](
                                                const ServerRequest& request,
                                                const std::shared_ptr<Responder>& responder) {
                  if (const auto socket = responder->upgrade(request, options)) return opened(socket);
                  responder->whole(400, {}, "not a WebSocket");
                }).value()) {}

  std::uint16_t port() const { return server_.port(); }
  AsyncServer& server() { return server_; }

 private:
  AsyncServer server_;
};

// How a WebSocket ended.
struct Closed {
  int code = 0;
  std::string reason;
  friend bool operator==(const Closed&, const Closed&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Closed& it) { return out << it.code << it.reason; }
};

// Sends each message back, and keeps how it ended. The callbacks hold the WebSocket until then.
class Echo {
 public:
  WebSocketServer::Opened opened() {
    return [this](const std::shared_ptr<WebSocket>& socket) {
      socket->on_message([socket](std::string text) { socket->send(std::move(text)); });
      socket->on_closed(
          [this](int code, std::string reason) { closed_.set_value({code, std::move(reason)}); });
    };
  }
  Closed closed() { return closed_.get_future().get(); }

 private:
  std::promise<Closed> closed_;
};

TEST(WebSocket, AcceptsAHandshake) {
  Echo echo;
  const WebSocketServer server(echo.opened(), {.headers = {{"Sec-WebSocket-Protocol", "chat"}}});
  WebSocketClient client(server.port());
  // The example of RFC 6455, 1.3.
  EXPECT_NE(client.head.find("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
            std::string::npos);
  EXPECT_NE(client.head.find("\r\nSec-WebSocket-Protocol: chat\r\n"), std::string::npos);
  EXPECT_EQ(client.head.find("Sec-WebSocket-Extensions"), std::string::npos);
  EXPECT_EQ(client.text("hello").hear(), "text:hello");
}

TEST(WebSocket, RefusesOtherRequests) {
  const WebSocketServer server([](const auto&) { FAIL(); });
  const std::string good(kWebSocketRequest);
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string out = good;
    return out.replace(out.find(from), from.size(), to);
  };
  for (const std::string& request :
       {changed("GET", "POST"), changed("13", "12"), changed("keep-alive, Upgrade", "keep-alive"),
        changed("WebSocket", "h2c"), changed("ZQ==", "ZQ="), changed("ZQ==", "ZQQQ"), changed("dGhl", "dG l"),
        changed("HTTP/1.1", "HTTP/1.0"), changed("Upgrade: W", "Upgrades: W")}) {
    RawClient client(server.port());
    const std::string heard = client.say(request).close_own_side().hear();
    EXPECT_TRUE(heard.ends_with("not a WebSocket")) << request << heard;
  }
}

// WEBSOCKET2
TEST(WebSocket, TakesFragmentsAndMessagesOfEachLength) {
  Echo echo;
  const WebSocketServer server(echo.opened());
  WebSocketClient client(server.port());
  client.say(0x01, "Hello, w").say(0x89, "between").say(0x00, "").say(0x00, "orl").say(0x80, "d");
  EXPECT_EQ(client.hear(), "pong:between");
  EXPECT_EQ(client.hear(), "text:Hello, world");
  // A character in two frames.
  client.say(0x01, "\xC3").say(0x80, "\xA4");
  EXPECT_EQ(client.hear(), "text:\xC3\xA4");
  for (const std::size_t size : {0U, 1U, 125U, 126U, 4095U, 4096U, 4097U, 65535U, 65536U, 300'000U}) {
    const std::string text(size, 'x');
    std::thread sender([&] { client.text(text); });
    EXPECT_EQ(client.hear(), "text:" + text);
    sender.join();
  }
}

// WEBSOCKET2: also if every byte comes alone.
TEST(WebSocket, ReadsFramesByteByByte) {
  Echo echo;
  const WebSocketServer server(echo.opened());
  WebSocketClient client(server.port());
  const std::string bytes = client_frame(0x89, "p") + client_frame(0x01, std::string(130, 'a')) +
                            client_frame(0x80, "b") + client_frame(0x81, "next");
  for (const char byte : bytes) client.raw().say({&byte, 1});
  EXPECT_EQ(client.hear(), "pong:p");
  EXPECT_EQ(client.hear(), "text:" + std::string(130, 'a') + "b");
  EXPECT_EQ(client.hear(), "text:next");
}

// A client that does not wait for the response to its request.
TEST(WebSocket, TakesFramesThatComeWithTheRequest) {
  Echo echo;
  const WebSocketServer server(echo.opened());
  RawClient client(server.port());
  client.say(std::string(kWebSocketRequest) + client_frame(0x81, "early"));
  EXPECT_TRUE(client.hear("\r\n\r\n").starts_with("HTTP/1.1 101 "));
  EXPECT_EQ(client.hear_bytes(7),
            "\x81\x05"
            "early");
}

// WEBSOCKET1
TEST(WebSocket, ClosesAClientThatBreaksTheProtocol) {
  const std::string long_ping(126, 'x');
  const std::vector<std::pair<std::string, int>> cases = {
      {client_frame(0x81, "not masked", false), 1002},
      {client_frame(0xC1, "reserved bit"), 1002},
      {client_frame(0xA1, "reserved bit"), 1002},
      {client_frame(0x83, "reserved opcode"), 1002},
      {client_frame(0x8B, "reserved opcode"), 1002},
      {client_frame(0x80, "nothing to continue"), 1002},
      {client_frame(0x01, "a") + client_frame(0x81, "not continued"), 1002},
      {client_frame(0x09, "fragmented ping"), 1002},
      {client_frame(0x89, long_ping), 1002},
      {std::string("\x81\xFE\x00\x01mask", 8) + "x", 1002},  // a length in more bytes than it needs
      {client_frame(0x88, "x"), 1002},                       // half a code
      {client_frame(0x88, close_payload(1005)), 1002},
      {client_frame(0x88, close_payload(1000, "\xFF")), 1002},
      {client_frame(0x82, "binary"), 1003},
      {client_frame(0x81, "\xC3("), 1007},
      {client_frame(0x81, "\xED\xA0\x80"), 1007},
      {client_frame(0x81, "cut \xC3"), 1007},
      {client_frame(0x01, "cut \xC3") + client_frame(0x80, ""), 1007},
      {client_frame(0x81, std::string(1001, 'x')), 1009},
      {client_frame(0x01, std::string(600, 'x')) + client_frame(0x80, std::string(401, 'x')), 1009},
      // Announced only: 2^62 bytes.
      {std::string("\x81\xFF\x40\0\0\0\0\0\0\0mask", 14), 1009},
  };
  for (const auto& [bytes, code] : cases) {
    std::promise<Closed> closed;
    const WebSocketServer server(
        [&](const std::shared_ptr<WebSocket>& socket) {
          socket->on_message([](std::string text) { ADD_FAILURE() << text; });
          socket->on_closed([&, socket](int its_code, std::string) { closed.set_value({its_code, ""}); });
        },
        {.max_message_bytes = 1000});
    WebSocketClient client(server.port());
    client.raw().say(bytes);
    const std::string heard = client.hear();
    EXPECT_TRUE(heard.starts_with("close:" + std::to_string(code))) << heard << " " << code;
    if (code == 1003) client.say(0x88, close_payload(code));
    if (heard.ends_with("UTF-8")) client.say(0x88, close_payload(code));
    EXPECT_EQ(client.hear(), "end");
    EXPECT_EQ(closed.get_future().get().code, code);
  }
}

// WEBSOCKET2: the limit itself is allowed.
TEST(WebSocket, TakesAMessageOfTheLargestSize) {
  Echo echo;
  const WebSocketServer server(echo.opened(), {.max_message_bytes = 1000});
  WebSocketClient client(server.port());
  EXPECT_EQ(client.text(std::string(1000, 'x')).hear().size(), 5 + 1000u);
  client.say(0x01, std::string(600, 'x')).say(0x80, std::string(400, 'x'));
  EXPECT_EQ(client.hear().size(), 5 + 1000u);
}

// ASYNC_SERVER13
TEST(WebSocket, SharesTheMemoryOfBodies) {
  Echo echo;
  const WebSocketServer server(echo.opened(), {}, {.max_bodies_bytes = 1000, .free_body_bytes = 0});
  WebSocketClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.text(std::string(1000, 'x')).hear().size(), 5 + 1000u) << "what was handed over is free";
  }
  client.say(0x01, std::string(600, 'x')).say(0x00, std::string(401, 'x'));
  EXPECT_EQ(client.hear(), "close:1013 too much to handle");
  EXPECT_EQ(client.say(0x88, close_payload(1013)).hear(), "end");
  EXPECT_EQ(echo.closed(), (Closed{1013, ""}));
}

// WEBSOCKET5
TEST(WebSocket, AnswersTheCloseOfAClient) {
  for (const auto& [payload, code, reason] : std::vector<std::tuple<std::string, int, std::string>>{
           {close_payload(1000, "bye"), 1000, "bye"}, {close_payload(4321), 4321, ""}, {"", 1005, ""}}) {
    Echo echo;
    const WebSocketServer server(echo.opened());
    WebSocketClient client(server.port());
    client.say(0x88, payload);
    EXPECT_EQ(client.hear(), "close:" + std::to_string(code == 1005 ? 1000 : code));
    EXPECT_EQ(client.hear(), "end");
    EXPECT_EQ(echo.closed(), (Closed{code, reason}));
  }
}

// WEBSOCKET5
TEST(WebSocket, ReportsAClientThatVanishes) {
  Echo echo;
  const WebSocketServer server(echo.opened());
  {
    WebSocketClient client(server.port());
  }
  EXPECT_EQ(echo.closed(), (Closed{1006, ""}));
}

// WEBSOCKET6
TEST(WebSocket, ClosesAndIgnoresWhatFollows) {
  std::promise<Closed> closed;
  const WebSocketServer server([&](const std::shared_ptr<WebSocket>& socket) {
    socket->on_message([socket](const std::string& text) {
      EXPECT_EQ(text, "first");
      socket->send("answer");
      socket->close(4000, std::string(122, 'x') + "\xC3\xA4");
      socket->send("too late");
      socket->close(4001, "");
    });
    socket->on_closed([&](int code, std::string reason) { closed.set_value({code, std::move(reason)}); });
  });
  WebSocketClient client(server.port());
  client.text("first").text("second").say(0x82, "binary");
  EXPECT_EQ(client.hear(), "text:answer");
  EXPECT_EQ(client.hear(), "close:4000 " + std::string(122, 'x')) << "cut before the character";
  client.text("third").say(0x88, close_payload(4000));
  EXPECT_EQ(client.hear(), "end");
  EXPECT_EQ(closed.get_future().get(), (Closed{4000, ""}));
}

// WEBSOCKET6: in the handler itself, before the response of the handshake is written.
TEST(WebSocket, SendsAndClosesAtOnce) {
  const WebSocketServer server([](const std::shared_ptr<WebSocket>& socket) {
    socket->send("hello");
    socket->close(1000, "enough");
  });
  WebSocketClient client(server.port());
  EXPECT_EQ(client.hear(), "text:hello");
  EXPECT_EQ(client.hear(), "close:1000 enough");
}

// WEBSOCKET7
TEST(WebSocket, ClosesWhenItsOwnerIsGone) {
  const WebSocketServer dropped([](const auto&) {});
  EXPECT_EQ(WebSocketClient(dropped.port()).hear(), "close:1011");
  const WebSocketServer throwing([](const std::shared_ptr<WebSocket>& socket) {
    socket->on_message([socket](const std::string&) { throw std::runtime_error("of a callback"); });
  });
  EXPECT_EQ(WebSocketClient(throwing.port()).text("x").hear(), "close:1011");
}

// WEBSOCKET3
TEST(WebSocket, SendsMessagesOfOtherThreads) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  const WebSocketServer server([&](std::shared_ptr<WebSocket> socket) {
    const std::lock_guard lock(mutex);
    threads.emplace_back([socket = std::move(socket)] {
      for (int i = 0; i < 1000; ++i) socket->send(std::to_string(i));
      socket->close(1000, "");
    });
  });
  WebSocketClient client(server.port());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(client.hear(), "text:" + std::to_string(i));
  EXPECT_EQ(client.hear(), "close:1000");
  const std::lock_guard lock(mutex);
  for (std::thread& thread : threads) thread.join();
}

// WEBSOCKET3
TEST(WebSocket, BoundsTheMemoryOfASenderThatPauses) {
  constexpr int kAll = 250;
  const std::string message(64 * 1024, 'x');
  std::size_t most = 0;
  int sent = 0;
  const WebSocketServer server(
      [&](const std::shared_ptr<WebSocket>& socket) {
        const auto more = [&, socket] {
          while (sent < kAll && socket->backlog() < 4 * message.size()) {
            socket->send(message);
            ++sent;
            most = std::max(most, socket->backlog());
          }
          if (sent == kAll) socket->close(1000, "");
        };
        socket->on_drained(more);
        more();
      },
      {.idle_timeout = 1h});
  WebSocketClient client(server.port());
  for (int i = 0; i < kAll; ++i) EXPECT_EQ(client.hear().size(), 5 + message.size());
  EXPECT_EQ(client.hear(), "close:1000");
  EXPECT_LE(most, 5 * message.size());
}

// WEBSOCKET4
TEST(WebSocket, PingsAClientThatIsQuiet) {
  Echo echo;
  const WebSocketServer server(echo.opened(), {.idle_timeout = 60ms});
  WebSocketClient client(server.port());
  EXPECT_EQ(client.hear(), "ping:");
  client.say(0x8A, "");
  EXPECT_EQ(client.hear(), "ping:") << "it lives on";
  EXPECT_EQ(client.hear(), "end") << "without an answer it does not";
  EXPECT_EQ(echo.closed(), (Closed{1006, ""}));
}

// WEBSOCKET8
TEST(WebSocket, DoesNotReadAClientThatDoesNotRead) {
  Echo echo;
  const WebSocketServer server(echo.opened(), {.idle_timeout = 300ms});
  WebSocketClient client(server.port());
  // More than the buffers of both sides hold: it blocks until the server gives up.
  std::string pings;
  for (int i = 0; i < 1000; ++i) pings += client_frame(0x89, std::string(125, 'x'));
  bool is_blocked = false;
  for (int i = 0; i < 1000 && !is_blocked; ++i) is_blocked = !client.raw().try_say(pings);
  EXPECT_TRUE(is_blocked);
  EXPECT_EQ(echo.closed(), (Closed{1006, ""}));
}

// WEBSOCKET5: ASYNC_SERVER8 holds.
TEST(WebSocket, EndsWhenTheServerStops) {
  Closed closed;
  std::latch opened(1);
  std::shared_ptr<WebSocket> held;
  WebSocketServer server([&](const std::shared_ptr<WebSocket>& socket) {
    held = socket;
    socket->on_closed([&](int code, std::string reason) { closed = {code, std::move(reason)}; });
    opened.count_down();
  });
  WebSocketClient client(server.port());
  opened.wait();
  server.server().drain();
  client.text("still open");
  EXPECT_EQ(server.server().connections(), 1u);
  server.server().stop();
  EXPECT_EQ(closed, (Closed{1001, ""}));
  EXPECT_EQ(client.hear(), "close:1001");
  EXPECT_EQ(client.hear(), "end");
  held->send("ignored");
  held->close(1000, "");
}

// WEBSOCKET9, ASYNC_SERVER10
TEST(WebSocket, IsToldOnceThatTheServerDrains) {
  std::atomic<int> told = 0;
  std::latch opened(1);
  WebSocketServer server([&](const std::shared_ptr<WebSocket>& socket) {
    socket->on_drain([&] { ++told; });
    socket->on_message([socket](std::string text) { socket->send(std::move(text)); });
    opened.count_down();
  });
  WebSocketClient client(server.port());
  opened.wait();
  server.server().drain();
  server.server().drain();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(client.text("still open").hear(), "text:still open");
}

// WEBSOCKET9: a request that had begun to arrive.
TEST(WebSocket, IsToldOfADrainThatBeganBefore) {
  WebSocketServer server([](const std::shared_ptr<WebSocket>& socket) {
    socket->on_drain([weak = std::weak_ptr(socket)] {
      if (const auto idle = weak.lock()) idle->close(1001, "");
    });
    socket->on_closed([socket](int, const std::string&) {});
  });
  RawClient client(server.port());
  client.say(kWebSocketRequest.substr(0, 20));
  while (server.server().connections() == 0) std::this_thread::yield();
  std::this_thread::sleep_for(50ms);
  server.server().drain();
  client.say(kWebSocketRequest.substr(20)).hear("\r\n\r\n");
  EXPECT_EQ(client.hear_bytes(4), (std::string{'\x88', '\x02', '\x03', '\xE9'}));
}

// WEBSOCKET9
TEST(WebSocket, IsClosedByAServerThatHasNoMoreWork) {
  Echo echo;
  WebSocketServer server(echo.opened());
  WebSocketClient client(server.port());
  EXPECT_EQ(client.text("hello").hear(), "text:hello");
  server.server().drain();
  EXPECT_EQ(server.server().connections(), 1u);
  server.server().close_websockets();
  EXPECT_EQ(client.hear(), "close:1001");
  EXPECT_EQ(client.say(0x88, close_payload(1001)).hear(), "end");
  EXPECT_EQ(echo.closed(), (Closed{1001, ""}));
  while (server.server().connections() > 0) std::this_thread::yield();
}

// A Responder that was upgraded is of no use, and does no harm.
TEST(WebSocket, TakesTheConnectionFromItsResponder) {
  std::shared_ptr<Responder> kept;
  std::shared_ptr<WebSocket> second = nullptr;
  AsyncServer server = AsyncServer::listen({}, [&](const ServerRequest& request, const auto& responder) {
                         const auto socket = responder->upgrade(request);
                         socket->on_message([&, socket](std::string text) {
                           kept->whole(200, {}, "no");
                           kept->cut();
                           kept.reset();
                           socket->send(std::move(text));
                         });
                         second = responder->upgrade(request);
                         kept = responder;
                       }).value();
  WebSocketClient client(server.port());
  EXPECT_EQ(client.text("hello").hear(), "text:hello");
  server.stop();
  EXPECT_EQ(second, nullptr);
}

}  // namespace
}  // namespace parley::net
