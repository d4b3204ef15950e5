// AsyncServer::drain(), and what a request says about its client.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include "net/raw_client_testing.h"
#include "parley/net/async_server.h"

namespace parley::net {
namespace {

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

AsyncServer serving(AsyncServer::Handler handler, const ServerOptions& options = {}) {
  return AsyncServer::listen(options, std::move(handler)).value();
}

void answer_path(const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
  responder->whole(200, {}, request.path + "|" + request.body);
}

void wait_until_left(const AsyncServer& server, std::size_t count) {
  while (server.connections() != count) std::this_thread::yield();
}

std::string folder() {
  std::string out = testing::TempDir() + "parley_drain_XXXXXX";
  EXPECT_NE(mkdtemp(out.data()), nullptr);
  return out;
}

// ASYNC_SERVER10
TEST(Drain, ClosesListenersAndIdleConnections) {
  AsyncServer server = serving(answer_path);
  RawClient fresh(server.port());
  RawClient idle(server.port());
  idle.say(kGet).hear("/|");
  wait_until_left(server, 2);
  server.drain();
  EXPECT_EQ(idle.hear(), "");
  EXPECT_EQ(fresh.hear(), "");
  wait_until_left(server, 0);
  EXPECT_TRUE(AsyncServer::listen({.port = server.port()}, answer_path)) << "the port is free";
  server.drain();
}

// ASYNC_SERVER10
TEST(Drain, LetsResponsesEnd) {
  std::promise<std::shared_ptr<Responder>> streaming;
  std::promise<std::shared_ptr<Responder>> waiting;
  AsyncServer server = serving([&](ServerRequest request, std::shared_ptr<Responder> responder) {
    if (request.path == "/waits") return waiting.set_value(std::move(responder));
    responder->start(200, {});
    responder->send("one");
    streaming.set_value(std::move(responder));
  });
  RawClient first(server.port());
  first.say(kGet).hear("one");
  RawClient second(server.port());
  second.say("GET /waits HTTP/1.1\r\nHost: x\r\n\r\n");
  auto stream = streaming.get_future().get();
  const auto response = waiting.get_future().get();
  server.drain();
  EXPECT_EQ(server.connections(), 2u);
  response->whole(200, {}, "waited");
  EXPECT_EQ(second.hear(), "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nwaited");
  stream->send("two");
  stream->end();
  EXPECT_EQ(first.hear(), "\r\n3\r\ntwo\r\n0\r\n\r\n") << "and the connection ends";
}

// ASYNC_SERVER10
TEST(Drain, AnswersARequestThatHasBegunToArrive) {
  AsyncServer server = serving(answer_path);
  RawClient client(server.port());
  client.say("POST /late HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  client.hear("100 Continue\r\n\r\n");
  server.drain();
  client.say("bodyGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string heard = client.hear();
  EXPECT_NE(heard.find("\r\nConnection: close\r\n"), std::string::npos);
  EXPECT_TRUE(heard.ends_with("/late|body")) << heard;
}

// ASYNC_SERVER10
TEST(Drain, LeavesTheUnixSocketToTheNextServer) {
  const std::string where = folder();
  const std::string path = where + "/socket";
  std::promise<std::shared_ptr<Responder>> arrived;
  AsyncServer old = serving(
      [&](ServerRequest, std::shared_ptr<Responder> responder) { arrived.set_value(std::move(responder)); },
      {.unix_path = path});
  RawClient client(path);
  client.say("GET / HTTP/1.0\r\n\r\n");
  const auto responder = arrived.get_future().get();
  old.drain();
  const AsyncServer next = serving(answer_path, {.unix_path = path});
  responder->whole(200, {}, "of the old one");
  EXPECT_TRUE(client.hear().ends_with("of the old one"));
  old.stop();
  EXPECT_TRUE(RawClient(path).say("GET /new HTTP/1.0\r\n\r\n").hear().ends_with("/new|"));
  std::filesystem::remove_all(where);
}

std::string about_client(const ServerRequest& request) {
  return request.client + (request.is_loopback ? " loopback" : "") + (request.is_unix ? " unix" : "");
}

TEST(ServerRequest, NamesItsClient) {
  const auto handler = [](const ServerRequest& request, const std::shared_ptr<Responder>& responder) {
    responder->whole(200, {}, "<" + about_client(request) + ">");
  };
  const AsyncServer v4 = serving(handler);
  EXPECT_TRUE(RawClient(v4.port()).say("GET / HTTP/1.0\r\n\r\n").hear().ends_with("<127.0.0.1 loopback>"));
  // An IPv6 socket that IPv4 clients reach too.
  const AsyncServer both = serving(handler, {.address = "::"});
  EXPECT_TRUE(RawClient(both.port()).say("GET / HTTP/1.0\r\n\r\n").hear().ends_with("<127.0.0.1 loopback>"));
  const std::string where = folder();
  const AsyncServer local = serving(handler, {.unix_path = where + "/socket"});
  EXPECT_TRUE(RawClient(where + "/socket").say("GET / HTTP/1.0\r\n\r\n").hear().ends_with("< unix>"));
  std::filesystem::remove_all(where);
}

}  // namespace
}  // namespace parley::net
