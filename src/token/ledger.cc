#include "parley/token/ledger.h"

#include <limits>

namespace parley {
namespace {

std::size_t sum(std::size_t a, std::size_t b) {
  const std::size_t room = std::numeric_limits<std::size_t>::max() - a;
  return b > room ? std::numeric_limits<std::size_t>::max() : a + b;
}

}  // namespace

void TokenLedger::update(std::size_t input, std::size_t output) {
  total_input_ = sum(total_input_, input);
  total_completion_ = sum(total_completion_, output);
}

bool TokenLedger::check(std::size_t input) const {
  return !max_input_ || (total_input_ <= *max_input_ && input <= *max_input_ - total_input_);
}

std::string TokenLedger::message(std::size_t input) const {
  if (check(input)) return "Token limit exceeded";
  return "Request may exceed input token limit (Current: " + std::to_string(total_input_) +
         ", Needed: " + std::to_string(input) + ", Max: " + std::to_string(*max_input_) + ")";
}

}  // namespace parley
