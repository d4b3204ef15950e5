#include "dialect/core/outcome.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dialect/format.h"

namespace parley::dialect {
namespace {

struct FinishCase {
  Dialect dialect;
  std::string_view word;
  bool has_calls;
  Finish finish;
};

TEST(Finish, IsWhatTheWordMeans) {
  const std::vector<FinishCase> cases = {
      {Dialect::OpenAI, "stop", false, Finish::Stop},
      {Dialect::OpenAI, "stop", true, Finish::ToolCalls},
      {Dialect::OpenAI, "function_call", true, Finish::ToolCalls},
      {Dialect::OpenAI, "content_filter", false, Finish::Filtered},
      {Dialect::OpenAI, "insufficient_system_resource", false, Finish::Unknown},
      {Dialect::DeepSeek, "insufficient_system_resource", false, Finish::Error},
      {Dialect::DeepSeek, "length", false, Finish::Length},
      {Dialect::Moonshot, "tool_calls", true, Finish::ToolCalls},
      {Dialect::DashScope, "stop", true, Finish::ToolCalls},
      {Dialect::Responses, "completed", false, Finish::Stop},
      {Dialect::Responses, "completed", true, Finish::ToolCalls},
      {Dialect::Responses, "max_output_tokens", true, Finish::Length},
      {Dialect::Responses, "failed", false, Finish::Error},
      {Dialect::Anthropic, "end_turn", false, Finish::Stop},
      {Dialect::Anthropic, "stop_sequence", false, Finish::StopSequence},
      {Dialect::Anthropic, "model_context_window_exceeded", false, Finish::ContextFull},
      {Dialect::Anthropic, "compaction", false, Finish::Paused},
      {Dialect::Gemini, "STOP", true, Finish::ToolCalls},
      {Dialect::Gemini, "IMAGE_SAFETY", false, Finish::Filtered},
      {Dialect::Gemini, "TOO_MANY_TOOL_CALLS", false, Finish::MalformedCall},
      {Dialect::Gemini, "LANGUAGE", false, Finish::Error},
      {Dialect::Ollama, "stop", true, Finish::ToolCalls},
      {Dialect::Ollama, "load", false, Finish::Unknown},
      {Dialect::Converse, "guardrail_intervened", false, Finish::Filtered},
      {Dialect::OTel, "tool_call", true, Finish::ToolCalls},
      {Dialect::ShareGPT, "stop", false, Finish::Unknown},
      {Dialect::OpenAI, "", true, Finish::Unknown},
  };
  for (const FinishCase& each : cases) {
    EXPECT_EQ(finish_of(each.dialect, each.word, each.has_calls), each.finish)
        << to_string(each.dialect) << " " << each.word;
  }
}

TEST(Finish, IsSaidInTheDialectsWord) {
  EXPECT_EQ(finish_word(Dialect::OpenAI, Finish::StopSequence), "stop");
  EXPECT_EQ(finish_word(Dialect::DeepSeek, Finish::Error), "insufficient_system_resource");
  EXPECT_EQ(finish_word(Dialect::DeepSeek, Finish::ToolCalls), "tool_calls");
  EXPECT_EQ(finish_word(Dialect::OpenAI, Finish::Error), "");
  EXPECT_EQ(finish_word(Dialect::Anthropic, Finish::Paused), "pause_turn");
  EXPECT_EQ(finish_word(Dialect::Gemini, Finish::ToolCalls), "STOP");
  EXPECT_EQ(finish_word(Dialect::Responses, Finish::ContextFull), "max_output_tokens");
  EXPECT_EQ(finish_word(Dialect::OTel, Finish::ToolCalls), "tool_call");
}

TEST(Finish, EveryNameIsFoundAgain) {
  for (int i = 0; i <= static_cast<int>(Finish::Error); ++i) {
    const auto finish = static_cast<Finish>(i);
    EXPECT_EQ(finish_named(to_string(finish)), finish);
  }
  EXPECT_FALSE(finish_named("done"));
}

std::string text(const Usage& usage) {
  std::string out;
  for (const auto& [name, counter] : {std::pair("in", usage.input), std::pair("read", usage.cache_read),
                                      std::pair("write", usage.cache_write), std::pair("out", usage.output),
                                      std::pair("reasoning", usage.reasoning)}) {
    if (counter) out += (out.empty() ? "" : " ") + std::string(name) + "=" + std::to_string(*counter);
  }
  return out;
}

struct UsageCase {
  Dialect dialect;
  std::string_view json;
  std::string_view usage;
};

TEST(Usage, IsTheSumOfTheWiresCounters) {
  const std::vector<UsageCase> cases = {
      {Dialect::OpenAI,
       R"({"prompt_tokens":9,"completion_tokens":20,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":4}})",
       "in=9 read=4 out=20"},
      {Dialect::OpenAI, R"({"prompt_tokens":null,"completion_tokens":1.5,"prompt_tokens_details":null})", ""},
      {Dialect::OpenAI, R"({"prompt_tokens":-1,"completion_tokens":"7"})", ""},
      {Dialect::OpenAI, R"([])", ""},
      {Dialect::DeepSeek, R"({"prompt_tokens":9,"prompt_cache_hit_tokens":3})", "in=9 read=3"},
      {Dialect::DeepSeek, R"({"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":2}})",
       "in=9 read=2"},
      {Dialect::Moonshot, R"({"completion_tokens":1,"cached_tokens":5})", "read=5 out=1"},
      {Dialect::DashScope, R"({"prompt_tokens_details":{"cache_creation_input_tokens":6}})", "write=6"},
      {Dialect::Responses,
       R"({"input_tokens":5,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":1},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":6}})",
       "in=5 read=0 write=1 out=9 reasoning=6"},
      {Dialect::Anthropic,
       R"({"input_tokens":3,"cache_read_input_tokens":100,"cache_creation_input_tokens":7,"output_tokens":1})",
       "in=110 read=100 write=7 out=1"},
      {Dialect::Anthropic,
       R"({"input_tokens":3,"cache_creation":{"ephemeral_5m_input_tokens":1,"ephemeral_1h_input_tokens":2}})",
       "in=3 write=3"},
      {Dialect::Gemini,
       R"({"promptTokenCount":8,"toolUsePromptTokenCount":2,"candidatesTokenCount":6,"thoughtsTokenCount":4})",
       "in=10 out=10 reasoning=4"},
      {Dialect::Ollama, R"({"prompt_eval_count":12,"eval_count":7})", "in=12 out=7"},
      {Dialect::Converse,
       R"({"inputTokens":1,"cacheReadInputTokens":2,"cacheWriteInputTokens":3,"outputTokens":4})",
       "in=6 read=2 write=3 out=4"},
      {Dialect::ShareGPT, R"({"prompt_tokens":9})", ""},
  };
  for (const UsageCase& each : cases) {
    EXPECT_EQ(text(read_usage(each.dialect, Json::parse(each.json).value())), each.usage)
        << to_string(each.dialect) << " " << each.json;
  }
}

