#include "parley/net/async_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <future>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "net/raw_client_testing.h"
#include "parley/net/event_loop.h"

namespace parley::net {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

AsyncServer serving(AsyncServer::Handler handler, const ServerOptions& options = {}) {
  return AsyncServer::listen(options, std::move(handler)).value();
}

void echo(const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
  responder->whole(200, {}, request.path + "|" + request.body);
}

std::size_t threads_of_this_process() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Threads:")) return std::stoul(line.substr(8));
  }
  return 0;
}

// ASYNC_SERVER1: request_reader_test.cc has what is refused; here, that it ends the connection.
TEST(AsyncServer, RefusesARequestThatCouldBeReadInTwoWays) {
  std::atomic<int> calls = 0;
  const AsyncServer server = serving([&](ServerRequest, const std::shared_ptr<Responder>& responder) {
    ++calls;
    responder->whole(200, {}, "");
  });
  RawClient client(server.port());
  client.say(
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\nGET /admin HTTP/1.1\r\nHost: "
      "x\r\n\r\n");
  const std::string heard = client.hear();
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 400 ")) << heard;
  EXPECT_TRUE(heard.ends_with("\r\n\r\ninvalid Transfer-Encoding\n")) << heard;
  EXPECT_EQ(calls, 0);
}

// ASYNC_SERVER1
TEST(AsyncServer, RefusesABodyThatComesTooSlowly) {
  const AsyncServer server = serving(echo, {.idle_timeout = 100ms, .min_body_rate = 1'000'000});
  RawClient client(server.port());
  client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
  std::jthread drip([&](const std::stop_token& stop) {  // never idle, and never fast
    while (!stop.stop_requested()) {
      client.say("x");
      std::this_thread::sleep_for(5ms);
    }
  });
  const std::string heard = client.hear("\r\n");
  drip.request_stop();
  drip.join();
  EXPECT_EQ(heard.substr(0, 13), "HTTP/1.1 408 ");
}

// ASYNC_SERVER2
TEST(AsyncServer, HasOneThreadForManyConnections) {
  const std::size_t before = threads_of_this_process();
  const AsyncServer server = serving(echo, {.loops = 2, .connections = 1000});
  std::deque<RawClient> clients;
  for (int i = 0; i < 300; ++i) clients.emplace_back(server.port());
  for (RawClient& client : clients) client.say(kGet);
  for (RawClient& client : clients) EXPECT_NE(client.hear("/|").find("200 OK"), std::string::npos);
  EXPECT_EQ(server.connections(), 300u);
  EXPECT_LE(threads_of_this_process(), before + 2);
}

// ASYNC_SERVER3
TEST(AsyncServer, SendsTheChunksOfOneTurnInOrder) {
  const AsyncServer server = serving([](ServerRequest, const std::shared_ptr<Responder>& responder) {
    responder->start(200, {});
    for (const char* chunk : {"one", "two", "three"}) responder->send(chunk);
    responder->end();
  });
  RawClient client(server.port());
  EXPECT_EQ(
      client.say(kGet).hear("0\r\n\r\n"),
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n0\r\n\r\n");
}

TEST(AsyncServer, SendsChunksOfOtherThreads) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  const AsyncServer server = serving([&](ServerRequest, std::shared_ptr<Responder> responder) {
    const std::lock_guard lock(mutex);
    threads.emplace_back([responder = std::move(responder)] {
      responder->start(200, {});
      for (int i = 0; i < 100; ++i) responder->send(std::to_string(i) + ",");
      responder->end();
    });
  });
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const std::string heard = client.say(kGet).hear("\r\n0\r\n\r\n");
    EXPECT_NE(heard.find("3\r\n99,\r\n0\r\n\r\n"), std::string::npos) << heard;
  }
  for (std::thread& thread : threads) thread.join();
}

// ASYNC_SERVER4
TEST(AsyncServer, ReportsAClientThatLeavesBeforeAResponse) {
  std::promise<void> gone;
  std::shared_ptr<Responder> held;
  std::promise<void> arrived;
  AsyncServer server = serving([&](ServerRequest, std::shared_ptr<Responder> responder) {
    responder->on_gone([&] { gone.set_value(); });
    held = std::move(responder);
    arrived.set_value();
  });
  {
    RawClient client(server.port());
    client.say(kGet);
    arrived.get_future().wait();
  }
  gone.get_future().wait();
  server.stop();
  held->whole(200, {}, "too late");
}

