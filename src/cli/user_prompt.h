// Questions to the user at the terminal during a run: approval of a tool, and the questions of ask_human.
//
// Questions go to /dev/tty and answers come from there, so they do not mix with piped data. Without
// a terminal at standard input, what needs approval is denied.
//
// One question at a time, from any thread.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>

#include "cli/call_view.h"
#include "cli/screen.h"
#include "parley/tool/builtin.h"
#include "parley/tool/tool.h"

namespace parley::cli {

// The change of a file that a call would make (ToolBox::preview()).
using PreviewCall = std::function<std::optional<FileChange>(const ToolUseBlock& use)>;

class UserPrompt {
 public:
  explicit UserPrompt(Screen& screen) : screen_(screen) {}

  static bool is_available();

  // Shows what the call would do and asks: once, no, or always, and from then on what that covers
  // (approval.h) is not asked for. The user may edit the arguments: the edited call is shown and asked for
  // again. A Ctrl-C is no.
  Approval approve(const ToolUseBlock& use, const PreviewCall& preview);

  // Nothing without an answer.
  std::optional<std::string> answer(const Text& question, const std::stop_token& stop);
  // The same for a question of the command itself; in lower case and without spaces.
  std::optional<std::string> choice(const std::string& question);

 private:
  std::optional<std::string> ask(std::span<const ShownRow> rows, const std::string& question,
                                 const std::stop_token& stop);

  Screen& screen_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> always_;  // keys of a ApprovalScope
};

}  // namespace parley::cli
