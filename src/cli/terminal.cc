#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/environment.h"

namespace parley::cli {

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

bool can_draw(int fd) {
  const std::string term = from_environment("TERM");
  return is_terminal(fd) && !term.empty() && term != "dumb";
}

bool has_colour(int fd) {
  if (!from_environment("NO_COLOR").empty()) return false;
  const std::string force = from_environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return from_environment("CLICOLOR") != "0" && can_draw(fd);
}

std::size_t columns(int fd) {
  winsize size = {};
  const bool is_known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

}  // namespace parley::cli
