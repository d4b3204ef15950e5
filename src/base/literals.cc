#include "base/literals.h"

#include <cassert>
#include <map>
#include <string>

namespace parley {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; }

// How common a byte is in texts, roughly.
int commonness(char c) {
  if (c == ' ' || (c >= 'a' && c <= 'z')) return 8;
  if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return 3;
  return c == '.' || c == ',' || c == '-' || c == '/' ? 2 : 1;
}

// Where the three least common bytes in a row are, not far from the beginning.
std::size_t seldom_place(std::string_view literal) {
  constexpr std::size_t kReach = 6;
  std::size_t best = 0;
  int least = 1000;
  for (std::size_t i = 0; i + 3 <= literal.size() && i <= kReach; ++i) {
    const int common = commonness(literal[i]) * commonness(literal[i + 1]) * commonness(literal[i + 2]);
    if (common >= least) continue;
    least = common;
    best = i;
  }
  return best;
}

Prefilter prefilter_of(std::span<const Literal> literals) {
  std::vector<std::array<std::string, 3>> bytes(literals.size());
  std::vector<Triple> triples;
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const std::size_t place = seldom_place(literals[i].text);
    for (std::size_t k = 0; k < 3 && place + k < literals[i].text.size(); ++k) {
      const char c = literals[i].text[place + k];
      bytes[i][k] = literals[i].any_case ? std::string{lower(c), upper(c)} : std::string{c};
    }
    triples.push_back({bytes[i][0], bytes[i][1], bytes[i][2]});
  }
  return Prefilter(triples);
}

}  // namespace

LiteralSet::LiteralSet(std::span<const Literal> literals)
    : literals_(literals.begin(), literals.end()), prefilter_(prefilter_of(literals)), buckets_(1) {
  assert(literals.size() < 0x100);
  std::map<std::size_t, std::vector<std::uint8_t>> by_pair;
  for (std::size_t index = 0; index < literals_.size(); ++index) {
    const Literal& literal = literals_[index];
    assert(literal.text.size() >= 2);
    reach_ = std::max(reach_, seldom_place(literal.text));
    const auto spellings = [&](std::size_t i) {
      const char c = literal.text[i];
      return literal.any_case ? std::array{lower(c), upper(c)} : std::array{c, c};
    };
    for (const char first : spellings(0)) {
      for (const char second : spellings(1)) {
        std::vector<std::uint8_t>& bucket = by_pair[pair_of(first, second)];
        if (bucket.empty() || bucket.back() != index) bucket.push_back(static_cast<std::uint8_t>(index));
      }
    }
  }
  for (auto& [pair, bucket] : by_pair) {
    std::ranges::sort(bucket, [&](std::uint8_t a, std::uint8_t b) {
      const std::size_t one = literals_[a].text.size();
      const std::size_t other = literals_[b].text.size();
      return one != other ? one > other : a < b;
    });
    const auto same = std::ranges::find(buckets_, bucket);
    starts_[pair] = static_cast<std::uint8_t>(same - buckets_.begin());
    if (same == buckets_.end()) buckets_.push_back(std::move(bucket));
  }
  assert(buckets_.size() <= 0x100);
}

bool LiteralSet::is_at(std::string_view text, std::size_t at, const Literal& literal) {
  const std::string_view here = text.substr(at, literal.text.size());
  if (!literal.any_case) return here == literal.text;
  return std::ranges::equal(here, literal.text, {}, lower, lower);
}

}  // namespace parley
