// What the log still holds of what left the window.
#include <algorithm>
#include <utility>

#include "memory/state.h"
#include "message/arena.h"

namespace parley::memory {
namespace {

// The bytes of memory of a message and its entry; of a document that several share, its part.
std::size_t memory_of(const Message& message) {
  const Arena& arena = Arena::of(message);
  return arena.memory() / std::max<std::size_t>(arena.messages().size(), 1) + sizeof(Entry);
}

bool is_above(const Totals& kept, const LogLimit& limit) {
  return (limit.messages && kept.messages > *limit.messages) || (limit.bytes && kept.bytes > *limit.bytes);
}

Spans in_order(Spans spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
  return joined_spans(spans, {});
}

bool has_any(const Positions& units, const Spans& gone) {
  return std::any_of(units.begin(), units.end(), [&](Position unit) { return contains(gone, unit); });
}

void erase_units(CopyOnWrite<Positions>& units, const Spans& gone) {
  if (!has_any(*units, gone)) return;
  std::erase_if(units.own(), [&](Position unit) { return contains(gone, unit); });
}

// The first position of a list from `from` on.
Position next_in(const Spans& spans, Position from) {
  const auto span = std::lower_bound(spans.begin(), spans.end(), from,
                                     [](const Span& each, Position at) { return each.last <= at; });
  return span == spans.end() ? kNoEnd : std::max(span->first, from);
}

}  // namespace

void State::leave(const Spans& dropped, Fate fate) {
  if (dropped.empty()) return;
  CopyOnWrite<Spans>& list = fate == Fate::Covered ? covered : fate == Fate::Uncovered ? uncovered : removed;
  list.set(joined_spans(*list, dropped));
  if (fate == Fate::Uncovered) uncovered_count += count_of(dropped);
  for (const Span& span : dropped) {
    // What is older than all that is kept is not kept either.
    const Position kept = fate == Fate::Removed ? span.last : std::clamp(kept_from_, span.first, span.last);
    if (kept != span.first) to_forget_.push_back({span.first, kept});
    for (Position i = kept; i < span.last; ++i) {
      ++kept_.messages;
      kept_.bytes += memory_of(view.log[i].message);
    }
  }
}

void State::set_uncovered(Spans spans) {
  uncovered_count = count_of(spans);
  uncovered.set(std::move(spans));
}

Spans State::held() const {
  Spans out = view.closed_spans();
  const Spans kept = {{kept_from_, static_cast<Position>(view.log.size())}};
  for (const auto* list : {&covered, &uncovered}) out = joined_spans(out, common_spans(**list, kept));
  return out;
}

void State::skip_to(Position position) {
  const auto size = static_cast<Position>(view.log.size());
  if (position == size) return;
  view.log.skip(position - size);
  Spans& spans = view.spans.own();
  spans.back().last = size;
  if (spans.back().first == size) spans.pop_back();
  spans.push_back({position, kNoEnd});
}

Result<void> State::keep_from(const Spans& held) {
  const Spans outside = joined_spans(*covered, *uncovered);
  const Spans kept = common_spans(outside, held);
  if (!kept.empty()) {
    kept_from_ = kept.front().first;
  } else if (!outside.empty()) {
    kept_from_ = outside.back().last;
  }
  const Spans younger = common_spans(outside, {{kept_from_, kNoEnd}});
  if (younger == kept) return {};
  return fail(Code::Invalid, "the log holds the newest of the messages that left the window", "/held");
}

// The oldest that are kept, until an eighth of the limit is free: so that it need not be done for each
// message.
Spans State::above(const LogLimit& limit) {
  Spans out;
  if (!is_above(kept_, limit)) return out;
  LogLimit low = limit;
  if (low.messages) *low.messages -= *low.messages / 8;
  if (low.bytes) *low.bytes -= *low.bytes / 8;
  while (is_above(kept_, low)) {
    const Position unit = std::min(next_in(*covered, kept_from_), next_in(*uncovered, kept_from_));
    kept_from_ = unit_end(unit);
    for (Position i = unit; i < kept_from_; ++i) {
      --kept_.messages;
      kept_.bytes -= memory_of(view.log[i].message);
    }
    out.push_back({unit, kept_from_});
  }
  return out;
}

void State::forget(LogLimit limit) {
  Spans gone = std::exchange(to_forget_, {});
  const Spans more = above(limit);
  gone.insert(gone.end(), more.begin(), more.end());
  if (gone.empty()) return;
  gone = in_order(std::move(gone));
  for (const Span& span : gone) view.log.forget(span.first, span.last);
  erase_units(pins, gone);
  const auto loses = [&](const auto& mark) { return has_any(*mark.second, gone); };
  if (std::any_of(marks->begin(), marks->end(), loses)) {
    for (auto& [mark, units] : marks.own()) erase_units(units, gone);
    std::erase_if(marks.own(), [](const auto& mark) { return mark.second->empty(); });
  }
  if (!is_stored) forget_ids();
}

// The index of ids cannot be made smaller, so it is made anew when most of it is of no use.
void State::forget_ids() {
  constexpr std::size_t kFew = 1000;
  if (ids_.size() < 2 * (totals.messages + kept_.messages) + kFew) return;
  IdIndex fresh;
  std::swap(ids_, fresh);
  for (const Span& span : held()) {
    for (Position i = span.first; i < span.last; ++i) {
      const Text id = view.log[i].message.id().value_or(Text());
      if (!id.empty() && !find(id)) ids_.insert(hash_of_id(id), i);
    }
  }
}

void State::settle() {
  if (!is_stored) forget(options->log_limit);
}

void State::forget_all() { forget({.messages = 0, .bytes = 0}); }

}  // namespace parley::memory
