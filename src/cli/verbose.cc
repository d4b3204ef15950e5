#include "cli/verbose.h"

#include <unistd.h>

#include <mutex>
#include <string>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/terminal.h"
#include "net/traffic_log.h"
#include "parley/base/log.h"

namespace parley::cli {
namespace {

// A request has one such line.
struct Held {
  std::mutex mutex;
  std::string line;  // empty: none
};
Held& held() {
  static Held held;
  return held;
}

// REQUIRES: the mutex is locked.
void print_held() {
  if (const std::string line = std::exchange(held().line, {}); !line.empty()) print_message(line);
}

}  // namespace

void print_log_lines() {
  const bool holds = is_terminal(STDOUT_FILENO);
  set_log_sink([holds](LogLevel, std::string_view line) {
    const std::lock_guard lock(held().mutex);
    print_held();
    if (holds && line.starts_with(net::kEndOfResponse)) {
      held().line = line;
    } else {
      print_message(line);
    }
  });
}

void print_held_log_lines() {
  const std::lock_guard lock(held().mutex);
  print_held();
}

}  // namespace parley::cli
