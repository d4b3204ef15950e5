#include "parley/net/http.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/planted_secret_testing.h"
#include "net/loopback_server_testing.h"
#include "parley/net/server.h"

namespace parley::net {
namespace {

using Connection = LoopbackServer::Connection;

constexpr std::uint32_t kLoopback = 0x7F000001;

Request request_to(const std::string& url) {
  Request request;
  request.url = parse_url(url).value();
  return request;
}

// A server that answers everything alike.
LoopbackServer::Script saying(std::string text) {
  return [text = std::move(text)](Connection& connection, const SeenRequest&) { connection.send(text); };
}

std::string outcome(const Result<Response>& response) {
  return response ? "status " + std::to_string(response->status)
                  : std::string(to_string(response.error().code));
}

TEST(Http, GetsAResponse) {
  LoopbackServer server(saying(answer("200 OK", "Content-Type: image/png\r\nX-Two:  spaced \r\n", "hello")));
  Request request = request_to(server.url("/a/%2e/b?q=1#f"));
  request.headers = {{"Accept", "image/*"}, {"X-Empty", ""}};
  const auto response = send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "hello");
  EXPECT_EQ(response->wire_bytes, 5U);
  EXPECT_EQ(response->header("content-type"), "image/png");
  EXPECT_EQ(response->header("x-two"), "spaced");
  EXPECT_EQ(response->header("x-three"), std::nullopt);
  const std::string head = server.seen().at(0).head;
  EXPECT_TRUE(head.starts_with("GET /a/b?q=1 HTTP/1.1\r\n")) << head;
  EXPECT_NE(head.find("\r\nAccept: image/*\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nX-Empty:"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nUser-Agent: parley\r\n"), std::string::npos) << head;
}

TEST(Http, SendsABody) {
  LoopbackServer server(saying(answer("201 Created", "", "")));
  Request request = request_to(server.url("/"));
  request.method = "POST";
  request.body = std::string("a\0b", 3);
  request.headers = {{"Content-Type", "application/json"}};
  EXPECT_EQ(outcome(send(request)), "status 201");
  const SeenRequest seen = server.seen().at(0);
  EXPECT_EQ(seen.body, request.body);
  EXPECT_NE(seen.head.find("\r\nContent-Type: application/json\r\n"), std::string::npos) << seen.head;
  EXPECT_EQ(seen.head.find("urlencoded"), std::string::npos) << seen.head;
  EXPECT_EQ(seen.head.find("Expect"), std::string::npos) << seen.head;
}

TEST(Http, SendsTheBodyAndThenItsChunks) {
  LoopbackServer server(saying(answer("200 OK", "", "")));
  const std::string large(300'000, 'x');
  Request request = request_to(server.url("/"));
  request.method = "POST";
  request.body = "[";
  request.body_chunks = {"1,", "", large, "]"};
  EXPECT_EQ(outcome(send(request)), "status 200");
  EXPECT_TRUE(server.seen().at(0).body == "[1," + large + "]");
}

// HTTP1
TEST(Http, ConnectsToThePinnedAddressWhateverTheName) {
  LoopbackServer server(saying(answer("200 OK", "", "x")));
  Request request = request_to(server.url("/", "no-such-name.example"));
  request.addresses = {IpAddress::v4(kLoopback)};
  const auto response = send(request);
  ASSERT_TRUE(response) << response.error().message;
  const std::string host = "\r\nHost: no-such-name.example:" + std::to_string(server.port()) + "\r\n";
  EXPECT_NE(server.seen().at(0).head.find(host), std::string::npos) << server.seen().at(0).head;
}

// HTTP1
TEST(Http, PrefersThePinnedAddressToTheOneInTheUrl) {
  LoopbackServer server(saying(answer("200 OK", "", "x")));
  Request request = request_to(server.url("/", "192.0.2.1"));
  request.addresses = {IpAddress::v4(kLoopback)};
  EXPECT_EQ(outcome(send(request)), "status 200");
}

// HTTP2
TEST(Http, FollowsNoRedirect) {
  LoopbackServer server(saying(answer("302 Found", "Location: /other\r\n", "")));
  const auto response = send(request_to(server.url("/")));
  EXPECT_EQ(outcome(response), "status 302");
  EXPECT_EQ(response->header("Location"), "/other");
  EXPECT_EQ(server.seen().size(), 1U);
}

// HTTP3
TEST(Http, HoldsItsLimitsOnBytes) {
  LoopbackServer server(saying(answer("200 OK", "", std::string(1000, 'x'))));
  for (const auto& [wire, out, expected] : {std::tuple{1000, 1000, "status 200"},
                                            {1001, 1001, "status 200"},
                                            {999, 1000, "limit_exceeded"},
                                            {1000, 999, "limit_exceeded"}}) {
    Request request = request_to(server.url("/"));
    request.max_wire_bytes = static_cast<std::size_t>(wire);
    request.max_bytes = static_cast<std::size_t>(out);
    EXPECT_EQ(outcome(send(request)), expected) << wire << " " << out;
  }
}

// HTTP3
TEST(Http, StopsAnEndlessBody) {
  LoopbackServer server([](Connection& connection, const SeenRequest&) {
    bool open = connection.send("HTTP/1.1 200 OK\r\n\r\n");
    while (open) open = connection.send(std::string(4096, 'x'));
  });
  Request request = request_to(server.url("/"));
  request.max_bytes = 100'000;
  EXPECT_EQ(outcome(send(request)), "limit_exceeded");
  request.max_bytes = SIZE_MAX;
  request.max_wire_bytes = 100'000;
  EXPECT_EQ(outcome(send(request)), "limit_exceeded");
}

// HTTP3
TEST(Http, StopsAnEndlessHeader) {
  LoopbackServer server([](Connection& connection, const SeenRequest&) {
    bool open = connection.send("HTTP/1.1 200 OK\r\n");
    while (open) open = connection.send("X: " + std::string(1000, 'x') + "\r\n");
  });
  EXPECT_EQ(outcome(send(request_to(server.url("/")))), "limit_exceeded");
}

// HTTP3
TEST(Http, CountsWhatAGzipBombBecomes) {
  const std::string bomb = gzipped(std::string(8'000'000, '\0'));
  ASSERT_LT(bomb.size(), 20'000U);
  LoopbackServer server(saying(answer("200 OK", "Content-Encoding: gzip\r\n", bomb)));
  Request request = request_to(server.url("/"));
  request.max_bytes = 7'999'999;
  EXPECT_EQ(outcome(send(request)), "limit_exceeded");
  request.max_bytes = 8'000'000;
  const auto response = send(request);
  EXPECT_EQ(outcome(response), "status 200");
  EXPECT_EQ(response->body.size(), 8'000'000U);
  EXPECT_EQ(response->wire_bytes, bomb.size());
  request.max_wire_bytes = bomb.size() - 1;
  EXPECT_EQ(outcome(send(request)), "limit_exceeded");
}

TEST(Http, ReadsChunks) {
  LoopbackServer server(
      saying("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"));
  const auto response = send(request_to(server.url("/")));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "abcdefg");
}

// HTTP4
TEST(Http, EndsASlowDripAtItsDeadline) {
  LoopbackServer server([](Connection& connection, const SeenRequest&) {
    bool open = connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (open && connection.pause()) open = connection.send("x");
  });
  Request request = request_to(server.url("/"));
  request.timeout = std::chrono::milliseconds(100);
  EXPECT_EQ(outcome(send(request)), "timeout");
}

// HTTP4
TEST(Http, EndsOnAStopRequest) {
  std::stop_source source;
  LoopbackServer server([&](Connection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    source.request_stop();
    while (connection.pause()) {
    }
  });
  Request request = request_to(server.url("/"));
  request.stop = source.get_token();
  EXPECT_EQ(outcome(send(request)), "cancelled");
  EXPECT_EQ(outcome(send(request)), "cancelled") << "also if it was asked for before";
  EXPECT_EQ(server.seen().size(), 1U);
}

// HTTP5
TEST(Http, RefusesABodyThatEndsEarly) {
  for (const std::string_view text : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
                                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
                                      "HTTP/1.1 200 OK\r\nContent-Le", ""}) {
    LoopbackServer server(saying(std::string(text)));
    EXPECT_EQ(outcome(send(request_to(server.url("/")))), "unavailable") << text;
  }
}

// HTTP5
TEST(Http, TakesNoMoreThanTheAnnouncedLength) {
  LoopbackServer server(saying("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"));
  const auto response = send(request_to(server.url("/")));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "abc");
}

TEST(Http, RefusesWhatIsNotHttp) {
  for (const std::string_view text : {"hello, this is no HTTP at all\r\n\r\n", "SSH-2.0-x\r\n"}) {
    LoopbackServer server(saying(std::string(text)));
    const auto response = send(request_to(server.url("/")));
    EXPECT_EQ(outcome(response), "unavailable") << text;
    EXPECT_EQ(response.error().message, "the response of 127.0.0.1 is not HTTP");
  }
  LoopbackServer server(saying(answer("200 OK", "Content-Encoding: gzip\r\n", "no gzip")));
  EXPECT_EQ(outcome(send(request_to(server.url("/")))), "unavailable");
}

// HTTP6
TEST(Http, IgnoresTheProxyOfTheEnvironment) {
  LoopbackServer server(saying(answer("200 OK", "", "direct")));
  LoopbackServer proxy(saying(answer("200 OK", "", "proxy")));
  setenv("http_proxy", proxy.url("").c_str(), 1);
  setenv("ALL_PROXY", proxy.url("").c_str(), 1);
  const auto response = send(request_to(server.url("/")));
  unsetenv("http_proxy");
  unsetenv("ALL_PROXY");
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "direct");
  EXPECT_TRUE(proxy.seen().empty());
}

// HTTP6
TEST(Http, KnowsTwoSchemes) {
  for (const std::string_view url :
       {"ftp://127.0.0.1/", "file:///etc/hostname", "data:,x", "gopher://127.0.0.1/"}) {
    EXPECT_EQ(outcome(send(request_to(std::string(url)))), "invalid") << url;
  }
}

TEST(Http, RefusesHeadersThatWouldSplit) {
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"X", "a\r\nY: b"},
                                    {"X", "a\nb"},
                                    {"X\r\nY", "b"},
                                    {"X Y", "b"},
                                    {"", "b"},
                                    {"X:", "b"},
                                    {"X", std::string("a\0b", 3)}}) {
    Request request = request_to("http://127.0.0.1/");
    request.headers = {{name, value}};
    EXPECT_EQ(outcome(send(request)), "invalid") << name;
    request.headers.clear();
    request.secret_headers = {{name, "", Secret(value)}};
    EXPECT_EQ(outcome(send(request)), "invalid") << name;
  }
  Request request = request_to("http://127.0.0.1/");
  request.method = "GET / HTTP/1.1\r\nX: y";
  EXPECT_EQ(outcome(send(request)), "invalid");
}

