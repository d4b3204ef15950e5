#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "cli/diagnostics.h"
#include "cli/look.h"
#include "cli/process.h"
#include "cli/terminal.h"

namespace parley::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstBar{300};
constexpr milliseconds kNextBar{200};
constexpr milliseconds kPlainLine{5000};

std::string megabytes(double bytes) {
  const double mb = bytes / 1e6;
  return fmt::format("{:.{}f} MB", mb, mb < 10 ? 1 : 0);
}

std::string duration(double seconds) {
  const auto s = static_cast<std::uint64_t>(std::min(seconds + 0.5, 1e9));
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
}

}  // namespace

std::string progress_text(std::size_t lines, std::uint64_t bytes, double seconds,
                          std::optional<std::uint64_t> total) {
  const double rate = seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
  std::string text = fmt::format("{}, {}, {}/s", counted(lines, "line"),
                                 megabytes(static_cast<double>(bytes)), megabytes(rate));
  if (total && *total > bytes && rate > 0) {
    text += fmt::format(", {} left", duration(static_cast<double>(*total - bytes) / rate));
  }
  return text;
}

Progress::Progress(bool is_shown, std::optional<std::uint64_t> total)
    : is_shown_(is_shown), is_terminal_(can_draw(STDERR_FILENO)), total_(total) {
  next_ = start_ + (is_terminal_ ? kFirstBar : kPlainLine);
}

void Progress::update(std::size_t lines, std::uint64_t bytes) {
  if (!is_shown_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (is_terminal_ ? kNextBar : kPlainLine);
  has_spoken_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string sums = progress_text(lines, bytes, seconds, total_);
  if (!is_terminal_) {
    print_message(sums);
    return;
  }
  const double all = total_ ? static_cast<double>(*total_) : 0;
  draw(sums, all > 0 ? std::min(1.0, static_cast<double>(bytes) / all) : -1);
}

// `fraction` below zero: the total is unknown, so there is no bar, only the numbers.
void Progress::draw(const std::string& sums, double fraction) {
  constexpr std::size_t kWidest = 40;
  constexpr std::size_t kNarrowest = 10;
  const std::size_t width = columns(STDERR_FILENO) - 1;
  std::string line = "parley: ";
  const std::size_t around = line.size() + sums.size() + 9;  // "[", "] 100 %  "
  if (fraction >= 0 && width >= around + kNarrowest) {
    const std::size_t bar = std::min(kWidest, width - around);
    const auto done = static_cast<std::size_t>(fraction * static_cast<double>(bar));
    line += fmt::format("[{:=<{}}{:<{}}] {:3.0f} %  ", "", done, "", bar - done, fraction * 100);
  }
  line += sums;
  if (line.size() > width) line.resize(width);
  show(STDERR_FILENO, {Control::EraseLine, line});
  set_bar_is_shown(true);
}

Progress::~Progress() {
  if (!bar_is_shown()) return;
  show(STDERR_FILENO, {Control::EraseLine});
  set_bar_is_shown(false);
}

void Progress::finish(std::size_t lines, std::uint64_t bytes) {
  if (!has_spoken_) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  print_message(
      fmt::format("{} in {}", progress_text(lines, bytes, seconds, std::nullopt), duration(seconds)));
}

}  // namespace parley::cli
