// `parley rehearse`: the offline model as a server, and the recorder that makes scripts for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "parley/base/url.h"

namespace parley::cli {

struct RehearseOptions {
  std::string script;         // a file; empty: no script
  std::optional<Url> record;  // the provider to record
  std::uint16_t port = 0;
  bool json = false;   // the address as JSON
  std::string output;  // where a recording goes
};

// Both serve until SIGINT (Interrupted) or SIGTERM (Ok); a recording is written then.
ExitCode rehearse(const RehearseOptions& options);
ExitCode record(const RehearseOptions& options);

}  // namespace parley::cli
