#include "server/openai/responses_fields.h"

#include <gtest/gtest.h>

namespace parley::server {
namespace {

ApiResult<ResponsesFields> fields(std::string_view body) {
  return responses_fields(Members(Json::parse(body).value()));
}

struct RefusedField {
  std::string_view body, param, code;
};

// FIELDS1
TEST(ResponsesFields, RefusesWhatOpenAIRefuses) {
  for (const RefusedField& is : {
           RefusedField{R"({"temperature":"hot"})", "temperature", "invalid_type"},
           RefusedField{R"({"temperature":2.5})", "temperature", "invalid_value"},
           RefusedField{R"({"top_p":-1})", "top_p", "invalid_value"},
           RefusedField{R"({"top_logprobs":21})", "top_logprobs", "invalid_value"},
           RefusedField{R"({"top_logprobs":1.5})", "top_logprobs", "invalid_type"},
           RefusedField{R"({"max_output_tokens":0})", "max_output_tokens", "invalid_value"},
           RefusedField{R"({"max_tool_calls":-1})", "max_tool_calls", "invalid_value"},
           RefusedField{R"({"stream":"yes"})", "stream", "invalid_type"},
           RefusedField{R"({"store":1})", "store", "invalid_type"},
           RefusedField{R"({"model":7})", "model", "invalid_type"},
           RefusedField{R"({"instructions":[]})", "instructions", "invalid_type"},
           RefusedField{R"({"include":"x"})", "include", "invalid_type"},
           RefusedField{R"({"include":["x",1]})", "include[1]", "invalid_type"},
           RefusedField{R"({"tools":{}})", "tools", "invalid_type"},
           RefusedField{R"({"tools":[1]})", "tools[0]", "invalid_type"},
           RefusedField{R"({"tools":[{"name":"f"}]})", "tools[0].type", "missing_required_parameter"},
           RefusedField{R"({"tools":[{"type":"function"}]})", "tools[0].name", "missing_required_parameter"},
           RefusedField{R"({"tools":[{"type":"function","name":"f","parameters":1}]})", "tools[0].parameters",
                        "invalid_type"},
           RefusedField{R"({"tool_choice":"maybe"})", "tool_choice", "invalid_value"},
           RefusedField{R"({"tool_choice":[]})", "tool_choice", "invalid_type"},
           RefusedField{R"({"tool_choice":{}})", "tool_choice.type", "missing_required_parameter"},
           RefusedField{R"({"text":"x"})", "text", "invalid_type"},
           RefusedField{R"({"text":{"format":{"type":"xml"}}})", "text.format.type", "invalid_value"},
           RefusedField{R"({"text":{"format":{"type":"json_schema","schema":{}}}})", "text.format.name",
                        "missing_required_parameter"},
           RefusedField{R"({"text":{"format":{"type":"json_schema","name":"n"}}})", "text.format.schema",
                        "missing_required_parameter"},
           RefusedField{R"({"text":{"verbosity":{"a":1}}})", "text.verbosity", "invalid_type"},
           RefusedField{R"({"reasoning":"high"})", "reasoning", "invalid_type"},
           RefusedField{R"({"reasoning":{"effort":1}})", "reasoning.effort", "invalid_type"},
           RefusedField{R"({"truncation":"some"})", "truncation", "invalid_value"},
           RefusedField{R"({"service_tier":1})", "service_tier", "invalid_type"},
           RefusedField{R"({"conversation":{"name":"x"}})", "conversation", "invalid_type"},
           RefusedField{R"({"conversation":""})", "conversation", "invalid_value"},
       }) {
    const auto out = fields(is.body);
    ASSERT_FALSE(out) << is.body;
    EXPECT_EQ(out.error().status, 400) << is.body;
    EXPECT_EQ(out.error().param, is.param) << is.body;
    EXPECT_EQ(out.error().code, is.code) << is.body;
  }
}

TEST(ResponsesFields, RefusesMetadataOverItsLimits) {
  EXPECT_TRUE(fields(R"({"metadata":{"a":"b"}})"));
  EXPECT_TRUE(fields(R"({"metadata":{"a":")" + std::string(512, 'x') + R"("}})"));
  for (const std::string& metadata :
       {std::string(R"("x")"), std::string(R"({"a":1})"), R"({"a":")" + std::string(513, 'x') + R"("})",
        R"({")" + std::string(65, 'k') + R"(":"v"})"}) {
    const auto out = fields(R"({"metadata":)" + metadata + "}");
    ASSERT_FALSE(out) << metadata;
    EXPECT_EQ(out.error().status, 400);
  }
}

TEST(ResponsesFields, TakesNullForAbsent) {
  const auto out = fields(
      R"({"model":null,"temperature":null,"tools":null,"text":null,"reasoning":null,"metadata":null,"store":null,)"
      R"("conversation":null,"previous_response_id":null,"include":null,"truncation":null,"unknown":{}})");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->echo.text(), "{}");  // FIELDS3
  EXPECT_TRUE(out->is_stored);
  EXPECT_EQ(out->model + out->previous + out->conversation, "");
}

// FIELDS2
TEST(ResponsesFields, EchoesWholeObjects) {
  const auto out = fields(
      R"({"model":"m","tools":[{"type":"function","name":"f"},{"type":"custom","name":"c"},{"type":"web_search"}],)"
      R"("reasoning":{"effort":"low"},"text":{"verbosity":"low","format":{"type":"json_schema","name":"n",)"
      R"("schema":{ "type": "object" },"strict":null}},"service_tier":"auto","user":"u"})");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_EQ(out->model, "m");
  EXPECT_EQ(
      out->echo.text(),
      R"({"user":"u","tools":[{"type":"function","name":"f","description":null,"parameters":null,"strict":null},)"
      R"({"type":"custom","name":"c"},{"type":"web_search"}],)"
      R"("text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"description":null,)"
      R"("strict":false},"verbosity":"low"},"reasoning":{"effort":"low","summary":null}})");
}

TEST(ResponsesFields, FindsWhereTheRequestBelongs) {
  EXPECT_EQ(fields(R"({"conversation":"conv_1"})")->conversation, "conv_1");
  const auto out =
      fields(R"({"conversation":{"id":"conv_2"},"stream":true,"store":false,"background":true})");
  EXPECT_EQ(out->conversation, "conv_2");
  EXPECT_EQ(out->echo.at("/conversation/id"), Json::string("conv_2"));
  EXPECT_TRUE(out->is_streamed);
  EXPECT_TRUE(out->is_background);
  EXPECT_FALSE(out->is_stored);
  EXPECT_EQ(fields(R"({"previous_response_id":"resp_1"})")->previous, "resp_1");
}

}  // namespace
}  // namespace parley::server
