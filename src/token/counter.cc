#include "parley/token/counter.h"

#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "message/arena.h"
#include "parley/base/text.h"
#include "token/rules.h"

namespace parley {

namespace token {
namespace {

constexpr std::size_t kCharactersAToken = 4;

constexpr CountRule kOpenManus = {.name = "openmanus",
                                  .list = 2,
                                  .message = 4,
                                  .message_tokens = openmanus_message_tokens,
                                  .dict_tokens = openmanus_dict_tokens,
                                  .tool_tokens = json_tool_tokens};
constexpr CountRule kOpenManusFormatted = {.name = "openmanus, formatted",
                                           .list = 2,
                                           .message = 4,
                                           .image = 1024,
                                           .message_tokens = openmanus_message_tokens,
                                           .dict_tokens = openmanus_dict_tokens,
                                           .tool_tokens = json_tool_tokens};
constexpr CountRule kChat = {.name = "chat",
                             .list = 3,
                             .message = 3,
                             .named = 1,
                             .function = 10,
                             .message_tokens = chat_message_tokens,
                             .dict_tokens = chat_dict_tokens,
                             .tool_tokens = chat_tool_tokens};
constexpr CountRule kChat4o = {.name = "chat, gpt-4o",
                               .list = 3,
                               .message = 3,
                               .named = 1,
                               .function = 7,
                               .message_tokens = chat_message_tokens,
                               .dict_tokens = chat_dict_tokens,
                               .tool_tokens = chat_tool_tokens};
constexpr CountRule kCharacters = {.name = "characters",
                                   .message_tokens = chat_message_tokens,
                                   .dict_tokens = chat_dict_tokens,
                                   .tool_tokens = json_tool_tokens};

// One tag for all counters that cannot differ. An encoding that is not built in is known by nothing but its
// address, which another may have later: each counter over one gets a new tag.
std::uint32_t tag_of(const CountRule& rule, const Encoding* encoding, const MediaRule& media) {
  static std::mutex mutex;
  static std::map<std::string, std::uint32_t, std::less<>> tags;
  static std::uint32_t last = 0;

  std::string key;
  bool is_shared = true;
  if (encoding != nullptr) {
    const auto builtin = Encoding::named(encoding->name());
    is_shared = builtin && *builtin == *encoding;
    key = encoding->name();
  }
  const std::lock_guard lock(mutex);
  if (!is_shared) return ++last;
  key += '\n';
  key += rule.name;
  key += '\n';
  key += media.family;
  const auto [place, is_new] = tags.try_emplace(std::move(key), last + 1);
  if (is_new) ++last;
  return place->second;
}

}  // namespace

std::size_t Meter::text(std::string_view text) const {
  return encoding != nullptr ? encoding->count(text) : utf8_length(text);
}

std::size_t Meter::scaled(std::size_t media_tokens) const {
  return encoding != nullptr ? media_tokens : media_tokens * kCharactersAToken;
}

std::size_t Meter::media(const Block& block) const { return scaled(media_tokens(media_rule, block)); }

std::size_t Meter::image(ImageSize size, ImageDetail detail) const {
  return scaled(image_tokens(media_rule, size, detail));
}

std::size_t Meter::value(const Json& value) const {
  if (value.is_null()) return 0;
  if (const auto string = value.as_string()) return text(*string);
  return text(value.compact().text());
}

}  // namespace token

namespace {

std::string_view without_provider(std::string_view model) {
  const std::size_t slash = model.rfind('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

const token::CountRule& chat_rule(std::string_view model) {
  return without_provider(model).starts_with("gpt-4o") ? token::kChat4o : token::kChat;
}

}  // namespace

TokenCounter::TokenCounter(const token::CountRule& rule, std::optional<Encoding> encoding,
                           const MediaRule& media, bool is_exact, const Calibration& calibration)
    : rule_(&rule),
      encoding_(std::move(encoding)),
      media_(&media),
      calibration_(is_exact ? Calibration() : calibration),
      tag_(token::tag_of(rule, encoding_ ? &*encoding_ : nullptr, media)),
      is_exact_(is_exact) {}

TokenCounter TokenCounter::openmanus(const Encoding& encoding, Images images) {
  const token::CountRule& rule = images == Images::Formatted ? token::kOpenManusFormatted : token::kOpenManus;
  return {rule, encoding, media_rule(""), true, {}};
}

TokenCounter TokenCounter::for_model(std::string_view model, const Calibration& calibration) {
  Encoding::Choice choice = Encoding::for_model(without_provider(model));
  return {chat_rule(model), std::move(choice.encoding), media_rule(model), choice.is_exact, calibration};
}

TokenCounter TokenCounter::for_model(std::string_view model, const Encoding& encoding) {
  return {chat_rule(model), encoding, media_rule(model), true, {}};
}

TokenCounter TokenCounter::characters() {
  return {token::kCharacters, std::nullopt, media_rule(""), true, {}};
}

token::Meter TokenCounter::meter() const { return {*rule_, encoding_ ? &*encoding_ : nullptr, *media_}; }

std::size_t TokenCounter::count(const Message& message) const {
  const Arena& arena = Arena::of(message);
  const std::uint32_t index = Arena::index_of(message);
  if (const auto kept = arena.kept_count(index, tag_)) return calibration_.apply(*kept);
  const std::size_t counted = rule_->message_tokens(meter(), message);
  if (counted <= std::numeric_limits<std::uint32_t>::max()) {
    arena.keep_count(index, tag_, static_cast<std::uint32_t>(counted));
  }
  return calibration_.apply(counted);
}

std::size_t TokenCounter::count(std::span<const Message> messages) const {
  std::size_t sum = list_cost();
  for (const Message& message : messages) sum += count(message);
  return sum;
}

std::size_t TokenCounter::count(const Conversation& conversation) const {
  return (conversation.system() ? count(*conversation.system()) : 0) + count(conversation.messages()) +
         count_tools(conversation.tools());
}

std::size_t TokenCounter::count_tools(std::span<const Tool> tools) const {
  return calibration_.apply(rule_->tool_tokens(meter(), tools));
}

std::size_t TokenCounter::count_text(std::string_view text) const {
  return calibration_.apply(meter().text(text));
}

std::size_t TokenCounter::count_dict(const Json& message) const {
  return calibration_.apply(rule_->dict_tokens(meter(), message));
}

std::size_t TokenCounter::list_cost() const { return rule_->list; }

TokenCounter TokenCounter::calibrated(const TokenUsage& usage) const {
  TokenCounter out = *this;
  if (is_exact_) return out;
  const double uncorrected = static_cast<double>(usage.estimated) / calibration_.factor();
  out.calibration_.update(static_cast<std::size_t>(std::llround(uncorrected)), usage.reported);
  return out;
}

TokenCounter TokenCounter::uncalibrated() const {
  TokenCounter out = *this;
  out.calibration_ = {};
  return out;
}

}  // namespace parley
