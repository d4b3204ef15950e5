#include "guard/fetch/fetch.h"

#include <gtest/gtest.h>

#include <set>

#include "guard/fetch/url_cases_testing.h"
#include "net/loopback_server_testing.h"

namespace parley {
namespace {

using std::string_literals::operator""s;
using net::answer;
using net::LoopbackServer;
using net::SeenRequest;
using std::chrono::milliseconds;
using Connection = LoopbackServer::Connection;

const std::string kPng = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"s;
constexpr std::uint32_t kLoopback = 0x7F000001;

IpAddress address(std::string_view text) {
  return text.find(':') == std::string_view::npos ? parse_ipv4(text).value() : parse_ipv6(text).value();
}

// Returns the given lists one after the other; the last one repeatedly.
class FakeResolver final : public net::Resolver {
 public:
  explicit FakeResolver(std::vector<std::vector<IpAddress>> answers) : answers_(std::move(answers)) {}
  Result<std::vector<IpAddress>> resolve(std::string_view host) override {
    asked.emplace_back(host);
    const bool is_private = host == "private.example.com";
    if (is_private) return std::vector{address("10.0.0.1")};
    return answers_[std::min(asked.size(), answers_.size()) - 1];
  }
  std::vector<std::string> asked;

 private:
  std::vector<std::vector<IpAddress>> answers_;
};

// Answers without a network, and remembers where it would have connected.
struct FakeServer {
  std::vector<net::Response> answers;
  std::vector<net::Request> requests;

