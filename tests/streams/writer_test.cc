// What is written as a stream is read again as the same message, where the dialect can carry it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../property/generate.h"
#include "cases.h"
#include "parley/base/clock.h"
#include "parley/dialect/stream.h"
#include "transcript.h"

namespace parley::test {
namespace {

constexpr Dialect kWritten[] = {Dialect::OpenAI,    Dialect::DeepSeek,  Dialect::Moonshot, Dialect::DashScope,
                                Dialect::Responses, Dialect::Anthropic, Dialect::Gemini,   Dialect::Ollama};

Accumulated read_all(Dialect dialect, std::string_view bytes) {
  Accumulator accumulator(dialect);
  StreamReader reader = StreamReader::of(dialect).value();
  const OnStreamEvent add = [&](const StreamEvent& event) { accumulator.add(event); };
  reader.feed(bytes, add);
  reader.finish(add);
  return accumulator.take();
}

// ---- Random messages that a dialect can carry

class Messages {
 public:
  Messages(std::uint64_t seed, Dialect dialect) : generator_(seed), dialect_(dialect) {}

  // Dialects with fields have one of each kind, in this order; others have any list of blocks.
  std::vector<Block> blocks() {
    std::vector<Block> out;
    if (dialect_ == Dialect::Responses || dialect_ == Dialect::Anthropic || dialect_ == Dialect::Gemini) {
      const std::size_t count = random().below(6);
      for (std::size_t i = 0; i < count; ++i) add_any(out);
      return out;
    }
    if (dialect_ != Dialect::OpenAI && random().chance(50)) out.emplace_back(thinking(""));
    if (random().chance(70)) out.emplace_back(TextBlock{text()});
    if (dialect_ == Dialect::OpenAI && random().chance(20)) out.emplace_back(TextBlock{text(), true});
    for (std::size_t i = random().below(4); i > 0; --i) out.emplace_back(call());
    return out;
  }

  Random& random() { return generator_.random; }
  Text text() {
    std::string out = generator_.text();
    return Text(out.empty() ? "." : out);
  }

 private:
  ThinkingBlock thinking(std::string_view signature) {
    return {text(), Text(signature), Text::trusted(nullptr, to_string(dialect_))};
  }
  ToolUseBlock call() {
    const bool has_custom = dialect_ == Dialect::OpenAI || dialect_ == Dialect::Responses;
    const bool takes_any_text =
        dialect_ != Dialect::Gemini && dialect_ != Dialect::Ollama && dialect_ != Dialect::Anthropic;
    const std::string id = "call_" + std::to_string(++calls_);
    std::string arguments =
        random().chance(20) ? "{}" : R"({"a": )" + std::to_string(calls_) + R"(, "b":"\u00e9"})";
    if (takes_any_text && random().chance(20)) arguments = "not { json";
    const bool is_custom = has_custom && random().chance(20);
    if (is_custom) arguments = text().str();
    return {Text(id), Text("tool_" + std::to_string(random().below(9))), Text(arguments), is_custom};
  }
  RawBlock raw() {
    constexpr std::string_view kAnthropic = R"({"type":"redacted_thinking","data":"Emw="})";
    constexpr std::string_view kGemini = R"({"executableCode":{"language":"PYTHON","code":"1+1"}})";
    constexpr std::string_view kResponses = R"({"type":"web_search_call","id":"ws_1","status":"completed"})";
    const std::string_view json = dialect_ == Dialect::Anthropic ? kAnthropic
                                  : dialect_ == Dialect::Gemini  ? kGemini
                                                                 : kResponses;
    return {Text::trusted(nullptr, to_string(dialect_)), Json::parse(json).value()};
  }

  void add_any(std::vector<Block>& out) {
    const bool is_gemini = dialect_ == Dialect::Gemini;
    // Two plain texts in a row are one for Gemini.
    const bool after_plain = is_gemini && !out.empty() && out.back().type() != BlockType::ToolUse &&
                             out.back().type() != BlockType::Raw;
    switch (random().below(4)) {
      case 0:
        if (!after_plain) {
          const bool is_refusal = dialect_ == Dialect::Responses && random().chance(20);
          out.emplace_back(TextBlock{text(), is_refusal});
        }
        break;
      case 1:
        if (!after_plain) out.emplace_back(thinking(random().chance(50) ? "Sig==" : ""));
        break;
      case 2:
        out.emplace_back(call());
        break;
      default:
        out.emplace_back(raw());
    }
  }

