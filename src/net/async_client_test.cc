#include "net/async_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <latch>
#include <optional>
#include <thread>

#include "net/loop.h"
#include "net/loopback_server_testing.h"
#include "parley/net/server.h"

namespace parley::net {
namespace {

using namespace std::chrono_literals;

// A loop with a client on it.
class Client {
 public:
  explicit Client(Resolver& resolver = system_resolver()) {
    on_loop([&] { client_.emplace(loop_, resolver); });
    loop_->start();
  }
  ~Client() {
    if (client_) on_loop_and_wait([this] { client_.reset(); });
    loop_->finish();
  }

  template <typename Call>
  void on_loop(Call call) {
    loop_->post(std::move(call));
  }
  template <typename Call>
  void on_loop_and_wait(Call call) {
    std::promise<void> done;
    loop_->post([&] {
      call();
      done.set_value();
    });
    done.get_future().wait();
  }

  std::future<Result<Response>> send(Request request) {
    auto promise = std::make_shared<std::promise<Result<Response>>>();
    on_loop([this, promise, request = std::move(request)] {
      client_->send(request,
                    [promise](Result<Response> response) { promise->set_value(std::move(response)); });
    });
    return promise->get_future();
  }
  AsyncClient& operator*() { return *client_; }
  void close() {
    on_loop_and_wait([this] { client_.reset(); });
  }