  FetchTools tools(net::Resolver& resolver) {
    return {.resolver = &resolver, .send = [this](const net::Request& request) -> Result<net::Response> {
              requests.push_back(request);
              return answers[std::min(requests.size(), answers.size()) - 1];
            }};
  }
};

net::Response png_answer() {
  return {.status = 200, .headers = {{"Content-Type", "image/png"}}, .body = kPng};
}
net::Response redirect_to(std::string location) {
  return {.status = 302, .headers = {{"Location", std::move(location)}}};
}

std::string outcome(const Result<Fetched>& fetched) {
  return fetched ? std::string(fetched->media_type) : std::string(to_string(fetched.error().code));
}

// The policy of tests/guard/*_urls.txt.
FetchPolicy policy_of_the_files() {
  FetchOptions options;
  options.allow_http = true;
  options.root = "/srv/media";
  options.ports = {8443};
  options.denied_hosts = {"denied.example.com", ".denied.example.org", "9.9.9.9"};
  return FetchPolicy::of(options).value();
}

std::vector<IpAddress> addresses(std::string_view list) {
  std::vector<IpAddress> out;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    out.push_back(address(list.substr(start, end - start)));
    start = end + 1;
  }
  return out;
}

// FETCH2, FETCH3, FETCH4, FETCH6, FETCH7
TEST(Fetch, RefusesEveryHostileUrl) {
  const FetchPolicy policy = policy_of_the_files();
  const auto cases = url_cases("hostile_urls.txt");
  EXPECT_GE(cases.size(), 150U);
  std::set<std::string> reasons;
  for (const auto& columns : cases) {
    ASSERT_GE(columns.size(), 2U);
    const std::string& reason = columns[0];
    const std::string& url = columns[1];
    reasons.insert(reason);
    const bool is_resolved = reason == "resolved";
    const bool is_redirected = reason == "redirected";
    FakeResolver resolver({is_resolved ? addresses(columns.at(2)) : addresses("8.8.8.8")});
    FakeServer server{{is_redirected ? redirect_to(columns.at(2)) : png_answer(), png_answer()}, {}};
    const bool needs_network = is_resolved || is_redirected;
    const UrlVerdict verdict = check_url(url, policy);
    EXPECT_EQ(to_string(verdict.reason), needs_network ? "" : reason) << url;
    const auto fetched = fetch(url, policy, server.tools(resolver));
    ASSERT_FALSE(fetched) << url;
    EXPECT_EQ(fetched.error().code, Code::Invalid) << url;
    EXPECT_FALSE(fetched.error().message.empty()) << url;
    EXPECT_EQ(server.requests.size(), is_redirected ? 1U : 0U) << url;
    EXPECT_EQ(resolver.asked.empty(), !needs_network) << url;
  }
  EXPECT_EQ(reasons.size(), 12U) << "every reason of a URL but the policy's being off or listing hosts";
}

// FETCH2, FETCH5
TEST(Fetch, FetchesEveryGoodUrlFromTheAddressThatWasChecked) {
  const FetchPolicy policy = policy_of_the_files();
  const auto cases = url_cases("good_urls.txt");
  EXPECT_GE(cases.size(), 50U);
  for (const auto& columns : cases) {
    ASSERT_EQ(columns.size(), 2U);
    const std::string& url = columns[0];
    const UrlVerdict verdict = check_url(url, policy);
    EXPECT_TRUE(verdict.allowed()) << url << ": " << verdict.sentence;
    FakeResolver resolver({addresses("8.8.4.4,2606:4700::1")});
    FakeServer server{{png_answer()}, {}};
    const auto fetched = fetch(url, policy, server.tools(resolver));
    ASSERT_TRUE(fetched) << url << ": " << fetched.error().message;
    ASSERT_EQ(server.requests.size(), 1U) << url;
    const net::Request& request = server.requests[0];
    EXPECT_EQ(request.url.host, columns[1]) << url;
    if (request.url.address) {
      EXPECT_EQ(request.addresses, std::vector{*request.url.address}) << url;
      EXPECT_TRUE(resolver.asked.empty()) << url;
    } else {
      EXPECT_EQ(request.addresses, addresses("8.8.4.4,2606:4700::1")) << url;
      EXPECT_EQ(resolver.asked, std::vector{columns[1]}) << url;
    }
  }
}

// FETCH1
TEST(Fetch, FetchesNothingWithoutAPolicy) {
  FakeResolver resolver({addresses("8.8.8.8")});
  FakeServer server{{png_answer()}, {}};
  for (const char* url : {"https://example.com/", "file:///etc/hostname"}) {
    EXPECT_EQ(outcome(fetch(url, FetchPolicy(), server.tools(resolver))), "invalid") << url;
  }
  EXPECT_TRUE(resolver.asked.empty() && server.requests.empty());
}

// FETCH4, FETCH5
TEST(Fetch, AsksForANameOnceAHop) {
  FakeResolver resolver({addresses("8.8.8.8"), addresses("127.0.0.1")});
  FakeServer server{{png_answer()}, {}};
  const FetchPolicy policy = FetchPolicy::of({}).value();
  EXPECT_EQ(outcome(fetch("https://rebind.example.com/", policy, server.tools(resolver))), "image/png");
  EXPECT_EQ(resolver.asked.size(), 1U);
  EXPECT_EQ(server.requests[0].addresses, addresses("8.8.8.8"));
  // The next answer is another, and is judged anew.
  EXPECT_EQ(outcome(fetch("https://rebind.example.com/", policy, server.tools(resolver))), "invalid");
  EXPECT_EQ(server.requests.size(), 1U);
}

// FETCH4, FETCH6
TEST(Fetch, AsksAgainForTheNameOfARedirect) {
  FakeResolver resolver({addresses("8.8.8.8"), addresses("127.0.0.1")});
  FakeServer server{{redirect_to("/again"), png_answer()}, {}};
  const FetchPolicy policy = FetchPolicy::of({}).value();
  EXPECT_EQ(outcome(fetch("https://rebind.example.com/", policy, server.tools(resolver))), "invalid");
  EXPECT_EQ(resolver.asked.size(), 2U);
  EXPECT_EQ(server.requests.size(), 1U);
}

// FETCH6
TEST(Fetch, FollowsAsManyRedirectsAsThePolicyAllows) {
  FetchOptions options;
  options.allow_http = true;
  for (const unsigned allowed : {0U, 1U, 3U}) {
    options.max_redirects = allowed;
    const FetchPolicy policy = FetchPolicy::of(options).value();
    for (const unsigned chain : {allowed, allowed + 1}) {
      FakeResolver resolver({addresses("8.8.8.8")});
      FakeServer server;
      for (unsigned i = 0; i < chain; ++i) server.answers.push_back(redirect_to("../" + std::to_string(i)));
      server.answers.push_back(png_answer());
      const auto fetched = fetch("http://example.com/a/b", policy, server.tools(resolver));
      EXPECT_EQ(outcome(fetched), chain == allowed ? "image/png" : "limit_exceeded") << chain;
      EXPECT_EQ(server.requests.size(), allowed + 1);
      EXPECT_EQ(fetched ? fetched->redirects : allowed, allowed);
    }
  }
}

// FETCH6
TEST(Fetch, FollowsFromHttpToHttpsAndNotBack) {
  FetchOptions options;
  options.allow_http = true;
  const FetchPolicy policy = FetchPolicy::of(options).value();
  FakeResolver resolver({addresses("8.8.8.8")});
  FakeServer up{{redirect_to("https://example.com/x#f"), png_answer()}, {}};
  const auto fetched = fetch("http://example.com/", policy, up.tools(resolver));
  ASSERT_TRUE(fetched);
  EXPECT_EQ(fetched->url.href(), "https://example.com/x");
  FakeServer down{{redirect_to("https://example.com/x"), redirect_to("http://example.com/x"), png_answer()},
                  {}};
  EXPECT_EQ(outcome(fetch("http://example.com/", policy, down.tools(resolver))), "invalid");
  EXPECT_EQ(down.requests.size(), 2U);
  FakeServer nowhere{{net::Response{.status = 302}}, {}};
  EXPECT_EQ(outcome(fetch("http://example.com/", policy, nowhere.tools(resolver))), "invalid");
}

// FETCH7, FETCH8
TEST(Fetch, SendsNoCredentialsAndPassesItsLimitsOn) {
  FetchOptions options;
  options.max_bytes = 1234;
  options.max_wire_bytes = 567;
  options.connect_timeout = milliseconds(89);
  FakeResolver resolver({addresses("8.8.8.8")});
  FakeServer server{{png_answer()}, {}};
  ASSERT_TRUE(fetch("https://example.com/", FetchPolicy::of(options).value(), server.tools(resolver)));
  const net::Request& request = server.requests[0];
  EXPECT_EQ(request.max_bytes, 1234U);
  EXPECT_EQ(request.max_wire_bytes, 567U);
  EXPECT_EQ(request.connect_timeout, milliseconds(89));
  EXPECT_LE(request.timeout, options.timeout);
  EXPECT_TRUE(request.secret_headers.empty() && request.body.empty());
  EXPECT_EQ(request.method, "GET");
}

TEST(Fetch, ReportsTheStatus) {
  const FetchPolicy policy = FetchPolicy::of({}).value();
  FakeResolver resolver({addresses("8.8.8.8")});
  for (const auto& [status, code] : {std::pair{404, "not_found"},
                                     {410, "not_found"},
                                     {500, "unavailable"},
                                     {503, "unavailable"},
                                     {429, "unavailable"},
                                     {403, "invalid"},
                                     {204, "invalid"},
                                     {206, "invalid"},
                                     {304, "invalid"}}) {
    FakeServer server{{net::Response{.status = status, .body = kPng}}, {}};
    EXPECT_EQ(outcome(fetch("https://example.com/", policy, server.tools(resolver))), code) << status;
  }
}

// FETCH9
TEST(Fetch, TakesMediaByTheirBytes) {
  const FetchPolicy policy = FetchPolicy::of({}).value();
  FakeResolver resolver({addresses("8.8.8.8")});
  const auto got = [&](std::vector<net::Header> headers, std::string body) {
    FakeServer server{{net::Response{.status = 200, .headers = std::move(headers), .body = std::move(body)}},
                      {}};
    return fetch("https://example.com/", policy, server.tools(resolver));
  };
  const auto wrong = got({{"content-type", "image/jpeg; q=1"}}, kPng);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->media_type, "image/png");
  EXPECT_EQ(wrong->declared, "image/jpeg");
  EXPECT_TRUE(wrong->is_corrected());
  EXPECT_TRUE(got({{"Content-Type", "text/html"}}, kPng)->is_corrected());
  EXPECT_FALSE(got({{"Content-Type", "IMAGE/X-PNG"}}, kPng)->is_corrected());
  EXPECT_FALSE(got({}, kPng)->is_corrected());
  EXPECT_EQ(outcome(got({{"Content-Type", "image/png"}}, "<html>")), "unsupported");
  EXPECT_EQ(outcome(got({{"Content-Type", "image/svg+xml"}}, "<svg xmlns=''/>")), "unsupported");
  EXPECT_EQ(outcome(got({{"Content-Type", "image/png"}}, "%PDF-1.7")), "unsupported");
  EXPECT_EQ(outcome(got({{"Content-Type", "image/png"}}, "")), "unsupported");
}

