// Every check of parley/store/conformance.h on every backend: one test each.
#include "parley/store/conformance.h"

#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "places.h"

namespace parley::store {
namespace {

struct Case {
  const PlaceKind* kind;
  const conformance::Check* check;
};

// The name of a case in lists of tests, too.
std::string name_of(const Case& c) { return std::string(c.kind->name) + "_" + std::string(c.check->name); }
void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const PlaceKind& kind : place_kinds()) {
    for (const conformance::Check& check : conformance::checks()) out.push_back({&kind, &check});
  }
  return out;
}

class Conformance : public testing::TestWithParam<Case> {};

TEST_P(Conformance, Holds) {
  Result<std::unique_ptr<Place>> place = GetParam().kind->make();
  ASSERT_TRUE(place) << place.error().message;
  const Result<void> kept = GetParam().check->run((*place)->opener());
  EXPECT_TRUE(kept) << GetParam().check->promise << ": " << GetParam().check->says << "\n"
                    << kept.error().message;
}

INSTANTIATE_TEST_SUITE_P(Stores, Conformance, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of(c.param); });

TEST(ConformanceChecks, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const conformance::Check& check : conformance::checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_TRUE(check.promise.starts_with("P")) << check.name;
    EXPECT_TRUE(check.says.ends_with(".")) << check.name;
  }
}

}  // namespace
}  // namespace parley::store
