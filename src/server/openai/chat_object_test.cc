#include "server/openai/chat_object.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "parley/json/json.h"

namespace parley::server {
namespace {

TurnState state_of(Message answer) {
  TurnState out;
  out.key = {{"default", "chatcmpl-T"}, "T"};
  out.model = "m";
  out.created_ms = 1'700'000'000'123;
  out.status = TurnStatus::Completed;
  out.answer = std::move(answer);
  out.outcome.finish = Finish::Stop;
  return out;
}

std::vector<Json> chunks_of(const TurnState& state, std::size_t delta_bytes) {
  std::vector<Json> out;
  ChunkWriter writer(state, false, [&](std::string_view json) { out.push_back(Json::parse(json).value()); });
  writer.begin();
  to_events(
      *state.answer, state.outcome, [&](const StreamEvent& event) { writer.write(event); }, delta_bytes);
  writer.end(state);
  return out;
}

std::string string_at(const Json& json, std::string_view pointer) {
  return json.at(pointer).value_or(Json()).as_string().value_or(Text()).str();
}

// What a client puts together: the texts, and the calls as "ID NAME ARGUMENTS".
struct Joined {
  std::string content = {}, refusal = {}, reasoning = {};
  std::vector<std::string> calls = {};
  bool operator==(const Joined&) const = default;
};

Joined joined(const std::vector<Json>& chunks) {
  Joined out;
  for (const Json& chunk : chunks) {
    const Json delta = chunk.at("/choices/0/delta").value_or(Json());
    out.content += string_at(delta, "/content");
    out.refusal += string_at(delta, "/refusal");
    out.reasoning += string_at(delta, "/reasoning_content");
    for (const Json& call : delta.get("tool_calls").value_or(Json()).elements()) {
      const auto index = static_cast<std::size_t>(call.get("index")->as_int64().value());
      if (index == out.calls.size()) {
        const std::string kind = string_at(call, "/type");
        out.calls.push_back(string_at(call, "/id") + " " + string_at(call, "/" + kind + "/name") + " ");
      }
      out.calls.at(index) += string_at(call, "/function/arguments") + string_at(call, "/custom/input");
    }
  }
  return out;
}

Joined whole(const Json& completion) {
  const Json message = completion.at("/choices/0/message").value();
  Joined out{string_at(message, "/content"), string_at(message, "/refusal"),
             string_at(message, "/reasoning_content")};
  for (const Json& call : message.get("tool_calls").value_or(Json()).elements()) {
    const std::string kind = string_at(call, "/type");
    out.calls.push_back(string_at(call, "/id") + " " + string_at(call, "/" + kind + "/name") + " " +
                        string_at(call, "/function/arguments") + string_at(call, "/custom/input"));
  }
  return out;
}

// CHAT1, CHAT4
TEST(ChatObject, ChunksGiveTheSameMessage) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Block> blocks;
    for (std::size_t count = random() % 6; count > 0; --count) {
      const std::string text(random() % 12, static_cast<char>('a' + random() % 26));
      switch (random() % 5) {
        case 0:
          blocks.emplace_back(ThinkingBlock{Text(text)});
          break;
        case 1:
          blocks.emplace_back(ToolUseBlock{Text("c" + std::to_string(count)), "f", Text(text)});
          break;
        case 2:
          blocks.emplace_back(TextBlock{Text(text), true});
          break;
        case 3:
          blocks.emplace_back(ToolUseBlock{.id = Text("x" + std::to_string(count)),
                                           .name = "g",
                                           .arguments = Text(text),
                                           .is_custom = true});
          break;
        default:
          blocks.emplace_back(TextBlock{Text(text)});
          break;
      }
    }
    const TurnState state = state_of(MessageBuilder(Role::Assistant).blocks(blocks).build().value());
    const Joined expected = whole(to_completion(state));
    EXPECT_EQ(joined(chunks_of(state, 3)), expected) << to_completion(state).text();
    EXPECT_EQ(joined(chunks_of(state, 64)), expected);
  }
}

// CHAT3
TEST(ChatObject, JoinsTextsWithLineBreaks) {
  const TurnState state = state_of(
      MessageBuilder(Role::Assistant).text("a").block(ThinkingBlock{"t"}).text("").text("b").build().value());
  EXPECT_EQ(string_at(to_completion(state), "/choices/0/message/content"), "a\nb");
  EXPECT_EQ(string_at(to_completion(state), "/choices/0/message/reasoning_content"), "t");
}

TEST(ChatObject, KeepsTheAnnotationsOfTheWire) {
  const Message answer =
      from_dict(R"({"role":"assistant","content":"x","annotations":[{"type":"url_citation","url_citation":)"
                R"({"url":"u","title":"t","start_index":0,"end_index":1}}]})",
                Dialect::OpenAI)
          .value();
  EXPECT_EQ(
      to_completion(state_of(answer)).at("/choices/0/message/annotations/0/url_citation/url")->as_string(),
      "u");
}

TEST(ChatObject, NamesWhyAnAnswerEnded) {
  TurnState state = state_of(MessageBuilder(Role::Assistant).text("x").build().value());
  const auto reason = [&](Finish finish) {
    state.outcome.finish = finish;
    return finish_reason(state);
  };
  EXPECT_EQ(reason(Finish::Stop), "stop");
  EXPECT_EQ(reason(Finish::StopSequence), "stop");
  EXPECT_EQ(reason(Finish::Length), "length");
  EXPECT_EQ(reason(Finish::ContextFull), "length");
  EXPECT_EQ(reason(Finish::Filtered), "content_filter");
  EXPECT_EQ(reason(Finish::ToolCalls), "stop");  // without a call
  state.answer = MessageBuilder(Role::Assistant).block(ToolUseBlock{"c", "f", "{}"}).build().value();
  EXPECT_EQ(reason(Finish::Stop), "tool_calls");
  state.status = TurnStatus::Incomplete;
  state.reason = "max_output_tokens";
  EXPECT_EQ(reason(Finish::Unknown), "length");
  EXPECT_TRUE(is_presentable(state));
  state.reason = "client_disconnected";
  EXPECT_FALSE(is_presentable(state));
  state.status = TurnStatus::Failed;
  EXPECT_FALSE(is_presentable(state));
}

}  // namespace
}  // namespace parley::server
