#include "cli/screen.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/process.h"
#include "cli/secrets.h"
#include "cli/table.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstFrame{300};
constexpr milliseconds kNextFrame{120};

}  // namespace

Screen::Screen(Output& output, bool is_quiet, AnswerForm form)
    : output_(output),
      is_quiet_(is_quiet),
      draws_(!is_quiet && can_draw(STDERR_FILENO)),
      dim_(has_colour(STDERR_FILENO) ? Control::Dim : Control::None),
      red_(has_colour(STDERR_FILENO) ? Control::Red : Control::None),
      plain_(has_colour(STDERR_FILENO) ? Control::Plain : Control::None),
      shares_terminal_(output.is_terminal() && is_terminal(STDERR_FILENO)) {
  if (form == AnswerForm::Markdown && can_draw(output.descriptor())) {
    markdown_.emplace(markdown_look(output.descriptor()));
  }
  if (draws_) spinner_ = std::jthread([this](const std::stop_token& stop) { spin(stop); });
}

Screen::~Screen() {
  stop_waiting();
  const std::lock_guard lock(mutex_);
  end_error_line();
}

bool Screen::answer(std::string_view words) {
  if (words.empty()) return true;
  const std::lock_guard lock(mutex_);
  if (!failure_) return false;
  erase_spinner();
  since_ = Clock::now();
  if (shares_terminal_) {
    end_error_line();
    begin_part(Part::Answer);
  }
  std::string text = std::exchange(held_, {}) + std::string(words);
  const std::size_t last = utf8_floor(text, text.size() - 1);
  held_ = text.substr(last);
  text.resize(last);
  put_answer(text);
  return failure_.has_value();
}

bool Screen::lines(std::string_view text) {
  const std::lock_guard lock(mutex_);
  erase_spinner();
  release();
  close_answer_line();
  if (!text.empty() && failure_) {
    failure_ = output_.write(text);
    if (failure_ && !output_.is_whole_or_nothing()) failure_ = output_.flush();
  }
  return failure_.has_value();
}

void Screen::end_answer() {
  const std::lock_guard lock(mutex_);
  release();
  if (markdown_) return close_answer_line();
  if (!std::exchange(answer_is_open_, false) || !failure_) return;
  erase_spinner();
  failure_ = output_.write("\n");
  if (failure_ && !output_.is_whole_or_nothing()) failure_ = output_.flush();
}

void Screen::thinking(std::string_view words) {
  if (is_quiet_ || words.empty()) return;
  const std::lock_guard lock(mutex_);
  erase_spinner();
  since_ = Clock::now();
  if (shares_terminal_) release();
  if (shares_terminal_ && !error_is_open_) close_answer_line();
  begin_part(Part::Aside);
  put_error({dim_, words, plain_});
  error_is_open_ = words.back() != '\n';
}

void Screen::aside(const AsideLine& line) {
  if (is_quiet_) return;
  const std::lock_guard lock(mutex_);
  put_aside(line);
}

void Screen::set_spaced() {
  const std::lock_guard lock(mutex_);
  is_spaced_ = true;
}

void Screen::begin_request() {
  const std::lock_guard lock(mutex_);
  last_part_ = Part::Request;
}

void Screen::begin_question() {
  if (!is_spaced_) return status_line("");
  const std::lock_guard lock(mutex_);
  erase_spinner();
  end_error_line();
  if (shares_terminal_) {
    release();
    close_answer_line();
  }
  begin_part(Part::Aside);
}

void Screen::answer_status(const AnswerStatus& status) {
  if (is_quiet_) return;
  const std::lock_guard lock(mutex_);
  begin_part(Part::Status);
  put_aside({status_text(status)});
}

void Screen::wait(std::string what) {
  const std::lock_guard lock(mutex_);
  if (last_part_ == Part::Request) {
    begin_part(Part::Aside);
    last_part_ = Part::Gap;
  }
  waits_for_ = std::move(what);
  since_ = Clock::now();
  woken_.notify_one();
}