TEST(Usage, ThatIsWrittenIsReadAgain) {
  const Usage full{.input = 100, .cache_read = 40, .cache_write = 10, .output = 30, .reasoning = 20};
  const Usage some{.input = 7, .cache_read = {}, .cache_write = {}, .output = 3, .reasoning = {}};
  for (const Dialect dialect :
       {Dialect::OpenAI, Dialect::Responses, Dialect::Anthropic, Dialect::Gemini, Dialect::Ollama,
        Dialect::Converse, Dialect::DeepSeek, Dialect::Moonshot, Dialect::DashScope, Dialect::OTel}) {
    for (const Usage& usage : {full, some, Usage{}}) {
      json::Writer out;
      write_usage(out.begin_object(), dialect, usage);
      const Json written = out.end_object().take();
      Usage expected = usage;
      if (dialect == Dialect::Ollama) expected.cache_read = expected.cache_write = expected.reasoning = {};
      if (dialect == Dialect::Gemini) expected.cache_write = {};
      if (dialect == Dialect::Converse) expected.reasoning = {};
      EXPECT_EQ(text(read_usage(dialect, written)), text(expected))
          << to_string(dialect) << written.text().view();
    }
  }
}

TEST(Usage, StandsInTheProvidersOrder) {
  json::Writer out;
  write_usage(out.begin_object(), Dialect::Responses,
              {.input = 5, .cache_read = 1, .cache_write = {}, .output = 9, .reasoning = 6});
  EXPECT_EQ(out.end_object().take_string(),
            R"({"input_tokens":5,"input_tokens_details":{"cached_tokens":1},"output_tokens":9,)"
            R"("output_tokens_details":{"reasoning_tokens":6},"total_tokens":14})");
}

TEST(Usage, OfAStreamKeepsWhatIsNotSaidAgain) {
  UsageReader reader(Dialect::Anthropic);
  reader.add(Json::parse(R"({"input_tokens":3,"cache_read_input_tokens":100,"output_tokens":1})").value());
  reader.add(Json::parse(R"({"input_tokens":5,"cache_read_input_tokens":null,"output_tokens":42})").value());
  EXPECT_EQ(text(reader.usage()), "in=105 read=100 out=42");
}

TEST(Usage, OfAbsurdSizeStaysInRange) {
  const Json json =
      Json::parse(
          R"({"inputTokens":9223372036854775807,"cacheReadInputTokens":9223372036854775807,"cacheWriteInputTokens":9223372036854775807})")
          .value();
  EXPECT_EQ(read_usage(Dialect::Converse, json).input, 18446744073709551615U);
}

TEST(Usage, OfEveryDialectFitsIntoTheReader) {
  for (const Format* format : formats()) {
    std::size_t sums = format->words == nullptr ? 0 : format->words->sums.size();
    if (format->like != nullptr) sums += format->like->words->sums.size();
    EXPECT_LE(sums, UsageReader::kSums) << format->info.name;
  }
}

}  // namespace
}  // namespace parley::dialect
