#include "parley/json/typed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace weather {

enum class Unit : std::uint8_t { Celsius, Fahrenheit };
PARLEY_NAMES(Unit, Celsius, Fahrenheit)

struct Place {
  double latitude = 0;
  double longitude = 0;
  bool operator==(const Place&) const = default;
};
PARLEY_FIELDS(Place, latitude, longitude)

struct Request {
  std::string city;
  int days = 1;
  std::optional<Unit> unit;
  std::vector<Place> places;
  std::map<std::string, std::uint8_t> shares;
  bool is_detailed = true;
  bool operator==(const Request&) const = default;
};
PARLEY_FIELDS(Request, city, days, unit, places, shares, is_detailed)

}  // namespace weather

namespace parley {
namespace {

using weather::Place;
using weather::Request;
using weather::Unit;

Json json(std::string_view text) { return Json::parse(text).value(); }

// TYPED3
TEST(Typed, TheSchemaOfAStructHasItsMembersAndDefaults) {
  EXPECT_EQ(
      schema_of<Request>().text(),
      R"({"type":"object","properties":{"city":{"type":"string"},)"
      R"("days":{"type":"integer","minimum":-2147483648,"maximum":2147483647,"default":1},)"
      R"("unit":{"anyOf":[{"type":"string","enum":["Celsius","Fahrenheit"]},{"type":"null"}]},)"
      R"("places":{"type":"array","items":{"type":"object","properties":{"latitude":{"type":"number"},)"
      R"("longitude":{"type":"number"}},"required":["latitude","longitude"],"additionalProperties":false}},)"
      R"("shares":{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":255}},)"
      R"("is_detailed":{"type":"boolean","default":true}},)"
      R"("required":["city","places","shares"],"additionalProperties":false})");
}

// TYPED1
TEST(Typed, AValueIsReadAsItWasWritten) {
  const Request request{"Oslo", 3, Unit::Fahrenheit, {{59.9, 10.75}}, {{"rain", 255}}, false};
  EXPECT_EQ(to_json(request).text(),
            R"({"city":"Oslo","days":3,"unit":"Fahrenheit","places":[{"latitude":59.9,)"
            R"("longitude":10.75}],"shares":{"rain":255},"is_detailed":false})");
  EXPECT_EQ(from_json<Request>(to_json(request)).value(), request);
  EXPECT_EQ(to_json(std::nan("")).text(), "null");
}

// TYPED3
TEST(Typed, AMissingMemberKeepsItsDefault) {
  const Request read =
      from_json<Request>(json(R"({"city":"Oslo","places":[],"shares":{},"unit":null})")).value();
  Request expected;
  expected.city = "Oslo";
  EXPECT_EQ(read, expected);
}

struct BadCase {
  std::string_view text;
  Code code;
  std::string_view line;
};

TEST(Typed, AnErrorNamesThePlace) {
  for (const BadCase& bad : {
           BadCase{R"([])", Code::WrongType, "expected an object"},
           BadCase{R"({})", Code::Missing, "the member 'city' is missing"},
           BadCase{R"({"city":1})", Code::WrongType, "/city: expected a string"},
           BadCase{R"({"city":"","days":"1"})", Code::WrongType,
                   "/days: expected an integer that fits its type"},
           BadCase{R"({"city":"","unit":"Kelvin"})", Code::Invalid,
                   "/unit: 'Kelvin' is not one of: Celsius, Fahrenheit"},
           BadCase{R"({"city":"","places":[{"latitude":1,"longitude":2},{"latitude":1}]})", Code::Missing,
                   "/places/1: the member 'longitude' is missing"},
           BadCase{R"({"city":"","places":[],"shares":{"a/b":256}})", Code::WrongType,
                   "/shares/a~1b: expected a positive integer that fits its type"},
       }) {
    const Result<Request> read = from_json<Request>(json(bad.text));
    ASSERT_FALSE(read) << bad.text;
    EXPECT_EQ(read.error().code, bad.code) << bad.text;
    EXPECT_EQ(to_line(read.error()), bad.line);
  }
}

// TYPED4
TEST(Typed, ANumberIsExactOrRefused) {
  EXPECT_EQ(from_json<int>(json("1.0")).value(), 1);
  EXPECT_EQ(from_json<int>(json("1e2")).value(), 100);
  EXPECT_EQ(from_json<std::uint64_t>(json("18446744073709551615")).value(), UINT64_MAX);
  EXPECT_EQ(from_json<std::int64_t>(json("-9223372036854775808")).value(), INT64_MIN);
  for (const std::string_view text : {"1.5", "2147483648", "-2147483649", "1e400", "true", "\"1\"", "null"}) {
    EXPECT_FALSE(from_json<int>(json(text))) << text;
  }
  for (const std::string_view text : {"-1", "18446744073709551616", "1.5"}) {
    EXPECT_FALSE(from_json<std::uint64_t>(json(text))) << text;
  }
  EXPECT_FALSE(from_json<float>(json("1e300")));
  EXPECT_EQ(from_json<float>(json("0.5")).value(), 0.5F);
  EXPECT_FALSE(from_json<std::int8_t>(json("128")));
  EXPECT_EQ(from_json<std::int8_t>(json("-128")).value(), -128);
}

// Every reader of duplicate keys takes the last one.
TEST(Typed, TheLastOfDuplicateKeysCounts) {
  using Lists = std::map<std::string, std::vector<int>>;
  EXPECT_EQ(from_json<Lists>(json(R"({"a":[1],"a":[2]})")).value(), (Lists{{"a", {2}}}));
  EXPECT_EQ(from_json<Place>(json(R"({"latitude":1,"longitude":2,"latitude":3})")).value(), (Place{3, 2}));
}

}  // namespace
}  // namespace parley
