// The output of a run: the answer on standard output, everything else on standard error.
//
// Invariants (tests/cli/chat.case shows SCREEN1, tests/cli/kill_test.py SCREEN5):
//   SCREEN1  Standard output gets the text of the answer and nothing else.
//   SCREEN2  No text of a model or a tool controls the terminal: control characters are shown as \uXXXX.
//   SCREEN3  If both streams are on a terminal, a line of one never begins within a line of the other.
//   SCREEN4  The spinner is drawn on a terminal only, after 300 ms of silence, and is erased before anything
//            else is printed.
//   SCREEN5  The last character that answer() got is printed by the next answer() or by end_answer(), so that
//            calling end_answer() after an answer is stored ends the output after it is stored.
//   SCREEN6  Markdown is rendered on a terminal that can draw, and nowhere else: a pipe gets the bytes.
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "cli/look.h"
#include "cli/markdown.h"
#include "cli/output.h"
#include "cli/terminal.h"

namespace parley::cli {

class Screen {
 public:
  enum class AnswerForm : std::uint8_t { Raw, Markdown };
  // A quiet one shows the answer and errors only. `output` must outlive it.
  Screen(Output& output, bool is_quiet, AnswerForm form = AnswerForm::Raw);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  // More of the answer. False once it cannot be written; failure() then has the reason. REQUIRES: UTF-8.
  bool answer(std::string_view words);
  // Whole lines for standard output, printed at once: JSON, an export. False as answer().
  bool lines(std::string_view text);
  // The answer is whole: prints its last character, and ends its line if one is open.
  void end_answer();
  const Result<void>& failure() const { return failure_; }

  void thinking(std::string_view words);
  // A dimmed line on standard error.
  void status_line(std::string_view line) { aside({std::string(line)}); }
  // The same with a part at the right edge of a terminal; red if it is a failure.
  void aside(const AsideLine& line);

  // For a chat of a person: a blank line between the request, the asides, the answer and its status.
  void set_spaced();
  bool is_spaced() const { return is_spaced_; }
  void begin_request();
  // Before a question is written to the terminal: ends open lines, and leaves one blank line.
  void begin_question();
  void answer_status(const AnswerStatus& status);

  // Shows that something is being waited for.
  void wait(std::string what);
  std::string stop_waiting();  // what for

  // A Ctrl-C was typed, and the terminal shows it: what comes next begins a line.
  void break_line();

 private:
  using Clock = std::chrono::steady_clock;

  enum class Part : std::uint8_t { Request, Gap, Aside, Answer, Status };

  void spin(const std::stop_token& stop);
  std::string spinner_line(Clock::duration waited);
  void begin_part(Part part);
  void put_aside(const AsideLine& line);
  void close_answer_line();
  void erase_spinner();
  void end_error_line();
  // Failures are ignored: the run continues.
  static void put_error(std::initializer_list<Segment> pieces);
  void put_answer(std::string_view words);
  void release();
  void draw(const StyledText& text);

  Output& output_;
  const bool is_quiet_;
  const bool draws_;                 // on standard error
  const Control dim_, red_, plain_;  // Control::None if standard error has no colours
  const bool shares_terminal_;       // the answer and standard error

  std::optional<Markdown> markdown_;  // if it is rendered
  bool is_spaced_ = false;
  Part last_part_ = Part::Gap;

  std::mutex mutex_;
  std::condition_variable_any woken_;
  Result<void> failure_;
  std::string held_;             // the last character of the answer (SCREEN5)
  bool answer_is_open_ = false;  // a line of it
  bool error_is_open_ = false;   // a line of thinking
  std::string waits_for_;        // empty: nothing
  Clock::time_point since_;
  bool spinner_is_drawn_ = false;
  std::size_t frame_ = 0;
  std::jthread spinner_;  // last: it uses all the others
};

}  // namespace parley::cli