 private:
  std::shared_ptr<Loop> loop_ = std::make_shared<Loop>();
  std::optional<AsyncClient> client_;
};

Request to(const std::string& url) {
  Request request;
  request.url = parse_url(url).value();
  return request;
}

std::string outcome(const Result<Response>& response) {
  return response ? std::to_string(response->status) + " " + response->body
                  : std::string(to_string(response.error().code)) + ": " + response.error().message;
}

Server echo_server() {
  return Server::listen({.connections = 2000},
                        [](const ServerRequest& request, ServerResponse& reply) {
                          reply.whole(200, {}, request.method + request.path + request.body);
                        })
      .value();
}

// ASYNC_CLIENT1
TEST(AsyncClient, SendsManyRequestsAtOnce) {
  const Server server = echo_server();
  Client client;
  std::vector<std::future<Result<Response>>> responses;
  for (int i = 0; i < 200; ++i) {
    Request request = to(server.url("/" + std::to_string(i)));
    request.method = "POST";
    request.body = std::string(static_cast<std::size_t>(i) * 1000, 'x');
    responses.push_back(client.send(std::move(request)));
  }
  for (std::size_t i = 0; i < responses.size(); ++i) {
    EXPECT_EQ(outcome(responses[i].get()), "200 POST/" + std::to_string(i) + std::string(i * 1000, 'x'));
  }
}

// ASYNC_CLIENT1: the errors are those of net::send().
TEST(AsyncClient, FailsLikeTheBlockingClient) {
  LoopbackServer server([](LoopbackServer::Connection& connection, const SeenRequest& request) {
    if (request.target() == "/short") connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    if (request.target() == "/long") {
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + std::string(99, 'x'));
    }
    if (request.target() == "/junk") connection.send("hello\r\n\r\n");
  });
  Client client;
  const auto both = [&](const Request& request) {
    const std::string blocking = outcome(net::send(request));
    EXPECT_EQ(outcome(client.send(request).get()), blocking);
    return blocking;
  };
  EXPECT_EQ(both(to(server.url("/short"))).substr(0, 11), "unavailable");
  EXPECT_EQ(both(to(server.url("/junk"))).substr(0, 11), "unavailable");
  EXPECT_EQ(both(to("ftp://x/")).substr(0, 7), "invalid");
  EXPECT_EQ(both(to("http://127.0.0.1:1/")).substr(0, 11), "unavailable");
  EXPECT_EQ(both(to("http://name.invalid/")).substr(0, 11), "unavailable");
  Request limited = to(server.url("/long"));
  limited.max_bytes = 50;
  EXPECT_EQ(both(limited).substr(0, 14), "limit_exceeded");
  limited.max_bytes = 500;
  limited.max_wire_bytes = 50;
  EXPECT_EQ(both(limited).substr(0, 14), "limit_exceeded");
}

// ASYNC_CLIENT1
TEST(AsyncClient, EndsARequestAtItsDeadlines) {
  std::latch leave(1);
  Server server = Server::listen({}, [&](const ServerRequest& request, ServerResponse& reply) {
                    if (request.path == "/half") {
                      reply.start(200, {});
                      reply.send("half");
                    }
                    leave.wait();
                    reply.cut();
                  }).value();
  Client client;
  Request request = to(server.url("/nothing"));
  request.timeout = 30ms;
  EXPECT_TRUE(outcome(client.send(request).get()).starts_with("timeout: the response"));
  request.timeout = 1h;
  request.first_byte_timeout = 30ms;
  EXPECT_TRUE(outcome(client.send(request).get()).starts_with("timeout: 127.0.0.1 did not start"));
  request.url = parse_url(server.url("/half")).value();
  request.first_byte_timeout = 1h;
  request.idle_timeout = 30ms;
  EXPECT_TRUE(outcome(client.send(request).get()).starts_with("timeout: 127.0.0.1 stopped"));
  leave.count_down();
}

// ASYNC_CLIENT1: HTTP11, HTTP4
TEST(AsyncClient, ReplacesAConnectionThatTheServerHasClosed) {
  std::atomic<int> requests = 0;
  LoopbackServer server([&](LoopbackServer::Connection& connection, const SeenRequest&) {
    ++requests;
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    if (requests == 1) connection.reset_at_next_request();
  });
  Client client;
  EXPECT_EQ(outcome(client.send(to(server.url("/1"))).get()), "200 ok");
  EXPECT_EQ(outcome(client.send(to(server.url("/2"))).get()), "200 ok");
}

// ASYNC_CLIENT2
TEST(AsyncClient, StopsByItsToken) {
  std::latch arrived(1);
  Server server = Server::listen({}, [&](const ServerRequest&, ServerResponse& reply) {
                    reply.start(200, {});
                    reply.send("x");
                    arrived.count_down();
                    EXPECT_FALSE(reply.wait(1h)) << "the connection is closed";
                  }).value();
  Client client;
  std::stop_source stop;
  Request request = to(server.url("/"));
  request.stop = stop.get_token();
  auto response = client.send(request);
  arrived.wait();
  stop.request_stop();
  EXPECT_TRUE(outcome(response.get()).starts_with("cancelled: "));
  EXPECT_TRUE(outcome(client.send(request).get()).starts_with("cancelled: ")) << "before it began";
}

// ASYNC_CLIENT3
TEST(AsyncClient, CancelsFromACallback) {
  std::latch gone(1);
  Server server = Server::listen({}, [&](const ServerRequest&, ServerResponse& reply) {
                    reply.start(200, {});
                    while (reply.send("x")) {
                    }
                    gone.count_down();
                  }).value();
  Client client;
  std::shared_ptr<AsyncRequest> running;
  std::atomic<int> chunks = 0;
  client.on_loop_and_wait([&] {
    Request request = to(server.url("/"));
    request.on_body = [&](std::string_view) -> Result<void> {
      ++chunks;
      running->cancel();
      running->cancel();
      return {};
    };
    running = (*client).send(std::move(request), [](const auto&) { FAIL() << "called after cancel()"; });
  });
  gone.wait();
  client.on_loop_and_wait([&] { running.reset(); });
  EXPECT_GE(chunks, 1);
}

// ASYNC_CLIENT2: also if many chunks came at once.
TEST(AsyncClient, CallsNothingAfterACancel) {
  std::string chunks;
  for (int i = 0; i < 20; ++i) chunks += "1\r\nx\r\n";
  LoopbackServer server([&](LoopbackServer::Connection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunks +
                    "0\r\n\r\n");
  });
  for (const bool in_start : {true, false}) {
    Client client;
    std::shared_ptr<AsyncRequest> running;
    int calls = 0;
    std::promise<void> cancelled;
    client.on_loop_and_wait([&] {
      Request request = to(server.url("/"));
      const auto cancel = [&]() -> Result<void> {
        if (++calls == 1) {
          running->cancel();
          cancelled.set_value();
        }
        return {};
      };
      if (in_start) request.on_start = [cancel](int, const std::vector<Header>&) { return cancel(); };
      request.on_body = [cancel](std::string_view) { return cancel(); };
      running = (*client).send(std::move(request), [](const auto&) { FAIL() << "called after cancel()"; });
    });
    cancelled.get_future().wait();
    client.on_loop_and_wait([&] { running.reset(); });
    EXPECT_EQ(calls, 1);
  }
}

