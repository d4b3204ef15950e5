#include "cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "cli/diagnostics.h"
#include "cli/environment.h"

namespace parley::cli {
namespace {

constexpr std::string_view bytes_of(Control control) {
  switch (control) {
    case Control::EraseLine:
      return "\r\x1b[K";
    case Control::Dim:
      return "\x1b[2m";
    case Control::Red:
      return "\x1b[31m";
    case Control::Green:
      return "\x1b[32m";
    case Control::Plain:
      return "\x1b[0m";
    case Control::PasteOn:
      return "\x1b[?2004h";
    case Control::PasteOff:
      return "\x1b[?2004l";
    case Control::AskAttributes:
      return "\x1b[c";
    case Control::None:
      break;
  }
  return "";
}

// What --color and the configuration say.
ColourChoice typed_colour = ColourChoice::Auto;
ColourChoice configured_colour = ColourChoice::Auto;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {  // another process made the shared terminal or pipe non-blocking
      pollfd writable = {fd, POLLOUT, 0};
      ::poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

bool can_draw(int fd) {
  const std::string term = from_environment("TERM");
  return is_terminal(fd) && !term.empty() && term != "dumb";
}

std::optional<ColourChoice> colour_choice_named(std::string_view name) {
  if (name == "auto") return ColourChoice::Auto;
  if (name == "always") return ColourChoice::Always;
  if (name == "never") return ColourChoice::Never;
  return std::nullopt;
}

void set_typed_colour(ColourChoice choice) { typed_colour = choice; }
void set_configured_colour(ColourChoice choice) { configured_colour = choice; }

bool has_colour(int fd) {
  if (typed_colour != ColourChoice::Auto) return typed_colour == ColourChoice::Always;
  if (!from_environment("NO_COLOR").empty()) return false;
  const std::string force = from_environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  if (from_environment("CLICOLOR") == "0") return false;
  if (configured_colour != ColourChoice::Auto) return configured_colour == ColourChoice::Always;
  return can_draw(fd);
}

std::size_t columns(int fd) {
  winsize size = {};
  const bool is_known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

std::size_t pixels_across(int fd) {
  constexpr std::size_t kUsualCell = 8;
  winsize size = {};
  const bool is_known = ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_xpixel > 0;
  return is_known ? size.ws_xpixel : columns(fd) * kUsualCell;
}

bool put(int fd, std::string_view text) {
  return is_terminal(fd) ? write_all(fd, visible_lines(text)) : write_all(fd, text);
}

bool put(int fd, const StyledText& text) { return write_all(fd, text.bytes()); }

void show(int fd, std::initializer_list<Segment> pieces) {
  std::string bytes;
  for (const Segment& piece : pieces) {
    const auto* control = std::get_if<Control>(&piece);
    bytes += control != nullptr ? std::string(bytes_of(*control))
                                : visible_lines(std::get<std::string_view>(piece));
  }
  write_all(fd, bytes);
}

}  // namespace parley::cli
