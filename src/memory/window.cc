// Keeping the window within its budget.
#include <algorithm>
#include <array>
#include <utility>

#include "base/shorten.h"
#include "memory/state.h"
#include "parley/base/clock.h"

namespace parley {
namespace {

using memory::Totals;

struct Limit {
  std::string_view name;
  std::optional<std::size_t> Budget::* most;
  std::size_t Totals::* total;
  bool is_count;  // which is the caller's wish; a model has a limit for the others
};
constexpr auto kLimits = std::to_array<Limit>({
    {"messages", &Budget::messages, &Totals::messages, true},
    {"exchanges", &Budget::exchanges, &Totals::exchanges, true},
    {"tokens", &Budget::tokens, &Totals::tokens, false},
    {"bytes", &Budget::bytes, &Totals::bytes, false},
});

constexpr auto kAny = memory::kNoLimit;
constexpr std::size_t kLeastSummaryTokens = 16;

std::size_t part_of(std::size_t limit, double share) {
  if (share >= 1) return limit;  // the largest numbers have no exact double
  return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(limit) * share));
}

bool passes(const Totals& sums, const Budget& budget, const Limit& limit, double share = 1) {
  const std::optional<std::size_t>& most = budget.*limit.most;
  return most && sums.*limit.total > part_of(*most, share);
}

bool passes(const Totals& sums, const Budget& budget, double share = 1) {
  return std::any_of(kLimits.begin(), kLimits.end(),
                     [&](const Limit& limit) { return passes(sums, budget, limit, share); });
}

// Of what a summary takes only tokens and bytes are limited to a share.
bool is_above_its_share(const Totals& summary, const Budget& budget, double share) {
  return (budget.tokens && summary.tokens > part_of(*budget.tokens, share)) ||
         (budget.bytes && summary.bytes > part_of(*budget.bytes, share));
}

}  // namespace

TokenCost::TokenCost(const TokenCounter& counter)
    : cost_([plain = counter.uncalibrated()](const Message& message) { return plain.count(message); }),
      counter_(counter) {}

Result<void> validate(const Budget& budget) {
  for (const Limit& limit : kLimits) {
    if (budget.*limit.most == 0U) {
      return fail(Code::Invalid,
                  "invalid budget of 0 " + std::string(limit.name) + ": use nullopt for no limit");
    }
  }
  if (budget.age && budget.age->count() <= 0)
    return fail(Code::Invalid, "invalid age: expected more than 0 ms");
  if (!(budget.low_water > 0 && budget.low_water <= 1)) {
    return fail(Code::Invalid, "invalid low water mark: expected above 0 and at most 1");
  }
  return {};
}

