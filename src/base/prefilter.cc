#include "base/prefilter.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace parley {
namespace {

// The triples of a group, by the halves of their bytes: what the vector code can tell apart.
struct Group {
  std::array<std::uint16_t, 3> low = {}, high = {};
  std::vector<std::size_t> members;
};

// About how often a text has three bytes that this group lets pass. Small letters make most of a text.
double rate(const Group& group) {
  constexpr std::array<double, 16> kWeights = {.1, .1, 2, 1, .5, .5, 6, 5, .3, .3, .3, .3, .2, .2, .4, .1};
  double product = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    double sum = 0;
    for (unsigned halves = group.high[k]; halves != 0; halves &= halves - 1) {
      sum += kWeights[static_cast<std::size_t>(std::countr_zero(halves))];
    }
    product *= sum * std::popcount(group.low[k]);
  }
  return product;
}

Group joined(const Group& a, const Group& b) {
  Group out = a;
  for (std::size_t k = 0; k < 3; ++k) {
    out.low[k] |= b.low[k];
    out.high[k] |= b.high[k];
  }
  out.members.insert(out.members.end(), b.members.begin(), b.members.end());
  return out;
}

// What two groups let pass together.
double joined_rate(const Group& a, const Group& b) {
  Group both = {a.low, a.high, {}};
  for (std::size_t k = 0; k < 3; ++k) {
    both.low[k] |= b.low[k];
    both.high[k] |= b.high[k];
  }
  return rate(both);
}

// At most eight groups, joining again and again the two that lose the least by it.
std::vector<Group> grouped(std::vector<Group> groups) {
  // Equal ones first: there are many, and they cost nothing.
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = groups.size(); b-- > a + 1;) {
      if (groups[a].low != groups[b].low || groups[a].high != groups[b].high) continue;
      groups[a] = joined(groups[a], groups[b]);
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
    }
  }
  // Losses are kept, as a joining changes those of one group only: this is done when a process starts.
  const std::size_t count = groups.size();
  std::vector<double> rates;
  rates.reserve(count);
  for (const Group& group : groups) rates.push_back(rate(group));
  const auto loss = [&](std::size_t a, std::size_t b) {
    return joined_rate(groups[a], groups[b]) - rates[a] - rates[b];
  };
  std::vector<double> losses(count * count);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) losses[a * count + b] = loss(a, b);
  }
  std::vector<std::size_t> left(count);
  std::iota(left.begin(), left.end(), std::size_t{0});
  while (left.size() > 8) {
    std::size_t best_a = 0;
    std::size_t best_b = 1;
    for (std::size_t a = 0; a < left.size(); ++a) {
      for (std::size_t b = a + 1; b < left.size(); ++b) {
        if (losses[left[a] * count + left[b]] >= losses[left[best_a] * count + left[best_b]]) continue;
        best_a = a;
        best_b = b;
      }
    }
    const std::size_t into = left[best_a];
    groups[into] = joined(groups[into], groups[left[best_b]]);
    rates[into] = rate(groups[into]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best_b));
    for (const std::size_t other : left) {
      const auto [a, b] = std::minmax(into, other);
      if (a != b) losses[a * count + b] = loss(a, b);
    }
  }
  std::vector<Group> out;
  out.reserve(left.size());
  for (const std::size_t each : left) out.push_back(std::move(groups[each]));
  return out;
}

}  // namespace