// HTTP7
TEST(Http, SendsASecretAndDoesNotRepeatIt) {
  LoopbackServer server(saying("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"));
  Request request = request_to(server.url("/?key=hunter2word"));
  request.url.username = "someuser";
  request.url.password = "somepassword";
  request.secret_headers = {{"Authorization", "Bearer ", Secret(planted_secret())}};
  const auto response = send(request);
  ASSERT_FALSE(response);
  for (const std::string& word :
       {planted_secret(), std::string("hunter2word"), std::string("somepassword")}) {
    EXPECT_EQ(response.error().message.find(word), std::string::npos);
  }
  const std::string head = server.seen().at(0).head;
  EXPECT_TRUE(head.find("\r\nAuthorization: Bearer " + planted_secret() + "\r\n") != std::string::npos);
  EXPECT_TRUE(head.find("someuser") == std::string::npos && head.find("Basic") == std::string::npos);
}

TEST(Http, GivesTheBodyInChunks) {
  LoopbackServer server(saying(answer("200 OK", "", "hello")));
  Request request = request_to(server.url("/"));
  std::string taken;
  request.on_body = [&](std::string_view chunk) -> Result<void> {
    taken += chunk;
    return {};
  };
  const auto response = send(request);
  ASSERT_TRUE(response);
  EXPECT_EQ(taken, "hello");
  EXPECT_EQ(response->body, "");
  request.on_body = [](std::string_view) -> Result<void> { return fail(Code::Malformed, "enough"); };
  EXPECT_EQ(outcome(send(request)), "malformed");
}