std::string Screen::stop_waiting() {
  const std::lock_guard lock(mutex_);
  erase_spinner();
  return std::exchange(waits_for_, {});
}

void Screen::break_line() {
  const std::lock_guard lock(mutex_);
  erase_spinner();
  if (!is_terminal(STDERR_FILENO) || (shares_terminal_ && answer_is_open_)) return;
  error_is_open_ = false;
  put_error({"\n"});
}

// REQUIRES of all below: the lock is held.

// What a request is followed by begins after a blank line, and so does each other part.
void Screen::begin_part(Part part) {
  const bool is_new = last_part_ != part && last_part_ != Part::Gap;
  last_part_ = part;
  if (is_spaced_ && is_new && draws_) put_error({"\n"});
}

// Ends the line of the answer, if it is at the terminal that standard error is, too.
void Screen::close_answer_line() {
  if (markdown_) {
    draw(markdown_->end());
  } else if (shares_terminal_ && std::exchange(answer_is_open_, false)) {
    put_error({"\n"});
  }
}

void Screen::put_aside(const AsideLine& line) {
  erase_spinner();
  end_error_line();
  if (shares_terminal_) {
    release();
    close_answer_line();
  }
  if (last_part_ != Part::Status) begin_part(Part::Aside);
  const AsideLine safe{without_secrets(line.left), line.right, line.is_failure};
  const std::size_t width = draws_ ? columns(STDERR_FILENO) : 0;
  const std::string text = line.right.empty() ? visible(safe.left) : laid_out(safe, width);
  put_error({line.is_failure ? red_ : dim_, text, plain_, "\n"});
}

void Screen::draw(const StyledText& text) {
  if (failure_ && !text.empty()) {
    erase_spinner();
    failure_ = output_.write(text);
  }
  answer_is_open_ = markdown_->line_is_open();
}

void Screen::put_answer(std::string_view words) {
  if (words.empty() || !failure_) return;
  if (markdown_) {
    markdown_->set_width(columns(output_.descriptor()));
    return draw(markdown_->add(words));
  }
  failure_ = output_.write(words);
  if (failure_ && !output_.is_whole_or_nothing()) failure_ = output_.flush();
  answer_is_open_ = words.back() != '\n';
}

void Screen::release() { put_answer(std::exchange(held_, {})); }

void Screen::put_error(std::initializer_list<Segment> pieces) { show(STDERR_FILENO, pieces); }

void Screen::end_error_line() {
  if (std::exchange(error_is_open_, false)) put_error({"\n"});
}

void Screen::erase_spinner() {
  if (!std::exchange(spinner_is_drawn_, false)) return;
  put_error({Control::EraseLine});
  set_bar_is_shown(false);
}

std::string Screen::spinner_line(Clock::duration waited) {
  const auto frames = signs().spinner;
  const double seconds = std::chrono::duration<double>(waited).count();
  const std::string line =
      fmt::format("  {} {} {:.1f} s", frames[frame_++ % frames.size()], visible(waits_for_), seconds);
  // If the line wrapped, only its last row could be erased.
  return cut_to(line, columns(STDERR_FILENO) - 1);
}

void Screen::spin(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    woken_.wait(lock, stop, [this] { return !waits_for_.empty(); });
    if (stop.stop_requested()) return;
    const Clock::time_point now = Clock::now();
    // Does not draw over a line that is being written.
    const bool line_is_free = !error_is_open_ && !(shares_terminal_ && answer_is_open_);
    if (line_is_free && now - since_ >= kFirstFrame) {
      put_error({Control::EraseLine, dim_, spinner_line(now - since_), plain_});
      spinner_is_drawn_ = true;
      set_bar_is_shown(true);
    }
    woken_.wait_for(lock, stop, kNextFrame, [] { return false; });
  }
}

}  // namespace parley::cli
