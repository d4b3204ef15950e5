#include <gtest/gtest.h>

#include <thread>

#include "agent/scripted_testing.h"
#include "parley/agent/agent.h"

namespace parley::agent {
namespace {

std::vector<Message> some_messages() {
  const std::vector<ToolCall> one = {call("call_secret_id", "look", R"({"at":"door"})")};
  return {
      *MessageBuilder(Role::User)
           .text(Text("find the key"))
           .metadata(*Json::parse(R"({"m":"hidden"})"))
           .build(),
      *MessageBuilder(Role::Assistant)
           .block(ThinkingBlock{Text("hidden thought")})
           .text(Text("I look"))
           .build(),
      Message::from_tool_calls(one),
      Message::tool_message("it is locked", "look", "call_secret_id"),
  };
}

CompressionRequest request_for(const std::vector<Message>& messages) {
  CompressionRequest request;
  request.messages = messages;
  request.most_bytes = 1000;
  request.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  return request;
}

TEST(LlmCompressor, COMPRESSOR1_COMPRESSOR2_AsksAModelAboutWhatWasSaidAndNothingElse) {
  auto model = std::make_shared<ScriptedModel>(std::vector<Turn>{says("Task: the key.")});
  LlmCompressor compressor(model);
  const std::vector<Message> messages = some_messages();
  CompressionRequest request = request_for(messages);
  request.previous = Text("they came to a house");
  const auto answer = compressor.compress(request);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->text, Text("Task: the key."));
  EXPECT_EQ(answer->covered, 4U);
  const ModelRequest& asked = model->asked.at(0);
  EXPECT_EQ(asked.purpose, Purpose::Compression);
  EXPECT_TRUE(asked.conversation.tools().empty());
  const std::string words = asked.conversation.messages().back().content()->str();
  for (const char* part : {"they came to a house", "user: find the key", "assistant: I look",
                           "assistant: calls look with {\"at\":\"door\"}", "result of look: it is locked"}) {
    EXPECT_TRUE(words.contains(part)) << part << " in " << words;
  }
  EXPECT_FALSE(words.contains("hidden"));
  EXPECT_FALSE(words.contains("call_secret_id"));
}

TEST(LlmCompressor, COMPRESSOR3_PicksForItselfIfTheModelIsOfNoUse) {
  const std::vector<Message> messages = some_messages();
  const auto expected = ExtractiveCompressor().compress(request_for(messages));
  ASSERT_TRUE(expected);
  const Turn cut = [](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
    ModelAnswer answer{.message = Message::assistant_message("half"), .outcome = {}};
    answer.cut = Failure{};
    return answer;
  };
  for (const Turn& turn : {fails(FailureKind::Server, Code::Unavailable, "down"), says(""), cut,
                           says(Message::assistant_message("half"), Finish::Length)}) {
    LlmCompressor compressor(std::make_shared<ScriptedModel>(std::vector<Turn>{turn}));
    const auto answer = compressor.compress(request_for(messages));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->text, expected->text);
  }
}

TEST(LlmCompressor, COMPRESSOR3_StopsAModelThatTakesTooLong) {
  const Turn waits = [](const ModelRequest&, const CallOptions& options) -> Called<ModelAnswer> {
    while (!options.stop.stop_requested()) std::this_thread::yield();
    CallError error;
    error.code = Code::Cancelled;
    return std::unexpected(error);
  };
  LlmCompressor compressor(std::make_shared<ScriptedModel>(std::vector<Turn>{waits}));
  const std::vector<Message> messages = some_messages();
  CompressionRequest request = request_for(messages);
  request.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
  EXPECT_TRUE(compressor.compress(request));
}

TEST(LlmCompressor, COMPRESSOR4_KeepsToItsLength) {
  LlmCompressor compressor(
      std::make_shared<ScriptedModel>(std::vector<Turn>{says("\u00e4\u00e4\u00e4\u00e4")}));
  const std::vector<Message> messages = some_messages();
  CompressionRequest request = request_for(messages);
  request.most_bytes = 5;
  EXPECT_EQ(compressor.compress(request)->text, Text("\u00e4\u00e4"));
}

TEST(LlmCompressor, CompressesTheMemoryOfAnAgent) {
  MemoryOptions memory;
  memory.budget.messages = 8;
  memory.compressor = std::make_shared<LlmCompressor>(
      std::make_shared<ScriptedModel>(std::vector<Turn>{says("Task: talk.")}));
  Scene scene({says("well")}, {}, memory);
  for (int i = 0; i < 8; ++i)
    scene.run("a somewhat longer question about something that takes more than a few words");
  EXPECT_LE(scene.agent->window().size(), 8U);
  EXPECT_TRUE(line_of(scene.agent->window().front()).contains("Task: talk."));
}

}  // namespace
}  // namespace parley::agent
