#include "cli/user_prompt.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>

#include "cli/approval.h"
#include "cli/diagnostics.h"
#include "cli/process.h"
#include "cli/terminal.h"

namespace parley::cli {
namespace {

constexpr std::size_t kLongestAnswer = 4000;

// "Yes " is "yes".
std::string word_of(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c != ' ' && c != '\t' && c != '\r')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace

bool UserPrompt::is_available() { return is_terminal(STDIN_FILENO); }

bool UserPrompt::approve(const ToolUseBlock& use) {
  const std::lock_guard lock(mutex_);
  const ApprovalScope scope = approval_scope(use);
  if (always_.contains(scope.key)) return true;
  ShownArguments arguments = shown_arguments(use.arguments.view());
  while (true) {
    const auto answer =
        ask(fmt::format(
                "allow {} to run with {}?\n'always' allows {} for the rest of this chat{}\n[y/N/always{}] ",
                visible(use.name.view()), arguments.text, scope.sentence,
                arguments.is_cut ? "; 'show' prints the whole call" : "", arguments.is_cut ? "/show" : ""),
            {});
    const std::string word = answer ? word_of(*answer) : "";
    if (arguments.is_cut && (word == "s" || word == "show")) {
      arguments = {visible(use.arguments.view())};
      continue;
    }
    const bool is_always = word == "a" || word == "always";
    if (is_always) always_.insert(scope.key);
    return is_always || word == "y" || word == "yes";
  }
}

std::optional<std::string> UserPrompt::answer(const Text& question, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  return ask(visible_lines(question.view()) + "\nanswer: ", stop);
}

std::optional<std::string> UserPrompt::ask(const std::string& question, const std::stop_token& stop) {
  if (!is_available()) return std::nullopt;
  const int tty = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (tty < 0) return std::nullopt;
  const std::string waits_for = screen_.stop_waiting();
  screen_.status_line("");
  ::tcflush(tty, TCIFLUSH);  // discards input that was typed before the question
  const std::string text = "parley: " + question;
  show(tty, {text});
  std::string line;
  bool is_whole = false;
  while (!is_whole && !stop.stop_requested()) {
    pollfd fds[] = {{tty, POLLIN, 0}, {interrupt_descriptor(), POLLIN, 0}};
    constexpr int kLookAtStop = 100;  // ms
    if (::poll(fds, 2, kLookAtStop) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) break;  // left for the caller
    if (fds[0].revents == 0) continue;
    char byte = 0;
    if (::read(tty, &byte, 1) != 1) {  // a Ctrl-D
      screen_.break_line();
      break;
    }
    is_whole = byte == '\n';
    if (!is_whole && line.size() < kLongestAnswer) line += byte;
  }
  ::close(tty);
  if (!waits_for.empty()) screen_.wait(waits_for);
  if (!is_whole) return std::nullopt;
  return line;
}

}  // namespace parley::cli
