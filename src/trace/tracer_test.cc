#include "parley/trace/tracer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "net/loopback_server_testing.h"
#include "parley/base/clock.h"

namespace parley::trace {
namespace {

using namespace std::chrono_literals;
using net::LoopbackServer;

constexpr auto kLong = std::chrono::milliseconds(60'000);  // longer than any test should take
const std::string kSecret = "sk-ant-api03-" + std::string(95, 'a');

LoopbackServer::Script answers(std::string status, std::string body = "{}") {
  return [=](LoopbackServer::Connection& connection, const net::SeenRequest&) {
    connection.send(net::answer(status, "Content-Type: application/json\r\n", body));
  };
}

// Sends nothing by itself: the tests flush.
TracerOptions options_for(const LoopbackServer& server) {
  TracerOptions options;
  options.endpoint = server.url("");
  options.interval = kLong;
  return options;
}

Tracer opened(const TracerOptions& options) { return *Tracer::open(options); }

std::vector<Json> spans_of(const net::SeenRequest& request) {
  const auto json = Json::parse(request.body);
  EXPECT_TRUE(json) << request.body;
  return json ? json->at("/resourceSpans/0/scopeSpans/0/spans")->elements() : std::vector<Json>();
}

std::vector<Json> all_spans(const LoopbackServer& server) {
  std::vector<Json> spans;
  for (const auto& request : server.seen()) {
    for (Json& span : spans_of(request)) spans.push_back(std::move(span));
  }
  return spans;
}

std::string text_of(const Json& span, std::string_view pointer) {
  const auto value = span.at(pointer);
  return value ? value->as_string().value_or(Text()).str() : "";
}

std::optional<Json> attribute(const Json& span, std::string_view name) {
  for (const Json& each : span.get("attributes")->elements()) {
    if (each.get("key")->as_string()->view() == name) return each.get("value");
  }
  return std::nullopt;
}

TEST(Tracer, SendsSpansAsOneJsonRequest) {
  LoopbackServer server(answers("200 OK"));
  TracerOptions options = options_for(server);
  options.headers = *read_headers("x-api-key=a%20b,other = c ");
  options.service_name = Text("tester");
  Tracer tracer = opened(options);
  Span agent = tracer.start(Operation::InvokeAgent, "manus");
  Span chat = tracer.start_child(Operation::Chat, "gpt-4o", agent);
  chat.set(Key::InputTokens, 12).set(Key::RequestTemperature, 0.5);
  chat.end();
  agent.end();
  ASSERT_TRUE(tracer.flush(kLong));

  ASSERT_EQ(server.seen().size(), 1U);
  const net::SeenRequest request = server.seen().front();
  EXPECT_EQ(request.target(), "/v1/traces");
  EXPECT_NE(request.head.find("Content-Type: application/json\r\n"), std::string::npos);
  EXPECT_NE(request.head.find("x-api-key: a b\r\n"), std::string::npos);
  EXPECT_NE(request.head.find("other: c\r\n"), std::string::npos);
  const auto spans = spans_of(request);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(text_of(spans[0], "/name"), "chat gpt-4o");  // TRACE7: in the order they ended
  EXPECT_EQ(text_of(spans[1], "/name"), "invoke_agent manus");
  EXPECT_EQ(spans[0].get("kind")->as_int64(), 3);
  EXPECT_EQ(spans[1].get("kind")->as_int64(), 1);
  EXPECT_EQ(attribute(spans[0], "gen_ai.operation.name")->text().view(), R"({"stringValue":"chat"})");
  EXPECT_EQ(attribute(spans[0], "gen_ai.usage.input_tokens")->text().view(), R"({"intValue":"12"})");
  EXPECT_EQ(tracer.counts(), (TraceCounts{.ended = 2, .sent = 2, .refused = 0, .dropped = 0}));
}

TEST(Tracer, TRACE5_AChildHasItsParentsTrace) {
  LoopbackServer server(answers("200 OK"));
  Tracer tracer = opened(options_for(server));
  const auto outside = parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  {
    Span agent = tracer.start(Operation::InvokeAgent, "a", outside);
    const Span tool = tracer.start_child(Operation::ExecuteTool, "t", agent);
    EXPECT_EQ(tool.context().trace, outside->trace);
    EXPECT_NE(tool.context().span, agent.context().span);
  }
  ASSERT_TRUE(tracer.flush(kLong));
  const auto spans = all_spans(server);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(text_of(spans[1], "/parentSpanId"), "b7ad6b7169203331");
  EXPECT_EQ(text_of(spans[0], "/parentSpanId"), text_of(spans[1], "/spanId"));
  for (const Json& span : spans) EXPECT_EQ(text_of(span, "/traceId"), "0af7651916cd43dd8448eb211c80319c");
}

TEST(Tracer, TRACE5_ATraceThatIsNotSampledIsNotRecorded) {
  LoopbackServer server(answers("200 OK"));
  Tracer tracer = opened(options_for(server));
  const auto outside = parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
  {
    Span agent = tracer.start(Operation::InvokeAgent, "a", outside);
    const Span tool = tracer.start_child(Operation::ExecuteTool, "t", agent);
    EXPECT_FALSE(tool.wants(Key::ToolName));
    EXPECT_EQ(to_traceparent(tool.context()).substr(53), "00");
  }
  EXPECT_EQ(tracer.counts().ended, 0U);
}

TEST(Tracer, TRACE8_AChildIsWithinItsParentIfTheTimeIsSet) {
  LoopbackServer server(answers("200 OK"));
  Tracer tracer = opened(options_for(server));
  ScopedClock clock(1'000'000);
  Span agent = tracer.start(Operation::InvokeAgent, "a");
  clock.advance(-500'000);
  Span tool = tracer.start_child(Operation::ExecuteTool, "t", agent);
  tool.end();
  agent.end();
  ASSERT_TRUE(tracer.flush(kLong));
  const auto spans = all_spans(server);
  ASSERT_EQ(spans.size(), 2U);
  const auto at = [&](std::size_t span, std::string_view pointer) {
    return std::stoll(text_of(spans[span], pointer));
  };
  EXPECT_GE(at(1, "/startTimeUnixNano"), 1'000'000'000'000);
  EXPECT_LE(at(1, "/startTimeUnixNano"), at(0, "/startTimeUnixNano"));
  EXPECT_LE(at(0, "/startTimeUnixNano"), at(0, "/endTimeUnixNano"));
  EXPECT_LE(at(0, "/endTimeUnixNano"), at(1, "/endTimeUnixNano"));
}

TEST(Tracer, TRACE4_ContentAndSecretsStay) {
  LoopbackServer server(answers("200 OK"));
  Tracer tracer = opened(options_for(server));
  Span span = tracer.start(Operation::ExecuteTool, "tool " + kSecret);
  EXPECT_FALSE(span.wants(Key::ToolCallArguments));
  span.set(Key::ToolCallArguments, "the content").set(Key::ToolName, kSecret);
  span.set_list(Key::InputMessages, std::vector{Json::string("the content")});
  span.fail("broken", "it was " + kSecret);
  span.end();
  ASSERT_TRUE(tracer.flush(kLong));
  const std::string body = server.seen().front().body;
  EXPECT_EQ(body.find(kSecret), std::string::npos);
  EXPECT_EQ(body.find("the content"), std::string::npos);
  const Json sent = spans_of(server.seen().front()).front();
  EXPECT_EQ(attribute(sent, "error.type")->text().view(), R"({"stringValue":"broken"})");
  EXPECT_TRUE(text_of(sent, "/status/message").starts_with("it was [redacted: "));
}

TEST(Tracer, TRACE4_ContentThatIsAskedForLeavesWithoutSecretsAndBounded) {
  LoopbackServer server(answers("200 OK"));
  TracerOptions options = options_for(server);
  options.capture_content = true;
  options.max_content_bytes = 100;
  Tracer tracer = opened(options);
  Span span = tracer.start(Operation::Chat, "m");
  std::vector<Json> messages;
  for (int i = 0; i < 30; ++i) messages.push_back(Json::string("message " + std::to_string(i)));
  messages.push_back(Json::string(kSecret));
  span.set_list(Key::InputMessages, messages);
  span.end();
  ASSERT_TRUE(tracer.flush(kLong));
  const Json sent = all_spans(server).front();
  const Text content = *attribute(sent, "gen_ai.input.messages")->get("stringValue")->as_string();
  const auto list = Json::parse(content);
  ASSERT_TRUE(list) << content.view();
  const std::size_t kept = list->elements().size();
  EXPECT_LE(content.size(), 101U);
  EXPECT_GE(kept, 3U);
  EXPECT_EQ(list->elements()[kept - 2].as_string(), Text("message 29"));
  EXPECT_EQ(content.view().find(kSecret), std::string_view::npos);
  EXPECT_EQ(text_of(*attribute(sent, "parley.content.omitted"), "/intValue"), std::to_string(31 - kept));
}

TEST(Tracer, TRACE2_TheOldestAreDroppedAndCounted) {
  LoopbackServer server(answers("200 OK"));
  TracerOptions options = options_for(server);
  options.queue_spans = 10;
  Tracer tracer = opened(options);
  for (int i = 0; i < 25; ++i) tracer.start(Operation::Chat, std::to_string(i)).end();
  EXPECT_EQ(tracer.counts().dropped, 15U);
  ASSERT_TRUE(tracer.flush(kLong));
  const auto spans = all_spans(server);
  ASSERT_EQ(spans.size(), 10U);
  EXPECT_EQ(text_of(spans.front(), "/name"), "chat 15");
  EXPECT_EQ(text_of(spans.back(), "/name"), "chat 24");
  EXPECT_EQ(tracer.counts(), (TraceCounts{.ended = 25, .sent = 10, .refused = 0, .dropped = 15}));
}

TEST(Tracer, TRACE2_TheQueueIsBoundedInBytes) {
  LoopbackServer server(answers("200 OK"));
  TracerOptions options = options_for(server);
  options.queue_bytes = 4096;
  Tracer tracer = opened(options);
  for (int i = 0; i < 25; ++i) tracer.start(Operation::Chat, std::string(1000, 'x')).end();
  ASSERT_TRUE(tracer.flush(kLong));
  EXPECT_LE(all_spans(server).size(), 4U);
  EXPECT_EQ(tracer.counts().dropped + tracer.counts().sent, 25U);
}

TEST(Tracer, SendsAFullBatchByItselfAndManyInOrder) {
  LoopbackServer server(answers("200 OK"));
  TracerOptions options = options_for(server);
  options.batch_spans = 4;
  Tracer tracer = opened(options);
  for (int i = 0; i < 10; ++i) tracer.start(Operation::Chat, std::to_string(i)).end();
  while (tracer.counts().sent < 8) std::this_thread::yield();  // without a flush
  ASSERT_TRUE(tracer.flush(kLong));
  const auto spans = all_spans(server);
  ASSERT_EQ(spans.size(), 10U);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(text_of(spans[i], "/name"), "chat " + std::to_string(i));
  }
}

TEST(Tracer, SendsWhatIsLeftAtItsEnd) {
  LoopbackServer server(answers("200 OK"));
  {
    Tracer tracer = opened(options_for(server));
    tracer.start(Operation::Chat, "last").end();
  }
  ASSERT_EQ(all_spans(server).size(), 1U);
}

TEST(Tracer, ASpanMayOutliveItsTracer) {
  LoopbackServer server(answers("200 OK"));
  Span span;
  {
    const Tracer tracer = opened(options_for(server));
    span = tracer.start(Operation::Chat, "late");
  }
  span.set(Key::ToolName, "x").end();
  EXPECT_TRUE(all_spans(server).empty());
}

TEST(Tracer, ASpanWithoutATracerDoesNothing) {
  Span span;
  span.set(Key::ToolName, "x").fail("y").end();
  EXPECT_FALSE(span.context().is_valid());
  EXPECT_FALSE(span.wants(Key::ToolName));
}

TEST(Tracer, TRACE3_WhatAReceiverRefusesIsCountedAndNotSentAgain) {
  LoopbackServer server(answers("400 Bad Request"));
  Tracer tracer = opened(options_for(server));
  tracer.start(Operation::Chat, "a").end();
  const auto flushed = tracer.flush(kLong);
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code, Code::Unavailable);
  EXPECT_TRUE(tracer.flush(kLong));
  EXPECT_EQ(server.seen().size(), 1U);
  EXPECT_EQ(tracer.counts(), (TraceCounts{.ended = 1, .sent = 0, .refused = 1, .dropped = 0}));
}

TEST(Tracer, TRACE3_APartialSuccessIsCounted) {
  LoopbackServer server(answers("200 OK", R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}})"));
  Tracer tracer = opened(options_for(server));
  for (int i = 0; i < 5; ++i) tracer.start(Operation::Chat, "a").end();
  ASSERT_TRUE(tracer.flush(kLong));
  EXPECT_EQ(tracer.counts(), (TraceCounts{.ended = 5, .sent = 3, .refused = 2, .dropped = 0}));
}

TEST(Tracer, WhatMayPassIsSentAgain) {
  std::atomic<int> requests = 0;
  LoopbackServer server([&](LoopbackServer::Connection& connection, const net::SeenRequest&) {
    connection.send(net::answer(requests++ == 0 ? "503 Busy" : "200 OK", "Retry-After: 1000\r\n", "{}"));
  });
  Tracer tracer = opened(options_for(server));
  tracer.start(Operation::Chat, "a").end();
  EXPECT_FALSE(tracer.flush(kLong));
  tracer.start(Operation::Chat, "b").end();
  ASSERT_TRUE(tracer.flush(kLong));
  const auto spans = spans_of(server.seen().back());
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(text_of(spans[0], "/name"), "chat a");
  EXPECT_EQ(text_of(spans[1], "/name"), "chat b");
  EXPECT_EQ(tracer.counts().sent, 2U);
}

TEST(Tracer, TRACE6_AReceiverThatIsDownCostsNothingButItsSpans) {
  TracerOptions options;
  {
    LoopbackServer server(answers("200 OK"));
    options = options_for(server);
  }
  options.queue_spans = 100;
  options.batch_spans = 10;
  options.at_the_end = kLong;  // it does not wait: there is no receiver
  Tracer tracer = opened(options);
  for (int i = 0; i < 1000; ++i) tracer.start(Operation::Chat, "a").end();
  const auto flushed = tracer.flush(kLong);
  ASSERT_FALSE(flushed);
  EXPECT_EQ(flushed.error().code, Code::Unavailable);
  EXPECT_GE(tracer.counts().dropped, 890U);
  EXPECT_EQ(tracer.counts().sent, 0U);
}

TEST(Tracer, TRACE6_AReceiverThatNeverAnswersIsNotWaitedFor) {
  LoopbackServer server([](LoopbackServer::Connection& connection, const net::SeenRequest&) {
    while (connection.pause()) {
    }
  });
  TracerOptions options = options_for(server);
  options.timeout = kLong;
  options.queue_spans = 5;
  options.at_the_end = 50ms;
  const auto start = std::chrono::steady_clock::now();
  {
    Tracer tracer = opened(options);
    tracer.start(Operation::Chat, "first").end();
    const auto flushed = tracer.flush(50ms);
    ASSERT_FALSE(flushed);
    EXPECT_EQ(flushed.error().code, Code::Timeout);
    for (int i = 0; i < 20; ++i) tracer.start(Operation::Chat, "more").end();  // TRACE1
    EXPECT_EQ(tracer.counts().dropped, 15U);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, kLong);
}

TEST(Tracer, ManyThreadsEndSpansAndEachIsCountedOnce) {
  LoopbackServer server(answers("200 OK"));
  TracerOptions options = options_for(server);
  options.batch_spans = 16;
  options.queue_spans = 64;
  Tracer tracer = opened(options);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) tracer.start(Operation::Chat, "a").set(Key::InputTokens, i).end();
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(tracer.flush(kLong));
  const auto spans = all_spans(server);
  const TraceCounts counts = tracer.counts();
  EXPECT_EQ(counts.ended, 800U);
  EXPECT_EQ(counts.sent + counts.dropped, 800U);
  EXPECT_EQ(spans.size(), counts.sent);
  std::set<std::string> ids;
  for (const Json& span : spans) ids.insert(text_of(span, "/spanId"));
  EXPECT_EQ(ids.size(), spans.size());
}

