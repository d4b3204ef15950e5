// The exit code of a command. A contract: scripts rely on it.
#pragma once

#include <algorithm>
#include <expected>

namespace parley::cli {

enum class ExitCode : int {
  Ok = 0,
  Refused = 1,      // findings, or input that is not accepted
  Usage = 2,        // the command line is wrong
  Environment = 3,  // a file, a store, the network or a model failed
  Interrupted = 130,
};

// For --help and the manual; docs/cli.md has the same table.
struct ExitMeaning {
  ExitCode code;
  const char* meaning;
};
inline constexpr ExitMeaning kExitMeanings[] = {
    {ExitCode::Ok, "success"},
    {ExitCode::Refused, "findings, refused input, or an unfinished task"},
    {ExitCode::Usage, "usage error"},
    {ExitCode::Environment, "a file, a store, the network or a model failed"},
    {ExitCode::Interrupted, "interrupted"},
};

// The exit code for several files.
inline ExitCode worse(ExitCode a, ExitCode b) { return std::max(a, b); }

// The value of a step, or the exit code of the command. A step that fails has printed its error.
template <typename T>
using CommandResult = std::expected<T, ExitCode>;

}  // namespace parley::cli
