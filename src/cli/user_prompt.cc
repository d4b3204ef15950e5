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
#include "cli/editor.h"
#include "cli/look.h"
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

// "  Allow?  y once, a always, e edit, N no > "
std::string allow_question(bool is_cut) {
  return fmt::format("  Allow?  y once{0}a always{0}e edit{0}{1}{2}N no {3} ", signs().separator,
                     is_cut ? "s show all" : "", is_cut ? signs().separator : "", signs().prompt);
}

Control control_of(ShownRow::Kind kind) {
  switch (kind) {
    case ShownRow::Kind::Aside:
      return Control::Dim;
    case ShownRow::Kind::Removed:
      return Control::Red;
    case ShownRow::Kind::Added:
      return Control::Green;
    case ShownRow::Kind::Plain:
      break;
  }
  return Control::None;
}

void put_row(int tty, const ShownRow& row) {
  const bool has_style = row.kind != ShownRow::Kind::Plain && has_colour(tty);
  show(tty, {has_style ? control_of(row.kind) : Control::None, row.text,
             has_style ? Control::Plain : Control::None, "\n"});
}

// Lets the user edit the arguments; they stay as they are if that is cancelled or fails.
void edit(ToolUseBlock& use) {
  const Result<std::optional<std::string>> text = edit_text(editable_text(use));
  if (!text) return print_message(text.error().message);
  if (!*text) return print_message("not saved: the call is unchanged");
  Result<Text> arguments = edited_arguments(use, **text);
  if (!arguments) {
    return print_message(fmt::format("the edited arguments are not a JSON object: {}; the call is unchanged",
                                     arguments.error().message));
  }
  use.arguments = *std::move(arguments);
}

}  // namespace

bool UserPrompt::is_available() { return is_terminal(STDIN_FILENO); }

Approval UserPrompt::approve(const ToolUseBlock& use, const PreviewCall& preview) {
  const std::lock_guard lock(mutex_);
  if (always_.contains(approval_scope(use).key)) return true;
  ToolUseBlock shown = use;
  ViewLength length = ViewLength::Short;
  while (true) {
    const ApprovalScope scope = approval_scope(shown);
    CallView view = view_of(shown, preview(shown), length, columns(STDIN_FILENO));
    view.rows.push_back({ShownRow::Kind::Aside,
                         fmt::format("  'always' allows {} for the rest of this chat", scope.sentence)});
    const auto answer = ask(view.rows, allow_question(view.is_cut), {});
    const std::string word = answer ? word_of(*answer) : "";
    length = view.is_cut && (word == "s" || word == "show") ? ViewLength::Whole : ViewLength::Short;
    if (length == ViewLength::Whole) continue;
    if (word == "e" || word == "edit") {
      edit(shown);
      continue;
    }
    const bool is_always = word == "a" || word == "always";
    if (is_always) always_.insert(scope.key);
    if (!is_always && word != "y" && word != "yes") return false;
    if (shown.arguments == use.arguments) return true;
    return Approval::edited(shown.arguments);
  }
}

std::optional<std::string> UserPrompt::answer(const Text& question, const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  return ask({}, "parley: " + visible_lines(question.view()) + "\nanswer: ", stop);
}

std::optional<std::string> UserPrompt::choice(const std::string& question) {
  const std::lock_guard lock(mutex_);
  const auto answer = ask({}, "parley: " + question, {});
  return answer ? std::optional(word_of(*answer)) : std::nullopt;
}

std::optional<std::string> UserPrompt::ask(std::span<const ShownRow> rows, const std::string& question,
                                           const std::stop_token& stop) {
  if (!is_available()) return std::nullopt;
  const int tty = ::open("/dev/tty", O_RDWR | O_CLOEXEC);
  if (tty < 0) return std::nullopt;
  const std::string waits_for = screen_.stop_waiting();
  screen_.begin_question();
  ::tcflush(tty, TCIFLUSH);  // discards input that was typed before the question
  for (const ShownRow& row : rows) put_row(tty, row);
  show(tty, {question});
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