  Generator generator_;
  Dialect dialect_;
  std::size_t calls_ = 0;
};

bool refuses(const Message& message) {
  return std::ranges::any_of(message.get_content_blocks({BlockType::Text}),
                             [](const Block& block) { return block.as<TextBlock>()->is_refusal; });
}

Outcome outcome_for(Dialect dialect, Random& random, bool has_calls, bool refuses) {
  Outcome out{"id_1", "model-1", Finish::Stop, {}, {}};
  if (dialect == Dialect::Ollama) out.id = {};
  if (has_calls) out.finish = Finish::ToolCalls;
  if (refuses && !has_calls) out.finish = Finish::Refused;
  if (random.chance(20)) out.finish = Finish::Length;
  if (random.chance(70)) {
    out.usage.input = 100 + random.below(100);
    out.usage.output = 50 + random.below(100);
    const bool has_parts = dialect != Dialect::Ollama && dialect != Dialect::Gemini;
    if (has_parts && random.chance(50)) out.usage.cache_read = random.below(50);
  } else if (dialect == Dialect::Anthropic) {
    out.usage.input = out.usage.output = 0;  // clients of that provider want them, known or not
  }
  return out;
}

TEST(StreamWriter, IsReadAgainAsTheSameMessage) {
  for (const Dialect dialect : kWritten) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      Messages messages(seed, dialect);
      const std::vector<Block> blocks = messages.blocks();
      const Message message = MessageBuilder(Role::Assistant).blocks(blocks).build().value();
      const Outcome outcome = outcome_for(dialect, messages.random(),
                                          message.has_content_blocks({BlockType::ToolUse}), refuses(message));
      StreamWriter writer = StreamWriter::of(dialect).value();
      std::string bytes;
      const auto notes = to_events(
          message, outcome, [&](const StreamEvent& event) { writer.write(event, bytes); },
          1 + messages.random().below(20));
      EXPECT_TRUE(notes.empty());
      EXPECT_TRUE(writer.notes().empty()) << writer.notes().front().detail.view();
      const Accumulated back = read_all(dialect, bytes);
      ASSERT_EQ(back.message.blocks(), blocks) << to_string(dialect) << " seed " << seed << "\n" << bytes;
      ASSERT_FALSE(back.is_truncated);
      ASSERT_EQ(back.outcome.finish, outcome.finish) << bytes;
      ASSERT_EQ(back.outcome.usage, outcome.usage) << bytes;
      ASSERT_EQ(back.outcome.id, outcome.id) << bytes;
      ASSERT_EQ(back.outcome.model, outcome.model) << bytes;
    }
  }
}

std::string stream_of(const Message& message, const Outcome& outcome, Dialect dialect) {
  StreamWriter writer = StreamWriter::of(dialect).value();
  std::string bytes;
  (void)to_events(message, outcome, [&](const StreamEvent& event) { writer.write(event, bytes); });
  return bytes;
}

// What an answer says. Thinking is left out, because which of it goes back to its maker differs; texts are
// joined, because a stream does not tell where one of Gemini's ends, and empty ones say nothing.
std::vector<Block> said_in(std::span<const Message> messages) {
  std::vector<Block> out;
  for (const Message& message : messages) {
    for (Block& block : message.blocks()) {
      if (block.type() == BlockType::Thinking) continue;
      const auto* text = block.as<TextBlock>();
      if (text != nullptr && text->text.empty()) continue;
      const auto* before = text == nullptr || out.empty() ? nullptr : out.back().as<TextBlock>();
      if (before != nullptr && before->is_refusal == text->is_refusal) {
        out.back() = TextBlock{Text(before->text.str() + text->text.str()), text->is_refusal};
      } else {
        out.push_back(std::move(block));
      }
    }
  }
  return out;
}

// An answer means the same whether it is streamed or comes in one piece: refusals, custom tools, raw blocks.
TEST(StreamWriter, IsReadAsTheSameAnswerInOnePiece) {
  std::size_t compared = 0;
  for (const Dialect dialect : kWritten) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      Messages messages(seed, dialect);
      std::vector<Block> blocks = messages.blocks();
      std::ranges::stable_partition(blocks,
                                    [](const Block& block) { return block.type() != BlockType::ToolUse; });
      const Message message = MessageBuilder(Role::Assistant).blocks(blocks).anonymous().build().value();
      const Outcome outcome = outcome_for(dialect, messages.random(),
                                          message.has_content_blocks({BlockType::ToolUse}), refuses(message));
      Conversation answer({message});
      answer.set_shape(DocumentShape::Response);
      answer.set_outcome(outcome);
      const Result<Writing> whole = write(answer, dialect);
      if (!whole || std::ranges::any_of(whole->notes, [](const Note& note) {
            return note.code != "thinking_dropped" && note.code != "signature_minted";
          })) {
        continue;
      }
      const Result<Reading> read_whole = read(whole->text.view(), dialect);
      ASSERT_TRUE(read_whole) << whole->text.view();
      const Accumulated streamed = read_all(dialect, stream_of(message, outcome, dialect));
      EXPECT_TRUE(said_in({&streamed.message, 1}) == said_in(read_whole->conversation.messages()))
          << to_string(dialect) << " seed " << seed << "\n"
          << whole->text.view();
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000U);
}