// ASYNC_CLIENT4
TEST(AsyncClient, PausesBeforeThereIsAConnection) {
  std::latch ended(1);
  Server server = Server::listen({}, [&](const ServerRequest&, ServerResponse& reply) {
                    reply.start(200, {});
                    for (int i = 0; i < 1000; ++i) {
                      if (!reply.send(std::string(64 << 10, 'x'))) break;
                    }
                    ended.count_down();
                  }).value();
  Client client;
  std::shared_ptr<AsyncRequest> running;
  std::size_t received = 0;
  std::promise<Result<Response>> done;
  client.on_loop_and_wait([&] {
    Request request = to(server.url("/"));
    request.on_body = [&](std::string_view chunk) -> Result<void> {
      received += chunk.size();
      return {};
    };
    running = (*client).send(std::move(request), [&](Result<Response> r) { done.set_value(std::move(r)); });
    running->pause();
  });
  std::this_thread::sleep_for(200ms);
  std::size_t at_pause = 0;
  client.on_loop_and_wait([&] { at_pause = received; });
  EXPECT_LT(at_pause, std::size_t{1000} * (64 << 10));
  client.on_loop_and_wait([&] { running->resume(); });
  EXPECT_EQ(outcome(done.get_future().get()), "200 ");
  EXPECT_EQ(received, std::size_t{1000} * (64 << 10));
  ended.wait();
  client.on_loop_and_wait([&] { running.reset(); });
}

// ASYNC_CLIENT4
TEST(AsyncClient, PausesAServerThatSendsFast) {
  constexpr std::size_t kAll = std::size_t{64} << 20;
  std::atomic<std::size_t> sent = 0;
  Server server = Server::listen({}, [&](const ServerRequest&, ServerResponse& reply) {
                    reply.start(200, {});
                    const std::string chunk(64 << 10, 'x');
                    while (sent < kAll && reply.send(chunk)) sent += chunk.size();
                  }).value();
  Client client;
  std::shared_ptr<AsyncRequest> running;
  std::size_t received = 0;
  std::promise<Result<Response>> done;
  std::promise<void> paused;
  client.on_loop_and_wait([&] {
    Request request = to(server.url("/"));
    request.idle_timeout = 100ms;  // shorter than the pause
    request.on_body = [&](std::string_view chunk) -> Result<void> {
      if (received == 0) {
        running->pause();
        paused.set_value();
      }
      received += chunk.size();
      return {};
    };
    running = (*client).send(std::move(request), [&](Result<Response> r) { done.set_value(std::move(r)); });
  });
  paused.get_future().wait();
  // The server fills the buffers of the system, and no more: what it has sent stays the same.
  std::size_t before = 0;
  do {
    before = sent;
    std::this_thread::sleep_for(150ms);
  } while (sent != before);
  EXPECT_LT(sent, kAll);
  client.on_loop_and_wait([&] { running->resume(); });
  EXPECT_EQ(outcome(done.get_future().get()), "200 ");
  EXPECT_EQ(received, kAll);
  client.on_loop_and_wait([&] { running.reset(); });
}

