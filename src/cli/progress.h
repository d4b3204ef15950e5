// Progress tells on stderr how far a run over many lines has come: a bar on a terminal, otherwise a plain
// line every five seconds. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace parley::cli {

class Progress {
 public:
  // `total` is the size of the input in bytes, if it is known. With `is_shown` false nothing is printed.
  Progress(bool is_shown, std::optional<std::uint64_t> total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Call now and then; prints only when it is time to.
  void update(std::size_t lines, std::uint64_t bytes);

  // The last call of a successful run: replaces the bar by one line with the totals.
  void finish(std::size_t lines, std::uint64_t bytes);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(const std::string& sums, double fraction);

  bool is_shown_;
  bool is_terminal_;
  bool has_spoken_ = false;
  std::optional<std::uint64_t> total_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

// "120000 lines, 310 MB, 62 MB/s, 3 s left"; the last part only if `total` is known and not reached.
std::string progress_text(std::size_t lines, std::uint64_t bytes, double seconds,
                          std::optional<std::uint64_t> total);

}  // namespace parley::cli
