#include "server/http/keys.h"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/hash.h"
#include "parley/base/clock.h"
#include "server/http/key_records.h"

namespace parley::server {
namespace {

constexpr std::string_view kKeyPrefix = "plk_";
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kHintLength = 4;
constexpr int kMostAttempts = 8;  // to append, while others do too

store::SessionKey key_session() { return {std::string(kServerTenant), std::string(kKeySession)}; }

// RFC 4648 in lower case, without padding.
std::string base32(std::string_view bytes) {
  constexpr std::string_view kBase32Digits = "abcdefghijklmnopqrstuvwxyz234567";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | static_cast<unsigned char>(c);
    for (count += 8; count >= 5; count -= 5) out += kBase32Digits[(bits >> (count - 5)) & 31];
  }
  if (count > 0) out += kBase32Digits[(bits << (5 - count)) & 31];
  return out;
}

Result<std::string> new_key() {
  std::array<char, kKeyBytes> bytes;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (count < 0 && errno != EINTR)
      return fail(Code::Unavailable, "the system has no random bytes for a key");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return std::string(kKeyPrefix) + base32(std::string_view(bytes.data(), bytes.size()));
}

// Adds the records after those that the table has.
Result<void> read_into(KeyTable& table, store::Store& store) {
  const auto done = store.each(key_session(), table.size(),
                               [&](const store::StoredRecord& record) { return table.add(record); });
  const bool is_empty = !done && done.error().code == Code::NotFound && table.size() == 0;
  return is_empty ? Result<void>() : done;
}

// Appends what `make` returns for the present keys, and tries again if they changed meanwhile (KEYS4).
template <typename Make>
Result<void> change_keys(store::Store& store, const Make& make) {
  KeyTable table;
  for (int attempt = 1;; ++attempt) {
    PARLEY_CHECK(read_into(table, store));
    PARLEY_TRY(store::Record record, make(table));
    store::Batch batch({std::move(record)});
    batch.expected_size = table.size();
    const auto appended = store.append(key_session(), batch);
    if (appended) return {};
    if (appended.error().code != Code::Conflict || attempt == kMostAttempts) {
      return std::unexpected(appended.error());
    }
  }
}

std::unexpected<Error> no_key(const std::string& name) {
  return fail(Code::NotFound, "there is no key named '" + name + "'");
}

NewKey taken(std::string& key, KeyInfo info) { return {Secret::take(key), std::move(info)}; }

}  // namespace

Result<NewKey> create_key(store::Store& store, KeyInfo info) {
  PARLEY_CHECK(check_key(info));
  PARLEY_TRY(std::string key, new_key());
  info.hint = key.substr(key.size() - kHintLength);
  info.created_ms = now_ms();
  PARLEY_CHECK(change_keys(store, [&](const KeyTable& table) -> Result<store::Record> {
    if (table.named(info.name) != nullptr) {
      return fail(Code::Conflict, "there is a key named '" + info.name + "' already: revoke or rotate it",
                  "/name");
    }
    return create_record(info, sha256(key));
  }));
  return taken(key, std::move(info));
}

Result<NewKey> rotate_key(store::Store& store, const std::string& name) {
  PARLEY_TRY(std::string key, new_key());
  KeyInfo info;
  PARLEY_CHECK(change_keys(store, [&](const KeyTable& table) -> Result<store::Record> {
    const KeyTable::Entry* entry = table.named(name);
    if (entry == nullptr) return no_key(name);
    info = entry->info;
    info.hint = key.substr(key.size() - kHintLength);
    return rotate_record(name, info.hint, sha256(key));
  }));
  return taken(key, std::move(info));
}

Result<void> revoke_key(store::Store& store, const std::string& name) {
  return change_keys(store, [&](const KeyTable& table) -> Result<store::Record> {
    if (table.named(name) == nullptr) return no_key(name);
    return revoke_record(name);
  });
}

Result<std::vector<KeyInfo>> list_keys(store::Store& store) {
  KeyTable table;
  PARLEY_CHECK(read_into(table, store));
  std::vector<KeyInfo> out;
  for (const KeyTable::Entry& entry : table.entries()) {
    if (!entry.is_revoked) out.push_back(entry.info);
  }
  return out;
}

struct KeyRing::State {
  // The key with this hash; null: it is unknown, revoked or expired.
  const KeyInfo* valid(const KeyHash& hash, std::int64_t now) const {
    const KeyTable::Entry* entry = table.with_hash(hash);
    if (entry == nullptr) return nullptr;
    const bool is_over = entry->info.expires_ms != 0 && entry->info.expires_ms <= now;
    return is_over ? nullptr : &entry->info;
  }

  KeyTable table;
};

KeyRing::KeyRing(store::Store& store, std::chrono::milliseconds fresh)
    : store_(store), fresh_(fresh), state_(std::make_shared<State>()) {}
KeyRing::~KeyRing() = default;

Result<void> KeyRing::reload() {
  const std::lock_guard one(reloading_);
  const std::shared_ptr<const State> before = present();
  auto next = std::make_shared<State>(*before);
  PARLEY_CHECK(read_into(next->table, store_));
  const std::lock_guard lock(mutex_);
  if (next->table.size() != before->table.size()) state_ = std::move(next);
  fresh_until_ = Deadline::in(fresh_);
  return {};
}

bool KeyRing::is_fresh() const {
  const std::lock_guard lock(mutex_);
  return fresh_until_ && !fresh_until_->has_passed();
}

void KeyRing::forget() {
  const std::lock_guard lock(mutex_);
  fresh_until_.reset();
}

bool KeyRing::has_keys() const {
  const std::lock_guard lock(mutex_);
  return state_->table.size() != 0;
}

std::shared_ptr<const KeyRing::State> KeyRing::present() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool KeyRing::has_valid(const KeyHash& hash, std::int64_t now) const {
  return present()->valid(hash, now) != nullptr;
}

std::optional<Identity> KeyRing::find(std::string_view key, std::int64_t now) const {
  const std::shared_ptr<const State> state = present();
  const KeyInfo* const found = state->valid(sha256(key), now);
  if (found == nullptr) return std::nullopt;
  const KeyInfo& info = *found;
  return Identity{.tenant = info.tenant,
                  .key = info.name,
                  .role = info.role,
                  .models = info.models,
                  .conversations = info.conversations,
                  .on_busy = info.on_busy.empty() ? std::nullopt : on_busy_named(info.on_busy),
                  .disconnect = info.disconnect.empty() ? std::nullopt : disconnect_named(info.disconnect)};
}

}  // namespace parley::server
