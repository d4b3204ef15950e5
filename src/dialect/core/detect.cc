// Telling dialects apart by the signs in their rows.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "dialect/format.h"
#include "json/cursor.h"
#include "json/pointer.h"
#include "parley/dialect/dialect.h"

namespace parley {
namespace {

using dialect::Sign;
using dialect::SignOf;
using dialect::SignWhen;

struct DialectSign {
  Dialect dialect;
  Sign sign;
};

// The signs of all dialects, in the order in which they are looked at.
std::span<const DialectSign> signs_of(SignOf what) {
  static const std::vector<DialectSign> all = [] {
    std::vector<DialectSign> out;
    for (const dialect::Format* format : dialect::formats()) {
      for (const Sign& sign : format->signs) out.push_back({format->info.dialect, sign});
    }
    std::ranges::stable_sort(out, {},
                             [](const DialectSign& each) { return std::pair(each.sign.of, each.sign.rank); });
    return out;
  }();
  const auto found =
      std::ranges::equal_range(all, what, {}, [](const DialectSign& each) { return each.sign.of; });
  return {found.begin(), found.end()};
}

bool has_value(const Sign& sign, const Json& value) {
  if (sign.value.empty()) return true;
  const bool is_kind = sign.value == "{" || sign.value == "[" || sign.value == "\"";
  if (is_kind) return value.text().view().starts_with(sign.value);
  const auto text = value.as_string();
  return text && text->view() == sign.value;
}

bool shows(const Sign& sign, const Json& object) {
  if (sign.member.empty()) return true;
  if (sign.member.ends_with('*')) {
    const std::string_view prefix = sign.member.substr(0, sign.member.size() - 1);
    return std::ranges::any_of(
        object.members(), [&](const Json::Member& member) { return member.key.view().starts_with(prefix); });
  }
  const auto value = sign.member.starts_with('/') ? object.at(sign.member) : object.get(sign.member);
  return value && has_value(sign, *value) && (sign.without.empty() || !object.get(sign.without));
}

std::optional<Dialect> told_by(SignOf what, const Json& object, bool is_request) {
  for (const auto& [dialect, sign] : signs_of(what)) {
    const bool counts = sign.when == SignWhen::Always || (sign.when == SignWhen::InRequest) == is_request;
    if (counts && shows(sign, object)) return dialect;
  }
  return std::nullopt;
}

std::optional<Dialect> told_by_message(const Json& message, bool is_request) {
  if (const auto told = told_by(SignOf::Message, message, is_request)) return told;
  const Json content = message.get("content").value_or(Json());
  for (const Json& block : content.elements()) {
    if (const auto told = told_by(SignOf::Block, block, is_request)) return told;
  }
  const bool has_details = message.get("timestamp") || message.get("metadata");
  if (!has_details && !content.is_array()) return std::nullopt;
  return told_by(SignOf::Rest, message, is_request);
}

}  // namespace

Result<Dialect> detect(std::string_view document, const ReadOptions& options) {
  // Any document that can be read has a dialect, so lone surrogates are let pass here.
  json::Buffer buffer = json::Buffer::copy_of(document);
  json::Cursor cursor(buffer, {options.limits, false});
  json::Slice value;
  if (!cursor.ok() || !cursor.skip(value) || !cursor.finish()) {
    const json::Fault& fault = cursor.fault();
    return fail(fault.code, fault.message + " at byte " + std::to_string(fault.at),
                json::pointer_at(buffer.view(), fault.at));
  }
  const Json all = Json::trusted(Text::trusted(nullptr, cursor.bytes(value)));
  const Json list = all.is_array() ? all : all.get("messages").value_or(Json());
  const bool is_request = all.is_object() && (all.get("model") || all.get("tools") || all.get("max_tokens"));
  if (const auto told = told_by(SignOf::Document, all, is_request)) return *told;
  std::vector<Json> messages = list.elements();
  if (messages.empty() && all.is_object()) messages.push_back(all);
  constexpr std::size_t kEnough = 50;  // a few messages tell
  if (messages.size() > kEnough) messages.resize(kEnough);
  for (const Json& message : messages) {
    if (const auto told = told_by_message(message, is_request)) return *told;
  }
  return told_by(SignOf::Fallback, all, is_request).value_or(dialect::kCanonical);
}

}  // namespace parley
