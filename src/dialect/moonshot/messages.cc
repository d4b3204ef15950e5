// Moonshot (Kimi) speaks OpenAI's dialect (see chat.h), with thinking in "reasoning_content", which it wants
// back beside calls, and video by URL. It refuses empty texts.
#include "dialect/moonshot/parts.h"
#include "dialect/moonshot/tables.h"
#include "dialect/openai/chat.h"

namespace parley::dialect {
namespace {

bool carries(const Arena&, const BlockRecord& media, Where where) {
  return where == Where::User && (media.type == BlockType::Image || media.type == BlockType::Video) &&
         media.data().present();
}

constexpr ChatRow kRow = {
    .traits = {.dialect = Dialect::Moonshot,
               .call_id = {.any_character = true},
               .carries = carries,
               .thinking = Thinking::Plain,
               .speaker_name = SpeakerName::Field,
               .refuses_empty_text = true,
               .thinks_alone = false,
               .forces_or_thinks = true,
               .thinking_member = "reasoning_content",
               .settings = moonshot::kSettingLimits},
    .thinking = "reasoning_content",
    .thinking_with_calls = true,
    .no_content = "null",
};

const Envelope kEnvelope = chat_envelope<Dialect::Moonshot>();

}  // namespace

extern const Format kMoonshot = {
    .info = {Dialect::Moonshot, "moonshot", "Moonshot's (Kimi) chat completions",
             "text, thinking, image, video, tool use, tool result",
             "a list, one message, a request, an answer"},
    .read_message = read_chat_message,
    .group = [](std::span<const Message> rest) { return group_by(kRow.traits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { write_chat_group(draft, kRow, group); },
    .envelope = kEnvelope,
    .refuses_empty = true,
    .names_results = true,
    .hints_used = kIsAnswer,
    .traits = &kRow.traits,
    .like = &kOpenAI,
    .words = &moonshot::kAnswerWords,
    .failures = moonshot::kFailures,
    .check_rules = rules::check_moonshot,
};

}  // namespace parley::dialect
