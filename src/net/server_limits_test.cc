// The limits of an AsyncServer on clients, headers and bodies; request_reader_test.cc and admission_test.cc
// have the rest.
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/raw_client_testing.h"
#include "parley/net/async_server.h"

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

// ASYNC_SERVER1
TEST(ServerLimits, RefusesARequestWithTooManyFields) {
  const AsyncServer server = serving(echo);
  const auto heard = [&](int fields) {
    std::string request = "GET /f HTTP/1.0\r\n";
    for (int i = 0; i < fields; ++i) request += "F: " + std::to_string(i) + "\r\n";
    return RawClient(server.port()).say(request + "\r\n").hear();
  };
  EXPECT_TRUE(heard(100).ends_with("/f|"));
  EXPECT_TRUE(heard(101).starts_with("HTTP/1.1 431 "));
}

// ASYNC_SERVER1: clients that are refused are not counted with the others.
TEST(ServerLimits, RefusesConnectionsWithoutTakingPlaces) {
  AsyncServer server = serving(echo, {.connections = 2});
  std::deque<RawClient> kept;
  for (int i = 0; i < 2; ++i) kept.emplace_back(server.port()).say(kGet).hear("/|");
  std::deque<RawClient> refused;
  for (int i = 0; i < 20; ++i) refused.emplace_back(server.port());
  for (RawClient& client : refused) {
    const std::string heard = client.hear();
    EXPECT_TRUE(heard.starts_with("HTTP/1.1 503 ")) << heard;
    EXPECT_NE(heard.find("\r\nRetry-After: 1\r\n"), std::string::npos) << heard;
    EXPECT_EQ(server.connections(), 2u);
  }
  // The place of one that leaves is free at once, while those that are refused still linger.
  kept.pop_back();
  while (server.connections() == 2) std::this_thread::yield();
  EXPECT_NE(RawClient(server.port()).say(kGet).hear("/|").find("200 OK"), std::string::npos);
}

std::string post(std::size_t size) {
  return "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(size) +
         "\r\n\r\n";
}

// ASYNC_SERVER13
TEST(ServerLimits, BoundsTheMemoryOfAllBodies) {
  std::vector<ServerRequest> held;
  std::mutex mutex;
  const auto handler = [&](ServerRequest request, const std::shared_ptr<Responder>& responder) {
    const std::lock_guard lock(mutex);
    if (request.path == "/") held.push_back(std::move(request));
    responder->whole(200, {}, "");
  };
  const AsyncServer server =
      serving(handler, {.max_body_bytes = 1000, .max_bodies_bytes = 1000, .free_body_bytes = 0});
  const auto status = [&](std::size_t size) {
    return RawClient(server.port()).say(post(size) + std::string(size, 'x')).hear().substr(9, 3);
  };
  EXPECT_EQ(status(600), "200");
  EXPECT_EQ(status(401), "503") << "the first one is still in memory";
  EXPECT_EQ(status(400), "200") << "the one that was refused is not";
  EXPECT_EQ(status(1), "503");
  EXPECT_EQ(status(0), "200") << "without a body";
  held.clear();
  EXPECT_EQ(status(1000), "200");
  held.clear();
  // What has arrived of a body counts, and is free when its client leaves.
  {
    RawClient half(server.port());
    half.say(post(1000) + std::string(999, 'x'));
    while (status(2) != "503") held.clear();
  }
  while (status(1000) != "200") held.clear();
}

// ASYNC_SERVER13
TEST(ServerLimits, AsksToTryAgainIfBodiesTakeTooMuch) {
  const AsyncServer server = serving(echo, {.max_bodies_bytes = 10, .free_body_bytes = 0});
  RawClient client(server.port());
  const std::string heard = client.say(post(11) + "hello world").hear();
  EXPECT_TRUE(heard.starts_with("HTTP/1.1 503 ")) << heard;
  EXPECT_NE(heard.find("\r\nRetry-After: 1\r\n"), std::string::npos) << heard;
}

// ASYNC_SERVER13
TEST(ServerLimits, TakesSmallBodiesWhenLargeOnesFillTheMemory) {
  const AsyncServer server = serving(echo, {.max_bodies_bytes = 1000, .free_body_bytes = 100});
  const auto status = [&](std::size_t size) {
    return RawClient(server.port()).say(post(size) + std::string(size, 'x')).hear().substr(9, 3);
  };
  RawClient large(server.port());
  large.say(post(2000) + std::string(1000, 'x'));  // and never the rest
  while (status(101) != "503") {
  }
  EXPECT_EQ(status(100), "200");
}

// ASYNC_SERVER1: what came fast at first does not pay for a client that is slow later.
TEST(ServerLimits, MeasuresTheRateOfABodyOverItsLastTime) {
  const AsyncServer server = serving(echo, {.idle_timeout = 100ms, .min_body_rate = 1000});
  RawClient client(server.port());
  client.say(post(1'000'000) + std::string(100'000, 'x'));  // enough for 100 seconds
  std::jthread drip([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      client.try_say("x");
      std::this_thread::sleep_for(20ms);
    }
  });
  const auto start = std::chrono::steady_clock::now();
  const std::string heard = client.hear("\r\n");
  drip.request_stop();
  drip.join();
  EXPECT_EQ(heard.substr(0, 13), "HTTP/1.1 408 ");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20s);
}

// ASYNC_SERVER1
TEST(ServerLimits, TakesABodyOfTheLeastRateHoweverLongItTakes) {
  const AsyncServer server = serving(echo, {.idle_timeout = 200ms, .min_body_rate = 1000});
  RawClient client(server.port());
  client.say(post(12'000));
  for (int i = 0; i < 12; ++i) {  // far over the rate, for three windows
    client.say(std::string(1000, 'x'));
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(client.hear("\r\n").substr(0, 13), "HTTP/1.1 200 ");
}

// ASYNC_SERVER14
TEST(ServerLimits, GivesItsOwnResponsesTheFormThatItIsTold) {
  ServerOptions options{.max_body_bytes = 10, .head_timeout = 100ms};
  options.refusal = [](int status, std::string_view reason) {
    return std::pair(std::vector<Header>{{"Content-Type", "text/x-test"}, {"Content-Length", "1"}},
                     std::to_string(status) + ": " + std::string(reason));
  };
  const AsyncServer server = serving(
      [](const ServerRequest&, const std::shared_ptr<Responder>&) { /* gives no response */ }, options);
  const auto heard = [&](std::string_view request) { return RawClient(server.port()).say(request).hear(); };
  EXPECT_EQ(heard(post(11)),
            "HTTP/1.1 413 Payload Too Large\r\nContent-Type: text/x-test\r\nContent-Length: 34\r\n"
            "Connection: close\r\n\r\n413: the request body is too large")
      << "the framing is the server's";
  EXPECT_TRUE(heard(kGet).ends_with("500: the handler gave no response"));
  EXPECT_TRUE(heard("GET /\x01 HTTP/1.1\r\n\r\n").contains("\r\nContent-Type: text/x-test\r\n"));
  EXPECT_TRUE(heard("GET / HTTP/1.1\r\n").ends_with("408: the request took too long"));
}

}  // namespace
}  // namespace parley::net
