#include "base/literals.h"

#include <algorithm>
#include <cassert>
#include <map>

namespace parley {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; }

}  // namespace

LiteralSet::LiteralSet(std::span<const Literal> literals) : literals_(literals.begin(), literals.end()) {
  assert(!literals.empty() && literals.size() < kBucket);
  window_ = std::ranges::min(literals, {}, [](const Literal& each) { return each.text.size(); }).text.size();
  assert(window_ >= 2);
  moves_.fill(static_cast<std::uint8_t>(std::min<std::size_t>(window_ - 1, kBucket - 1)));

  // Calls visit(pair) for the spellings of the two bytes at `i` of the literal.
  const auto each_spelling = [](const Literal& literal, std::size_t i, auto&& visit) {
    const char a = literal.text[i];
    const char b = literal.text[i + 1];
    if (!literal.any_case) {
      visit(pair_of(a, b));
      return;
    }
    for (const char first : {lower(a), upper(a)}) {
      for (const char second : {lower(b), upper(b)}) visit(pair_of(first, second));
    }
  };

  std::map<std::size_t, std::vector<std::uint8_t>> by_pair;
  for (std::size_t index = 0; index < literals_.size(); ++index) {
    const Literal& literal = literals_[index];
    for (std::size_t i = 0; i + 2 < window_; ++i) {
      const std::size_t move = window_ - 2 - i;
      each_spelling(literal, i, [&](std::size_t pair) {
        moves_[pair] = static_cast<std::uint8_t>(std::min<std::size_t>(moves_[pair], move));
      });
    }
    each_spelling(literal, window_ - 2, [&](std::size_t pair) {
      std::vector<std::uint8_t>& bucket = by_pair[pair];
      if (bucket.empty() || bucket.back() != index) bucket.push_back(static_cast<std::uint8_t>(index));
    });
  }
  for (auto& [pair, bucket] : by_pair) {
    std::ranges::stable_sort(bucket, std::ranges::greater(),
                             [&](std::uint8_t index) { return literals_[index].text.size(); });
    const auto same = std::ranges::find(buckets_, bucket);
    moves_[pair] = static_cast<std::uint8_t>(kBucket + (same - buckets_.begin()));
    if (same == buckets_.end()) buckets_.push_back(std::move(bucket));
  }
  assert(buckets_.size() <= kBucket);
}

bool LiteralSet::is_at(std::string_view text, std::size_t at, const Literal& literal) {
  const std::string_view here = text.substr(at, literal.text.size());
  if (!literal.any_case) return here == literal.text;
  return std::ranges::equal(here, literal.text, {}, lower, lower);
}

}  // namespace parley
