#include "memory/spans.h"

#include <algorithm>
#include <iterator>

namespace parley::memory {

std::size_t count_of(const Spans& spans) {
  std::size_t count = 0;
  for (const Span& span : spans) count += span.last - span.first;
  return count;
}

bool contains(const Spans& spans, Position position) {
  const auto after = std::upper_bound(spans.begin(), spans.end(), position,
                                      [](Position at, const Span& span) { return at < span.first; });
  return after != spans.begin() && position < (after - 1)->last;
}

Spans joined_spans(const Spans& a, const Spans& b) {
  Spans both;
  both.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
             [](const Span& x, const Span& y) { return x.first < y.first; });
  Spans out;
  for (const Span& span : both) {
    if (!out.empty() && out.back().last == span.first) {
      out.back().last = span.last;
    } else {
      out.push_back(span);
    }
  }
  return out;
}

Spans without_spans(const Spans& a, const Spans& b) {
  Spans out;
  auto other = b.begin();
  for (Span span : a) {
    while (other != b.end() && other->last <= span.first) ++other;
    for (auto cut = other; cut != b.end() && cut->first < span.last; ++cut) {
      if (cut->first > span.first) out.push_back({span.first, cut->first});
      span.first = std::min(cut->last, span.last);
    }
    if (span.first < span.last) out.push_back(span);
  }
  return out;
}

Spans common_spans(const Spans& a, const Spans& b) { return without_spans(a, without_spans(a, b)); }

}  // namespace parley::memory