// ASYNC_SERVER4
TEST(AsyncServer, AnswersAClientThatClosedItsSide) {
  std::shared_ptr<Responder> held;
  AsyncServer server = serving([&](ServerRequest, std::shared_ptr<Responder> responder) {
    Responder& own = *responder;
    held = std::move(responder);
    own.on_gone([&] { held->whole(200, {}, "still there"); });
  });
  RawClient client(server.port());
  EXPECT_TRUE(client.say(kGet).close_own_side().hear().ends_with("\r\n\r\nstill there"));
}

// ASYNC_SERVER5
TEST(AsyncServer, BoundsTheMemoryOfASenderThatPauses) {
  constexpr std::size_t kAll = std::size_t{64} << 20;
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  std::size_t sent = 0;
  std::size_t most = 0;
  const AsyncServer server = serving([&](ServerRequest, const std::shared_ptr<Responder>& responder) {
    responder->start(200, {});
    // Holds its own Responder until the end, which frees the callback.
    const auto more = [&, responder] {
      while (sent < kAll && responder->backlog() < 4 * kChunk) {
        responder->send(std::string(kChunk, 'x'));
        sent += kChunk;
        most = std::max(most, responder->backlog());
      }
      if (sent == kAll) responder->end();
    };
    responder->on_drained(more);
    more();
  });
  RawClient client(server.port());
  client.say("GET / HTTP/1.0\r\n\r\n");
  client.hear("\r\n\r\n");
  EXPECT_EQ(client.hear().size(), kAll);
  EXPECT_LE(most, 5 * kChunk);
}

// ASYNC_SERVER6
TEST(AsyncServer, AnswersForAHandlerThatDoesNot) {
  const AsyncServer server = serving([](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    if (request.path == "/throws") throw 1;
    if (request.path == "/splits") responder->whole(200, {{"X", "a\r\nY: b"}}, "");
    if (request.path == "/half") {
      responder->start(200, {});
      responder->send("half");
    }
  });
  for (const std::string path : {"/nothing", "/throws", "/splits"}) {
    RawClient client(server.port());
    EXPECT_TRUE(
        client.say("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").hear().starts_with("HTTP/1.1 500 "));
  }
  RawClient client(server.port());
  EXPECT_TRUE(client.say("GET /half HTTP/1.1\r\nHost: x\r\n\r\n").hear().ends_with("4\r\nhalf\r\n"));
}

