// `parley sessions`: the conversations in a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit.h"
#include "cli/store.h"
#include "parley/dialect/dialect.h"

namespace parley::cli {

struct SessionsOptions {
  StoreChoice store;
  std::vector<std::string> arguments;  // what stands behind the verb
  std::optional<Dialect> from;         // import; nothing: it is detected
  Dialect to = Dialect::Parley;        // export
  std::string session;                 // import: the id of the one session
  std::optional<std::uint64_t> size;   // fork: how many records are shared
  bool lines = false;                  // JSON Lines
  bool json = false;
  bool quiet = false;
  std::string output = "-";
};

// Each REQUIRES as many arguments as main.cc lets through.
Exit list_sessions(const SessionsOptions& options);
Exit show_session(const SessionsOptions& options);
Exit search_sessions(const SessionsOptions& options);
Exit import_sessions(const SessionsOptions& options);
Exit export_session(const SessionsOptions& options);
Exit fork_session(const SessionsOptions& options);
Exit remove_sessions(const SessionsOptions& options);
Exit copy_session(const SessionsOptions& options);
Exit count_sessions(const SessionsOptions& options);
Exit verify_sessions(const SessionsOptions& options);
Exit back_up_sessions(const SessionsOptions& options);

}  // namespace parley::cli