// FETCH12
TEST(Fetch, DoesNotRepeatTheUrlInErrors) {
  const FetchPolicy policy = FetchPolicy::of({}).value();
  FakeResolver resolver({addresses("8.8.8.8")});
  FakeServer server{{net::Response{.status = 403}}, {}};
  for (const char* url : {"https://u:secretword@example.com/", "https://example.com/secretword?k=secretword",
                          "https://example.com:1/secretword", "https://127.0.0.1/secretword"}) {
    const auto fetched = fetch(url, policy, server.tools(resolver));
    ASSERT_FALSE(fetched) << url;
    EXPECT_EQ(fetched.error().message.find("secretword"), std::string::npos) << fetched.error().message;
  }
}

// From here on a real client asks a real server on this machine, under a name that only the resolver knows.
class FetchLoopback : public ::testing::Test {
 protected:
  Result<Fetched> fetched(const LoopbackServer& server, FetchOptions options = {},
                          std::string_view path = "/x") {
    options.allow_http = true;
    options.allow_private = true;
    options.ports = {server.port()};
    return fetch(server.url(path, "media.example.com"), FetchPolicy::of(options).value(),
                 {.resolver = &resolver_});
  }
  static LoopbackServer::Script saying(std::string text) {
    return [text = std::move(text)](Connection& connection, const SeenRequest&) { connection.send(text); };
  }
  FakeResolver resolver_{{{IpAddress::v4(kLoopback)}}};
};

