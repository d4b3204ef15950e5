#include <string>
#include <utility>
#include <vector>

#include "dialect/core/outcome.h"
#include "parley/dialect/dialect.h"
#include "parley/trace/tracer.h"

namespace parley::trace {
namespace {

constexpr std::pair<Setting, Key> kSettings[] = {
    {Setting::Model, Key::RequestModel},        {Setting::MaxTokens, Key::RequestMaxTokens},
    {Setting::TopP, Key::RequestTopP},          {Setting::Temperature, Key::RequestTemperature},
    {Setting::TopK, Key::RequestTopK},          {Setting::Seed, Key::RequestSeed},
    {Setting::Stop, Key::RequestStopSequences}, {Setting::Stream, Key::RequestStream},
};

constexpr std::pair<std::optional<std::uint64_t> Usage::*, Key> kUsage[] = {
    {&Usage::input, Key::InputTokens},          {&Usage::output, Key::OutputTokens},
    {&Usage::cache_read, Key::CacheReadTokens}, {&Usage::cache_write, Key::CacheCreationTokens},
    {&Usage::reasoning, Key::ReasoningTokens},
};

// The system part and the tools, as the dialect has them around no messages.
void set_frame(Span& span, const Conversation& conversation) {
  Conversation frame;
  frame.set_system(conversation.system());
  frame.set_tools({conversation.tools().begin(), conversation.tools().end()});
  frame.set_shape(DocumentShape::Envelope);
  const Result<Writing> written = write(frame, Dialect::OTel);
  if (!written) return;
  const Json document = Json::trusted(written->text);
  for (const Key key : {Key::SystemInstructions, Key::ToolDefinitions}) {
    const std::optional<Json> value = document.get(info(key).name);
    if (value) span.set_list(key, value->elements());
  }
}

std::vector<Json> as_list(std::span<const Message> messages) {
  std::vector<Json> list;
  list.reserve(messages.size());
  for (const Message& message : messages) {
    for (Json& said : to_dicts(message, Dialect::OTel)) list.push_back(std::move(said));
  }
  return list;
}

// What a model says has a reason to end, beside what any message has.
Json with_finish(const Json& said, std::string_view word) {
  std::string text = said.text().str();
  text.pop_back();
  text += ",\"finish_reason\":";
  json::append_string(text, word);
  text += '}';
  return Json::trusted(Text(text));
}

}  // namespace

void set_request(Span& span, const Conversation& conversation) {
  for (const auto& [setting, key] : kSettings) {
    const std::optional<Json> value = conversation.settings().get(setting);
    if (value) span.set(key, *value);
  }
  if (!span.wants(Key::InputMessages)) return;
  set_frame(span, conversation);
  span.set_list(Key::InputMessages, as_list(conversation.messages()));
}

void set_answer(Span& span, const Message& message, const Outcome& outcome) {
  if (!outcome.id.empty()) span.set(Key::ResponseId, outcome.id);
  if (!outcome.model.empty()) span.set(Key::ResponseModel, outcome.model);
  const std::string_view word = dialect::finish_word(Dialect::OTel, outcome.finish);
  if (!word.empty()) span.set(Key::ResponseFinishReasons, std::vector{word});
  for (const auto& [counter, key] : kUsage) span.set(key, outcome.usage.*counter);
  if (!span.wants(Key::OutputMessages)) return;
  std::vector<Json> said = as_list({&message, 1});
  for (Json& each : said) each = with_finish(each, word.empty() ? "unknown" : word);
  span.set_list(Key::OutputMessages, said);
}

}  // namespace parley::trace
