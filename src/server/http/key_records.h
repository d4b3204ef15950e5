// The records of keys, and the keys that they add up to.
//
//   {"key": "create", "sha256": HEX, "name", "hint", "tenant", "role", "models", ...}
//   {"key": "rotate", "sha256": HEX, "name", "hint"}
//   {"key": "revoke", "name"}
//
// A KeyTable is a value, for one thread at a time; the functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parley/base/error.h"
#include "parley/store/record.h"
#include "server/http/keys.h"

namespace parley::server {

using KeyHash = std::array<unsigned char, 32>;

// Fails with Invalid, naming the field.
Result<void> check_key(const KeyInfo& info);

store::Record create_record(const KeyInfo& info, const KeyHash& hash);
store::Record rotate_record(const std::string& name, const std::string& hint, const KeyHash& hash);
store::Record revoke_record(const std::string& name);

class KeyTable {
 public:
  struct Entry {
    KeyInfo info;
    KeyHash hash;
    bool is_revoked = false;
  };

  // Adds what a record says. Fails with Damaged if it is not a record of a key.
  Result<void> add(const store::StoredRecord& record);

  // The key that is not revoked, or null.
  const Entry* named(std::string_view name) const;
  const Entry* with_hash(const KeyHash& hash) const;
  const std::vector<Entry>& entries() const { return entries_; }  // revoked ones too
  store::Position size() const { return size_; }                  // records that were added

 private:
  std::size_t index_of(
      std::string_view name) const;  // of a key that is not revoked; or the number of entries

  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash_;  // of the first bytes of the hash
  store::Position size_ = 0;
};

}  // namespace parley::server
