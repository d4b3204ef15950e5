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
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/message/outcome.h"
#include "parley/model/model.h"

namespace parley {

// Token prices: a table by prefixes of model names, which the user can edit.
//
// Invariants (quoted by tests as PRICE1..PRICE3):
//   PRICE1  The row with the longest matching prefix decides; a row with a provider matches only that
//           provider, and wins over a row without one.
//   PRICE2  Tokens from a cache are not also counted as fresh input.
//   PRICE3  A cost is known only if the row and the counts of input and output are known.
//
// As JSON a table is a list: [{"model": "gpt-4o", "input": 2.5, "cache_read": 1.25, "output": 10}, ...], in
// dollars per million tokens; "provider" and the two cache prices are optional; the default of the latter is
// the price of fresh input.
//
// A value; one thread at a time. find() and cost() are safe from any thread.
struct Price {
  std::string model;          // a prefix of its name
  std::string provider = {};  // empty: any
  double input = 0;           // dollars per million tokens, as are all below
  double output = 0;
  std::optional<double> cache_read = {};
  std::optional<double> cache_write = {};
};

class PriceTable {
 public:
  PriceTable() = default;  // empty
  explicit PriceTable(std::vector<Price> rows) : rows_(std::move(rows)) {}
  // Fails like Json::parse(), with WrongType, Missing, or Invalid for a price below 0.
  static Result<PriceTable> parse(std::string_view json);
  // Prices that providers published, as of kPricesDate. They change: check them before you bill by them.
  static PriceTable published();

  // Adds rows that take precedence over rows with the same prefix.
  void prefer(std::span<const Price> rows);
  const Price* find(std::string_view provider, std::string_view model) const;
  // In dollars.
  std::optional<double> cost(std::string_view provider, std::string_view model, const Usage& usage) const;
  const std::vector<Price>& rows() const { return rows_; }

 private:
  std::vector<Price> rows_;
};

inline constexpr std::string_view kPricesDate = "2025-12";

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
  Row& row(const CallRecord& call);

  mutable std::mutex mutex_;
  std::size_t most_;
  std::deque<CallRecord> records_;
  std::vector<Row> rows_;  // ascending by purpose, provider and model
};

}  // namespace parley
