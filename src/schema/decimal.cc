#include "schema/decimal.h"

#include <algorithm>

namespace parley {
namespace {

constexpr std::int64_t kMostExponent = 1'000'000'000'000'000;

std::int64_t exponent_of(std::string_view spelling) {
  std::int64_t value = 0;
  const bool is_negative = spelling.starts_with('-');
  if (is_negative || spelling.starts_with('+')) spelling.remove_prefix(1);
  for (const char c : spelling) value = std::min(value * 10 + (c - '0'), kMostExponent);
  return is_negative ? -value : value;
}

std::uint64_t multiplied(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}

// Compares the sizes of two numbers that are not zero.
std::strong_ordering compare_sizes(const Decimal& a, const Decimal& b) {
  const auto point = [](const Decimal& d) { return static_cast<std::int64_t>(d.digits.size()) + d.exponent; };
  if (point(a) != point(b)) return point(a) <=> point(b);
  return a.digits.compare(b.digits) <=> 0;
}

}  // namespace

Decimal Decimal::of(std::string_view spelling) {
  Decimal out;
  out.is_negative = spelling.starts_with('-');
  if (out.is_negative) spelling.remove_prefix(1);
  const std::size_t e = std::min(spelling.find_first_of("eE"), spelling.size());
  if (e < spelling.size()) out.exponent = exponent_of(spelling.substr(e + 1));
  const std::string_view number = spelling.substr(0, e);
  const std::size_t point = std::min(number.find('.'), number.size());
  out.digits = std::string(number.substr(0, point));
  if (point < number.size()) {
    out.digits += number.substr(point + 1);
    out.exponent -= static_cast<std::int64_t>(number.size() - point - 1);
  }
  out.digits.erase(0, std::min(out.digits.find_first_not_of('0'), out.digits.size()));
  const std::size_t last = out.digits.find_last_not_of('0');
  if (last == std::string::npos) return {};
  out.exponent += static_cast<std::int64_t>(out.digits.size() - last - 1);
  out.digits.resize(last + 1);
  return out;
}

bool Decimal::is_multiple_of(const Decimal& unit) const {
  if (is_zero()) return true;
  // Its last digit is no zero, so it cannot be a multiple of a higher power of ten.
  if (exponent < unit.exponent) return false;
  const std::uint64_t modulus = std::stoull(unit.digits);
  std::uint64_t rest = 0;
  for (const char c : digits) {
    rest = (multiplied(rest, 10, modulus) + static_cast<std::uint64_t>(c - '0')) % modulus;
  }
  std::uint64_t power = 10 % modulus;
  for (std::int64_t n = exponent - unit.exponent; n > 0; n /= 2) {
    if (n % 2 != 0) rest = multiplied(rest, power, modulus);
    power = multiplied(power, power, modulus);
  }
  return rest == 0;
}

std::string Decimal::key() const {
  if (is_zero()) return "0";
  return (is_negative ? "-" : "") + digits + "e" + std::to_string(exponent);
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  const auto sign = [](const Decimal& d) { return d.is_zero() ? 0 : d.is_negative ? -1 : 1; };
  if (sign(a) != sign(b)) return sign(a) <=> sign(b);
  if (a.is_zero()) return std::strong_ordering::equal;
  return a.is_negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

}  // namespace parley
