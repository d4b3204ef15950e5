#include "dialect/core/patch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace parley::dialect {
namespace {

Json json(std::string_view text) { return Json::parse(text).value(); }

struct Case {
  std::string_view natural, wire, patch;
};

const std::vector<Case> kCases = {
    {R"({"a":1})", R"({"a":1,"b":2})", R"({"order":["a","b"],"in":{"b":{"is":2}}})"},
    {R"({"a":1,"b":2})", R"({"b":2,"a":1})", R"({"order":["b","a"],"in":{}})"},
    {R"({"a":1,"b":2})", R"({"a":1})", R"({"order":["a"],"in":{}})"},
    {R"({"a":1})", R"({"a":1.0})", R"({"in":{"a":{"is":1.0}}})"},
    {R"({"a":1})", R"({"a":null})", R"({"in":{"a":{"is":null}}})"},
    {R"({"a":{"b":[1,{"c":2}]}})", R"({"a":{"b":[1,{"c":3}]}})",
     R"({"in":{"a":{"in":{"b":{"in":{"1":{"in":{"c":{"is":3}}}}}}}}})"},
    {R"({"a":[1,2]})", R"({"a":[1,2,3]})", R"({"in":{"a":{"is":[1,2,3]}}})"},
    {R"({"a":{}})", R"({"a":[]})", R"({"in":{"a":{"is":[]}}})"},
    {R"([1])", R"({"a":1})", R"({"is":{"a":1}})"},
    {R"({"is":1})", R"({"is":2,"in":3,"order":[]})",
     R"({"order":["is","in","order"],"in":{"is":{"is":2},"in":{"is":3},"order":{"is":[]}}})"},
    {R"({"a/b":1})", R"({"a/b":{"~":1}})", R"({"in":{"a/b":{"is":{"~":1}}}})"},
};

TEST(Patch, LeadsFromTheNaturalSpellingToTheWire) {
  for (const Case& each : kCases) {
    const auto patch = diff(json(each.natural), json(each.wire));
    ASSERT_TRUE(patch) << each.wire;
    EXPECT_EQ(patch->text().view(), each.patch);
    EXPECT_TRUE(Json::equal(patched(json(each.natural), *patch), json(each.wire))) << each.wire;
  }
}

TEST(Patch, IsNothingBetweenEqualValues) {
  EXPECT_FALSE(diff(json(R"({"a":["b"]})"), json(R"({ "a" : [ "\u0062" ] })")));
  EXPECT_FALSE(diff(json("1e400"), json("1e400")));
  EXPECT_TRUE(diff(json("1e400"), json("1E400")));
}

TEST(Patch, TakesTheLastOfDuplicateMembers) {
  const auto patch = diff(json(R"({"a":1})"), json(R"({"a":0,"b":1,"a":2})"));
  ASSERT_TRUE(patch);
  EXPECT_EQ(patched(json(R"({"a":1})"), *patch).text().view(), R"({"a":2,"b":1})");
}

// A patch edited by hand changes nothing where it does not fit, and never fails.
TEST(Patch, ChangesNothingWhereItDoesNotFit) {
  const std::vector<Case> cases = {
      {"1", "1", R"({"in":{"0":{"is":2}}})"},
      {"[1]", "[1]", R"({"in":{"5":{"is":2},"x":{"is":2},"-1":{"is":2}}})"},
      {R"({"a":1})", R"({"a":1})", "5"},
      {R"({"a":1})", R"({"a":1})", "[]"},
      {R"({"a":1})", R"({"a":1})", R"({"in":5,"order":7})"},
      {R"({"a":1})", R"({"a":1})", R"({"in":{"b":{"is":1}}})"},
      {R"({"a":1})", R"({"a":1})", R"({"order":["zz",5,"a"]})"},
      {R"({"a":1})", "{}", R"({"order":[]})"},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(patched(json(each.natural), json(each.patch)).text().view(), each.wire) << each.patch;
  }
}

TEST(Patch, NamesThePlacesItTouchesThoseThatSayNothingApart) {
  const PatchedPlaces found = places(json(
      R"({"order":["a"],"in":{"a":{"is":1},"b":{"in":{"0":{"is":null},"1":{"in":{"c~/":{"is":[0]}}}}}}})"));
  EXPECT_EQ(found.values, (std::vector<std::string>{"/a", "/b/1/c~0~1"}));
  EXPECT_EQ(found.empty, std::vector<std::string>{"/b/0"});
  for (const char* value : {"null", "\"\"", "[]", "{}", R"({"a":null,"b":{"c":[]}})"}) {
    const PatchedPlaces nothing = places(json(std::string(R"({"in":{"a":{"is":)") + value + "}}}"));
    EXPECT_TRUE(nothing.values.empty()) << value;
    EXPECT_EQ(nothing.empty, std::vector<std::string>{"/a"}) << value;
  }
  for (const char* value : {"0", "false", "\" \"", "[null]", R"({"a":null,"b":1})"}) {
    EXPECT_TRUE(places(json(std::string(R"({"in":{"a":{"is":)") + value + "}}}")).empty.empty()) << value;
  }
  EXPECT_TRUE(places(json(R"({"order":["b","a"],"in":{}})")).values.empty());
  EXPECT_TRUE(places(json("5")).values.empty());
}

// An object may have as many members as a document has room for: nothing here is quadratic.
TEST(Patch, HandlesObjectsWithManyMembers) {
  std::string wire = R"({"a":1)";
  for (int i = 0; i < 100'000; ++i) wire += ",\"u" + std::to_string(i) + "\":0";
  wire += "}";
  const auto patch = diff(json(R"({"a":1})"), json(wire));
  ASSERT_TRUE(patch);
  EXPECT_EQ(patched(json(R"({"a":1})"), *patch).text().view(), wire);
  EXPECT_EQ(places(*patch).values.size(), 100'000U);
}

// Depth costs no stack: below a few levels whole values differ.
TEST(Patch, HandlesDeepValues) {
  const std::string open(500, '[');
  const std::string close(500, ']');
  const Json natural = json(open + "1" + close);
  const Json wire = json(open + "2" + close);
  const auto patch = diff(natural, wire);
  ASSERT_TRUE(patch);
  EXPECT_TRUE(Json::equal(patched(natural, *patch), wire));
  std::string deep = "{}";
  for (int i = 0; i < 100; ++i) deep = R"({"in":{"0":)" + deep + "}}";
  EXPECT_TRUE(Json::equal(patched(natural, json(deep)), natural));
}

}  // namespace
}  // namespace parley::dialect