// More small chunks, and faster, than anybody wakes up for.
TEST(Http, ReadsManySmallChunksAndStopsAmongThem) {
  std::string sent;
  for (int i = 0; i < 500; ++i) sent += "data: " + std::to_string(i) + "\n\n";
  const auto coalescer = [&](LoopbackServer::Connection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (std::size_t at = 0; at < sent.size() && connection.send(sent.substr(at, 7)); at += 7) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  };
  LoopbackServer server(coalescer);
  Request request = request_to(server.url("/"));
  EXPECT_EQ(send(request).value().body, sent);
  std::stop_source stop;
  std::size_t taken = 0;
  request.stop = stop.get_token();
  request.on_body = [&](std::string_view chunk) -> Result<void> {
    taken += chunk.size();
    if (taken > sent.size() / 2) stop.request_stop();
    return {};
  };
  EXPECT_EQ(outcome(send(request)), "cancelled");
}

TEST(Http, ReportsThatNothingListens) {
  std::string url;
  {
    const LoopbackServer server(saying(""));
    url = server.url("/");
  }
  EXPECT_EQ(outcome(send(request_to(url))), "unavailable");
}

TEST(Http, KeepsTheHeadersOfTheLastResponse) {
  LoopbackServer server(
      saying("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + answer("200 OK", "X-Real: 1\r\n", "")));
  const auto response = send(request_to(server.url("/")));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->header("Link"), std::nullopt);
  EXPECT_EQ(response->header("X-Real"), "1");
}

// HTTP8
TEST(Http, ReportsTheStartOfTheResponse) {
  LoopbackServer server(
      saying("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 404 No\r\nX-Real: "
             "1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Last: 2\r\n\r\n"));
  Request request = request_to(server.url("/"));
  std::string order;
  request.on_start = [&](int status, const std::vector<Header>& headers) -> Result<void> {
    order += std::to_string(status) + " " + headers.front().name + "|";
    return {};
  };
  request.on_body = [&](std::string_view chunk) -> Result<void> {
    order += chunk;
    return {};
  };
  const auto response = send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(order, "404 X-Real|abc");
  EXPECT_EQ(response->status, 404);
  request.on_start = [](int, const std::vector<Header>&) -> Result<void> {
    return fail(Code::Malformed, "enough");
  };
  EXPECT_EQ(outcome(send(request)), "malformed");
  EXPECT_EQ(order, "404 X-Real|abc") << "no body after an error";
}

// HTTP4
TEST(Http, EndsWhenNoResponseStarts) {
  LoopbackServer server([](Connection& connection, const SeenRequest&) {
    while (connection.pause()) {
    }
  });
  Request request = request_to(server.url("/"));
  request.first_byte_timeout = std::chrono::milliseconds(50);
  const auto response = send(request);
  EXPECT_EQ(outcome(response), "timeout");
  EXPECT_NE(response.error().message.find("did not start to respond"), std::string::npos);
}

// HTTP4
TEST(Http, EndsWhenAResponseStalls) {
  LoopbackServer server([](Connection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx");
    while (connection.pause()) {
    }
  });
  Request request = request_to(server.url("/"));
  request.idle_timeout = std::chrono::milliseconds(50);
  const auto response = send(request);
  EXPECT_EQ(outcome(response), "timeout");
  EXPECT_NE(response.error().message.find("stopped in the middle"), std::string::npos);
}

// HTTP4: a response that takes longer than its silences may.
TEST(Http, WaitsWhileAResponseContinues) {
  LoopbackServer server([](Connection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
    for (int i = 0; i < 100 && connection.pause(); ++i) connection.send("x");  // 5 ms each
  });
  Request request = request_to(server.url("/"));
  request.first_byte_timeout = std::chrono::milliseconds(400);
  request.idle_timeout = std::chrono::milliseconds(400);
  EXPECT_EQ(outcome(send(request)), "status 200");
}

// HTTP9
TEST(Http, UsesTheGivenProxy) {
  LoopbackServer proxy(saying(answer("200 OK", "", "proxy")));
  Request request = request_to("http://no-such-name.example/a?b");
  request.proxy = parse_url(proxy.url("", "user:word@127.0.0.1")).value();
  setenv("no_proxy", "*", 1);
  const auto response = send(request);
  unsetenv("no_proxy");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "proxy");
  const std::string head = proxy.seen().at(0).head;
  EXPECT_TRUE(head.starts_with("GET http://no-such-name.example/a?b HTTP/1.1\r\n")) << head;
  EXPECT_NE(head.find("\r\nProxy-Authorization: Basic dXNlcjp3b3Jk\r\n"), std::string::npos) << head;
}

