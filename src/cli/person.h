// The person at the terminal, for questions while a run goes on: may this tool run, what is the answer.
//
// Questions go to /dev/tty and answers come from there, so they are not mixed with what is piped. If standard
// input is no terminal there is nobody to ask, and what must be asked for is denied.
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

class Person {
 public:
  explicit Person(Screen& screen) : screen_(screen) {}

  static bool is_there();

  // Yes, no, or always: from then on what that covers (approval.h) is not asked for. A Ctrl-C is no.
  bool approves(const ToolUseBlock& use);

  // Nothing if nobody answers.
  std::optional<std::string> answers(const Text& question, const std::stop_token& stop);

 private:
  std::optional<std::string> ask(const std::string& question, const std::stop_token& stop);

  Screen& screen_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> always_;  // keys of a Cover
};

}  // namespace parley::cli
