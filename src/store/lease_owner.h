// Who holds a lease, as a backend keeps it: the name for people, how long the lease was asked for, and which
// process asked. So a lease whose process has ended is over at once on the same machine, and one that was
// taken under a clock that was ahead lasts no longer than it was asked for.
//
//   NAME US LENGTH [SPACE PROCESS]        US is the character 31, which no name has; LENGTH is in
//   milliseconds PROCESS = BOOT ":" PIDNS ":" TIMENS ":" PID ":" START
//
// BOOT is the id of the boot, PIDNS and TIMENS are the namespaces that PID and START, its start time in
// ticks, are read in. If one of these is unknown, the text has no process.
//
// Pure functions but for what they ask of the system; safe from any thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace parley::store {

struct LeaseOwner {
  std::string name;
  std::chrono::milliseconds length{0};  // 0: not known
  std::string process = {};             // empty: not known

  std::string text() const;
  static LeaseOwner read(std::string_view text);
};

// Of the calling process.
std::string this_process();

// True if the process was on this machine, in this namespace, and has ended. False if unknown.
bool has_ended(std::string_view process);

}  // namespace parley::store
