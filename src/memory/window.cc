// Keeping the window within its budget.
#include <algorithm>
#include <array>

#include "memory/state.h"
#include "parley/base/clock.h"

namespace parley {
namespace {

using memory::Totals;

struct Limit {
  std::string_view name;
  std::optional<std::size_t> Budget::* most;
  std::size_t Totals::* total;
};
constexpr auto kLimits = std::to_array<Limit>({
    {"messages", &Budget::messages, &Totals::messages},
    {"exchanges", &Budget::exchanges, &Totals::exchanges},
    {"tokens", &Budget::tokens, &Totals::tokens},
    {"bytes", &Budget::bytes, &Totals::bytes},
});

std::size_t low_mark(std::size_t limit, double share) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(limit) * share));
}

}  // namespace

Result<void> validate(const Budget& budget) {
  for (const Limit& limit : kLimits) {
    if (budget.*limit.most == 0U) {
      return fail(Code::Invalid,
                  "a budget of 0 " + std::string(limit.name) + " holds nothing; no limit is nullopt");
    }
  }
  if (budget.age && budget.age->count() <= 0) return fail(Code::Invalid, "an age must be more than 0 ms");
  if (!(budget.low_water > 0 && budget.low_water <= 1)) {
    return fail(Code::Invalid, "the low water mark is a share of the budget, above 0 and at most 1");
  }
  return {};
}

namespace memory {

bool State::is_pinned(Position unit) const { return std::binary_search(pins->begin(), pins->end(), unit); }

bool State::is_protected(Position unit) const { return !what_is(unit).empty(); }

std::string_view State::what_is(Position unit) const {
  if (view.log[unit].has(Entry::kSystem)) return "the system message";
  if (is_pinned(unit)) return "the pinned message";
  if (unit == request) return "the newest user request";
  if (open.is_open() && unit == open.unit) return "the open exchange";
  if (unit == view.log[view.log.size() - 1].unit) return "the newest message";
  return {};
}

Result<std::optional<Plan>> State::trimmed() const {
  const Budget& budget = options->budget;
  Totals goal;
  bool is_over = false;
  for (const Limit& limit : kLimits) {
    const std::optional<std::size_t>& most = budget.*limit.most;
    const bool passed = most && totals.*limit.total > *most;
    is_over = is_over || passed;
    goal.*limit.total = passed ? low_mark(*most, budget.low_water) : static_cast<std::size_t>(-1);
  }
  if (!is_over && !budget.age) return std::nullopt;

  const std::int64_t now = now_ms();
  const auto older_than = [&](Position unit, double share) {
    return budget.age && static_cast<double>(now - view.log[unit].added_ms) >
                             static_cast<double>(budget.age->count()) * share;
  };
  bool has_expired = false;  // the oldest that may go decides
  bool is_first = true;
  Plan plan = without([&](Position unit, const Totals& left) {
    if (is_protected(unit)) return Verdict::Keep;
    if (std::exchange(is_first, false)) has_expired = older_than(unit, 1);
    const bool fits = std::all_of(kLimits.begin(), kLimits.end(),
                                  [&](const Limit& limit) { return left.*limit.total <= goal.*limit.total; });
    const bool is_young = !has_expired || !older_than(unit, budget.low_water);
    return fits && is_young ? Verdict::Stop : Verdict::Drop;
  });
  for (const Limit& limit : kLimits) {
    const std::optional<std::size_t>& most = budget.*limit.most;
    if (most && plan.totals.*limit.total > *most)
      return std::unexpected(over_budget(limit.name, *most, limit.total));
  }
  if (plan.dropped.empty()) return std::nullopt;
  return plan;
}

// Names the largest of those that stay.
Error State::over_budget(std::string_view name, std::size_t limit, std::size_t Totals::* total) const {
  Position largest = 0;
  std::size_t most = 0;
  view.each([&](Position i) {
    if (view.log[i].unit != i || !is_protected(i)) return true;
    if (const std::size_t cost = cost_of(i).*total; cost > most) {
      most = cost;
      largest = i;
    }
    return true;
  });
  std::string message = "the budget of " + std::to_string(limit) + " " + std::string(name) + " cannot be met";
  if (most != 0) {
    message += ": ";
    message += what_is(largest);
    const auto id = view.log[largest].message.id();
    if (id) message += " '" + id->str() + "'";
    message += " alone takes " + std::to_string(most);
  }
  return {Code::LimitExceeded, std::move(message), "/" + std::to_string(largest)};
}

Plan State::without_units(const Positions& units) const {
  return without([&](Position unit, const Totals&) {
    return std::binary_search(units.begin(), units.end(), unit) ? Verdict::Drop : Verdict::Keep;
  });
}

std::vector<Message> State::apply(Plan plan) {
  std::vector<Message> out = messages_in(plan.dropped);
  view.spans.set(std::move(plan.spans));
  totals = plan.totals;
  if (request != kNoEnd && !view.holds(request)) find_request();
  return out;
}

std::vector<Message> State::messages_in(const std::vector<Span>& spans) const {
  std::vector<Message> out;
  for (const Span& span : spans) {
    for (Position i = span.first; i < view.end(span); ++i) out.push_back(view.log[i].message);
  }
  return out;
}

}  // namespace memory
}  // namespace parley