// HTTP9, HTTP7
TEST(Http, AsksAProxyForATunnelAndReportsARefusal) {
  LoopbackServer proxy(saying(answer("403 Forbidden", "X-Proxy: 1\r\n", "no")));
  Request request = request_to("https://no-such-name.example/");
  request.proxy = parse_url(proxy.url("", "user:somepassword@127.0.0.1")).value();
  request.secret_headers = {{"Authorization", "Bearer ", Secret(planted_secret())}};
  const auto response = send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Invalid) << "asking again does not help";
  EXPECT_EQ(response.error().message, "the proxy refuses to connect to no-such-name.example: status 403");
  const std::string head = proxy.seen().at(0).head;
  EXPECT_TRUE(head.starts_with("CONNECT no-such-name.example:443 HTTP/1.1\r\n")) << head;
  EXPECT_EQ(head.find("Bearer"), std::string::npos) << "the key is for the server alone";
}

TEST(Http, ReportsThatTheProxyFails) {
  LoopbackServer proxy(saying(answer("502 Bad Gateway", "", "")));
  Request request = request_to("https://no-such-name.example/");
  request.proxy = parse_url(proxy.url("")).value();
  const auto refused = send(request);
  EXPECT_EQ(outcome(refused), "unavailable");
  EXPECT_EQ(refused.error().message, "the proxy refuses to connect to no-such-name.example: status 502");
  {
    const LoopbackServer gone(saying(""));
    request.proxy = parse_url(gone.url("")).value();
  }
  const auto lost = send(request);
  EXPECT_EQ(outcome(lost), "unavailable");
  EXPECT_EQ(lost.error().message, "cannot connect to the proxy");
}

