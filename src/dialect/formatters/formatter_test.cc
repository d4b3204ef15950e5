// What policies promise beside the bytes of their originals, which tests/policy and tests/judges compare.
#include "parley/dialect/formatter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parley/message/message.h"

namespace parley {
namespace {

constexpr Formatter kChat = Formatter::AgentScopeChat;
constexpr Formatter kAgents = Formatter::AgentScopeMultiAgent;

Conversation agentscope(std::string_view content, std::string_view role = "user") {
  const std::string document =
      R"([{"name":"ann","role":")" + std::string(role) + R"(","content":)" + std::string(content) + "}]";
  return read(document, Dialect::AgentScope).value().conversation;
}

std::string to_text(const Note& note) {
  return std::string(note.code) + " " + std::string(to_string(note.severity)) + " " +
         (note.message_index ? std::to_string(*note.message_index) : "-") +
         (note.block_index ? "." + std::to_string(*note.block_index) : "");
}

std::vector<std::string> notes_of(const Writing& writing) {
  std::vector<std::string> out;
  out.reserve(writing.notes.size());
  for (const Note& note : writing.notes) out.push_back(to_text(note));
  return out;
}

using Notes = std::vector<std::string>;

TEST(Formatter, HasNames) {
  for (const Formatter policy : {kChat, kAgents, Formatter::OpenManus}) {
    EXPECT_EQ(formatter_named(to_string(policy)).value(), policy);
  }
  EXPECT_EQ(to_string(kAgents), "agentscope-multiagent");
  const Error error = formatter_named("agentscope").error();
  EXPECT_EQ(error.code, Code::NotFound);
  EXPECT_EQ(error.message,
            "there is no policy 'agentscope'; there are: agentscope-chat, agentscope-multiagent, openmanus");
}

TEST(Formatter, NamesTheTargetsItHas) {
  const Error error = format({}, Dialect::Converse, kChat).error();
  EXPECT_EQ(error.code, Code::Unsupported);
  EXPECT_EQ(
      error.message,
      "the policy 'agentscope-chat' has no formatter for 'converse'; it has them for: openai, responses, "
      "anthropic, gemini, ollama, deepseek, dashscope");
  EXPECT_EQ(format({}, Dialect::Anthropic, Formatter::OpenManus).error().code, Code::Unsupported);
}

TEST(Formatter, MakesAListOfAnyDocument) {
  for (const std::string_view document :
       {R"({"name":"ann","role":"user","content":"hi"})", R"([{"name":"ann","role":"user","content":"hi"}])",
        R"({"messages":[{"name":"ann","role":"user","content":"hi"}]})"}) {
    const Conversation talk = read(document, Dialect::AgentScope).value().conversation;
    EXPECT_EQ(format(talk, Dialect::Ollama, kChat).value().text.view(),
              R"([{"role":"user","content":"hi"}])");
  }
  EXPECT_EQ(format({}, Dialect::Gemini, kAgents).value().text.view(), "[]");
}

// P1: messages that are not AgentScope's are given to it as write() makes them.
TEST(Formatter, TakesMessagesOfAnyOrigin) {
  const ToolCall call{.id = "call_1", .function = {"weather", R"({"city":"Oslo"})"}};
  const std::vector<Message> built = {Message::system_message("be brief"),
                                      Message::from_tool_calls({&call, 1}, "looking"),
                                      Message::tool_message("rain", "weather", "call_1")};
  const Conversation talk(built);
  const std::string_view expected =
      R"([{"role":"system","name":"system","content":[{"type":"text","text":"be brief"}]},)"
      R"({"role":"assistant","name":"assistant","content":[{"type":"text","text":"looking"}],"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"city\": \"Oslo\"}"}}]},)"
      R"({"role":"tool","tool_call_id":"call_1","content":"rain","name":"weather"}])";
  EXPECT_EQ(format(talk, Dialect::OpenAI, kChat).value().text.view(), expected);
  const Text openmanus = write(talk, Dialect::OpenManus).value().text;
  const Conversation again = read(openmanus.view(), Dialect::OpenManus).value().conversation;
  EXPECT_EQ(format(again, Dialect::OpenAI, kChat).value().text.view(), expected);
}

// P1: OpenManus has a map for each result; a note is about no message where this moves messages.
TEST(Formatter, TakesMessagesOfAnyOriginToOpenManus) {
  const Conversation talk =
      read(
          R"([{"name":"f","role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}},{"type":"tool_use","id":"2","name":"t","input":{}}]},)"
          R"({"name":"system","role":"system","content":[{"type":"tool_result","id":"1","name":"t","output":"a"},)"
          R"({"type":"tool_result","id":"2","name":"t","output":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]}])",
          Dialect::AgentScope)
          .value()
          .conversation;
  const Writing sent = format(talk, Dialect::OpenAI, Formatter::OpenManus, {.supports_images = true}).value();
  EXPECT_TRUE(sent.text.view().ends_with(
      R"({"role":"tool","content":"a","name":"t","tool_call_id":"1"},{"role":"tool","name":"t","tool_call_id":"2","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,iVBORw0KGgo="}}]}])"))
      << sent.text.view();
  const Writing unsent = format(talk, Dialect::OpenAI, Formatter::OpenManus).value();
  EXPECT_TRUE(unsent.text.view().ends_with(R"("name":"t","tool_call_id":"1"}])")) << unsent.text.view();
  const Notes notes = notes_of(unsent);
  ASSERT_GE(notes.size(), 2U);
  EXPECT_EQ(Notes(notes.end() - 2, notes.end()), (Notes{"image_dropped major -", "message_dropped minor -"}));
}