Prefilter::Prefilter(std::span<const Triple> triples) {
  for (const Triple& triple : triples) {
    for (const char first : triple.first) {
      for (const char second : triple.second) {
        const auto add = [&](unsigned third) {
          const unsigned bit =
              hash(static_cast<unsigned char>(first), static_cast<unsigned char>(second), third);
          hashes_[bit / 64] |= std::uint64_t{1} << bit % 64;
        };
        for (const char third : triple.third) add(static_cast<unsigned char>(third));
        for (unsigned third = 0; triple.third.empty() && third < 256; ++third) add(third);
      }
    }
  }
  std::vector<Group> groups;
  for (std::size_t i = 0; i < triples.size(); ++i) {
    Group group;
    const std::string_view sets[] = {triples[i].first, triples[i].second, triples[i].third};
    for (std::size_t k = 0; k < 3; ++k) {
      assert(k == 2 || !sets[k].empty());
      if (sets[k].empty()) group.low[k] = group.high[k] = 0xFFFF;
      for (const char c : sets[k]) {
        const auto byte = static_cast<unsigned char>(c);
        group.low[k] = static_cast<std::uint16_t>(group.low[k] | 1U << (byte & 15U));
        group.high[k] = static_cast<std::uint16_t>(group.high[k] | 1U << (byte >> 4U));
      }
    }
    group.members = {i};
    groups.push_back(std::move(group));
  }
  groups = grouped(std::move(groups));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto bit = static_cast<std::uint8_t>(1U << g);
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t half = 0; half < 16; ++half) {
        if ((groups[g].low[k] >> half & 1) != 0) low_[k][half] |= bit;
        if ((groups[g].high[k] >> half & 1) != 0) high_[k][half] |= bit;
      }
    }
    for (const std::size_t i : groups[g].members) {
      for (const char c : triples[i].first) bytes_[0][static_cast<unsigned char>(c)] |= bit;
      for (const char c : triples[i].second) bytes_[1][static_cast<unsigned char>(c)] |= bit;
      for (const char c : triples[i].third) bytes_[2][static_cast<unsigned char>(c)] |= bit;
      if (!triples[i].third.empty()) continue;
      any_third_ |= bit;
      for (std::uint8_t& groups_of_byte : bytes_[2]) groups_of_byte |= bit;
    }
  }
}

std::size_t Prefilter::next_scalar(std::string_view text, std::size_t from) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t size = text.size();
  std::size_t at = from;
  for (; at + 2 < size; ++at) {
    if (passes(bytes + at)) return at;
  }
  if (at + 1 < size && (bytes_[0][bytes[at]] & bytes_[1][bytes[at + 1]] & any_third_) != 0) return at;
  return size;
}

#if defined(__x86_64__)

namespace {

[[gnu::target("avx2")]] inline __m256i table(const std::array<std::uint8_t, 16>& halves) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(halves.data())));
}

// The groups of 32 bytes at once.
[[gnu::target("avx2")]] inline __m256i groups_of(__m256i low, __m256i high, const unsigned char* bytes) {
  const __m256i half = _mm256_set1_epi8(15);
  const __m256i data = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  return _mm256_and_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(data, half)),
                          _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(data, 4), half)));
}

}  // namespace

[[gnu::target("avx2")]] std::size_t Prefilter::next_avx2(std::string_view text, std::size_t from) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const __m256i low[] = {table(low_[0]), table(low_[1]), table(low_[2])};
  const __m256i high[] = {table(high_[0]), table(high_[1]), table(high_[2])};
  std::size_t at = from;
  for (; at + 34 <= text.size(); at += 32) {
    const __m256i first = groups_of(low[0], high[0], bytes + at);
    const __m256i second = groups_of(low[1], high[1], bytes + at + 1);
    const __m256i third = groups_of(low[2], high[2], bytes + at + 2);
    const __m256i all = _mm256_and_si256(_mm256_and_si256(first, second), third);
    const __m256i none = _mm256_cmpeq_epi8(all, _mm256_setzero_si256());
    auto places = ~static_cast<unsigned>(_mm256_movemask_epi8(none));
    for (; places != 0; places &= places - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(places));
      if (passes(bytes + place)) return place;
    }
  }
  return next_scalar(text, at);
}

std::size_t Prefilter::next(std::string_view text, std::size_t from) const {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2 ? next_avx2(text, from) : next_scalar(text, from);
}

#else

std::size_t Prefilter::next(std::string_view text, std::size_t from) const { return next_scalar(text, from); }

#endif

}  // namespace parley
