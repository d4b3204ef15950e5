// What the Conversations API knows of a session beside its messages: its metadata. A conversation is the
// session that has its id as the name.
//
// Metadata is a change record, which memories ignore; the last one counts:
//
//   {"conversation": {"metadata": {"topic": "x"}}}
//
// The book remembers how far it has read a session, so that reading it again costs what is new. Blocks; safe
// from any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "parley/store/store.h"

namespace parley::server {

struct ConversationInfo {
  std::string id = {};
  std::int64_t created_ms = 0, updated_ms = 0;
  store::Position size = 0;      // of the session
  Json metadata = {};            // an object
  bool is_metadata_set = false;  // by a record, if only to {}
};

// {"id", "object": "conversation", "created_at", "metadata"}
Json to_json(const ConversationInfo& conversation);

// The record that sets the metadata. It also makes a session that has no message yet.
store::Record metadata_record(const Json& metadata);

class ConversationBook {
 public:
  // Fails with NotFound, and like the store.
  Result<ConversationInfo> read(store::Store& store, const store::SessionKey& key);
  // The same for a session whose head is known.
  Result<ConversationInfo> read(store::Store& store, const store::SessionKey& key,
                                const store::SessionInfo& head);
  void forget(const store::SessionKey& key);

 private:
  struct Known {
    std::int64_t created_ms = 0;  // another session of the same name has another time
    store::Position size = 0;     // records that were read
    Json metadata = {};
    bool is_metadata_set = false;
  };

  std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace parley::server
