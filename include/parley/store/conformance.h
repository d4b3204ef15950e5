// The promises of store.h as checks for any backend, built-in or third-party. No test framework is needed:
// run every check, and show the errors.
//
//   for (const Check& check : conformance::checks()) {
//     if (const Result<void> kept = check.run(open); !kept) show(check.name, kept.error().message);
//   }
//
// The checks create their own tenants and sessions and do not remove them. Run one at a time: a sweep affects
// all tenants. Kills, power failures and damaged files are not covered: they need control of the process and
// the disk.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "parley/base/error.h"
#include "parley/store/store.h"

namespace parley::store::conformance {

// Opens the store under test, with the default limits. Every call opens the same data again, as another
// process would; a backend that cannot share its data returns the same store.
using Open = std::function<Result<std::shared_ptr<Store>>()>;

struct Check {
  std::string_view name;     // for lists and filters
  std::string_view promise;  // "P4"
  std::string_view says;     // what is checked, as a sentence
  // Fails with a sentence that says what was expected and what was found.
  Result<void> (*run)(const Open& open);
};

// All checks; the same at every call.
std::span<const Check> checks();

}  // namespace parley::store::conformance