TEST(Tracer, TakesWhatAnEndpointMayBe) {
  LoopbackServer server(answers("200 OK"));
  for (const std::string_view path : {"/", "/v1/traces", "/v1/traces/", "/api/public/otel"}) {
    TracerOptions options;
    options.endpoint = server.url(path);
    Tracer tracer = opened(options);
    tracer.start(Operation::Chat, "").end();
    ASSERT_TRUE(tracer.flush(kLong));
  }
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(seen[i].target(), "/v1/traces");
  EXPECT_EQ(seen[3].target(), "/api/public/otel/v1/traces");
  EXPECT_EQ(text_of(spans_of(seen[0]).front(), "/name"), "chat");
}

TEST(Tracer, RefusesWhatIsNoEndpoint) {
  for (const std::string_view bad : {"", "localhost:4318", "ftp://127.0.0.1/", "grpc://127.0.0.1:4317"}) {
    const auto tracer = Tracer::open({.endpoint = std::string(bad)});
    ASSERT_FALSE(tracer) << bad;
    EXPECT_EQ(tracer.error().code, Code::Invalid) << bad;
  }
}

TEST(TraceHeaders, AreReadAsTheEnvironmentSpellsThem) {
  const auto headers = read_headers(" Authorization=Basic%20eHg= ,, b=");
  ASSERT_TRUE(headers);
  ASSERT_EQ(headers->size(), 2U);
  EXPECT_EQ((*headers)[0].name, "Authorization");
  EXPECT_EQ((*headers)[0].value.reveal(), "Basic eHg=");
  EXPECT_EQ((*headers)[1].name, "b");
  EXPECT_TRUE(read_headers("")->empty());
  EXPECT_FALSE(read_headers("a=1,b"));
  EXPECT_FALSE(read_headers("=1"));
}

}  // namespace
}  // namespace parley::trace
