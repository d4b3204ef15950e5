#include "base/prefilter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace parley {
namespace {

// The judge: a triple at a place, byte by byte.
bool is_at(const Triple& triple, std::string_view text, std::size_t at) {
  const auto has = [&](std::string_view set, std::size_t i) {
    return i < text.size() && set.find(text[i]) != std::string_view::npos;
  };
  return has(triple.first, at) && has(triple.second, at + 1) &&
         (triple.third.empty() || has(triple.third, at + 2));
}

RC_GTEST_PROP(Prefilter, MissesNoTripleOnAnyPath, ()) {
  const auto byte = rc::gen::elementOf(std::string("abcdABCD\x80\x8F\xE2\xEF<|", 14));
  const auto set = rc::gen::nonEmpty(rc::gen::container<std::string>(byte));
  const auto sets =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::tuple<std::string, std::string, std::string>>>(
          rc::gen::tuple(set, set, rc::gen::container<std::string>(byte))));
  std::vector<Triple> triples;
  triples.reserve(sets.size());
  for (const auto& [first, second, third] : sets) triples.push_back({first, second, third});
  const Prefilter prefilter(triples);
  // Long enough for the vectors, with bytes that are in no triple too.
  auto text = *rc::gen::container<std::string>(*rc::gen::inRange<std::size_t>(0, 200),
                                               rc::gen::oneOf(byte, rc::gen::just('x')));
  for (std::size_t from = 0; from <= text.size(); ++from) {
    const std::size_t next = prefilter.next(text, from);
    RC_ASSERT(next == prefilter.next_scalar(text, from));
    RC_ASSERT(next >= from && next <= text.size());
    for (std::size_t i = from; i < next; ++i) {
      for (const Triple& triple : triples) RC_ASSERT(!is_at(triple, text, i));
    }
  }
}

// Up to eight triples are never mixed up.
TEST(Prefilter, IsExactForFewTriples) {
  const Triple triples[] = {{"a", "b", "c"}, {"x", "y"}, {"<", "|", "ab"}};
  const Prefilter prefilter(triples);
  EXPECT_EQ(prefilter.next("ab ac bc xbc <by <|c", 0), 20U);
  EXPECT_EQ(prefilter.next("..abc", 0), 2U);
  EXPECT_EQ(prefilter.next("..xy", 0), 2U);
  EXPECT_EQ(prefilter.next("..ab", 0), 4U);
  EXPECT_EQ(prefilter.next("..<|b", 1), 2U);
  EXPECT_EQ(prefilter.next("", 0), 0U);
  EXPECT_EQ(prefilter.next(std::string(100, '.') + "abc", 0), 100U);
}

}  // namespace
}  // namespace parley