TEST(Http, RefusesInvalidProxies) {
  Request request = request_to("http://127.0.0.1/");
  request.proxy = parse_url("ftp://127.0.0.1/").value();
  EXPECT_EQ(outcome(send(request)), "invalid");
  request.proxy = parse_url("http://127.0.0.1/").value();
  request.addresses = {IpAddress::v4(kLoopback)};
  EXPECT_EQ(outcome(send(request)), "invalid");
}

// A server that takes one connection at a time refuses every request that comes with another one.
Server server_of_one_connection(std::uint16_t port = 0) {
  return Server::listen({.port = port, .connections = 1},
                        [](const ServerRequest& request, ServerResponse& reply) {
                          if (request.path == "/cut") return reply.cut();
                          reply.whole(200, {}, request.body);
                        })
      .value();
}

// HTTP11
TEST(HttpConnections, AreUsedAgain) {
  const Server server = server_of_one_connection();
  Connections connections;
  for (const std::string_view path : {"/a", "/b", "/c"}) {
    Request request = request_to(server.url(path));
    request.method = "POST";
    request.body = path;
    const auto response = send(request, connections);
    EXPECT_EQ(outcome(response), "status 200");
    EXPECT_EQ(response->body, path);
  }
  EXPECT_EQ(outcome(send(request_to(server.url("/")))), "status 503") << "this one has its own";
}

