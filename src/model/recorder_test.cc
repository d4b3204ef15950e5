#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <thread>

#include "base/planted_secret_testing.h"
#include "parley/model/rehearsal.h"
#include "parley/net/http.h"
#include "parley/net/server.h"

namespace parley {
namespace {

constexpr std::string_view kBody = R"({"model": "m", "messages": [{"role": "user", "content": "hi"}]})";

Recorder recording(const std::string& url) {
  Result<Recorder> out = Recorder::start({.target = parse_url(url).value()});
  EXPECT_TRUE(out) << out.error().message;
  return *std::move(out);
}

net::Request post(const std::string& base, std::string_view body = kBody) {
  net::Request request;
  request.method = "POST";
  request.url = parse_url(base + "/chat/completions").value();
  request.headers = {{"Content-Type", "application/json"}, {"X-Client", "test"}};
  request.body = body;
  return request;
}

// RECORDER1, RECORDER4, RECORDER5
TEST(Recorder, PassesOnAndRecordsWhatARehearsalReplays) {
  const Rehearsal provider = Rehearsal::start({}).value();
  const Recorder recorder = recording(provider.url());
  const std::string streamed = R"({"stream":true,"messages":[{"role":"user","content":"think about rain"}]})";
  const auto whole = net::send(post(recorder.url()));
  const auto stream = net::send(post(recorder.url(), streamed));
  ASSERT_TRUE(whole && stream);
  EXPECT_EQ(whole->body, net::send(post(provider.url()))->body);
  EXPECT_EQ(stream->header("content-type"), "text/event-stream");
  EXPECT_EQ(recorder.tally().recorded, 2U);

  const Rehearsal replay = Rehearsal::start({.script = recorder.script()}).value();
  const std::string spelled = R"({"model":"m","messages":[{"role":"user","content":"hi"}]})";
  const auto again = net::send(post(replay.url(), spelled));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->body, whole->body);
  EXPECT_EQ(again->header("content-type"), "application/json");
  EXPECT_EQ(net::send(post(replay.url(), streamed))->body, stream->body);
  EXPECT_EQ(net::send(post(replay.url(), R"({"messages":[]})"))->status, 404) << "what was not recorded";
}

// RECORDER2
TEST(Recorder, RecordsNoKey) {
  std::vector<net::Header> seen;
  const net::Server provider =
      net::Server::listen({}, [&](const net::ServerRequest& request, net::ServerResponse& reply) {
        seen = request.headers;
        EXPECT_TRUE(request.query == "key=" + planted_secret());
        reply.whole(
            200, {{"Set-Cookie", planted_secret()}, {"OpenAI-Organization", "acme"}, {"X-Request-Id", "r1"}},
            "you said " + request.body);
      }).value();
  const Recorder recorder = recording(provider.url("/v1"));
  const std::string body = R"({"messages":[{"role":"user","content":")" + planted_secret() + R"("}]})";
  net::Request request = post(recorder.url(), body);
  request.url.query = "key=" + planted_secret();
  const std::vector<std::string> names = {"Authorization",  "x-api-key", "api-key",
                                          "x-goog-api-key", "Cookie",    "X-Odd"};
  for (const std::string& name : names)
    request.secret_headers.push_back({name, "", Secret(planted_secret())});
  const auto response = net::send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_TRUE(response->body == "you said " + body) << "the client gets what it asked for";
  EXPECT_EQ(response->header("openai-organization"), "acme");
  EXPECT_EQ(std::ranges::count(seen, planted_secret(), &net::Header::value),
            static_cast<std::ptrdiff_t>(names.size()))
      << "the provider gets every key";
  const std::string script = recorder.script();
  EXPECT_TRUE(script.find(planted_secret()) == std::string::npos);
  EXPECT_EQ(script.find("acme"), std::string::npos);
  EXPECT_NE(script.find("r1"), std::string::npos);
  EXPECT_NE(script.find("[redacted: "), std::string::npos) << script;

  const Rehearsal replay = Rehearsal::start({.script = script}).value();
  const auto again = net::send(post(replay.url(), body));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->status, 200) << "a request is found although its key is not in the script";
  EXPECT_TRUE(again->body.find(planted_secret()) == std::string::npos);
}

// RECORDER1
TEST(Recorder, PassesPiecesOnAsTheyCome) {
  std::latch heard(1);
  const net::Server provider =
      net::Server::listen({}, [&](const net::ServerRequest&, net::ServerResponse& reply) {
        reply.start(200, {});
        reply.send("one");
        heard.wait();
        reply.send("two");
      }).value();
  const Recorder recorder = recording(provider.url());
  net::Request request = post(recorder.url());
  std::string got;
  request.on_body = [&](std::string_view piece) -> Result<void> {
    got += piece;
    if (got == "one") heard.count_down();
    return {};
  };
  EXPECT_TRUE(net::send(request));
  EXPECT_EQ(got, "onetwo");
}

