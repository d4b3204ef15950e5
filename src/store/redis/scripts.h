// The scripts that run inside the server, each alone: what one of them does happens whole or not at all, and
// is one transaction in the append-only file. All keys of a script have the same tag (redis_keys.h).
//
// An answer is a list whose first item says what happened. Everywhere: "none" (there is no such session) and
// "expired" (there is one whose time is over; its id follows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace parley::store {

enum class Script : std::uint8_t {
  Append,   // a batch, if nothing stands against it
  Resolve,  // what became of a batch; one that is not there cannot come late
  Read,     // a head, and records
  Mark,     // notes that a session is about to change, for lists
  Create,   // a session that shares the records of others
  Lease,    // takes or renews a lease, and makes the session if there is none
  Release,  // gives a lease back
  Expire,   // sets or clears the time at which a session expires
  Drop,     // erases a session, or keeps its records for its forks
  AddFork,  // notes that a fork shares a log
  RemoveFork,  // takes that note back, and erases what no session shares any more
};
inline constexpr std::size_t kScriptCount = 11;

std::string script_text(Script script);

}  // namespace parley::store
