// Runs of neighbours in the log. A list of them is in order, and none touches or overlaps the next.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <vector>

#include "memory/log.h"

namespace parley::memory {

// Positions first, first + 1, ..., last - 1.
struct Span {
  Position first, last;
  bool operator==(const Span&) const = default;
};
using Spans = std::vector<Span>;

std::size_t count_of(const Spans& spans);
bool contains(const Spans& spans, Position position);
// What is in either of them. REQUIRES: they have nothing in common.
Spans joined_spans(const Spans& a, const Spans& b);
// What is in `a` and not in `b`.
Spans without_spans(const Spans& a, const Spans& b);
// What is in both.
Spans common_spans(const Spans& a, const Spans& b);

}  // namespace parley::memory
