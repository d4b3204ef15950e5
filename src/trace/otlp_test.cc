#include "trace/otlp.h"

#include <gtest/gtest.h>

#include <set>

namespace parley::trace {
namespace {

Json parsed(const std::string& text) {
  const auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return json.value_or(Json());
}

Json value_of(Key key, std::string_view json) {
  SpanData span;
  span.attributes.emplace_back(key, *Json::parse(json));
  return *parsed(write_span(span)).at("/attributes/0/value");
}

TEST(Otlp, SpellsASpan) {
  const SpanData span = {.context = {.trace = {1, 2}, .span = 3, .is_sampled = true},
                         .parent = 4,
                         .name = "chat \"x\"",
                         .kind = SpanKind::Client,
                         .start_ns = 1'700'000'000'000'000'001,
                         .end_ns = 1'700'000'000'000'000'002,
                         .attributes = {{Key::InputTokens, Json::number(5)}},
                         .failure = "no"};
  EXPECT_EQ(write_span(span),
            R"({"traceId":"00000000000000010000000000000002","spanId":"0000000000000003",)"
            R"("parentSpanId":"0000000000000004","flags":1,"name":"chat \"x\"","kind":3,)"
            R"("startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000000000002",)"
            R"("attributes":[{"key":"gen_ai.usage.input_tokens","value":{"intValue":"5"}}],)"
            R"("status":{"message":"no","code":2}})");
}

TEST(Otlp, ASpanWithoutParentAndFailureHasNone) {
  const Json span = parsed(write_span({}));
  EXPECT_FALSE(span.get("parentSpanId"));
  EXPECT_FALSE(span.get("status"));
}

TEST(Otlp, ValuesHaveTheTypeOfTheirKey) {
  EXPECT_EQ(value_of(Key::RequestModel, "\"m\"").text().view(), R"({"stringValue":"m"})");
  EXPECT_EQ(value_of(Key::RequestStream, "true").text().view(), R"({"boolValue":true})");
  EXPECT_EQ(value_of(Key::RequestSeed, "-9").text().view(), R"({"intValue":"-9"})");
  EXPECT_EQ(value_of(Key::RequestTemperature, "1").text().view(), R"({"doubleValue":1})");
  EXPECT_EQ(value_of(Key::ResponseFinishReasons, R"(["stop"])").text().view(),
            R"({"arrayValue":{"values":[{"stringValue":"stop"}]}})");
  EXPECT_EQ(value_of(Key::InputMessages, R"([{"a":"b"}])").text().view(),
            R"({"stringValue":"[{\"a\":\"b\"}]"})");
}

TEST(Otlp, AValueOfAnotherTypeIsText) {
  EXPECT_EQ(value_of(Key::RequestSeed, "1e99").text().view(), R"({"stringValue":"1e99"})");
  EXPECT_EQ(value_of(Key::RequestTemperature, "1e400").text().view(), R"({"stringValue":"1e400"})");
  EXPECT_EQ(value_of(Key::RequestModel, "[1]").text().view(), R"({"stringValue":"[1]"})");
  EXPECT_EQ(value_of(Key::RequestStopSequences, "[1]").text().view(),
            R"({"arrayValue":{"values":[{"stringValue":"1"}]}})");
}

TEST(Otlp, ARequestNamesTheServiceAndTheConventions) {
  const std::string_view spans[] = {R"({"name":"a"})", R"({"name":"b"})"};
  const Json request = parsed(write_request("my \"service\"", spans));
  EXPECT_EQ(request.at("/resourceSpans/0/resource/attributes/0/key")->as_string(), Text("service.name"));
  EXPECT_EQ(request.at("/resourceSpans/0/resource/attributes/0/value/stringValue")->as_string(),
            Text("my \"service\""));
  EXPECT_EQ(request.at("/resourceSpans/0/scopeSpans/0/spans/1/name")->as_string(), Text("b"));
  EXPECT_EQ(request.at("/resourceSpans/0/scopeSpans/0/schemaUrl")->as_string()->view(), kSchemaUrl);
}

TEST(Otlp, CountsWhatAReceiverRefused) {
  EXPECT_EQ(refused_spans(R"({"partialSuccess":{"rejectedSpans":"3"}})"), 3U);
  EXPECT_EQ(refused_spans(R"({"partialSuccess":{"rejectedSpans":3}})"), 3U);
  for (const std::string_view none :
       {"", "{}", "<html>", R"({"partialSuccess":{"rejectedSpans":"-3"}})",
        R"({"partialSuccess":{"rejectedSpans":"x"}})", R"({"partialSuccess":{}})"}) {
    EXPECT_EQ(refused_spans(none), 0U) << none;
  }
}

TEST(Attributes, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const KeyInfo& key : keys()) names.insert(key.name);
  EXPECT_EQ(names.size(), keys().size());
  for (const std::string_view needed : {"gen_ai.operation.name",
                                        "gen_ai.provider.name",
                                        "gen_ai.conversation.id",
                                        "gen_ai.agent.name",
                                        "gen_ai.request.model",
                                        "gen_ai.request.stream",
                                        "gen_ai.output.type",
                                        "gen_ai.response.model",
                                        "gen_ai.response.id",
                                        "gen_ai.response.finish_reasons",
                                        "gen_ai.response.time_to_first_chunk",
                                        "gen_ai.usage.input_tokens",
                                        "gen_ai.usage.output_tokens",
                                        "gen_ai.usage.cache_read.input_tokens",
                                        "gen_ai.usage.cache_creation.input_tokens",
                                        "gen_ai.usage.reasoning.output_tokens",
                                        "gen_ai.tool.name",
                                        "gen_ai.tool.call.id",
                                        "gen_ai.tool.type",
                                        "gen_ai.tool.definitions",
                                        "gen_ai.tool.call.arguments",
                                        "gen_ai.tool.call.result",
                                        "gen_ai.input.messages",
                                        "gen_ai.output.messages",
                                        "gen_ai.system_instructions",
                                        "server.address",
                                        "server.port",
                                        "error.type"}) {
    EXPECT_TRUE(names.contains(needed)) << needed;
  }
}

TEST(Operations, AreCalledAndPlacedAsTheConventionsHaveIt) {
  const std::tuple<Operation, std::string_view, SpanKind> rows[] = {
      {Operation::InvokeAgent, "invoke_agent", SpanKind::Internal},
      {Operation::Chat, "chat", SpanKind::Client},
      {Operation::ExecuteTool, "execute_tool", SpanKind::Internal},
  };
  for (const auto& [operation, word, kind] : rows) {
    EXPECT_EQ(to_string(operation), word);
    EXPECT_EQ(kind_of(operation), kind) << word;
  }
}

TEST(Attributes, CallProvidersWhatTheConventionsCallThem) {
  EXPECT_EQ(provider_word("gemini"), "gcp.gemini");
  EXPECT_EQ(provider_word("azure"), "azure.ai.openai");
  EXPECT_EQ(provider_word("openai"), "openai");
  EXPECT_EQ(provider_word("my-server"), "my-server");
}

}  // namespace
}  // namespace parley::trace
