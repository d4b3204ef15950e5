#include "parley/trace/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace parley::trace {
namespace {

enum class Colour : std::uint8_t { Red = 3 };

TEST(Serializable, PlainValuesAreThemselves) {
  EXPECT_EQ(serialize_to_str(nullptr).view(), "null");
  EXPECT_EQ(serialize_to_str(std::monostate()).view(), "null");
  EXPECT_EQ(serialize_to_str(true).view(), "true");
  EXPECT_EQ(serialize_to_str(-7).view(), "-7");
  EXPECT_EQ(serialize_to_str(std::numeric_limits<std::uint64_t>::max()).view(), "18446744073709551615");
  EXPECT_EQ(serialize_to_str("a \"b\"").view(), R"("a \"b\"")");
  EXPECT_EQ(serialize_to_str(Text("ö")).view(), "\"ö\"");
  EXPECT_EQ(serialize_to_str(*Json::parse(R"({"a": 1e400})")).view(), R"({"a": 1e400})");
}

TEST(Serializable, NumbersThatJsonLacksAreWords) {
  EXPECT_EQ(serialize_to_str(0.1).view(), "0.1");
  EXPECT_EQ(serialize_to_str(2.0F).view(), "2.0");
  EXPECT_EQ(serialize_to_str(1e300).view(), "1e+300");
  EXPECT_EQ(serialize_to_str(std::numeric_limits<double>::quiet_NaN()).view(), "\"NaN\"");
  EXPECT_EQ(serialize_to_str(-std::numeric_limits<double>::infinity()).view(), "\"-Infinity\"");
}

TEST(Serializable, BytesThatAreNoTextAreRepaired) {
  EXPECT_EQ(serialize_to_str(std::string("a\xFF")).view(), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(serialize_to_str(std::map<std::string, int>{{"\xFF", 1}}).view(), "{\"\xEF\xBF\xBD\":1}");
}

TEST(Serializable, ListsAndObjectsNest) {
  EXPECT_EQ(serialize_to_str(std::vector<std::set<int>>{{2, 1}, {}}).view(), "[[1,2],[]]");
  EXPECT_EQ(serialize_to_str(std::map<int, std::vector<bool>>{{4, {true}}}).view(), R"({"4":[true]})");
  EXPECT_EQ(serialize_to_str(std::make_tuple(1, "x", std::pair(2.5, 'c' == 'd'))).view(),
            R"([1,"x",[2.5,false]])");
}

TEST(Serializable, WhatHoldsAValueIsTheValue) {
  EXPECT_EQ(serialize_to_str(std::optional<int>()).view(), "null");
  EXPECT_EQ(serialize_to_str(std::optional<int>(0)).view(), "0");
  EXPECT_EQ(serialize_to_str(std::make_unique<std::string>("x")).view(), "\"x\"");
  EXPECT_EQ(serialize_to_str(std::variant<int, std::string>("x")).view(), "\"x\"");
}

TEST(Serializable, TimeIsSecondsOrIso8601) {
  using namespace std::chrono;
  EXPECT_EQ(serialize_to_str(1500ms).view(), "1.5");
  EXPECT_EQ(serialize_to_str(sys_days(2026y / 11 / 15) + 9h + 30min + 125ms).view(),
            "\"2026-11-15T09:30:00.125Z\"");
}

TEST(Serializable, EnumeratorsAreTheirWordOrTheirNumber) {
  EXPECT_EQ(serialize_to_str(Role::Assistant).view(), "\"assistant\"");
  EXPECT_EQ(serialize_to_str(Colour::Red).view(), "3");
}

TEST(Serializable, AMessageIsAnObjectWhereverItIs) {
  const std::vector<Message> list = {Message::user_message("hi")};
  const Json json = to_serializable(list);
  EXPECT_EQ(json.at("/0/role")->as_string(), Text("user"));
  EXPECT_EQ(json.at("/0/parts/0/content")->as_string(), Text("hi"));
}

enum class Unit : std::uint8_t { Celsius, Fahrenheit };
PARLEY_NAMES(Unit, Celsius, Fahrenheit)
struct Reading {
  Unit unit = Unit::Celsius;
  std::pair<int, double> values;
};
PARLEY_FIELDS(Reading, unit, values)

TEST(Serializable, AStructWithFieldsIsAnObject) {
  EXPECT_EQ(serialize_to_str(std::vector{Reading{Unit::Fahrenheit, {1, 2.5}}}),
            R"([{"unit":"Fahrenheit","values":[1,2.5]}])");
}

}  // namespace
}  // namespace parley::trace
