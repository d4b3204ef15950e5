// How a command ends. A contract: scripts rely on it.
#pragma once

#include <algorithm>
#include <expected>

namespace parley::cli {

enum class Exit : int {
  Ok = 0,
  Refused = 1,      // findings, or input that is not accepted
  Usage = 2,        // the command line is wrong
  Environment = 3,  // a file, a store, the network or a model failed
  Interrupted = 130,
};

// The one that counts when several files were looked at.
inline Exit worse(Exit a, Exit b) { return std::max(a, b); }

// What a step gives, or how the command ends: a step that fails has said why on stderr already.
template <typename T>
using Outcome = std::expected<T, Exit>;

}  // namespace parley::cli
