// `parley sessions`: the conversations in a store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/store.h"
#include "parley/dialect/dialect.h"

namespace parley::cli {

struct SessionsOptions {
  StoreChoice store;
  std::vector<std::string> arguments;  // after the verb
  std::optional<Dialect> from;         // import; nothing: it is detected
  Dialect to = Dialect::Parley;        // export
  std::string session;                 // import: the id of the one session
  std::optional<std::uint64_t> size;   // fork: how many records are shared
  std::optional<std::size_t> most;     // list: how many
  bool by_model = false;               // title: the model writes it
  std::string model;                   // of `by_model`; empty: from the configuration
  bool lines = false;                  // JSON Lines
  bool json = false;
  bool quiet = false;
  std::string output = "-";
};

// Each REQUIRES as many arguments as main.cc lets through.
ExitCode list_sessions(const SessionsOptions& options);
ExitCode list_session_ids(const SessionsOptions& options);
ExitCode title_session(const SessionsOptions& options);
ExitCode expire_session(const SessionsOptions& options);
ExitCode sweep_sessions(const SessionsOptions& options);
ExitCode show_session(const SessionsOptions& options);
ExitCode search_sessions(const SessionsOptions& options);
ExitCode import_sessions(const SessionsOptions& options);
ExitCode export_session(const SessionsOptions& options);
ExitCode fork_session(const SessionsOptions& options);
ExitCode remove_sessions(const SessionsOptions& options);
ExitCode copy_session(const SessionsOptions& options);
ExitCode count_sessions(const SessionsOptions& options);
ExitCode verify_sessions(const SessionsOptions& options);
ExitCode back_up_sessions(const SessionsOptions& options);

}  // namespace parley::cli
