#include "cli/screen.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/process.h"
#include "cli/secrets.h"
#include "parley/base/text.h"

namespace parley::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstFrame{300};
constexpr milliseconds kNextFrame{120};
constexpr std::string_view kFrames = "|/-\\";

}  // namespace

Screen::Screen(Output& output, bool is_quiet)
    : output_(output),
      is_quiet_(is_quiet),
      draws_(!is_quiet && can_draw(STDERR_FILENO)),
      dim_(has_colour(STDERR_FILENO) ? Control::Dim : Control::None),
      plain_(has_colour(STDERR_FILENO) ? Control::Plain : Control::None),
      shares_terminal_(output.is_terminal() && is_terminal(STDERR_FILENO)) {
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
  if (shares_terminal_) end_error_line();
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
  put_answer(text);
  return failure_.has_value();
}

void Screen::end_answer() {
  const std::lock_guard lock(mutex_);
  release();
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
  if (!error_is_open_ && shares_terminal_ && std::exchange(answer_is_open_, false)) put_error({"\n"});
  put_error({dim_, words, plain_});
  error_is_open_ = words.back() != '\n';
}

void Screen::status_line(std::string_view line) {
  if (is_quiet_) return;
  const std::lock_guard lock(mutex_);
  erase_spinner();
  end_error_line();
  if (shares_terminal_) release();
  if (shares_terminal_ && std::exchange(answer_is_open_, false)) put_error({"\n"});
  put_error({dim_, visible(without_secrets(line)), plain_, "\n"});
}

void Screen::wait(std::string what) {
  const std::lock_guard lock(mutex_);
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

void Screen::put_answer(std::string_view words) {
  if (words.empty() || !failure_) return;
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

void Screen::spin(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    woken_.wait(lock, stop, [this] { return !waits_for_.empty(); });
    if (stop.stop_requested()) return;
    const Clock::time_point now = Clock::now();
    // Does not draw over a line that is being written.
    const bool line_is_free = !error_is_open_ && !(shares_terminal_ && answer_is_open_);
    if (line_is_free && now - since_ >= kFirstFrame) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - since_).count();
      std::string line =
          fmt::format("{} {} {} s", kFrames[frame_++ % kFrames.size()], visible(waits_for_), seconds);
      // If the line wrapped, only its last row could be erased.
      line.resize(utf8_floor(line, std::min(line.size(), columns(STDERR_FILENO) - 1)));
      put_error({Control::EraseLine, line});
      spinner_is_drawn_ = true;
      set_bar_is_shown(true);
    }
    woken_.wait_for(lock, stop, kNextFrame, [] { return false; });
  }
}

}  // namespace parley::cli