// The system part of a conversation is the first message of the original's list; notes count without it.
TEST(Formatter, PutsTheSystemPartFirst) {
  Conversation talk({MessageBuilder(Role::User)
                         .name("ann")
                         .anonymous()
                         .block(ThinkingBlock{"hm"})
                         .text("hi")
                         .build()
                         .value()});
  talk.set_system(MessageBuilder(Role::System).anonymous().content("be brief").build().value());
  const Writing writing = format(talk, Dialect::DashScope, kAgents).value();
  EXPECT_EQ(
      writing.text.view(),
      R"([{"role":"system","content":"be brief"},{"role":"user","content":"# Conversation History\nThe content between <history></history> tags contains your conversation history\n<history>\nann: hi\n</history>"}])");
  bool is_noted = false;
  for (const std::string& note : notes_of(writing))
    is_noted = is_noted || note == "thinking_dropped major 0.0";
  EXPECT_TRUE(is_noted);
}

// P2
TEST(Formatter, NotesWhatItDrops) {
  struct Case {
    std::string_view content;
    Dialect target;
    Formatter policy;
    Notes notes;
  };
  const Case cases[] = {
      {R"([{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}])",
       Dialect::OpenAI,
       kChat,
       {"thinking_dropped major 0.0"}},
      {R"([{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}])",
       Dialect::Gemini,
       kAgents,
       {"thinking_dropped major 0.0"}},
      {R"([{"type":"thinking","thinking":"hm"}])",
       Dialect::DeepSeek,
       kChat,
       {"thinking_dropped major 0", "identity_dropped minor 0"}},
      {R"([{"type":"thinking","thinking":"hm"},{"type":"text","text":"hi"}])",
       Dialect::DeepSeek,
       kChat,
       {"identity_dropped minor 0"}},
      {R"([{"type":"custom"},{"type":"video","source":{"type":"url","url":"https://a/b.mp4"}}])",
       Dialect::OpenAI,
       kChat,
       {"raw_dropped major 0.0", "video_dropped major 0.1", "message_dropped minor 0"}},
      {R"("")", Dialect::Ollama, kChat, {"message_dropped minor 0", "identity_dropped minor 0"}},
      {R"([{"type":"tool_use","id":"1","name":"t","input":{},"raw_input":"{}"}])",
       Dialect::Gemini,
       kChat,
       {"raw_input_dropped minor 0.0", "call_id_dropped minor 0.0", "identity_dropped minor 0"}},
      {R"([{"type":"text","text":"hi","mood":"calm"}])", Dialect::OpenAI, kChat, {"member_dropped minor 0"}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.content);
    EXPECT_EQ(notes_of(format(agentscope(each.content), each.target, each.policy).value()), each.notes);
  }
}

TEST(Formatter, NotesWhatTheSystemMessageLoses) {
  const Conversation talk = agentscope(
      R"([{"type":"text","text":"s"},{"type":"tool_result","id":"1","name":"t","output":"x"}])", "system");
  const Writing writing = format(talk, Dialect::Anthropic, kAgents).value();
  EXPECT_EQ(writing.text.view(), R"([{"role":"system","content":[{"type":"text","text":"s"}]}])");
  EXPECT_EQ(notes_of(writing), (Notes{"tool_result_dropped major 0.1", "identity_dropped minor 0"}));
}

// P3
TEST(Formatter, SaysWhatAgentScopeRaises) {
  const Conversation talk = agentscope(
      R"([{"type":"text","text":"hi"},{"type":"tool_result","id":"1","name":"t","output":[{"type":"text","text":"a"},{"type":"custom"}]}])");
  const Error error = format(talk, Dialect::OpenAI, kChat).error();
  EXPECT_EQ(error.code, Code::Invalid);
  EXPECT_EQ(error.path, "/0/content/1/output/1");
  EXPECT_EQ(error.message,
            "AgentScope raises ValueError here: a result holds text, images, audio and video only");
  EXPECT_TRUE(format(talk, Dialect::Anthropic, kChat).has_value());
  const Error null = format(agentscope("null"), Dialect::OpenAI, kChat).error();
  EXPECT_EQ(null.code, Code::Invalid);
  EXPECT_EQ(null.path, "/0/content");
}

// P4
TEST(Formatter, ReadsNoFiles) {
  struct Case {
    std::string_view url;
    Dialect target;
    std::string_view list;
  };
  const Case cases[] = {
      {"pic.png", Dialect::OpenAI,
       R"([{"role":"user","name":"ann","content":[{"type":"image_url","image_url":{"url":"pic.png"}}]}])"},
      {"file:///etc/hostname", Dialect::Responses,
       R"([{"role":"user","content":[{"type":"input_image","image_url":"file:///etc/hostname"}]}])"},
      {"/etc/hostname", Dialect::Anthropic,
       R"([{"role":"user","content":[{"type":"image","source":{"type":"url","url":"/etc/hostname"}}]}])"},
      {"file:///etc/hostname", Dialect::DashScope,
       R"([{"role":"user","content":[{"image":"/etc/hostname"}]}])"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.url);
    const Conversation talk =
        agentscope(R"([{"type":"image","source":{"type":"url","url":")" + std::string(each.url) + R"("}}])");
    const Writing writing = format(talk, each.target, kChat).value();
    EXPECT_EQ(writing.text.view(), each.list);
    EXPECT_EQ(notes_of(writing).front(), "media_not_read major 0.0");
  }
}

// P4
TEST(Formatter, FetchesNothing) {
  struct Case {
    std::string_view block;
    Dialect target;
    Code code;
  };
  const Case cases[] = {
      {R"({"type":"image","source":{"type":"url","url":"https://a/b.png"}})", Dialect::Ollama,
       Code::Unsupported},
      {R"({"type":"image","source":{"type":"url","url":"https://a/b.png"}})", Dialect::Gemini,
       Code::Unsupported},
      {R"({"type":"image","source":{"type":"url","url":"https://a/b.jpg"}})", Dialect::Gemini, Code::Invalid},
      {R"({"type":"audio","source":{"type":"url","url":"https://a/b.WAV"}})", Dialect::OpenAI,
       Code::Unsupported},
      {R"({"type":"audio","source":{"type":"url","url":"/home/b.wav"}})", Dialect::Responses,
       Code::Unsupported},
      {R"({"type":"audio","source":{"type":"url","url":"https://a/b.ogg"}})", Dialect::OpenAI, Code::Invalid},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.block);
    for (const Formatter policy : {kChat, kAgents}) {
      const auto list = format(agentscope("[" + std::string(each.block) + "]"), each.target, policy);
      ASSERT_FALSE(list.has_value());
      EXPECT_EQ(list.error().code, each.code);
      EXPECT_EQ(list.error().path, "/0/content/0");
    }
  }
}

// P4
TEST(Formatter, SavesNothing) {
  const Conversation talk = agentscope(
      R"([{"type":"tool_result","id":"1","name":"t","output":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}}]}])",
      "system");
  const Writing writing = format(talk, Dialect::DeepSeek, kChat).value();
  EXPECT_EQ(
      writing.text.view(),
      R"-([{"role":"tool","tool_call_id":"1","content":"The returned image can be found at: (image/png, not saved)","name":"t"}])-");
  EXPECT_EQ(notes_of(writing).front(), "media_not_saved major 0.0");
}

TEST(Formatter, RefusesAPromotionThatTheFormatterDoesNotHave) {
  EXPECT_EQ(format({}, Dialect::Anthropic, kChat, {.promote_images = true}).error().code, Code::Unsupported);
  EXPECT_EQ(format({}, Dialect::OpenAI, kAgents, {.promote_audios = true}).error().code, Code::Unsupported);
  EXPECT_EQ(format({}, Dialect::Gemini, kChat, {.promote_videos = true}).error().code, Code::Unsupported);
  EXPECT_TRUE(format({}, Dialect::DashScope, kChat,
                     {.promote_images = true, .promote_audios = true, .promote_videos = true})
                  .has_value());
}

// A map may have a list as its content: its strings become texts beside an image, and stay as they are else.
TEST(Formatter, TakesContentListsAsOpenManusDoes) {
  const Conversation talk =
      read(
          R"([{"role":"user","content":["a",{"type":"text","text":"b"}],"base64_image":"B64"},{"role":"user","content":[],"base64_image":"B64"},{"role":"user","content":["a",{"type":"text","text":"b"}]}])",
          Dialect::OpenManus)
          .value()
          .conversation;
  EXPECT_EQ(
      format(talk, Dialect::OpenAI, Formatter::OpenManus, {.supports_images = true}).value().text.view(),
      R"([{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,B64"}}]},{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,B64"}}]},{"role":"user","content":["a",{"type":"text","text":"b"}]}])");
  EXPECT_EQ(
      format(talk, Dialect::OpenAI, Formatter::OpenManus).value().text.view(),
      R"([{"role":"user","content":["a",{"type":"text","text":"b"}]},{"role":"user","content":[]},{"role":"user","content":["a",{"type":"text","text":"b"}]}])");
}

}  // namespace
}  // namespace parley