// FETCH5
TEST_F(FetchLoopback, ConnectsWhereTheCheckedAddressIs) {
  LoopbackServer server(saying(answer("200 OK", "Content-Type: image/png\r\n", kPng)));
  const auto got = fetched(server);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->bytes, kPng);
  EXPECT_EQ(resolver_.asked, std::vector{"media.example.com"s});
  const std::string head = server.seen().at(0).head;
  EXPECT_NE(head.find("\r\nHost: media.example.com:"), std::string::npos) << head;
}

// FETCH3: the same without the permission, and without a look-up.
TEST_F(FetchLoopback, DoesNotConnectToItWithoutPermission) {
  LoopbackServer server(saying(answer("200 OK", "", kPng)));
  FetchOptions options;
  options.allow_http = true;
  options.ports = {server.port()};
  const auto got =
      fetch(server.url("/", "media.example.com"), FetchPolicy::of(options).value(), {.resolver = &resolver_});
  EXPECT_EQ(outcome(got), "invalid");
  EXPECT_TRUE(server.seen().empty());
}

// FETCH6, FETCH10
TEST_F(FetchLoopback, FollowsNoRedirectToAMetadataService) {
  for (const char* location :
       {"http://169.254.169.254/latest/", "//2852039166/", "http://metadata.google.internal/",
        "http://[::ffff:169.254.169.254]/", "http://0xA9FEA9FE/"}) {
    LoopbackServer server(saying(answer("302 Found", "Location: "s + location + "\r\n", "")));
    EXPECT_EQ(outcome(fetched(server)), "invalid") << location;
    EXPECT_EQ(server.seen().size(), 1U);
  }
}

