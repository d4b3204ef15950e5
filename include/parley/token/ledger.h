// TokenLedger adds up the tokens of requests and checks whether one more fits, as OpenManus does: the limit
// is on the total input of all requests, not of one, and output does not count towards it.
//
// Invariants (quoted by tests as LEDGER1..LEDGER3):
//   LEDGER1  The totals are the sums of all updates, with a limit or without; they stop at the largest
//            number.
//   LEDGER2  check(n) is true exactly if there is no limit or total_input() + n <= limit.
//   LEDGER3  message(n) is the text that OpenManus raises.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace parley {

// Calibration corrects an estimate of tokens by what a provider reported for requests that were estimated.
//
// Invariants (quoted by tests as CALIBRATION1..CALIBRATION4):
//   CALIBRATION1  kLeast <= factor() <= kMost.
//   CALIBRATION2  Without a report the factor is 1.
//   CALIBRATION3  A report of nothing, and one that is more than kAbsurd times too large or too small,
//                 changes nothing.
//   CALIBRATION4  If every report is the same multiple of its estimate, and within CALIBRATION1, the factor
//                 is that multiple.
//
// A value; one thread at a time.
class Calibration {
 public:
  static constexpr double kLeast = 0.25;
  static constexpr double kMost = 4;
  static constexpr double kAbsurd = 16;  // such a report is about something else: a cached prefix, an error

  // Takes in one report about a request that was estimated, without this correction, at `estimated`. The
  // factor is the ratio of all that was reported to all that was estimated, a report weighing half as much
  // when four more have come in. Returns whether the report was used (CALIBRATION3).
  bool update(std::size_t estimated, std::size_t reported);

  double factor() const;
  // The corrected estimate, rounded up.
  std::size_t apply(std::size_t estimated) const;

  bool operator==(const Calibration&) const = default;

 private:
  double estimated_ = 0;
  double reported_ = 0;
};

class TokenLedger {
 public:
  explicit TokenLedger(std::optional<std::size_t> max_input = {}) : max_input_(max_input) {}

  void update(std::size_t input, std::size_t output = 0);
  bool check(std::size_t input) const;
  // Why a request of this size is refused: "Request may exceed input token limit (Current: 14, Needed: 8,
  // Max: 20)", or "Token limit exceeded" if it is not.
  std::string message(std::size_t input) const;

  std::size_t total_input() const { return total_input_; }
  std::size_t total_completion() const { return total_completion_; }
  std::optional<std::size_t> max_input() const { return max_input_; }

 private:
  std::optional<std::size_t> max_input_;
  std::size_t total_input_ = 0;
  std::size_t total_completion_ = 0;
};

}  // namespace parley