// ASYNC_CLIENT5
class CountingResolver final : public Resolver {
 public:
  Result<std::vector<IpAddress>> resolve(std::string_view host) override {
    ++calls;
    released.wait();
    has_returned = true;
    if (host == "none.example") return fail(Code::NotFound, "no such name");
    return std::vector<IpAddress>{IpAddress::v4(0x7F000001)};
  }
  std::atomic<int> calls = 0;
  std::atomic<bool> has_returned = false;
  std::latch released{1};
};

TEST(AsyncClient, LooksUpANameOnce) {
  const Server server = echo_server();
  CountingResolver resolver;
  Client client(resolver);
  const std::string url = "http://some.example:" + std::to_string(server.port()) + "/n";
  std::vector<std::future<Result<Response>>> responses;
  for (int i = 0; i < 10; ++i) responses.push_back(client.send(to(url)));
  auto other = client.send(to(server.url("/direct")));
  EXPECT_EQ(outcome(other.get()), "200 GET/direct") << "a slow look-up delays nothing else";
  resolver.released.count_down();
  for (auto& response : responses) EXPECT_EQ(outcome(response.get()), "200 GET/n");
  EXPECT_EQ(outcome(client.send(to(url)).get()), "200 GET/n");
  EXPECT_EQ(resolver.calls, 1);
  EXPECT_EQ(outcome(client.send(to("http://none.example/")).get()),
            "unavailable: cannot resolve the host none.example");
}

// ASYNC_CLIENT6
TEST(AsyncClient, CancelsItsRequestsWhenItIsDestroyed) {
  std::latch arrived(1);
  Server server = Server::listen({}, [&](const ServerRequest&, ServerResponse& reply) {
                    arrived.count_down();
                    EXPECT_FALSE(reply.wait(1h));
                  }).value();
  Client client;
  auto response = client.send(to(server.url("/")));
  arrived.wait();
  client.close();
  EXPECT_THROW(response.get(), std::future_error) << "never called";
}

// ASYNC_CLIENT6: a look-up that does not end holds nothing up.
TEST(AsyncClient, IsDestroyedWhileANameIsLookedUp) {
  CountingResolver resolver;
  {
    Client client(resolver);
    auto response = client.send(to("http://slow.example/"));
    while (resolver.calls == 0) std::this_thread::yield();
    client.close();
    EXPECT_THROW(response.get(), std::future_error);
  }
  resolver.released.count_down();
  while (!resolver.has_returned) std::this_thread::yield();
}

// ASYNC_CLIENT6
TEST(AsyncClient, IsDestroyedInACallback) {
  const Server server = echo_server();
  const auto loop = std::make_shared<Loop>();
  loop->start();
  std::promise<void> destroyed;
  std::unique_ptr<AsyncClient> client;
  loop->post([&] {
    client = std::make_unique<AsyncClient>(loop);
    Request request = to(server.url("/"));
    request.on_body = [&](std::string_view) -> Result<void> {
      client.reset();
      destroyed.set_value();
      return {};
    };
    client->send(std::move(request), [](const auto&) { FAIL() << "called after the end of the client"; });
  });
  destroyed.get_future().wait();
  loop->finish();
}

TEST(AsyncClient, KeepsFewConnectionsOfManyServers) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const Server server = echo_server();
  Client client;
  const auto before = descriptors();
  for (int i = 1; i <= 60; ++i) {
    Request request = to(server.url("/"));
    request.url =
        parse_url("http://host" + std::to_string(i) + ".example:" + std::to_string(server.port()) + "/")
            .value();
    request.addresses = {IpAddress::v4(0x7F000001)};
    ASSERT_EQ(outcome(client.send(std::move(request)).get()), "200 GET/");
  }
  EXPECT_LT(descriptors() - before, 120) << "those of the server are among them";
}

TEST(AsyncClient, ReportsAnExceptionOfACallback) {
  const Server server = echo_server();
  Client client;
  Request request = to(server.url("/"));
  request.on_body = [](std::string_view) -> Result<void> { throw std::runtime_error("x"); };
  EXPECT_TRUE(outcome(client.send(std::move(request)).get()).starts_with("invalid: "));
}

}  // namespace
}  // namespace parley::net