// FETCH6
TEST_F(FetchLoopback, FollowsAChainAndStopsALoop) {
  LoopbackServer server([](Connection& connection, const SeenRequest& request) {
    const bool is_last = request.target() == "/xxxx";
    connection.send(is_last
                        ? answer("200 OK", "", kPng)
                        : answer("307 Temporary Redirect", "Location: " + request.target() + "x\r\n", ""));
  });
  const auto got = fetched(server);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->redirects, 3U);
  EXPECT_EQ(resolver_.asked.size(), 4U);
  EXPECT_EQ(outcome(fetched(server, {.max_redirects = 2})), "limit_exceeded");
  LoopbackServer loop(saying(answer("301 Moved", "Location: /x\r\n", "")));
  EXPECT_EQ(outcome(fetched(loop)), "limit_exceeded");
  EXPECT_EQ(loop.seen().size(), 4U);
}

// FETCH8
TEST_F(FetchLoopback, EndsAtItsDeadline) {
  LoopbackServer server([](Connection& connection, const SeenRequest&) {
    bool open = connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    while (open && connection.pause()) open = connection.send("x");
  });
  EXPECT_EQ(outcome(fetched(server, {.timeout = milliseconds(100)})), "timeout");
  // One deadline for all hops, not one for each.
  LoopbackServer slow([](Connection& connection, const SeenRequest&) {
    for (int i = 0; i < 10 && connection.pause(); ++i) {
    }
    connection.send(answer("302 Found", "Location: /x\r\n", ""));
  });
  EXPECT_EQ(outcome(fetched(slow, {.max_redirects = 1'000'000, .timeout = milliseconds(200)})), "timeout");
  EXPECT_EQ(outcome(fetched(server, {.timeout = milliseconds(-1)})), "timeout");
}

// FETCH8
TEST_F(FetchLoopback, StopsABombAndAnEndlessBody) {
  const std::string bomb = net::gzipped(kPng + std::string(5'000'000, '\0'));
  LoopbackServer gzip(saying(answer("200 OK", "Content-Encoding: gzip\r\n", bomb)));
  EXPECT_EQ(outcome(fetched(gzip)), "image/png");
  EXPECT_EQ(outcome(fetched(gzip, {.max_bytes = 1'000'000})), "limit_exceeded");
  EXPECT_EQ(outcome(fetched(gzip, {.max_wire_bytes = bomb.size() - 1})), "limit_exceeded");
  LoopbackServer endless([](Connection& connection, const SeenRequest&) {
    bool open = connection.send("HTTP/1.1 200 OK\r\n\r\n" + kPng);
    while (open) open = connection.send(std::string(10'000, 'x'));
  });
  EXPECT_EQ(outcome(fetched(endless, {.max_bytes = 100'000})), "limit_exceeded");
}

TEST_F(FetchLoopback, BelievesNoContentLength) {
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: ";
  LoopbackServer longer(saying(head + "1000\r\n\r\n" + kPng));
  EXPECT_EQ(outcome(fetched(longer)), "unavailable") << "the body ends early";
  LoopbackServer shorter(saying(head + "3\r\n\r\n" + kPng));
  EXPECT_EQ(outcome(fetched(shorter)), "unsupported") << "three bytes are no image";
  LoopbackServer huge(saying(head + "99999999999999\r\n\r\n" + kPng));
  EXPECT_EQ(outcome(fetched(huge)), "limit_exceeded");
  LoopbackServer negative(saying(head + "-1\r\n\r\n" + kPng));
  EXPECT_NE(outcome(fetched(negative)), "image/png");
}

TEST_F(FetchLoopback, EndsOnAStopRequest) {
  std::stop_source source;
  LoopbackServer server([&](Connection& connection, const SeenRequest&) {
    source.request_stop();
    while (connection.pause()) {
    }
  });
  FetchOptions options;
  options.allow_http = true;
  options.allow_private = true;
  options.ports = {server.port()};
  const auto got = fetch(server.url("/"), FetchPolicy::of(options).value(), {.stop = source.get_token()});
  EXPECT_EQ(outcome(got), "cancelled");
}

}  // namespace
}  // namespace parley
