// Keeping the window within its budget.
#include <algorithm>
#include <array>
#include <utility>

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

constexpr auto kAny = static_cast<std::size_t>(-1);

std::size_t low_mark(std::size_t limit, double share) {
  if (share >= 1) return limit;  // the largest numbers have no exact double
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
  for (Position i = unit, end = unit_end(unit); i < end; ++i) {
    if (view.log[i].has(Entry::kSystem)) return "the system message";
  }
  if (is_pinned(unit)) return "the pinned message";
  if (unit == request) return "the newest user request";
  if (open.is_open() && unit == open.unit) return "the open exchange";
  if (unit == view.log[view.log.size() - 1].unit) return "the newest message";
  return {};
}

Result<std::optional<Plan>> State::trimmed() const {
  const Budget& budget = options->budget;
  const auto is_over = [&](const Totals& sums, const Limit& limit) {
    return budget.*limit.most && sums.*limit.total > *(budget.*limit.most);
  };
  const auto is_any_over = [&](const Totals& sums) {
    return std::any_of(kLimits.begin(), kLimits.end(),
                       [&](const Limit& limit) { return is_over(sums, limit); });
  };
  if (!is_any_over(totals) && !budget.age) return std::nullopt;

  const auto now = static_cast<double>(now_ms());
  const auto older_than = [&](Position unit, double share) {
    return budget.age && now - static_cast<double>(view.log[unit].added_ms) >
                             static_cast<double>(budget.age->count()) * share;
  };
  // Drops the oldest until what was over its limit is at `share` of it, and what is old is gone.
  const auto down_to = [&](double share) {
    Totals goal;
    for (const Limit& limit : kLimits) {
      goal.*limit.total = is_over(totals, limit) ? low_mark(*(budget.*limit.most), share) : kAny;
    }
    const auto fits = [&](const Totals& left) {
      return std::all_of(kLimits.begin(), kLimits.end(),
                         [&](const Limit& limit) { return left.*limit.total <= goal.*limit.total; });
    };
    bool has_expired = false;  // the oldest that may go decides
    bool is_first = true;
    Plan plan = without([&](Position unit, const Totals& left) {
      if (is_protected(unit)) return Verdict::Keep;
      if (std::exchange(is_first, false)) has_expired = older_than(unit, 1);
      const bool is_young = !has_expired || !older_than(unit, share);
      return fits(left) && is_young ? Verdict::Stop : Verdict::Drop;
    });
    return std::pair(std::move(plan), fits(plan.totals));
  };
  auto [plan, reaches] = down_to(budget.low_water);
  // If the low mark cannot be reached, no more is dropped than must be.
  if (!reaches) plan = down_to(1).first;
  if (is_any_over(plan.totals) && view.summary) {
    plan.totals -= summary_cost;
    plan.drops_summary = true;
  }
  for (const Limit& limit : kLimits) {
    if (is_over(plan.totals, limit)) {
      return std::unexpected(over_budget(limit.name, *(budget.*limit.most), limit.total));
    }
  }
  if (plan.dropped.empty() && !plan.drops_summary) return std::nullopt;
  return plan;
}

// Fewer messages or fewer bytes, and nothing that is limited grows but where there is room for it.
bool State::is_progress(const Totals& after) const {
  const auto is_fine = [&](const Limit& limit) {
    const std::optional<std::size_t>& most = options->budget.*limit.most;
    const std::size_t room = most ? low_mark(*most, options->budget.low_water) : kAny;
    return after.*limit.total <= std::max(totals.*limit.total, room);
  };
  return (after.messages < totals.messages || after.bytes < totals.bytes) &&
         std::all_of(kLimits.begin(), kLimits.end(), is_fine);
}

// Names the largest of those that stay.
Error State::over_budget(std::string_view name, std::size_t limit, std::size_t Totals::* total) const {
  Position largest = 0;
  std::size_t most = 0, all = 0;
  view.each([&](Position i) {
    if (view.log[i].unit != i || !is_protected(i)) return true;
    const std::size_t cost = cost_of(i).*total;
    all += cost;
    if (cost > most) {
      most = cost;
      largest = i;
    }
    return true;
  });
  std::string message = "the budget of " + std::to_string(limit) + " " + std::string(name) +
                        " cannot be met: what must stay takes " + std::to_string(all);
  if (most != 0) {
    message += ", of which ";
    message += what_is(largest);
    const auto id = view.log[largest].message.id();
    if (id) message += " '" + id->str() + "'";
    message += " takes " + std::to_string(most);
  }
  return {Code::LimitExceeded, std::move(message), {}};
}

Plan State::without_units(const Positions& units) const {
  return without([&](Position unit, const Totals&) {
    return std::binary_search(units.begin(), units.end(), unit) ? Verdict::Drop : Verdict::Keep;
  });
}

std::vector<Message> State::apply(Plan plan) {
  std::vector<Message> out = messages_in(plan.dropped);
  if (plan.drops_summary) {
    out.insert(out.begin(), view.summary->message);
    set_summary(std::nullopt);
  }
  view.spans.set(std::move(plan.spans));
  totals = plan.totals;
  if (!view.instead->empty()) {
    std::erase_if(view.instead.own(), [&](const auto& each) { return !view.holds(each.first); });
  }
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

Result<Change> Memory::evict(double share) {
  using memory::State;
  State& s = *state_;
  const auto goal =
      static_cast<std::size_t>(static_cast<double>(s.totals.bytes) * std::clamp(share, 0.0, 1.0));
  memory::Plan plan = s.without([&](memory::Position unit, const Totals& left) {
    if (left.bytes <= goal) return State::Verdict::Stop;
    return s.is_protected(unit) ? State::Verdict::Keep : State::Verdict::Drop;
  });
  if (plan.dropped.empty()) {
    return fail(Code::LimitExceeded, "nothing may leave the window: all of it is protected");
  }
  std::vector<Message> evicted = s.apply(std::move(plan));
  return Change{evicted.size(), 0, std::move(evicted)};
}

}  // namespace parley
