// A JSON number as what it is: digits and a power of ten. Compared exactly, in linear time.
// A value; one thread at a time.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace parley {

// (-1)^is_negative * digits * 10^exponent; digits without zeros at its ends, empty for zero.
struct Decimal {
  bool is_negative = false;
  std::string digits = {};
  std::int64_t exponent = 0;

  // REQUIRES: `spelling` is a JSON number. An exponent beyond 10^15 counts as 10^15.
  static Decimal of(std::string_view spelling);

  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return is_zero() || exponent >= 0; }
  // REQUIRES: `unit` is positive and has at most 18 digits.
  bool is_multiple_of(const Decimal& unit) const;
  std::string key() const;  // the same for equal numbers, and only for them

  friend bool operator==(const Decimal& a, const Decimal& b) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
};

}  // namespace parley
