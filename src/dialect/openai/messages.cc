// OpenAI's Chat Completions (see chat.h), and the files for fine-tuning, which hold the same requests. A
// preference line is {"input": {"messages": [...]}, "preferred_output": [...], "non_preferred_output":
// [...]}.
#include "dialect/openai/chat.h"
#include "dialect/openai/parts.h"
#include "dialect/openai/tables.h"

namespace parley::dialect {
namespace {

constexpr ChatRow kRow = {
    .traits = {.dialect = Dialect::OpenAI,
               .call_id = {.any_character = true, .most_bytes = 40},
               .carries = carries_as_openai,
               .speaker_name = SpeakerName::Field,
               .has_developer = true,
               .has_refusals = true,
               .has_custom_tools = true,
               .marks = Marks::Parts,
               .ends_with_user = true,
               .settings = openai::kSettingLimits},
    .cache_mark = R"(,"prompt_cache_breakpoint":{"mode":"explicit"})",
};

Envelope envelope() {
  Envelope envelope = chat_envelope<Dialect::OpenAI>();
  envelope.has_custom_tools = true;
  return envelope;
}
const Envelope kEnvelope = envelope();

constexpr StreamFormat kStream = {
    .framing = FramingKind::Sse, .decoder = openai_decoder, .encoder = openai_encoder};

}  // namespace

extern const Format kOpenAI = {
    .info = {Dialect::OpenAI, "openai", "OpenAI's Chat Completions, and fine-tuning files",
             "text, image, audio (wav, mp3), document (pdf), tool use, tool result",
             "a list, one message, a request, an answer"},
    .read_message = read_chat_message,
    .group = [](std::span<const Message> rest) { return group_by(kRow.traits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { write_chat_group(draft, kRow, group); },
    .envelope = kEnvelope,
    .names_results = true,
    .hints_used = kIsAnswer,
    .traits = &kRow.traits,
    .words = &openai::kAnswerWords,
    .stream = &kStream,
    .signs = openai::kSigns,
    .opaque_blocks = openai::kOpaqueBlocks,
    .files = &openai::kFiles,
    .check_rules = rules::check_openai,
};

}  // namespace parley::dialect
