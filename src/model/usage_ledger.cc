#include "parley/model/usage_ledger.h"

#include <limits>

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

void UsageLedger::add(const CallRecord& call) {
  const std::lock_guard lock(mutex_);
  totals_[{call.purpose, call.provider.str(), call.model.str()}].add(call);
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
  for (const auto& [key, totals] : totals_) all.add(totals);
  return all;
}

UsageTotals UsageLedger::total(Purpose purpose) const {
  const std::lock_guard lock(mutex_);
  UsageTotals all;
  for (const auto& [key, totals] : totals_) {
    if (std::get<0>(key) == purpose) all.add(totals);
  }
  return all;
}

std::vector<UsageLedger::Row> UsageLedger::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<Row> rows;
  rows.reserve(totals_.size());
  for (const auto& [key, totals] : totals_) {
    rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), totals});
  }
  return rows;
}

}  // namespace parley
