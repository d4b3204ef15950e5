// DeepSeek speaks OpenAI's dialect (see chat.h), with thinking in "reasoning_content", which it wants back
// beside calls.
#include "dialect/deepseek/parts.h"
#include "dialect/deepseek/tables.h"
#include "dialect/openai/chat.h"

namespace parley::dialect {
namespace {

bool carries(const Arena&, const BlockRecord& media, Where where) {
  return where == Where::User && media.type == BlockType::Image && media.data().present();
}

constexpr ChatRow kRow = {
    .traits = {.dialect = Dialect::DeepSeek,
               .call_id = {.any_character = true},
               .carries = carries,
               .thinking = Thinking::Plain,
               .speaker_name = SpeakerName::Field,
               .thinks_alone = false,
               .thinks_in_all = true,
               .thinking_member = "reasoning_content",
               .settings = deepseek::kSettingLimits},
    .thinking = "reasoning_content",
    .thinking_with_calls = true,
    .no_content = "\"\"",
};

const Envelope kEnvelope = chat_envelope<Dialect::DeepSeek>();

}  // namespace

extern const Format kDeepSeek = {
    .info = {Dialect::DeepSeek, "deepseek", "DeepSeek's chat completions",
             "text, thinking, image, tool use, tool result", "a list, one message, a request, an answer"},
    .read_message = read_chat_message,
    .group = [](std::span<const Message> rest) { return group_by(kRow.traits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { write_chat_group(draft, kRow, group); },
    .envelope = kEnvelope,
    .names_results = true,
    .hints_used = kIsAnswer,
    .traits = &kRow.traits,
    .like = &kOpenAI,
    .words = &deepseek::kAnswerWords,
    .signs = deepseek::kSigns,
    .check_rules = rules::check_deepseek,
};

}  // namespace parley::dialect
