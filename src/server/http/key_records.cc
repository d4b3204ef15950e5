#include "server/http/key_records.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostNameCharacters = 64;
constexpr std::size_t kMostTenantBytes = 256;
constexpr std::size_t kMostPatterns = 100;
constexpr std::size_t kMostPatternBytes = 256;

std::string to_hex(const KeyHash& hash) {
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : hash) {
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
  return out;
}

std::optional<KeyHash> hash_of_hex(std::string_view hex) {
  KeyHash out;
  if (hex.size() != 2 * out.size()) return std::nullopt;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return out;
}

std::uint64_t start_of(const KeyHash& hash) {
  std::uint64_t out = 0;
  std::memcpy(&out, hash.data(), sizeof out);
  return out;
}

// Takes the same time wherever the two differ (KEYS5).
bool same_hash(const KeyHash& a, const KeyHash& b) {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

bool has_controls(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

Result<void> check_patterns(const std::vector<std::string>& patterns, std::string_view field) {
  const bool is_good =
      patterns.size() <= kMostPatterns && std::ranges::all_of(patterns, [](const std::string& p) {
        return !p.empty() && p.size() <= kMostPatternBytes && is_utf8(p) && !has_controls(p);
      });
  if (is_good) return {};
  return fail(Code::Invalid,
              std::string(field) + " of a key: expected at most 100 patterns of 1 to 256 bytes",
              "/" + std::string(field));
}

void put_patterns(json::Writer& w, std::string_view key, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return;
  w.key(key).begin_array();
  for (const std::string& pattern : patterns) w.string(pattern);
  w.end_array();
}

void put_count_of(json::Writer& w, std::string_view key, const std::optional<std::int64_t>& count) {
  if (count) w.key(key).number(*count);
}

void put_word(json::Writer& w, std::string_view key, const std::string& word) {
  if (!word.empty()) w.key(key).string(word);
}

store::Record change_record(json::Writer w) {
  store::Record out;
  out.kind = store::RecordKind::Change;
  out.body = w.end_object().take_string();
  return out;
}

std::string string_of(const Json& object, std::string_view name) {
  return object.get(name).value_or(Json()).as_string().value_or(Text()).str();
}

std::vector<std::string> strings_of(const Json& object, std::string_view name) {
  std::vector<std::string> out;
  for (const Json& element : object.get(name).value_or(Json()).elements()) {
    if (const auto text = element.as_string()) out.push_back(text->str());
  }
  return out;
}

KeyInfo info_in(const Json& body) {
  const auto count = [&](std::string_view name) { return body.get(name).value_or(Json()).as_int64(); };
  return {
      .name = string_of(body, "name"),
      .hint = string_of(body, "hint"),
      .tenant = string_of(body, "tenant"),
      .role =
          role_of_key(string_of(body, "role")).value_or(Identity::Role::Read),  // the least of an unknown one
      .models = strings_of(body, "models"),
      .conversations = strings_of(body, "conversations"),
      .created_ms = count("created_ms").value_or(0),
      .expires_ms = count("expires_ms").value_or(0),
      .requests_per_minute = count("requests_per_minute"),
      .tokens_per_minute = count("tokens_per_minute"),
      .concurrent = count("concurrent"),
      .budget_per_month = body.get("budget_per_month").value_or(Json()).as_double(),
      .disconnect = string_of(body, "disconnect"),
      .on_busy = string_of(body, "on_busy")};
}

std::string spelled_number(double value) {
  std::string text = std::to_string(value);  // six digits after the point: enough for money
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text += '0';
  return text;
}

}  // namespace

std::string_view to_string(Identity::Role role) {
  switch (role) {
    case Identity::Role::Use:
      return "use";
    case Identity::Role::Read:
      return "read";
    case Identity::Role::Admin:
      return "admin";
  }
  return {};
}

std::optional<Identity::Role> role_of_key(std::string_view name) {
  for (const auto role : {Identity::Role::Use, Identity::Role::Read, Identity::Role::Admin}) {
    if (to_string(role) == name) return role;
  }
  return std::nullopt;
}

Result<void> check_key(const KeyInfo& info) {
  if (info.name.empty() || !is_utf8(info.name) || has_controls(info.name) ||
      utf8_length(info.name) > kMostNameCharacters) {
    return fail(Code::Invalid, "name of a key: expected 1 to 64 characters without control characters",
                "/name");
  }
  if (info.tenant.empty() || info.tenant.size() > kMostTenantBytes || !is_utf8(info.tenant) ||
      has_controls(info.tenant)) {
    return fail(Code::Invalid, "tenant of a key: expected 1 to 256 bytes of UTF-8", "/tenant");
  }
  if (info.tenant == kServerTenant) {
    return fail(Code::Invalid, "tenant of a key: '" + info.tenant + "' is reserved for the server",
                "/tenant");
  }
  PARLEY_CHECK(check_patterns(info.models, "models"));
  PARLEY_CHECK(check_patterns(info.conversations, "conversations"));
  for (const auto& limit : {info.requests_per_minute, info.tokens_per_minute, info.concurrent}) {
    if (limit && *limit <= 0)
      return fail(Code::Invalid, "limit of a key: expected a number above 0", "/limits");
  }
  if (info.budget_per_month && !(*info.budget_per_month >= 0 && *info.budget_per_month < 1e12)) {
    return fail(Code::Invalid, "budget of a key: expected an amount of dollars", "/budget_per_month");
  }
  if (!info.disconnect.empty() && !disconnect_named(info.disconnect)) {
    return fail(Code::Invalid, "disconnect of a key: expected continue, cancel or grace:TIME", "/disconnect");
  }
  if (!info.on_busy.empty() && !on_busy_named(info.on_busy)) {
    return fail(Code::Invalid, "on_busy of a key: expected queue, reject, interrupt or fork", "/on_busy");
  }
  return {};
}

store::Record create_record(const KeyInfo& info, const KeyHash& hash) {
  json::Writer w;
  w.begin_object().key("key").string("create").key("sha256").string(to_hex(hash));
  w.key("name").string(info.name).key("hint").string(info.hint).key("tenant").string(info.tenant);
  w.key("role").string(to_string(info.role)).key("created_ms").number(info.created_ms);
  put_patterns(w, "models", info.models);
  put_patterns(w, "conversations", info.conversations);
  if (info.expires_ms != 0) w.key("expires_ms").number(info.expires_ms);
  put_count_of(w, "requests_per_minute", info.requests_per_minute);
  put_count_of(w, "tokens_per_minute", info.tokens_per_minute);
  put_count_of(w, "concurrent", info.concurrent);
  if (info.budget_per_month) w.key("budget_per_month").raw(spelled_number(*info.budget_per_month));
  put_word(w, "disconnect", info.disconnect);
  put_word(w, "on_busy", info.on_busy);
  return change_record(std::move(w));
}

store::Record rotate_record(const std::string& name, const std::string& hint, const KeyHash& hash) {
  json::Writer w;
  w.begin_object().key("key").string("rotate").key("sha256").string(to_hex(hash));
  w.key("name").string(name).key("hint").string(hint);
  return change_record(std::move(w));
}

store::Record revoke_record(const std::string& name) {
  json::Writer w;
  w.begin_object().key("key").string("revoke").key("name").string(name);
  return change_record(std::move(w));
}

Result<void> KeyTable::add(const store::StoredRecord& record) {
  const auto damaged = [&] {
    return fail(Code::Damaged,
                "record " + std::to_string(record.position) + " of the keys is not one of a key");
  };
  const Result<Json> body = Json::parse(record.body);
  if (!body) return damaged();
  const std::string what = string_of(*body, "key");
  const std::string name = string_of(*body, "name");
  const auto hash = hash_of_hex(string_of(*body, "sha256"));
  if (name.empty() || (what != "revoke" && !hash)) return damaged();
  if (what == "create") {
    entries_.push_back({info_in(*body), *hash});
    by_hash_[start_of(*hash)].push_back(entries_.size() - 1);
  } else if (const std::size_t i = index_of(name); i != entries_.size()) {
    if (what == "revoke") entries_[i].is_revoked = true;
    if (what == "rotate") {
      entries_[i].hash = *hash;
      entries_[i].info.hint = string_of(*body, "hint");
      by_hash_[start_of(*hash)].push_back(i);
    }
  }
  ++size_;
  return {};
}

std::size_t KeyTable::index_of(std::string_view name) const {
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return !entry.is_revoked && entry.info.name == name; });
  return static_cast<std::size_t>(found - entries_.begin());
}

const KeyTable::Entry* KeyTable::named(std::string_view name) const {
  const std::size_t i = index_of(name);
  return i == entries_.size() ? nullptr : &entries_[i];
}

const KeyTable::Entry* KeyTable::with_hash(const KeyHash& hash) const {
  const auto found = by_hash_.find(start_of(hash));
  if (found == by_hash_.end()) return nullptr;
  for (const std::size_t i : found->second) {
    if (!entries_[i].is_revoked && same_hash(entries_[i].hash, hash)) return &entries_[i];
  }
  return nullptr;
}

}  // namespace parley::server