// A client of a dialect without them gets an argument for the text of a custom tool, JSON like any other.
TEST(StreamWriter, WritesCustomCallsAsArgumentsAndRefusalsAsTexts) {
  const Message message = MessageBuilder(Role::Assistant)
                              .block(TextBlock{"I will not.", true})
                              .block(ToolUseBlock{"c", "sh", "ls \"a\"\n", true})
                              .build()
                              .value();
  for (const Dialect dialect : kWritten) {
    SCOPED_TRACE(to_string(dialect));
    StreamWriter writer = StreamWriter::of(dialect, Dialect::Responses).value();
    std::string bytes;
    (void)to_events(message, {}, [&](const StreamEvent& event) { writer.write(event, bytes); }, 2);
    const std::vector<Block> read = read_all(dialect, bytes).message.blocks();
    ASSERT_EQ(read.size(), 2U) << bytes;
    const bool has_both = dialect == Dialect::OpenAI || dialect == Dialect::Responses;
    EXPECT_EQ(read[0].as<TextBlock>()->is_refusal, has_both);
    EXPECT_EQ(read[0].as<TextBlock>()->text.view(), "I will not.");
    EXPECT_EQ(read[1].as<ToolUseBlock>()->is_custom, has_both);
    EXPECT_EQ(read[1].as<ToolUseBlock>()->arguments.view(),
              has_both ? "ls \"a\"\n" : R"({"input":"ls \"a\"\n"})");
    EXPECT_EQ(writer.notes().size(), has_both ? 0U : 2U);
  }
}

// Arguments that are no object cannot be what Anthropic's clients put together.
TEST(StreamWriter, WrapsWhatIsNoObjectForAnthropic) {
  for (const std::string_view arguments : {"not json", "[1,2]", "\"text\"", "null"}) {
    const Message message =
        MessageBuilder(Role::Assistant).block(ToolUseBlock{"c", "f", Text(arguments)}).build().value();
    StreamWriter writer = StreamWriter::of(Dialect::Anthropic, Dialect::OpenAI).value();
    std::string bytes;
    (void)to_events(message, {}, [&](const StreamEvent& event) { writer.write(event, bytes); }, 3);
    const std::vector<ToolCall> calls = read_all(Dialect::Anthropic, bytes).message.tool_calls();
    ASSERT_EQ(calls.size(), 1U);
    const Json input = Json::parse(calls[0].function.arguments).value();
    EXPECT_EQ(input.get("_raw")->as_string()->view(), arguments);
    EXPECT_EQ(writer.notes().size(), 1U);
  }
}

// Every stream of the cases, written in every dialect: the answer's words arrive, or a note says why not.
TEST(StreamWriter, CarriesTheStreamsOfOthers) {
  for (const StreamCase& each : stream_cases()) {
    const Accumulated source = read_all(each.dialect, each.bytes);
    for (const Dialect dialect : kWritten) {
      SCOPED_TRACE(each.place + " to " + std::string(to_string(dialect)));
      StreamWriter writer = StreamWriter::of(dialect, each.dialect).value();
      std::string bytes;
      StreamReader reader = StreamReader::of(each.dialect).value();
      const OnStreamEvent write = [&](const StreamEvent& event) { writer.write(event, bytes); };
      reader.feed(each.bytes, write);
      reader.finish(write);
      const Accumulated target = read_all(dialect, bytes);
      if (source.failure && source.failure->error.code == Code::Unavailable) {
        ASSERT_TRUE(target.failure) << bytes;
        EXPECT_EQ(target.failure->error.message, source.failure->error.message);
        continue;
      }
      if (source.failure) continue;  // says in its own words what was wrong with the source
      EXPECT_EQ(target.failure.has_value(),
                source.outcome.finish == Finish::Error && dialect == Dialect::Responses);
      if (target.failure) continue;
      EXPECT_EQ(target.is_truncated, source.is_truncated);
      std::string said, heard;
      for (const Block& block : source.message.get_content_blocks({BlockType::Text}))
        said += block.as<TextBlock>()->text;
      for (const Block& block : target.message.get_content_blocks({BlockType::Text}))
        heard += block.as<TextBlock>()->text;
      const bool is_replaced = std::any_of(writer.notes().begin(), writer.notes().end(),
                                           [](const Note& note) { return note.code == "text_replaced"; });
      EXPECT_TRUE(said == heard || is_replaced) << said << "\n" << heard;
      // A call that never ended is not whole: those who write calls whole leave it out.
      if (!source.is_truncated) {
        EXPECT_EQ(target.message.tool_calls().size(), source.message.tool_calls().size()) << bytes;
      }
    }
  }
}