// HTTP11
TEST(HttpConnections, AreReplacedWhenTheServerHasGone) {
  Connections connections;
  Server server = server_of_one_connection();
  const std::uint16_t port = server.port();
  Request request = request_to(server.url("/"));
  request.method = "POST";
  EXPECT_EQ(outcome(send(request, connections)), "status 200");
  server.stop();
  server = server_of_one_connection(port);
  EXPECT_EQ(outcome(send(request, connections)), "status 200");
}

// HTTP11: what was sent on the one that died is sent again, all of it.
TEST(HttpConnections, AreReplacedInTheMiddleOfARequest) {
  std::atomic<int> count = 0;
  const Server server = Server::listen({}, [&](const ServerRequest& request, ServerResponse& reply) {
                          if (++count == 2) return reply.cut();
                          reply.whole(200, {}, request.body);
                        }).value();
  Connections connections;
  const std::string large(300'000, 'x');
  Request request = request_to(server.url("/"));
  request.method = "POST";
  request.body = "[";
  request.body_chunks = {large, "]"};
  for (int i = 0; i < 2; ++i) {
    const auto response = send(request, connections);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_TRUE(response->body == "[" + large + "]");
  }
  EXPECT_EQ(count, 3);
}

// HTTP11: whenever the server closes it, in the middle of a long request too.
TEST(HttpConnections, AreReplacedWhileARequestIsSent) {
  std::atomic<bool> keeps = false;
  LoopbackServer server([&](LoopbackServer::Connection& connection, const SeenRequest& seen) {
    if (!keeps) {
      connection.send(answer("200 OK", "Connection: close\r\n", std::to_string(seen.body.size())));
      return;
    }
    keeps = false;
    connection.send(answer("200 OK", "", "kept"));
    connection.reset_at_next_request();
  });
  Request request = request_to(server.url("/"));
  request.method = "POST";
  for (int i = 0; i < 12; ++i) {
    Connections connections;
    keeps = true;
    request.body = "short";
    EXPECT_EQ(send(request, connections).value().body, "kept");
    request.body.assign(std::size_t{8} * 1024 * 1024, 'x');
    const auto response = send(request, connections);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, std::to_string(request.body.size()));
  }
}

// HTTP11
TEST(HttpConnections, AreNotUsedAfterAFailure) {
  const Server server = Server::listen({}, [](const ServerRequest& request, ServerResponse& reply) {
                          reply.start(200, {});
                          reply.send(request.path);
                        }).value();
  Connections connections;
  Request request = request_to(server.url("/stopped"));
  request.on_body = [](std::string_view) -> Result<void> { return fail(Code::Malformed, "enough"); };
  EXPECT_EQ(outcome(send(request, connections)), "malformed");
  const auto response = send(request_to(server.url("/whole")), connections);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "/whole") << "nothing is left of the answer before";
}

// HTTP11, HTTP1
TEST(HttpConnections, AreNotUsedForOtherAddresses) {
  const Server server = server_of_one_connection();
  Connections connections;
  Request request = request_to("http://no-such-name.example:" + std::to_string(server.port()) + "/");
  request.addresses = {IpAddress::v4(kLoopback)};
  EXPECT_EQ(outcome(send(request, connections)), "status 200");
  EXPECT_EQ(outcome(send(request, connections)), "status 200");
  request.addresses = {IpAddress::v4(kLoopback + 1)};  // nothing listens there
  EXPECT_EQ(outcome(send(request, connections)), "unavailable");
}

TEST(HttpConnections, ServeSeveralThreads) {
  const Server server = Server::listen({}, [](const ServerRequest& request, ServerResponse& reply) {
                          reply.whole(200, {}, request.body);
                        }).value();
  Connections connections(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, body = std::to_string(i)] {
      Request request = request_to(server.url("/"));
      request.method = "POST";
      request.body = body;
      for (int n = 0; n < 20; ++n) {
        const auto response = send(request, connections);
        EXPECT_TRUE(response && response->body == body);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HttpThreads, SendFromSeveralAtOnce) {
  LoopbackServer server(saying(answer("200 OK", "", "x")));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(outcome(send(request_to(server.url("/")))), "status 200"); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace parley::net
