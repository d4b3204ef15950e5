// The promises of store.h as checks that any backend can be held to, ours and somebody else's. No test
// framework is needed: run every check, and show the errors.
//
//   for (const Check& check : conformance::checks()) {
//     if (const Result<void> kept = check.run(open); !kept) show(check.name, kept.error().message);
//   }
//
// The checks work in tenants and sessions of their own, which they leave behind. They run one at a time: a
// sweep reaches all tenants. They say nothing of kills, power failures and damaged files, which need the
// world around a store.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "parley/base/error.h"
#include "parley/store/store.h"

namespace parley::store::conformance {

// Opens the store under test, with the default limits. Every call is one more opening of the same data, as
// another process would have it; where data cannot be shared so, the same store again.
using Open = std::function<Result<std::shared_ptr<Store>>()>;

struct Check {
  std::string_view name;     // a word, for lists and filters
  std::string_view promise;  // "P4"
  std::string_view says;     // what is checked, as a sentence
  // Fails with a sentence that says what was expected and what came.
  Result<void> (*run)(const Open& open);
};

// All of them; the same at every call.
std::span<const Check> checks();

}  // namespace parley::store::conformance
