// The keys of a server's clients. They are records of the store, so that every server of a store has the same
// ones.
//
// Invariants (quoted by tests as KEYS1..KEYS6):
//   KEYS1  A key is "plk_" and 32 random bytes in base 32. The store has its SHA-256 and its last four
//          characters; the key cannot be read again.
//   KEYS2  Records are only appended: create, rotate, revoke. A name is taken until its key is revoked.
//   KEYS3  A revoked, rotated or expired key is not found. A server knows of it after KeyRing's time at
//          most.
//   KEYS4  Two callers that change keys at once both succeed, or one gets Conflict; no change is lost.
//   KEYS5  The time of a search does not depend on how much of a key is right.
//   KEYS6  A store that once had a key needs one, also after the last one was revoked.
//
// The functions block; safe from any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/store/store.h"
#include "server/http/exchange.h"

namespace parley::server {

// Where the keys are. No client's key has this tenant.
inline constexpr std::string_view kServerTenant = "parley.server";
inline constexpr std::string_view kKeySession = "keys";

std::string_view to_string(Identity::Role role);  // "use", "read", "admin"
std::optional<Identity::Role> role_of_key(std::string_view name);

// What is known of a key. Limits that are absent do not limit.
struct KeyInfo {
  std::string name = {};  // 1 to 64 characters, no control characters
  std::string hint = {};  // the last four characters of the key
  std::string tenant = "default";
  Identity::Role role = Identity::Role::Use;
  std::vector<std::string> models = {};         // globs; empty: all
  std::vector<std::string> conversations = {};  // globs; empty: all
  std::int64_t created_ms = 0;
  std::int64_t expires_ms = 0;  // 0: never
  std::optional<std::int64_t> requests_per_minute = {}, tokens_per_minute = {}, concurrent = {};
  std::optional<double> budget_per_month = {};  // in US dollars
  std::string disconnect = {};  // "continue", "grace:20s", "cancel"; empty: as the server has it
  std::string on_busy = {};     // "queue", "reject", "interrupt", "fork"; empty: as the server has it
  bool operator==(const KeyInfo&) const = default;
};

struct NewKey {
  Secret secret;
  KeyInfo info;
};

// Fails with Invalid for a wrong field, with Conflict if the name is taken. `hint` and `created_ms` are set.
Result<NewKey> create_key(store::Store& store, KeyInfo info);
// Gives a key a new secret; the old one ends. NotFound: no such key.
Result<NewKey> rotate_key(store::Store& store, const std::string& name);
Result<void> revoke_key(store::Store& store, const std::string& name);
// The keys that are not revoked, in the order of their creation; expired ones too.
Result<std::vector<KeyInfo>> list_keys(store::Store& store);

// The keys as a server uses them: read once, and again when they are older than `fresh`.
class KeyRing {
 public:
  explicit KeyRing(store::Store& store, std::chrono::milliseconds fresh = std::chrono::seconds(3));
  ~KeyRing();

  // Reads what is new in the store. Blocks. Fails like the store; what was known stays.
  Result<void> reload();
  // These do not block.
  bool is_fresh() const;
  void forget();          // the next is_fresh() is false: SIGHUP
  bool has_keys() const;  // now or ever (KEYS6)
  // The owner of this key; nullopt: there is none.
  std::optional<Identity> find(std::string_view key, std::int64_t now_ms) const;
  // Whether find() has an owner for a key with this SHA-256.
  bool has_valid(const std::array<unsigned char, 32>& hash, std::int64_t now_ms) const;

 private:
  struct State;
  std::shared_ptr<const State> present() const;

  store::Store& store_;
  std::chrono::milliseconds fresh_;
  std::mutex reloading_;  // one at a time
  mutable std::mutex mutex_;
  std::shared_ptr<const State> state_;
  std::optional<Deadline> fresh_until_;
};

}  // namespace parley::server
