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
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/message/outcome.h"

namespace parley {

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

}  // namespace parley