namespace memory {

bool State::is_pinned(Position unit) const { return std::binary_search(pins->begin(), pins->end(), unit); }

bool State::is_protected(Position unit) const { return !what_is(unit).empty(); }

std::string_view State::what_is(Position unit) const {
  if (is_system(unit)) return "the system message";
  if (is_pinned(unit)) return "the pinned message";
  if (unit == request) return "the newest user request";
  if (open.is_open() && unit == open.unit) return "the open exchange";
  const std::size_t newest = view.log.size() - 1;
  if (view.log.holds(newest) && unit == view.log[newest].unit) return "the newest message";
  return {};
}

Budget State::budget() const {
  Budget out = options->budget;
  if (!out.tokens || calibration.factor() == 1) return out;
  std::size_t most = std::max<std::size_t>(
      1, static_cast<std::size_t>(static_cast<double>(*out.tokens) / calibration.factor()));
  while (most > 1 && calibration.apply(most) > *out.tokens) --most;  // doubles are not exact
  out.tokens = most;
  return out;
}

bool State::is_over(const Budget& budget) const { return passes(totals, allowed(budget)); }

bool State::is_newest(Position unit) const {
  const std::size_t newest = view.log.size() - 1;
  return unit == request || (open.is_open() && unit == open.unit) ||
         (view.log.holds(newest) && unit == view.log[newest].unit);
}

bool State::is_system(Position unit) const {
  for (Position i = unit, end = unit_end(unit); i < end; ++i) {
    if (view.log[i].has(Entry::kSystem)) return true;
  }
  return false;
}

Budget State::allowed(Budget budget) const {
  const auto is_raised = [&](const Limit& limit) { return limit.is_count && passes(totals, budget, limit); };
  if (std::none_of(kLimits.begin(), kLimits.end(), is_raised)) return budget;
  Totals stays, kept;  // all that must stay; of it, what the caller chose
  view.each([&](Position i) {
    if (view.log[i].unit != i || !is_protected(i)) return true;
    stays += cost_of(i);
    if (is_system(i) || !is_newest(i)) kept += cost_of(i);
    return true;
  });
  for (const Limit& limit : kLimits) {
    std::optional<std::size_t>& most = budget.*limit.most;
    if (!is_raised(limit) || kept.*limit.total > *most) continue;
    most = std::max(*most, stays.*limit.total);
  }
  return budget;
}

// Drops the oldest until what is over its limit is at `share` of it, and what is old is gone.
Plan State::cut_to(const Budget& budget, double share, bool drops_summary, bool& reaches) const {
  const auto now = static_cast<double>(now_ms());
  const auto older_than = [&](Position unit, double part) {
    return budget.age && now - static_cast<double>(view.log[unit].added_ms) >
                             static_cast<double>(budget.age->count()) * part;
  };
  const Totals given = drops_summary ? summary_cost : Totals{};
  Totals goal;
  for (const Limit& limit : kLimits) {
    goal.*limit.total = passes(totals, budget, limit) ? part_of(*(budget.*limit.most), share) : kAny;
  }
  const auto fits = [&](Totals left) {
    left -= given;
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
  reaches = fits(plan.totals);
  plan.totals -= given;
  plan.drops_summary = drops_summary;
  return plan;
}

Result<std::optional<Plan>> State::trimmed() const {
  const Budget budget = allowed(this->budget());
  const bool is_over_now = passes(totals, budget);
  if (!is_over_now && !budget.age) return std::nullopt;
  // One that a budget has become too small for; what is written by hand may be of any size.
  const bool is_large = view.summary && view.summary->count != 0 &&
                        is_above_its_share(summary_cost, budget, options->compression.summary_share);
  bool reaches = false;
  Plan plan = cut_to(budget, budget.low_water, is_over_now && is_large, reaches);
  // If the low mark cannot be reached, no more is dropped than must be.
  if (!reaches) plan = cut_to(budget, 1, is_over_now && is_large, reaches);
  if (passes(plan.totals, budget) && view.summary && !plan.drops_summary) {
    plan.totals -= summary_cost;
    plan.drops_summary = true;
  }
  for (const Limit& limit : kLimits) {
    if (passes(plan.totals, budget, limit)) {
      return std::unexpected(over_budget(limit.name, *(budget.*limit.most), limit.total));
    }
  }
  if (plan.dropped.empty() && !plan.drops_summary) return std::nullopt;
  return plan;
}

// Fewer messages or fewer bytes, and nothing that is limited grows but where there is room for it.
bool State::is_progress(const Totals& after) const {
  const Budget limits = budget();
  const auto is_fine = [&](const Limit& limit) {
    const std::optional<std::size_t>& most = limits.*limit.most;
    const std::size_t room = most ? part_of(*most, limits.low_water) : kAny;
    return after.*limit.total <= std::max(totals.*limit.total, room);
  };
  return (after.messages < totals.messages || after.bytes < totals.bytes) &&
         std::all_of(kLimits.begin(), kLimits.end(), is_fine);
}

Totals State::protected_totals() const {
  Totals out;
  view.each([&](Position i) {
    if (view.log[i].unit == i && is_protected(i)) out += cost_of(i);
    return true;
  });
  return out;
}

// What a summary may take: its share of the budget, and no more than is left beside what must stay.
Result<Totals> State::room_for_summary(const Budget& budget) const {
  const CompressionPolicy& policy = options->compression;
  const Totals stays = protected_totals();
  Totals room{1, 0, kAny, policy.most_summary_bytes};
  const auto no_room = [&](std::string_view name, std::size_t limit, std::size_t left, std::size_t least) {
    return fail(Code::LimitExceeded, "no room for a summary: of the budget of " + std::to_string(limit) +
                                         " " + std::string(name) + " it may use " + std::to_string(left) +
                                         ", needed: at least " + std::to_string(least));
  };
  if (budget.messages && stays.messages >= *budget.messages) {
    return no_room("messages", *budget.messages, 0, 1);
  }
  const auto share = [&](std::size_t limit, std::size_t taken) {
    return std::min(part_of(limit, policy.summary_share), limit - std::min(limit, taken));
  };
  if (budget.tokens) {
    room.tokens = share(*budget.tokens, stays.tokens);
    if (room.tokens < kLeastSummaryTokens) {
      return no_room("tokens", calibration.apply(*budget.tokens), calibration.apply(room.tokens),
                     calibration.apply(kLeastSummaryTokens));
    }
  }
  if (budget.bytes) {
    const std::size_t least = std::min(kLeastTextBytes, policy.most_summary_bytes);
    room.bytes = std::min(room.bytes, share(*budget.bytes, stays.bytes));
    if (room.bytes < least) return no_room("bytes", *budget.bytes, room.bytes, least);
  }
  return room;
}

// All that may go but for the newest units; of these, too, the oldest that the budget has no room for beside
// a summary of the size `room`.
Positions State::compressible(const Budget& budget, const Totals& room) const {
  Positions units;
  view.each([&](Position position) {
    if (view.log[position].unit == position) units.push_back(position);
    return true;
  });
  const std::size_t older = units.size() - std::min(units.size(), options->compression.keep_recent);
  Positions newest(units.begin() + static_cast<std::ptrdiff_t>(older), units.end());
  units.resize(older);
  const auto stays = [&](Position unit) { return is_protected(unit); };
  std::erase_if(units, stays);
  std::erase_if(newest, stays);
  Totals after = totals;
  after -= summary_cost;
  for (const Position unit : units) after -= cost_of(unit);
  after += room;
  if (room.tokens == kAny) after.tokens = 0;
  if (!passes(after, budget)) return units;
  for (const Position unit : newest) {
    if (!passes(after, budget, budget.low_water)) break;
    after -= cost_of(unit);
    units.push_back(unit);
  }
  return units;
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
  const bool is_tokens = total == &Totals::tokens;
  const auto corrected = [&](std::size_t n) { return std::to_string(is_tokens ? calibration.apply(n) : n); };
  std::string message = "the budget of " + std::to_string(is_tokens ? *options->budget.tokens : limit) + " " +
                        std::string(name) + " is too small: protected messages need " + corrected(all);
  if (most != 0) {
    message += ", of which ";
    message += what_is(largest);
    const auto id = view.log[largest].message.id();
    if (id) message += " '" + id->str() + "'";
    message += " takes " + corrected(most);
  }
  return {Code::LimitExceeded, std::move(message), {}};
}

Plan State::without_units(const Positions& units) const {
  return without([&](Position unit, const Totals&) {
    return std::binary_search(units.begin(), units.end(), unit) ? Verdict::Drop : Verdict::Keep;
  });
}

std::vector<Message> State::apply(Plan plan, Fate fate) {
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
  leave(plan.dropped, fate);
  return out;
}

std::vector<Message> State::messages_in(const Spans& spans) const {
  std::vector<Message> out;
  for (const Span& span : spans) {
    for (Position i = span.first; i < span.last; ++i) out.push_back(view.log[i].message);
  }
  return out;
}

}  // namespace memory

Result<Change> Memory::evict(double share) {
  using memory::State;
  State& s = *state_;
  const auto goal =
      static_cast<std::size_t>(static_cast<double>(s.totals.bytes) * std::clamp(share, 0.0, 1.0));
  const bool drops_summary = s.view.summary && s.totals.bytes > goal;
  const std::size_t given = drops_summary ? s.summary_cost.bytes : 0;
  memory::Plan plan = s.without([&](memory::Position unit, const Totals& left) {
    if (left.bytes - given <= goal) return State::Verdict::Stop;
    return s.is_protected(unit) ? State::Verdict::Keep : State::Verdict::Drop;
  });
  if (plan.dropped.empty() && !drops_summary) {
    return fail(Code::LimitExceeded, "cannot evict: all messages of the window are protected");
  }
  if (drops_summary) plan.totals -= s.summary_cost;
  plan.drops_summary = drops_summary;
  const std::size_t uncovered = uncovered_size();
  std::vector<Message> evicted = s.apply(std::move(plan), memory::Fate::Uncovered);
  s.settle();
  return Change{evicted.size(), 0, std::move(evicted), uncovered_size() - uncovered};
}

}  // namespace parley
