#include <gtest/gtest.h>

#include <map>

#include "net/loopback_server_testing.h"
#include "parley/trace/tracer.h"

namespace parley::trace {
namespace {

// The attributes of one span, as a receiver sees them: name and value.
template <typename Fill>
std::map<std::string, std::string> sent_attributes(bool capture_content, const Fill& fill) {
  net::LoopbackServer server([](net::LoopbackServer::Connection& connection, const net::SeenRequest&) {
    connection.send(net::answer("200 OK", "", "{}"));
  });
  Tracer tracer = *Tracer::open({.endpoint = server.url(""), .capture_content = capture_content});
  Span span = tracer.start(Operation::Chat, "m");
  fill(span);
  span.end();
  EXPECT_TRUE(tracer.flush(std::chrono::milliseconds(60'000)));
  const Json body = *Json::parse(server.seen().front().body);
  std::map<std::string, std::string> attributes;
  for (const Json& each : body.at("/resourceSpans/0/scopeSpans/0/spans/0/attributes")->elements()) {
    const Json value = each.get("value")->members().front().value;
    attributes[each.get("key")->as_string()->str()] = value.as_string().value_or(value.text()).str();
  }
  return attributes;
}

Conversation request() {
  Conversation conversation({Message::user_message("What is the weather in Oslo?")});
  conversation.set_system(Message::system_message("Be brief."));
  conversation.set_tools({{"weather", "looks outside", *Json::parse(R"({"type":"object"})")}});
  Settings settings;
  settings.set(Setting::Model, Json::string("gpt-4o"));
  settings.set(Setting::Temperature, Json::number(1));
  settings.set(Setting::Stop, *Json::parse(R"(["END"])"));
  conversation.set_settings(settings);
  return conversation;
}

TEST(ChatSpan, ARequestGivesItsSettings) {
  auto sent = sent_attributes(false, [](Span& span) { set_request(span, request()); });
  EXPECT_EQ(sent["gen_ai.request.model"], "gpt-4o");
  EXPECT_EQ(sent["gen_ai.request.temperature"], "1");
  EXPECT_EQ(sent["gen_ai.request.stop_sequences"], R"({"values":[{"stringValue":"END"}]})");
  for (const auto& [name, value] : sent) {
    EXPECT_EQ(value.find("Oslo"), std::string::npos) << name;
    EXPECT_EQ(value.find("brief"), std::string::npos) << name;
    EXPECT_EQ(value.find("outside"), std::string::npos) << name;
  }
}

TEST(ChatSpan, ContentIsTheDialectsIfItIsAskedFor) {
  auto sent = sent_attributes(true, [](Span& span) { set_request(span, request()); });
  EXPECT_EQ(sent["gen_ai.input.messages"],
            R"([{"role":"user","parts":[{"type":"text","content":"What is the weather in Oslo?"}]}])");
  EXPECT_EQ(sent["gen_ai.system_instructions"], R"([{"type":"text","content":"Be brief."}])");
  EXPECT_EQ(sent["gen_ai.tool.definitions"],
            R"([{"type":"function","name":"weather","description":"looks outside",)"
            R"("parameters":{"type":"object"}}])");
}

TEST(ChatSpan, AnAnswerGivesItsOutcome) {
  const ToolCall call{.id = Text("call_1"), .function = {Text("weather"), Text("{}")}};
  const Message message = Message::from_tool_calls({&call, 1}, std::nullopt);
  Outcome outcome;
  outcome.id = Text("resp_1");
  outcome.model = Text("gpt-4o-2024");
  outcome.finish = Finish::ToolCalls;
  outcome.usage = {.input = 100, .cache_read = 60, .cache_write = 5, .output = 0, .reasoning = {}};
  for (const bool capture : {false, true}) {
    auto sent = sent_attributes(capture, [&](Span& span) { set_answer(span, message, outcome); });
    EXPECT_EQ(sent["gen_ai.response.id"], "resp_1");
    EXPECT_EQ(sent["gen_ai.response.model"], "gpt-4o-2024");
    EXPECT_EQ(sent["gen_ai.response.finish_reasons"], R"({"values":[{"stringValue":"tool_call"}]})");
    EXPECT_EQ(sent["gen_ai.usage.input_tokens"], "100");
    EXPECT_EQ(sent["gen_ai.usage.cache_read.input_tokens"], "60");
    EXPECT_EQ(sent["gen_ai.usage.cache_creation.input_tokens"], "5");
    EXPECT_EQ(sent["gen_ai.usage.output_tokens"], "0");
    EXPECT_FALSE(sent.contains("gen_ai.usage.reasoning.output_tokens"));  // unknown is not 0
    EXPECT_EQ(sent["gen_ai.output.messages"],
              capture ? R"([{"role":"assistant","parts":[{"type":"tool_call","id":"call_1",)"
                        R"("name":"weather","arguments":{}}],"finish_reason":"tool_call"}])"
                      : "");
  }
}

}  // namespace
}  // namespace parley::trace
