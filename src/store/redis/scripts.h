// The scripts that run inside the server, each alone: what one of them does happens whole or not at all, and
// is one transaction in the append-only file. All keys of a script have the same tag (redis_keys.h).
//
// A response is a list whose first item is the outcome. For all scripts: "none" (the session does not exist)
// and "expired" (the session has expired; its id follows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace parley::store {

enum class Script : std::uint8_t {
  Append,      // a batch, if nothing prevents it
  Resolve,     // the state of a batch; a missing one cannot be committed later
  Read,        // a head, and records
  Mark,        // notes that a session or its lease is about to change, for lists
  Unmark,      // takes that note back, if it is old
  Create,      // a session that shares the records of others
  Lease,       // takes or renews a lease, and creates the session if necessary
  Checkpoint,  // renews a lease and replaces its checkpoint
  Holder,      // the lease and its checkpoint
  EndLease,    // lets a lease expire now
  Release,     // releases a lease and removes its checkpoint
  Expire,      // sets or clears the time at which a session expires
  Drop,        // erases a session, or keeps its records for its forks
  AddFork,     // notes that a fork shares a log
  RemoveFork,  // takes that note back, and erases what no session shares any more
};
inline constexpr std::size_t kScriptCount = 15;

std::string script_text(Script script);

}  // namespace parley::store
