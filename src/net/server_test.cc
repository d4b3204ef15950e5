#include "parley/net/server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>

#include "net/raw_client_testing.h"

namespace parley::net {
namespace {

using namespace std::chrono_literals;

Server serving(Server::Handler handler, const ServerOptions& options = {}) {
  return Server::listen(options, std::move(handler)).value();
}

Result<Response> get(const Server& server, std::string_view path = "/") {
  Request request;
  request.url = parse_url(server.url(path)).value();
  return send(request);
}

std::string outcome(const Result<Response>& response) {
  return response ? std::to_string(response->status) + " " + response->body
                  : std::string(to_string(response.error().code));
}

using Client = RawClient;

void echo(const ServerRequest& request, ServerResponse& reply) {
  reply.whole(200, {}, request.method + " " + request.path + " " + request.query + " " + request.body);
}

TEST(Server, PassesTheRequestToTheHandler) {
  const Server server = serving([](const ServerRequest& request, ServerResponse& reply) {
    EXPECT_EQ(request.header("x-MARK"), "yes");
    EXPECT_EQ(request.header("x-none"), std::nullopt);
    reply.whole(201, {{"X-Answer", "a b"}, {"Content-Length", "3"}},
                request.path + "|" + request.query + "|" + request.body);
  });
  Request request;
  request.method = "PUT";
  request.url = parse_url(server.url("/a/b%20c?d=e&f")).value();
  request.headers = {{"X-Mark", "yes"}};
  request.body = std::string("x\0y", 3);
  const auto response = send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "/a/b%20c|d=e&f|" + request.body);
  EXPECT_EQ(response->header("x-answer"), "a b");
}

TEST(Server, ServesSeveralRequestsOfAConnection) {
  const Server server = serving(echo);
  Client client(server.port());
  // Two at once, the second in two chunks; then one in chunks; then one that ends the connection.
  client.say("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHo");
  EXPECT_NE(client.hear("GET /1  ").find("HTTP/1.1 200 OK\r\n"), std::string::npos);
  client.say("st: x\r\n\r\n");
  EXPECT_NE(client.hear("GET /2  "), "");
  client.say(
      "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_NE(client.hear("POST /3  abcde"), "");
  client.say("GET http://proxy.example/4?q HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string last = client.hear();
  EXPECT_TRUE(last.ends_with("GET /4 q ")) << last;
  EXPECT_NE(last.find("\r\nConnection: close\r\n"), std::string::npos) << last;
}

TEST(Server, SendsContinueToAClientThatWaitsForIt) {
  const Server server = serving(echo);
  Client client(server.port());
  client.say("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.hear("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.say("ab");
  EXPECT_NE(client.hear("POST /  ab"), "");
}

TEST(Server, SendsNoBodyWhereHttpForbidsOne) {
  const Server server = serving([](const ServerRequest& request, ServerResponse& reply) {
    if (request.path == "/chunks") {
      reply.start(304, {});
      reply.send("body");
      return;
    }
    reply.whole(request.path == "/204" ? 204 : 200, {}, "body");
  });
  Client client(server.port());
  client.say("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.hear("\r\n\r\n"), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
  client.say("GET /chunks HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.hear("\r\n\r\n"), "HTTP/1.1 304 Not Modified\r\n\r\n");
  client.say("GET /204 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.hear(), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

// HTTP_SERVER1
TEST(Server, ListensOnTheGivenAddress) {
  const Server server = serving(echo);
  EXPECT_EQ(server.url("/x"), "http://127.0.0.1:" + std::to_string(server.port()) + "/x");
  const auto taken = Server::listen({.port = server.port()}, echo);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::Unavailable);
  EXPECT_NE(taken.error().message.find(std::to_string(server.port())), std::string::npos);
  for (const std::string address : {"localhost", "", "1.2.3.4.5", ":"}) {
    const auto none = Server::listen({.address = address}, echo);
    ASSERT_FALSE(none) << address;
    EXPECT_EQ(none.error().code, Code::Invalid) << address;
  }
  const Server other = serving(echo, {.address = "127.0.0.2"});
  EXPECT_EQ(outcome(get(other, "/y")), "200 GET /y  ");
}

// HTTP_SERVER2
TEST(Server, RefusesHeadersAndBodiesOverTheirLimits) {
  std::atomic<int> calls = 0;
  const Server server = serving(
      [&](const ServerRequest&, ServerResponse& reply) {
        ++calls;
        reply.whole(200, {}, "ok");
      },
      {.max_head_bytes = 200, .max_body_bytes = 10});
  const auto status = [&](const std::string& text) {
    Client client(server.port());
    return client.say(text).hear().substr(0, 12);
  };
  const auto head = [](std::size_t size) {
    std::string text = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX: \r\n\r\n";
    return text.insert(text.size() - 4, size - text.size(), 'x');
  };
  const auto body = [](std::size_t size) {
    return "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(size) +
           "\r\n\r\n" + std::string(size, 'x');
  };
  EXPECT_EQ(status(head(199)), "HTTP/1.1 200");
  EXPECT_EQ(status(head(200)), "HTTP/1.1 200");
  EXPECT_EQ(status(head(201)), "HTTP/1.1 431");
  EXPECT_EQ(status(body(9)), "HTTP/1.1 200");
  EXPECT_EQ(status(body(10)), "HTTP/1.1 200");
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(status(body(11)), "HTTP/1.1 413");
  EXPECT_EQ(
      status("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n0\r\n\r\n"),
      "HTTP/1.1 413");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n"),
            "HTTP/1.1 413")
      << "no 100 for a body that is refused";
  EXPECT_EQ(calls, 4);
}

// HTTP_SERVER2
TEST(Server, RefusesInvalidRequests) {
  const Server server =
      serving([](const ServerRequest&, ServerResponse& reply) { reply.whole(200, {}, "handed on"); });
  for (const std::string_view text :
       {"hello\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET /\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "GET / HTTP/1.1\r\nHost: x\r\nX y: z\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    Client client(server.port());
    EXPECT_TRUE(client.say(text).hear().starts_with("HTTP/1.1 400 ")) << text;
  }
}

// HTTP_SERVER2
TEST(Server, RefusesASlowRequest) {
  const Server server = serving(echo, {.idle_timeout = 30ms});
  EXPECT_TRUE(Client(server.port()).say("GET / HTT").hear().starts_with("HTTP/1.1 408 "));
  EXPECT_TRUE(Client(server.port())
                  .say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
                  .hear()
                  .starts_with("HTTP/1.1 408 "));
  EXPECT_EQ(Client(server.port()).hear(), "") << "no response without a request";
}

// HTTP_SERVER2
TEST(Server, RefusesConnectionsOverTheirLimit) {
  std::latch leave(1);
  std::latch arrived(2);
  Server server = serving(
      [&](const ServerRequest& request, ServerResponse& reply) {
        if (request.path == "/wait") {
          arrived.count_down();
          leave.wait();
        }
        reply.whole(200, {{"Connection", "close"}}, "ok");
      },
      {.connections = 2});
  constexpr std::string_view kWait = "GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  Client first(server.port());
  Client second(server.port());
  first.say(kWait);
  second.say(kWait);
  arrived.wait();
  EXPECT_TRUE(outcome(get(server)).starts_with("503 "));
  leave.count_down();
  EXPECT_TRUE(first.hear().ends_with("ok"));
  EXPECT_TRUE(second.hear().ends_with("ok"));
}

// HTTP_SERVER3
TEST(Server, SendsEachChunkAtOnce) {
  std::latch heard(1);
  const Server server = serving([&](const ServerRequest&, ServerResponse& reply) {
    reply.start(200, {{"Content-Type", "text/event-stream"}});
    EXPECT_TRUE(reply.send("one"));
    EXPECT_TRUE(reply.send(""));
    heard.wait();  // the client has the first chunk before there is a second
    EXPECT_TRUE(reply.send("three"));
  });
  Client client(server.port());
  client.say("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(client.hear("one\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: "
            "close\r\n\r\n3\r\none\r\n");
  heard.count_down();
  EXPECT_EQ(client.hear(), "5\r\nthree\r\n0\r\n\r\n");
}

// HTTP_SERVER3
TEST(Server, SendsChunksUnframedToOldClients) {
  const Server server = serving([](const ServerRequest&, ServerResponse& reply) {
    reply.start(200, {});
    reply.send("one");
    reply.send("two");
  });
  EXPECT_EQ(Client(server.port()).say("GET / HTTP/1.0\r\n\r\n").hear(),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nonetwo");
}

// HTTP_SERVER3: far more than the buffers of the system hold is sent only while it is read.
TEST(Server, WaitsForAClientThatReadsLate) {
  constexpr std::size_t kPieces = 512;
  std::atomic<std::size_t> sent = 0;
  const Server server = serving([&](const ServerRequest&, ServerResponse& reply) {
    reply.start(200, {});
    const std::string chunk(64 * 1024, 'x');
    while (sent < kPieces && reply.send(chunk)) ++sent;
  });
  Client client(server.port());
  client.say("GET / HTTP/1.0\r\n\r\n");
  client.hear("\r\n\r\n");
  EXPECT_LT(sent, kPieces);
  EXPECT_EQ(client.hear().size(), kPieces * 64 * 1024);
  EXPECT_EQ(sent, kPieces);
}

// HTTP_SERVER4
TEST(Server, ReportsThatTheClientIsGone) {
  std::latch told(1);
  const Server server = serving([&](const ServerRequest&, ServerResponse& reply) {
    reply.start(200, {});
    while (reply.send("x")) {
    }
    EXPECT_FALSE(reply.wait(1h));
    told.count_down();
  });
  {
    Client(server.port()).say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").hear("x");
  }
  told.wait();
}

// HTTP_SERVER4
TEST(Server, EndsAWaitWhenTheClientIsGone) {
  std::latch told(1);
  const Server server = serving([&](const ServerRequest&, ServerResponse& reply) {
    reply.start(200, {});
    EXPECT_FALSE(reply.wait(1h));
    EXPECT_FALSE(reply.send("x"));
    told.count_down();
  });
  {
    Client(server.port()).say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").hear("\r\n\r\n");
  }
  told.wait();
}

// HTTP_SERVER4
TEST(Server, DropsAClientThatNeverReads) {
  std::latch told(1);
  const Server server = serving(
      [&](const ServerRequest&, ServerResponse& reply) {
        reply.start(200, {});
        const std::string chunk(64 * 1024, 'x');
        while (reply.send(chunk)) {
        }
        told.count_down();
      },
      {.idle_timeout = 30ms});
  Client client(server.port());
  client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  told.wait();
}

// HTTP_SERVER5
TEST(Server, Sends500ForAHandlerWithoutAResponse) {
  const Server server = serving([](const ServerRequest& request, ServerResponse& reply) {
    if (request.path == "/throws") throw std::runtime_error("a secret of the handler");
    if (request.path == "/splits") reply.whole(200, {{"X", "a\r\nY: b"}}, "body");
  });
  for (const std::string_view path : {"/nothing", "/throws", "/splits"}) {
    EXPECT_EQ(outcome(get(server, path)), "500 the handler gave no response\n") << path;
  }
}

// HTTP_SERVER5
TEST(Server, ResetsAnIncompleteResponse) {
  const Server server = serving([](const ServerRequest& request, ServerResponse& reply) {
    if (request.path == "/at-once") return reply.cut();
    reply.start(200, {});
    reply.send("half");
    if (request.path == "/throws") throw 1;
    reply.cut();
    EXPECT_FALSE(reply.send("more"));
  });
  for (const std::string_view path : {"/at-once", "/throws", "/cuts"}) {
    EXPECT_EQ(outcome(get(server, path)), "unavailable") << path;
  }
  Client client(server.port());
  client.say("GET /cuts HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(client.hear().ends_with("\r\n\r\n4\r\nhalf\r\n")) << "what was sent arrives, and no end";
  Client old(server.port());
  old.say("GET /cuts HTTP/1.0\r\n\r\n");
  old.hear();
  EXPECT_TRUE(old.was_reset);
}

// HTTP_SERVER6
TEST(Server, EndsEveryConnectionWhenItStops) {
  std::atomic<int> running = 0;
  std::latch arrived(3);
  Server server = serving([&](const ServerRequest& request, ServerResponse& reply) {
    ++running;
    reply.start(200, {});
    reply.send("x");
    arrived.count_down();
    if (request.path == "/wait") {
      EXPECT_FALSE(reply.wait(1h));
    } else {
      while (reply.send(std::string(64 * 1024, 'x'))) {
      }
    }
    --running;
  });
  Client idle(server.port());
  Client half(server.port());
  Client waits(server.port());
  Client waits_too(server.port());
  Client floods(server.port());
  half.say("GET / HT");
  waits.say("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  waits_too.say("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  floods.say("GET /coalescer HTTP/1.1\r\nHost: x\r\n\r\n");
  arrived.wait();
  const std::uint16_t port = server.port();
  server.stop();
  EXPECT_EQ(running, 0);
  const std::string heard = waits.hear();
  EXPECT_FALSE(heard.ends_with("0\r\n\r\n")) << "half an answer is not ended as if it were whole";
  server.stop();
  const Server next = serving(echo, {.port = port});
  EXPECT_EQ(next.port(), port) << "the port is free";
}

// HTTP_SERVER6: also if the response is complete.
TEST(Server, EndsAWaitAfterAResponseWhenItStops) {
  std::latch responded(1);
  Server server = serving([&](const ServerRequest&, ServerResponse& reply) {
    reply.whole(200, {}, "done");
    responded.count_down();
    EXPECT_FALSE(reply.wait(1h));
  });
  Client client(server.port());
  EXPECT_NE(client.say("GET / HTTP/1.1\r\nHost: x\r\n\r\n").hear("done"), "");
  responded.wait();
  server.stop();
}

TEST(Server, ServesManyClientsAtOnce) {
  const Server server = serving(echo);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, path = "/" + std::to_string(i)] {
      for (int n = 0; n < 10; ++n) EXPECT_EQ(outcome(get(server, path)), "200 GET " + path + "  ");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Server, CanBeMoved) {
  Server server = serving(echo);
  Server other = std::move(server);
  EXPECT_EQ(outcome(get(other)), "200 GET /  ");
  other = serving([](const ServerRequest&, ServerResponse& reply) { reply.whole(200, {}, "other"); });
  EXPECT_EQ(outcome(get(other)), "200 other");
}

}  // namespace
}  // namespace parley::net
