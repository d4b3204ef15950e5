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