// ASYNC_SERVER6: calls in a wrong order are ignored, and the client gets an end all the same.
TEST(AsyncServer, EndsAResponseWhoseCallsAreInAWrongOrder) {
  const AsyncServer server = serving([](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    if (request.path == "/end") responder->end();
    if (request.path == "/splits") {
      responder->start(200, {{"X", "a\r\nb"}});
      responder->send("x");
      responder->end();
    }
    if (request.path == "/both") {
      responder->start(200, {});
      responder->whole(200, {}, "whole");
    }
  });
  const auto heard = [&](const std::string& path) {
    RawClient client(server.port());
    return client.say("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").hear();
  };
  EXPECT_TRUE(heard("/end").starts_with("HTTP/1.1 500 "));
  EXPECT_TRUE(heard("/splits").starts_with("HTTP/1.1 500 "));
  EXPECT_EQ(heard("/both"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

// ASYNC_SERVER6
TEST(AsyncServer, IgnoresAResponderWhoseResponseHasEnded) {
  std::shared_ptr<Responder> old;
  std::size_t backlog = 1;
  bool is_called = false;
  const AsyncServer server = serving([&](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    if (request.path == "/1") {
      old = responder;
      responder->start(200, {});
      responder->end();
      responder->on_gone([&] { is_called = true; });
      return;
    }
    old->send("late");
    backlog = responder->backlog() + old->backlog();
    responder->whole(200, {}, "second");
  });
  {
    RawClient client(server.port());
    client.say("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n").hear("0\r\n\r\n");
    EXPECT_TRUE(
        client.say("GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").hear().ends_with("second"));
  }
  EXPECT_EQ(backlog, 0u);
  EXPECT_FALSE(is_called);
}

// ASYNC_SERVER4: also of a client that has sent more requests than are kept.
TEST(AsyncServer, ReportsAPipeliningClientThatLeaves) {
  std::promise<void> gone;
  std::promise<void> arrived;
  std::shared_ptr<Responder> held;
  AsyncServer server = serving([&](ServerRequest, std::shared_ptr<Responder> responder) {
    responder->on_gone([&] { gone.set_value(); });
    held = std::move(responder);
    arrived.set_value();
  });
  {
    RawClient client(server.port());
    client.say(kGet);
    arrived.get_future().wait();
    client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + std::string(200'000, 'x'));
  }
  gone.get_future().wait();
  server.stop();
  held.reset();
}

// ASYNC_SERVER1
TEST(AsyncServer, KeepsAConnectionOfAnOldClientThatAsksForIt) {
  const AsyncServer server = serving(echo);
  RawClient client(server.port());
  client.say("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(client.hear("/1|").find("\r\nConnection: keep-alive\r\n"), std::string::npos);
  EXPECT_TRUE(client.say("GET /2 HTTP/1.0\r\n\r\n").hear().ends_with("/2|"));
}

// An exception of a callback ends nothing but the callback.
TEST(AsyncServer, SurvivesAnExceptionOfACallback) {
  std::promise<void> called;
  const AsyncServer server = serving([&](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    if (request.path == "/2") return responder->whole(200, {}, "alive");
    responder->start(200, {});
    responder->on_gone([&, responder] {
      called.set_value();
      throw std::runtime_error("of a callback");
    });
  });
  {
    RawClient client(server.port());
    client.say(kGet).hear("\r\n\r\n");
  }
  called.get_future().wait();
  RawClient client(server.port());
  EXPECT_TRUE(
      client.say("GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").hear().ends_with("alive"));
}

// ASYNC_SERVER7
TEST(AsyncServer, AnswersRequestsOfAConnectionInOrder) {
  const AsyncServer server = serving([](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    responder->whole(200, {}, request.path + ";");
  });
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 1000; ++i) requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  std::thread sender([&] { client.say(requests); });
  for (int i = 0; i < 1000; ++i) {
    const std::string path = "/" + std::to_string(i) + ";";
    EXPECT_TRUE(client.hear(";").ends_with("\r\n\r\n" + path));
  }
  sender.join();
}

// ASYNC_SERVER8
TEST(AsyncServer, StopsWhileRespondersAreHeld) {
  std::vector<std::shared_ptr<Responder>> held;
  std::latch arrived(3);
  int gone = 0;
  AsyncServer server = serving([&](ServerRequest request, std::shared_ptr<Responder> responder) {
    if (request.path != "/") responder->start(200, {});
    responder->on_gone([&] { ++gone; });
    held.push_back(std::move(responder));
    arrived.count_down();
  });
  RawClient first(server.port());
  RawClient second(server.port());
  RawClient third(server.port());
  first.say(kGet);
  second.say("GET /chunked HTTP/1.1\r\nHost: x\r\n\r\n");
  third.say("GET /old HTTP/1.0\r\n\r\n");
  arrived.wait();
  server.stop();
  EXPECT_EQ(gone, 3);
  EXPECT_EQ(first.hear(), "");
  EXPECT_FALSE(second.hear().ends_with("0\r\n\r\n"));
  third.hear();
  EXPECT_TRUE(third.was_reset) << "the end of a connection would be the end of the response";
  for (const auto& responder : held) responder->send("x");
  held.clear();
}

// ASYNC_SERVER9
TEST(AsyncServer, HandlesRequestsOnGivenLoops) {
  const auto one = EventLoop::start().value();
  const auto other = EventLoop::start().value();
  const std::size_t before = threads_of_this_process();
  std::mutex mutex;
  std::multiset<EventLoop*> seen;
  const AsyncServer server = serving(
      [&](ServerRequest, const std::shared_ptr<Responder>& responder) {
        const std::lock_guard lock(mutex);
        seen.insert(EventLoop::current());
        responder->whole(200, {}, "");
      },
      {.event_loops = {one.get(), other.get()}});
  EXPECT_EQ(threads_of_this_process(), before);
  for (int i = 0; i < 4; ++i) RawClient(server.port()).say("GET / HTTP/1.0\r\n\r\n").hear();
  EXPECT_EQ(seen, (std::multiset{one.get(), one.get(), other.get(), other.get()}));
}

// ASYNC_SERVER9
TEST(AsyncServer, HandlesRequestsOnAnEventLoopOfItsOwn) {
  std::promise<EventLoop*> seen;
  const AsyncServer server = serving([&](ServerRequest, const std::shared_ptr<Responder>& responder) {
    seen.set_value(EventLoop::current());
    responder->whole(200, {}, "");
  });
  RawClient(server.port()).say(kGet).hear("\r\n\r\n");
  EXPECT_NE(seen.get_future().get(), nullptr);
}

// ASYNC_SERVER8: also on loops that run on.
TEST(AsyncServer, StopsOnGivenLoopsWhileTheyRunOn) {
  const auto loop = EventLoop::start().value();
  const auto other = EventLoop::start().value();
  const auto token = std::make_shared<int>(0);
  std::vector<std::shared_ptr<Responder>> held;
  std::mutex mutex;
  std::latch arrived(4);
  int gone = 0;
  AsyncServer server = serving(
      [&, token](ServerRequest, std::shared_ptr<Responder> responder) {
        const std::lock_guard lock(mutex);
        responder->start(200, {});
        responder->on_gone([&, token] {
          const std::lock_guard gone_lock(mutex);
          ++gone;
        });
        held.push_back(std::move(responder));
        arrived.count_down();
      },
      {.event_loops = {loop.get(), other.get()}});
  std::deque<RawClient> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(server.port()).say(kGet);
  RawClient idle(server.port());
  arrived.wait();
  server.stop();
  EXPECT_EQ(gone, 4);
  EXPECT_EQ(token.use_count(), 1) << "the handler and the callbacks are freed";
  EXPECT_EQ(server.connections(), 0u);
  EXPECT_EQ(idle.hear(), "");
  for (const auto& responder : held) responder->send("x");
  held.clear();
  std::promise<void> ran;
  loop->post([&] { ran.set_value(); });
  ran.get_future().wait();
}

TEST(AsyncServer, ListensOnAUnixSocket) {
  std::string folder = testing::TempDir() + "parley_async_server_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/socket";
  {
    const AsyncServer server = serving(echo, {.unix_path = path});
    struct stat file{};
    ASSERT_EQ(stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    EXPECT_EQ(server.port(), 0);
    EXPECT_TRUE(RawClient(path).say("GET /u HTTP/1.0\r\n\r\n").hear().ends_with("/u|"));
    const auto second = AsyncServer::listen({.unix_path = path}, echo);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::Unavailable);
  }
  struct stat file{};
  EXPECT_NE(stat(path.c_str(), &file), 0) << "removed when it stops";
  // The socket of a server that was killed.
  const int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(path, address.sun_path);
  ASSERT_EQ(bind(dead, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(dead);
  AsyncServer next = serving(echo, {.unix_path = path});
  EXPECT_TRUE(RawClient(path).say("GET /n HTTP/1.0\r\n\r\n").hear().ends_with("/n|"));
  next.stop();
  EXPECT_EQ(rmdir(folder.c_str()), 0);
  const auto too_long = AsyncServer::listen({.unix_path = std::string(200, 'x')}, echo);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, Code::Invalid);
}

// As systemd hands over a socket.
TEST(AsyncServer, AdoptsSocketsOfTheCaller) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const auto unready = AsyncServer::listen({.sockets = {listener}}, echo);
  ASSERT_FALSE(unready);
  EXPECT_EQ(unready.error().code, Code::Invalid);
  ASSERT_EQ(listen(listener, 8), 0);
  const AsyncServer server = serving(echo, {.sockets = {listener}});
  EXPECT_NE(server.port(), 0);
  EXPECT_TRUE(RawClient(server.port()).say("GET /s HTTP/1.0\r\n\r\n").hear().ends_with("/s|"));
}

}  // namespace
}  // namespace parley::net