// RECORDER3
TEST(Recorder, RecordsNoAnswerThatIsNotWhole) {
  const net::Server provider =
      net::Server::listen({}, [](const net::ServerRequest&, net::ServerResponse& reply) {
        reply.start(200, {});
        reply.send("half");
        reply.cut();
      }).value();
  const Recorder recorder = recording(provider.url());
  EXPECT_EQ(net::send(post(recorder.url())).error().code, Code::Unavailable) << "the client sees the cut";
  std::string url;
  {
    const net::Server gone =
        net::Server::listen({}, [](const net::ServerRequest&, net::ServerResponse&) {}).value();
    url = gone.url();
  }
  const Recorder other = recording(url);
  const auto refused = net::send(post(other.url()));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 502);
  EXPECT_EQ(other.tally().recorded, 0U);
  EXPECT_EQ(other.tally().left_out, 1U);
}

TEST(Recorder, RecordsAnswersThatAreErrors) {
  const Rehearsal provider =
      Rehearsal::start(
          {.script = R"({"turns":[{"fault":{"status":429,"headers":{"Retry-After":"2"}}},{"text":"ok"}]})"})
          .value();
  const Recorder recorder = recording(provider.url());
  EXPECT_EQ(net::send(post(recorder.url()))->status, 429);
  EXPECT_EQ(net::send(post(recorder.url()))->status, 200);
  const Rehearsal replay = Rehearsal::start({.script = recorder.script()}).value();
  const auto first = net::send(post(replay.url()));
  EXPECT_EQ(first->status, 429);
  EXPECT_EQ(first->header("retry-after"), "2");
  EXPECT_EQ(net::send(post(replay.url()))->status, 200) << "the same request, the answers in their order";
  EXPECT_EQ(net::send(post(replay.url()))->status, 200);
}

TEST(Recorder, FindsThePathOfTheProvider) {
  const net::Server provider =
      net::Server::listen({}, [](const net::ServerRequest& request, net::ServerResponse& reply) {
        reply.whole(200, {}, request.path);
      }).value();
  const std::pair<const char*, const char*> cases[] = {{"", "/v1/chat/completions"},
                                                       {"/", "/v1/chat/completions"},
                                                       {"/v1", "/v1/chat/completions"},
                                                       {"/v1/", "/v1/chat/completions"},
                                                       {"/api/v1", "/api/v1/chat/completions"}};
  for (const auto& [base, expected] : cases) {
    const Recorder recorder = recording(provider.url(base));
    EXPECT_EQ(net::send(post(recorder.url()))->body, expected) << base;
  }
  EXPECT_EQ(Recorder::start({.target = parse_url("ftp://x/").value()}).error().code, Code::Invalid);
}

// RECORDER5
TEST(Recorder, GoesThroughAProxy) {
  std::string asked;
  const net::Server proxy =
      net::Server::listen({}, [&](const net::ServerRequest& request, net::ServerResponse& reply) {
        asked = std::string(request.header("Host").value_or("")) + request.path;
        reply.whole(200, {}, "by way of the proxy");
      }).value();
  const Recorder recorder = Recorder::start({.target = parse_url("http://provider.invalid/v1").value(),
                                             .proxy = parse_url(proxy.url()).value()})
                                .value();
  EXPECT_EQ(net::send(post(recorder.url()))->body, "by way of the proxy");
  EXPECT_EQ(asked, "provider.invalid/v1/chat/completions");
  EXPECT_EQ(recorder.tally().recorded, 1U);
}

TEST(Recorder, TrustsWhomTheFileNames) {
  const net::Server server =
      net::Server::listen({}, [](const net::ServerRequest&, net::ServerResponse&) {}).value();
  Url target = parse_url(server.url("/v1")).value();
  target.scheme = "https";
  const Recorder recorder = Recorder::start({.target = target, .ca_file = "/nowhere.pem"}).value();
  const auto response = net::send(post(recorder.url()));
  EXPECT_EQ(response->status, 502);
  EXPECT_TRUE(response->body.contains("cannot read the file of trusted certificates")) << response->body;
}

// However long the provider takes.
TEST(Recorder, StopsWhileAProviderIsSilent) {
  std::latch asked(1);
  const net::Server provider =
      net::Server::listen({}, [&](const net::ServerRequest&, net::ServerResponse& reply) {
        asked.count_down();
        reply.wait(std::chrono::hours(1));
      }).value();
  std::optional<Recorder> recorder = recording(provider.url());
  std::thread client([url = recorder->url()] { (void)net::send(post(url)); });
  asked.wait();
  recorder.reset();
  client.join();
}

}  // namespace
}  // namespace parley
