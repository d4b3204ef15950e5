#include "parley/json/json.h"
#include "parley/model/usage_ledger.h"

namespace parley {
namespace {

Result<std::string> text_member(const Json& row, std::string_view name, const std::string& path) {
  const auto member = row.get(name);
  if (!member) return std::string();
  const auto text = member->as_string();
  if (!text) return fail(Code::WrongType, "'" + std::string(name) + "' must be a string", path);
  return text->str();
}

Result<std::optional<double>> price_member(const Json& row, std::string_view name, const std::string& path) {
  const auto member = row.get(name);
  if (!member) return std::nullopt;
  const auto price = member->as_double();
  if (!price) return fail(Code::WrongType, "'" + std::string(name) + "' must be a number", path);
  if (*price < 0) return fail(Code::Invalid, "'" + std::string(name) + "' is less than 0", path);
  return price;
}

Result<Price> read_price(const Json& row, const std::string& path) {
  Price price;
  PARLEY_TRY(price.model, text_member(row, "model", path));
  PARLEY_TRY(price.provider, text_member(row, "provider", path));
  PARLEY_TRY(const auto input, price_member(row, "input", path));
  PARLEY_TRY(const auto output, price_member(row, "output", path));
  PARLEY_TRY(price.cache_read, price_member(row, "cache_read", path));
  PARLEY_TRY(price.cache_write, price_member(row, "cache_write", path));
  if (price.model.empty() || !input || !output) {
    return fail(Code::Missing, "price row has no 'model', 'input' or 'output'", path);
  }
  price.input = *input;
  price.output = *output;
  return price;
}

}  // namespace

Result<PriceTable> PriceTable::parse(std::string_view json) {
  PARLEY_TRY(const Json list, Json::parse(json));
  if (!list.is_array()) return fail(Code::WrongType, "expected a list of price rows");
  std::vector<Price> rows;
  for (const Json& element : list.elements()) {
    PARLEY_TRY(Price row, read_price(element, "/" + std::to_string(rows.size())));
    rows.push_back(std::move(row));
  }
  return PriceTable(std::move(rows));
}

void PriceTable::prefer(std::span<const Price> rows) {
  rows_.insert(rows_.begin(), rows.begin(), rows.end());
}

const Price* PriceTable::find(std::string_view provider, std::string_view model) const {
  const Price* best = nullptr;
  const auto is_better = [&](const Price& row) {
    if (best == nullptr) return true;
    if (row.provider.empty() != best->provider.empty()) return best->provider.empty();
    return row.model.size() > best->model.size();
  };
  for (const Price& row : rows_) {
    const bool fits = model.starts_with(row.model) && (row.provider.empty() || row.provider == provider);
    if (fits && is_better(row)) best = &row;
  }
  return best;
}

std::optional<double> PriceTable::cost(std::string_view provider, std::string_view model,
                                       const Usage& usage) const {
  const Price* row = find(provider, model);
  if (row == nullptr || !usage.input || !usage.output) return std::nullopt;
  const auto count = [](const std::optional<std::uint64_t>& tokens) {
    return static_cast<double>(tokens.value_or(0));
  };
  const double cached = count(usage.cache_read) + count(usage.cache_write);
  const double fresh = std::max(0.0, count(usage.input) - cached);
  return (fresh * row->input + count(usage.cache_read) * row->cache_read.value_or(row->input) +
          count(usage.cache_write) * row->cache_write.value_or(row->input) +
          count(usage.output) * row->output) /
         1e6;
}

}  // namespace parley
