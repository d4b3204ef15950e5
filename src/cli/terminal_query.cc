#include "cli/terminal_query.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "cli/process.h"
#include "cli/terminal.h"
#include "parley/base/clock.h"

namespace parley::cli {
namespace {

constexpr std::chrono::milliseconds kLongestWait{500};
constexpr std::size_t kMostAttributeBytes = 1024;
constexpr std::string_view kAnswerStart = "\x1b[?";

bool is_attribute_byte(char c) { return (c >= '0' && c <= '9') || c == ';'; }

// The attributes of the first whole answer: "62;4;22". Empty if there is none yet.
std::string_view attributes_in(std::string_view bytes) {
  for (std::size_t at = bytes.find(kAnswerStart); at != std::string_view::npos;
       at = bytes.find(kAnswerStart, at + 1)) {
    const std::string_view rest = bytes.substr(at + kAnswerStart.size());
    const auto end = std::ranges::find_if_not(rest, is_attribute_byte);
    if (end != rest.end() && *end == 'c') return {rest.begin(), end};
  }
  return {};
}

// While one lives, the terminal at standard input gives single bytes and shows none of them; also Ctrl-C
// restores it.
class SilentTerminal {
 public:
  SilentTerminal() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON);
    silent.c_cc[VMIN] = 0;
    silent.c_cc[VTIME] = 0;
    is_changed_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &silent) == 0;
  }
  SilentTerminal(const SilentTerminal&) = delete;
  SilentTerminal& operator=(const SilentTerminal&) = delete;
  ~SilentTerminal() {
    if (is_changed_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  bool is_silent() const { return is_changed_; }

 private:
  EditedTerminal terminal_;  // first: it knows how the terminal was
  termios before_ = {};
  bool is_changed_ = false;
};

// Byte by byte, so that nothing after the answer is taken.
std::string read_attributes() {
  std::string out;
  const Deadline end = Deadline::in(kLongestWait);
  while (out.size() < kMostAttributeBytes && attributes_in(out).empty()) {
    pollfd readable = {STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(end.left().count()));
    if (ready < 0 && errno == EINTR) continue;
    char byte = 0;
    if (ready <= 0 || ::read(STDIN_FILENO, &byte, 1) != 1) break;
    out += byte;
  }
  return out;
}

bool ask_for_sixels(int fd) {
  // In the background the first change of the terminal's modes would stop the process.
  if (!can_draw(fd) || !is_terminal(STDIN_FILENO) || ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return false;
  const SilentTerminal terminal;
  if (!terminal.is_silent()) return false;
  show(fd, {Control::AskAttributes});
  return has_sixel_attribute(read_attributes());
}

}  // namespace

bool draws_sixels(int fd) {
  static const bool answer = ask_for_sixels(fd);
  return answer;
}

bool has_sixel_attribute(std::string_view answer) {
  const std::string list = ";" + std::string(attributes_in(answer)) + ";";
  return list.contains(";4;");
}

}  // namespace parley::cli
