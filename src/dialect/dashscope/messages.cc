// DashScope (Qwen) in its compatible mode speaks OpenAI's dialect (see chat.h), with thinking in
// "reasoning_content", audio and video. Its native form is read, and given back, but not written from others:
//
//   {"model", "input": {"messages": [...]}, "parameters": {...}}, parts {"text"} | {"image"|"audio"|"video":
//   url}
//   {"output": {"choices": [{"finish_reason", "message"}]}, "usage": {...}, "request_id"}
#include "dialect/core/outcome.h"
#include "dialect/dashscope/parts.h"
#include "dialect/dashscope/tables.h"
#include "dialect/openai/chat.h"

namespace parley::dialect {
namespace {

bool carries(const Arena& arena, const BlockRecord& media, Where where) {
  const bool is_video = media.type == BlockType::Video && media.data().present();
  return (where == Where::User && is_video) ||
         (media.type != BlockType::Document && carries_as_openai(arena, media, where));
}

constexpr ChatRow kRow = {
    .traits = {.dialect = Dialect::DashScope,
               .call_id = {.any_character = true},
               .carries = carries,
               .thinking = Thinking::Plain,
               .speaker_name = SpeakerName::Field,
               .thinks_alone = false,
               .marks = Marks::Parts,
               .settings = dashscope::kSettingLimits},
    .thinking = "reasoning_content",
    .no_content = "\"\"",
    .cache_mark = R"(,"cache_control":{"type":"ephemeral"})",
};

Outcome read_answer(const Json& answer, bool has_calls) {
  const auto native = known(answer, "output");
  Outcome outcome = read_chat_answer(Dialect::DashScope, native.value_or(answer), has_calls);
  if (!native) return outcome;
  outcome.id = text_at(answer, "/request_id");
  outcome.usage = read_usage(Dialect::DashScope, answer.get("usage").value_or(Json()));
  return outcome;
}

constexpr std::string_view kAnswerPath[] = {"choices", "0", "message"};
constexpr std::string_view kNativePath[] = {"input", "messages"};
constexpr std::string_view kNativeAnswerPath[] = {"output", "choices", "0", "message"};
constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kMessagesPath},
                                           {DocumentShape::Response, kAnswerPath, true},
                                           {DocumentShape::Envelope, kNativePath},
                                           {DocumentShape::Response, kNativeAnswerPath, true}};

Envelope envelope() {
  Envelope envelope = chat_envelope<Dialect::DashScope>();
  envelope.locations = kLocations;
  envelope.read_answer = read_answer;
  return envelope;
}
const Envelope kEnvelope = envelope();

}  // namespace

extern const Format kDashScope = {
    .info = {Dialect::DashScope, "dashscope", "DashScope's (Qwen) chat completions",
             "text, thinking, image, audio (wav, mp3), video, tool use, tool result",
             "a list, one message, a request, an answer"},
    .read_message = read_chat_message,
    .group = [](std::span<const Message> rest) { return group_by(kRow.traits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { write_chat_group(draft, kRow, group); },
    .envelope = kEnvelope,
    .names_results = true,
    .hints_used = kIsAnswer,
    .traits = &kRow.traits,
    .like = &kOpenAI,
    .words = &dashscope::kAnswerWords,
    .signs = dashscope::kSigns,
    .check_rules = rules::check_dashscope,
};

}  // namespace parley::dialect
