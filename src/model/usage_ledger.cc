#include "parley/model/usage_ledger.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace parley {
namespace {

void sum(std::uint64_t& total, std::uint64_t more) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  total = more > kMost - total ? kMost : total + more;
}

}  // namespace

std::string_view to_string(Purpose purpose) { return purpose == Purpose::Chat ? "chat" : "compression"; }

void UsageTotals::add(const CallRecord& call) {
  const Usage& usage = call.usage;
  const std::uint64_t read = usage.cache_read.value_or(0);
  const std::uint64_t written = usage.cache_write.value_or(0);
  const std::uint64_t input = usage.input.value_or(0);
  sum(calls, 1);
  sum(failed, call.failure ? 1 : 0);
  sum(attempts, call.attempts);
  sum(fresh, input > read && input - read > written ? input - read - written : 0);
  sum(cache_read, read);
  sum(cache_write, written);
  sum(output, usage.output.value_or(0));
  sum(reasoning, usage.reasoning.value_or(0));
  sum(unreported, call.attempts != 0 && !(usage.input && usage.output) ? 1 : 0);
  sum(unpriced, call.attempts != 0 && !call.cost ? 1 : 0);
  cost += call.cost.value_or(0);
  latency += call.latency;
}

void UsageTotals::add(const UsageTotals& totals) {
  for (std::uint64_t UsageTotals::* member :
       {&UsageTotals::calls, &UsageTotals::failed, &UsageTotals::attempts, &UsageTotals::fresh,
        &UsageTotals::cache_read, &UsageTotals::cache_write, &UsageTotals::output, &UsageTotals::reasoning,
        &UsageTotals::unreported, &UsageTotals::unpriced}) {
    sum(this->*member, totals.*member);
  }
  cost += totals.cost;
  latency += totals.latency;
}

UsageLedger::Row& UsageLedger::row(const CallRecord& call) {
  const auto key = [](const Row& row) {
    return std::tuple<Purpose, std::string_view, std::string_view>(row.purpose, row.provider, row.model);
  };
  const std::tuple wanted(call.purpose, call.provider.view(), call.model.view());
  const auto at = std::ranges::lower_bound(rows_, wanted, {}, key);
  if (at != rows_.end() && key(*at) == wanted) return *at;
  return *rows_.insert(at, {call.purpose, call.provider.str(), call.model.str(), {}});
}

void UsageLedger::add(const CallRecord& call) {
  const std::lock_guard lock(mutex_);
  row(call).totals.add(call);
  records_.push_back(call);
  while (records_.size() > most_) records_.pop_front();
}

std::vector<CallRecord> UsageLedger::records() const {
  const std::lock_guard lock(mutex_);
  return {records_.begin(), records_.end()};
}

UsageTotals UsageLedger::total() const {
  const std::lock_guard lock(mutex_);
  UsageTotals all;
  for (const Row& row : rows_) all.add(row.totals);
  return all;
}

UsageTotals UsageLedger::total(Purpose purpose) const {
  const std::lock_guard lock(mutex_);
  UsageTotals all;
  for (const Row& row : rows_) {
    if (row.purpose == purpose) all.add(row.totals);
  }
  return all;
}

std::vector<UsageLedger::Row> UsageLedger::rows() const {
  const std::lock_guard lock(mutex_);
  return rows_;
}

}  // namespace parley
