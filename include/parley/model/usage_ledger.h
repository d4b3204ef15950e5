// UsageLedger records the cost of calls: the newest calls one by one, and totals of all calls.
//
// Invariants (quoted by tests as USAGE1..USAGE3):
//   USAGE1  The totals are the sums of all records ever added, also of those that are no longer kept; sums
//           saturate.
//   USAGE2  At most `most_records` records are kept, the newest.
//   USAGE3  A count that a provider did not report adds nothing; `unreported` is the number of such calls.
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "parley/model/model.h"

namespace parley {

struct UsageTotals {
  std::uint64_t calls = 0, failed = 0, attempts = 0;
  std::uint64_t fresh = 0, cache_read = 0, cache_write = 0;  // input
  std::uint64_t output = 0, reasoning = 0;                   // reasoning is part of output
  std::uint64_t unreported = 0;                              // calls without token counts
  std::uint64_t unpriced = 0;                                // calls of unknown cost
  double cost = 0;                                           // dollars, of the others
  std::chrono::microseconds latency{0};

  void add(const CallRecord& call);
  void add(const UsageTotals& totals);
};

class UsageLedger {
 public:
  explicit UsageLedger(std::size_t most_records = 10'000) : most_(most_records) {}
  UsageLedger(const UsageLedger&) = delete;
  UsageLedger& operator=(const UsageLedger&) = delete;

  void add(const CallRecord& call);

  std::vector<CallRecord> records() const;  // oldest first
  UsageTotals total() const;
  UsageTotals total(Purpose purpose) const;

  struct Row {
    Purpose purpose = Purpose::Chat;
    std::string provider, model;
    UsageTotals totals;
  };
  std::vector<Row> rows() const;  // by purpose, provider and model

 private:
  mutable std::mutex mutex_;
  std::size_t most_;
  std::deque<CallRecord> records_;
  std::map<std::tuple<Purpose, std::string, std::string>, UsageTotals> totals_;
};

}  // namespace parley
