#include "cli/diagnostics.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/process.h"
#include "cli/secrets.h"
#include "cli/terminal.h"
#include "parley/base/text.h"

namespace parley::cli {
std::string to_string(const Location& location) {
  return location.line == 0 ? location.file : fmt::format("{}:{}", location.file, location.line);
}

std::string shortened(std::string_view pointer) {
  constexpr std::size_t kLongest = 200;
  constexpr std::size_t kEnd = 98;  // kept at each end
  if (pointer.size() <= kLongest || !is_utf8(pointer)) return std::string(pointer);
  const std::size_t head = utf8_floor(pointer, kEnd);
  const std::size_t tail = utf8_floor(pointer, pointer.size() - kEnd);
  return fmt::format("{}...{}", pointer.substr(0, head), pointer.substr(tail));
}

void print_message(std::string_view what) {
  const std::string line = fmt::format("parley: {}\n", visible(without_secrets(what)));
  show(STDERR_FILENO, {bar_is_shown() ? Control::EraseLine : Control::None, line});
  set_bar_is_shown(false);
}

ExitCode usage_error(std::string_view what, std::string_view command) {
  print_message(fmt::format("{} (see 'parley {}{}--help')", what, command, command.empty() ? "" : " "));
  return ExitCode::Usage;
}

ExitCode report_error(const Error& error, const Location& location) {
  const std::string pointer = error.path.empty() ? std::string() : ":" + shortened(error.path);
  print_message(fmt::format("{} ({}{})", error.message, to_string(location), pointer));
  return error.code == Code::Unavailable ? ExitCode::Environment : ExitCode::Refused;
}

}  // namespace parley::cli
