// `parley serve` and `parley keys`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/store.h"

namespace parley::cli {

struct ServeOptions {
  std::string listen;  // "127.0.0.1:7557", "[::1]:80", "unix:/run/parley.sock"; empty: the configuration's
  StoreChoice store;
  std::string config;  // a file instead of the user's
  std::string tls_certificate, tls_key;
  bool is_insecure = false;
  bool only_checks = false;  // says whether it would start
  bool json = false;
};

// Serves until SIGINT (Interrupted) or SIGTERM (Ok); SIGHUP reads the configuration, the keys and the
// certificate again, and says what of it needs a new start. Warnings and errors go to stderr.
ExitCode serve(const ServeOptions& options);

struct KeysOptions {
  StoreChoice store;
  std::string name;
  std::string tenant = "default", role = "use", expires, disconnect, on_busy;
  std::vector<std::string> models, conversations;
  std::optional<std::int64_t> requests_per_minute, tokens_per_minute, concurrent;
  std::optional<double> budget;
  bool json = false;
  std::string output = "-";
};
ExitCode create_key(const KeysOptions& options);
ExitCode list_keys(const KeysOptions& options);
ExitCode rotate_key(const KeysOptions& options);
ExitCode revoke_key(const KeysOptions& options);

}  // namespace parley::cli
