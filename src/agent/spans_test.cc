#include <gtest/gtest.h>

#include <map>

#include "agent/scripted_testing.h"
#include "net/loopback_server_testing.h"
#include "parley/agent/event.h"
#include "parley/trace/tracer.h"

namespace parley::agent {
namespace {

using Spans = std::vector<Json>;

// Runs an agent that is watched, and gives what a receiver of traces saw.
class Watched {
 public:
  explicit Watched(bool capture_content = false)
      : tracer_(*trace::Tracer::open({.endpoint = server_.url(""), .capture_content = capture_content})) {}

  OnAgentEvent watcher(SpanOptions options = {}) {
    options.agent = Text("manus");
    options.conversation_id = Text("s");
    options.model.provider = Text("gemini");
    options.model.name = Text("test");
    return spans(tracer_, std::move(options));
  }
  Spans sent() {
    EXPECT_TRUE(tracer_.flush(std::chrono::milliseconds(60'000)));
    Spans all;
    for (const auto& request : server_.seen()) {
      const auto json = Json::parse(request.body);
      EXPECT_TRUE(json);
      for (Json& span : json->at("/resourceSpans/0/scopeSpans/0/spans")->elements()) all.push_back(span);
    }
    return all;
  }

 private:
  net::LoopbackServer server_{[](net::LoopbackServer::Connection& connection, const net::SeenRequest&) {
    connection.send(net::answer("200 OK", "", "{}"));
  }};
  trace::Tracer tracer_;
};

std::string text_of(const Json& span, std::string_view member) {
  return span.get(member).value_or(Json()).as_string().value_or(Text()).str();
}

// The value of an attribute; "" if it is missing.
std::string attribute(const Json& span, std::string_view name) {
  for (const Json& each : span.get("attributes")->elements()) {
    if (text_of(each, "key") != name) continue;
    const Json value = each.get("value")->members().front().value;
    return value.as_string().value_or(value.text()).str();
  }
  return "";
}

std::vector<std::string> names_of(const Spans& spans) {
  std::vector<std::string> names;
  for (const Json& span : spans) names.push_back(text_of(span, "name"));
  return names;
}

TEST(AgentSpans, SPAN1_ARunIsATreeOfSpans) {
  Watched watched;
  Scene scene({calls({call("a", "look", R"({"at":"it"})"), call("b", "fail")}), says("done")},
              {.on_event = watched.watcher()});
  scene.run("the request");
  const Spans spans = watched.sent();
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(text_of(spans.front(), "name"), "chat test");
  EXPECT_EQ(text_of(spans[3], "name"), "chat test");
  EXPECT_EQ(text_of(spans.back(), "name"), "invoke_agent manus");
  EXPECT_EQ(text_of(spans.back(), "parentSpanId"), "");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(text_of(spans[i], "traceId"), text_of(spans.back(), "traceId"));
    EXPECT_EQ(text_of(spans[i], "parentSpanId"), text_of(spans.back(), "spanId"));
  }
  EXPECT_EQ(attribute(spans.front(), "gen_ai.provider.name"), "gcp.gemini");
  EXPECT_EQ(attribute(spans.front(), "gen_ai.conversation.id"), "s");
  EXPECT_EQ(attribute(spans.front(), "gen_ai.request.model"), "test");
  EXPECT_EQ(attribute(spans.front(), "gen_ai.response.finish_reasons"),
            R"({"values":[{"stringValue":"tool_call"}]})");
  EXPECT_EQ(attribute(spans.back(), "gen_ai.agent.name"), "manus");
}

TEST(AgentSpans, AQuestionSaysWhereAndHowItIsAsked) {
  for (const bool wants_json : {false, true}) {
    Watched watched;
    AgentOptions options;
    SpanOptions where;
    where.server = parse_url("https://models.example/v1").value();
    options.on_event = watched.watcher(where);
    if (wants_json) options.reply = ReplySchema{Text("any"), *Json::parse("{}")};
    Scene scene({says("1")}, options);
    scene.run();
    const Json chat = watched.sent().front();
    EXPECT_EQ(attribute(chat, "server.address"), "models.example");
    EXPECT_EQ(attribute(chat, "server.port"), "443");
    EXPECT_EQ(attribute(chat, "gen_ai.request.stream"), "true");
    EXPECT_EQ(attribute(chat, "gen_ai.output.type"), wants_json ? "json" : "");
    EXPECT_EQ(attribute(chat, "gen_ai.operation.name"), "chat");
    EXPECT_EQ(chat.get("kind")->as_int64(), 3);
  }
}

TEST(AgentSpans, AQuestionCarriesItsSpan) {
  Watched watched;
  std::vector<std::string> carried;
  const Turn notes = [&](const ModelRequest& request, const CallOptions& options) {
    carried.push_back(options.traceparent);
    return says("done")(request, options);
  };
  Scene scene({notes}, {.on_event = watched.watcher()});
  scene.run();
  scene.open();
  scene.run();
  const Json chat = watched.sent().front();
  EXPECT_EQ(carried, (std::vector<std::string>{
                         "00-" + text_of(chat, "traceId") + "-" + text_of(chat, "spanId") + "-01", ""}))
      << "and nothing without a trace";
}

TEST(AgentSpans, SPAN2_AToolThatFailsHasItsStatus) {
  Watched watched;
  Scene scene({calls({call("b", "fail"), call("c", "missing")}), says("done")},
              {.on_event = watched.watcher()});
  scene.run();
  std::map<std::string, Json> spans;
  for (const Json& span : watched.sent()) spans[text_of(span, "name")] = span;
  ASSERT_TRUE(spans.contains("execute_tool fail"));
  EXPECT_EQ(attribute(spans["execute_tool fail"], "error.type"), "failed");
  EXPECT_EQ(attribute(spans["execute_tool fail"], "gen_ai.tool.call.id"), "b");
  EXPECT_EQ(attribute(spans["execute_tool missing"], "error.type"), "unknown");
  EXPECT_FALSE(spans["invoke_agent manus"].get("status"));
}

TEST(AgentSpans, SPAN2_ARunThatFailsSaysWhyAndSoDoesItsQuestion) {
  Watched watched;
  Scene scene({fails(FailureKind::Auth, Code::Invalid, "the key is wrong")}, {.on_event = watched.watcher()});
  scene.run();
  const Spans spans = watched.sent();
  ASSERT_EQ(names_of(spans), (std::vector<std::string>{"chat test", "invoke_agent manus"}));
  for (const Json& span : spans) {
    EXPECT_EQ(attribute(span, "error.type"), "invalid");
    EXPECT_EQ(span.at("/status/message")->as_string(), Text("the key is wrong"));
  }
}

TEST(AgentSpans, SPAN2_ARunOutOfStepsSaysSo) {
  Watched watched;
  Scene scene({calls({call("a", "look")})}, {.max_steps = 1, .on_event = watched.watcher()});
  scene.run();
  EXPECT_EQ(attribute(watched.sent().back(), "error.type"), "max_steps");
}

TEST(AgentSpans, SPAN3_WhatWasSaidStaysUnlessItIsAskedFor) {
  for (const bool capture : {false, true}) {
    Watched watched(capture);
    Scene scene({calls({call("a", "look", R"({"at":"the arguments"})")}), says("the answer")},
                {.on_event = watched.watcher()});
    scene.run("the request");
    std::string all;
    for (const Json& span : watched.sent()) all += span.text().view();
    for (const std::string_view said : {"the request", "the arguments", "the answer", "seen"}) {
      EXPECT_EQ(all.find(said) != std::string::npos, capture) << said;
    }
  }
}

TEST(AgentSpans, HaveTheArgumentsThatRan) {
  Watched watched(true);
  Scene scene({calls({call("a", "look", R"({"at":"the model's"})")}), says("done")},
              {.on_event = watched.watcher()});
  scene.tools.box->set_policy({{{"*", Permission::Ask}}});
  scene.tools.box->set_approve(
      [](const ToolUseBlock&) { return Approval::edited(Text(R"({"at":"the user's"})")); });
  scene.run("look");
  bool is_found = false;
  for (const Json& span : watched.sent()) {
    const std::string arguments = attribute(span, "gen_ai.tool.call.arguments");
    if (arguments.empty()) continue;
    is_found = true;
    EXPECT_NE(arguments.find("the user's"), std::string::npos) << arguments;
    EXPECT_EQ(arguments.find("the model's"), std::string::npos) << arguments;
  }
  EXPECT_TRUE(is_found);
}

TEST(AgentSpans, ARunBelongsToWhoAskedForIt) {
  Watched watched;
  SpanOptions options;
  options.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  Scene scene({says("done")}, {.on_event = watched.watcher(options)});
  scene.run();
  const Spans spans = watched.sent();
  EXPECT_EQ(text_of(spans.back(), "traceId"), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(text_of(spans.back(), "parentSpanId"), "b7ad6b7169203331");
}

}  // namespace
}  // namespace parley::agent