TEST(StreamWriter, GivesSignaturesAndRawBlocksToTheirMakerOnly) {
  const std::vector<Block> blocks = {ThinkingBlock{"Hm.", "Sig==", "anthropic"},
                                     RawBlock{"anthropic", Json::parse(R"({"type":"later"})").value()}};
  const Message message = MessageBuilder(Role::Assistant).blocks(blocks).build().value();
  for (const Dialect dialect : kWritten) {
    StreamWriter writer = StreamWriter::of(dialect, Dialect::Anthropic).value();
    std::string bytes;
    (void)to_events(message, {}, [&](const StreamEvent& event) { writer.write(event, bytes); });
    const bool is_own = dialect == Dialect::Anthropic;
    EXPECT_EQ(bytes.find("Sig==") != std::string::npos, is_own) << to_string(dialect);
    EXPECT_EQ(bytes.find("later") != std::string::npos, is_own) << to_string(dialect);
    EXPECT_EQ(writer.notes().empty(), is_own) << to_string(dialect);
  }
}

TEST(StreamWriter, WritesTheTimeOfOllamasLines) {
  const ScopedClock clock(1'748'770'200'125);
  const Message message = MessageBuilder(Role::Assistant).text("Hi").build().value();
  StreamWriter writer = StreamWriter::of(Dialect::Ollama).value();
  std::string bytes;
  (void)to_events(message, {"i", "m", Finish::Stop, {}, {}},
                  [&](const StreamEvent& event) { writer.write(event, bytes); });
  EXPECT_NE(bytes.find(R"("created_at":"2025-06-01T09:30:00.125Z",)"), std::string::npos) << bytes;
  EXPECT_EQ(bytes.find("1970"), std::string::npos) << bytes;
}

TEST(StreamWriter, WritesOpenAIsChunks) {
  StreamWriter writer = StreamWriter::of(Dialect::OpenAI).value();
  std::string bytes;
  const Message message =
      MessageBuilder(Role::Assistant).text("Hi").block(ToolUseBlock{"c", "f", "{}"}).build().value();
  Outcome outcome{"i", "m", Finish::ToolCalls, {}, {}};
  outcome.usage.input = 1;
  outcome.usage.output = 2;
  (void)to_events(message, outcome, [&](const StreamEvent& event) { writer.write(event, bytes); });
  const std::string head =
      R"(data: {"id":"i","object":"chat.completion.chunk","created":0,"model":"m","choices":[)";
  const auto chunk = [&](std::string_view delta, std::string_view finish = "null") {
    return head + R"({"index":0,"delta":{)" + std::string(delta) + R"(},"finish_reason":)" +
           std::string(finish) + "}]}\n\n";
  };
  EXPECT_EQ(
      bytes,
      chunk(R"("role":"assistant","content":"")") + chunk(R"("content":"Hi")") +
          chunk(
              R"("tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}])") +
          chunk(R"("tool_calls":[{"index":0,"function":{"arguments":"{}"}}])") +
          chunk("", R"("tool_calls")") + head +
          R"(],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})" + "\n\n" +
          "data: [DONE]\n\n");
}

TEST(StreamWriter, NotesWhatNoStreamHas) {
  const Message message = MessageBuilder(Role::Assistant)
                              .block(ImageBlock{URLSource{"https://example.test/a.png", {}}})
                              .build()
                              .value();
  std::size_t blocks = 0;
  const auto notes = to_events(message, {}, [&](const StreamEvent& event) {
    blocks += std::holds_alternative<stream::BlockStart>(event) ? 1 : 0;
  });
  EXPECT_EQ(blocks, 0U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].code, "block_dropped");
}

TEST(StreamWriter, IsForDialectsThatHaveOne) {
  EXPECT_EQ(StreamWriter::of(Dialect::Converse).error().code, Code::Unsupported);
}

}  // namespace
}  // namespace parley::test
