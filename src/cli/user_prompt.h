// Questions to the user at the terminal during a run: approval of a tool, and the questions of ask_human.
//
// Questions go to /dev/tty and answers come from there, so they do not mix with piped data. Without
// a terminal at standard input, what needs approval is denied.
//
// One question at a time, from any thread.
#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "cli/screen.h"
#include "parley/tool/builtin.h"
#include "parley/tool/tool.h"

namespace parley::cli {

class UserPrompt {
 public:
  explicit UserPrompt(Screen& screen) : screen_(screen) {}

  static bool is_available();

  // Yes, no, or always: from then on what that covers (approval.h) is not asked for. A Ctrl-C is no.
  bool approve(const ToolUseBlock& use);

  // Nothing without an answer.
  std::optional<std::string> answer(const Text& question, const std::stop_token& stop);

 private:
  std::optional<std::string> ask(const std::string& question, const std::stop_token& stop);

  Screen& screen_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> always_;  // keys of a ApprovalScope
};

}  // namespace parley::cli
