#include "parley/json/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/json/writer.h"

// The invariants of json.h, as quoted below:
//   JSON1  text() is one strict JSON value in UTF-8, without whitespace around it.
//   JSON2  Two Json are == exactly if their texts are; equal() compares values.
//   JSON3  Members and elements share the text of their parent; nothing is copied.

namespace parley {
namespace {

Json parsed(std::string_view text) {
  const Result<Json> json = Json::parse(text);
  EXPECT_TRUE(json.has_value()) << text.substr(0, 100);
  return json.value_or(Json());
}

bool inside(const Text& part, const Text& whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

TEST(Json, KeepsItsTextWithoutTheSpaceAroundIt) {  // JSON1
  EXPECT_EQ(parsed(" \n\t{ \"a\" : 1.50 } \r\n").text().view(), "{ \"a\" : 1.50 }");
  EXPECT_EQ(parsed("\xEF\xBB\xBF 1").text().view(), "1");
  EXPECT_EQ(parsed("\"\\u0041\"").text().view(), "\"\\u0041\"");
  EXPECT_EQ(Json().text().view(), "null");
  EXPECT_EQ(Json::number(-5).text().view(), "-5");
  EXPECT_EQ(Json::boolean(true).text().view(), "true");
  EXPECT_EQ(Json::boolean(false).text().view(), "false");
}

TEST(Json, TakesOwnershipOfABufferWithoutACopy) {  // JSON1
  json::Buffer buffer = json::Buffer::copy_of(" [1, 2] ");
  const char* const place = buffer.data();
  const Result<Json> json = Json::parse(std::move(buffer));
  ASSERT_TRUE(json.has_value());
  EXPECT_EQ(json->text().view(), "[1, 2]");
  EXPECT_EQ(json->text().data(), place + 1);
  EXPECT_FALSE(Json::parse(json::Buffer::copy_of("[1, 2")).has_value());
  EXPECT_FALSE(Json::parse(json::Buffer()).has_value());
}

TEST(Json, ReportsWhatIsWrongAndWhere) {
  const auto error = [](std::string_view text) { return Json::parse(text).error(); };
  EXPECT_EQ(error(R"({"a":[1,tru]})").code, Code::Malformed);
  EXPECT_EQ(error(R"({"a":[1,tru]})").path, "/a/1");
  EXPECT_EQ(error(R"({"a":[1,tru]})").message, "expected a JSON value (byte 8)");
  EXPECT_EQ(error("").code, Code::Malformed);
  EXPECT_EQ(error("[\"\xFF\"]").code, Code::InvalidUtf8);
  EXPECT_EQ(error("[\"\xFF\"]").path, "/0");
  EXPECT_EQ(error(R"(["ok",{"k":"\ud800"}])").code, Code::LoneSurrogate);
  EXPECT_EQ(error(R"(["ok",{"k":"\ud800"}])").path, "/1/k");
  EXPECT_EQ(error(R"({"\ud800":1})").code, Code::LoneSurrogate);
  EXPECT_EQ(error(std::string(513, '[')).code, Code::LimitExceeded);
  EXPECT_EQ(error("[1] [2]").code, Code::Malformed);
}

TEST(Json, ObeysTheLimits) {
  EXPECT_FALSE(Json::parse("[1]", {.bytes = 2}).has_value());
  EXPECT_TRUE(Json::parse("[1]", {.bytes = 3}).has_value());
  EXPECT_FALSE(Json::parse("\"abc\"", {.string = 2}).has_value());
  EXPECT_TRUE(Json::parse("\"abc\"", {.string = 3}).has_value());
  EXPECT_FALSE(Json::parse("[[1]]", {.depth = 1}).has_value());
  EXPECT_TRUE(Json::parse("[[1]]", {.depth = 2}).has_value());
}

TEST(Json, KnowsItsType) {
  EXPECT_EQ(parsed("null").type(), Json::Type::Null);
  EXPECT_EQ(parsed("true").type(), Json::Type::Bool);
  EXPECT_EQ(parsed("false").type(), Json::Type::Bool);
  EXPECT_EQ(parsed("-1").type(), Json::Type::Number);
  EXPECT_EQ(parsed("0").type(), Json::Type::Number);
  EXPECT_EQ(parsed("\"\"").type(), Json::Type::String);
  EXPECT_EQ(parsed("[]").type(), Json::Type::Array);
  EXPECT_EQ(parsed("{}").type(), Json::Type::Object);
  EXPECT_TRUE(parsed("null").is_null());
  EXPECT_TRUE(parsed("{}").is_object());
  EXPECT_TRUE(parsed("[]").is_array());
  EXPECT_TRUE(parsed("\"\"").is_string());
}

TEST(Json, GivesIntegersOnlyIfTheyAreSpelledAsSuchAndFit) {
  EXPECT_EQ(parsed("0").as_int64(), 0);
  EXPECT_EQ(parsed("-0").as_int64(), 0);
  EXPECT_EQ(parsed("9007199254740993").as_int64(), 9007199254740993);  // 2^53 + 1
  EXPECT_EQ(parsed("9223372036854775807").as_int64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parsed("-9223372036854775808").as_int64(), std::numeric_limits<std::int64_t>::min());
  for (const char* other : {"9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
                            "1.0", "1e2", "1E0", "-0.0", "null", "true", "\"1\"", "[1]", "{}"}) {
    EXPECT_EQ(parsed(other).as_int64(), std::nullopt) << other;
  }
}

TEST(Json, GivesTheNearestDoubleIfThereIsOne) {
  EXPECT_EQ(parsed("0.1").as_double(), 0.1);
  EXPECT_EQ(parsed("1").as_double(), 1.0);
  EXPECT_EQ(parsed("-2.5e-3").as_double(), -0.0025);
  EXPECT_EQ(parsed("1E+2").as_double(), 100.0);
  EXPECT_EQ(parsed("9007199254740993").as_double(), 9007199254740992.0);
  EXPECT_EQ(parsed("123456789012345678901234567890").as_double(), 123456789012345678901234567890.0);
  EXPECT_EQ(parsed("1.7976931348623157e308").as_double(), std::numeric_limits<double>::max());
  EXPECT_EQ(parsed("5e-324").as_double(), std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(std::signbit(*parsed("-0").as_double()));
  EXPECT_TRUE(std::signbit(*parsed("-0.0").as_double()));
  EXPECT_EQ(parsed("0e999999999").as_double(), 0.0);
  for (const char* other : {"1e400", "-1e400", "1e99999999999999999999", "1e-400", "-1e-400", "null", "true",
                            "\"1\"", "[1]", "{}"}) {
    EXPECT_EQ(parsed(other).as_double(), std::nullopt) << other;
  }
}

TEST(Json, GivesOtherScalarsOrNothing) {
  EXPECT_EQ(parsed("true").as_bool(), true);
  EXPECT_EQ(parsed("false").as_bool(), false);
  EXPECT_EQ(parsed("1").as_bool(), std::nullopt);
  EXPECT_EQ(parsed("null").as_bool(), std::nullopt);
  EXPECT_EQ(parsed(R"("a\u0000\n\ud83d\ude00")").as_string()->view(),
            std::string_view("a\0\n\xF0\x9F\x98\x80", 7));
  EXPECT_EQ(parsed("\"\"").as_string()->view(), "");
  EXPECT_EQ(parsed("1").as_string(), std::nullopt);
  EXPECT_EQ(parsed("null").as_string(), std::nullopt);
}

TEST(Json, WalksItsMembersAndElementsInOrder) {
  const Json json = parsed(R"( { "b" : [ 1 , "x" , { } ] ,"a":null , "\u0062" : 2,"":"" } )");
  const auto members = json.members();
  ASSERT_EQ(members.size(), 4U);
  EXPECT_EQ(members[0].key.view(), "b");
  EXPECT_EQ(members[0].value.text().view(), R"([ 1 , "x" , { } ])");
  EXPECT_EQ(members[1].key.view(), "a");
  EXPECT_TRUE(members[1].value.is_null());
  EXPECT_EQ(members[2].key.view(), "b");
  EXPECT_EQ(members[3].key.view(), "");
  const auto elements = members[0].value.elements();
  ASSERT_EQ(elements.size(), 3U);
  EXPECT_EQ(elements[0].text().view(), "1");
  EXPECT_EQ(elements[1].text().view(), "\"x\"");
  EXPECT_EQ(elements[2].text().view(), "{ }");
  for (const char* other : {"1", "\"{}\"", "[]", "null"})
    EXPECT_TRUE(parsed(other).members().empty()) << other;
  for (const char* other : {"1", "\"[1]\"", "{}", "{\"a\":[1]}", "null"})
    EXPECT_TRUE(parsed(other).elements().empty()) << other;
  EXPECT_TRUE(parsed("[ ]").elements().empty());
  EXPECT_TRUE(parsed("{ }").members().empty());
}

TEST(Json, IsNotMisledByBracketsAndQuotesInStrings) {
  const Json json = parsed(R"(["]","\"]","\\","\\\"","[{,:",{"}":"}","\\":"\""}])");
  ASSERT_EQ(json.elements().size(), 6U);
  EXPECT_EQ(json.elements()[1].as_string()->view(), "\"]");
  EXPECT_EQ(json.elements()[2].as_string()->view(), "\\");
  EXPECT_EQ(json.elements()[5].get("}")->as_string()->view(), "}");
  EXPECT_EQ(json.elements()[5].get("\\")->as_string()->view(), "\"");
}

TEST(Json, SharesItsTextWithItsParts) {  // JSON3
  const Json json = parsed(
      R"({"plain":"a text that is long enough not to fit anywhere small","list":[1,{"x":[true]}],"esc":"\n"})");
  for (const Json::Member& member : json.members()) {
    EXPECT_TRUE(inside(member.key, json.text()));
    EXPECT_TRUE(inside(member.value.text(), json.text()));
  }
  EXPECT_TRUE(inside(json.at("/list/1/x/0")->text(), json.text()));
  EXPECT_TRUE(inside(*json.get("plain")->as_string(), json.text()));
  EXPECT_EQ(json.get("esc")->as_string()->view(), "\n");
  const Json copy = json;
  EXPECT_EQ(copy.text().data(), json.text().data());
}

TEST(Json, OutlivesWhatItWasTakenFrom) {  // JSON3
  std::optional<Json> part;
  {
    std::string source = R"({"a":{"b":"kept"}})";
    part = parsed(source).at("/a");
    source.assign(source.size(), '!');
  }
  EXPECT_EQ(part->text().view(), R"({"b":"kept"})");
}

TEST(Json, GivesTheLastOfMembersWithOneName) {
  const Json json = parsed(R"({"a":1,"\u0061":2,"b":3})");
  EXPECT_EQ(json.get("a")->text().view(), "2");
  EXPECT_EQ(json.get("b")->text().view(), "3");
  EXPECT_FALSE(json.get("c").has_value());
  EXPECT_FALSE(json.get("").has_value());
  EXPECT_FALSE(parsed("[1]").get("0").has_value());
  EXPECT_EQ(json.members().size(), 3U);
}

// The document and the evaluations of RFC 6901, section 5.
TEST(JsonPointer, EvaluatesTheExamplesOfRfc6901) {
  const Json json =
      parsed(R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})");
  EXPECT_EQ(json.at("")->text(), json.text());
  EXPECT_EQ(json.at("/foo")->text().view(), R"(["bar","baz"])");
  EXPECT_EQ(json.at("/foo/0")->text().view(), R"("bar")");
  EXPECT_EQ(json.at("/")->text().view(), "0");
  EXPECT_EQ(json.at("/a~1b")->text().view(), "1");
  EXPECT_EQ(json.at("/c%d")->text().view(), "2");
  EXPECT_EQ(json.at("/e^f")->text().view(), "3");
  EXPECT_EQ(json.at("/g|h")->text().view(), "4");
  EXPECT_EQ(json.at("/i\\j")->text().view(), "5");
  EXPECT_EQ(json.at("/k\"l")->text().view(), "6");
  EXPECT_EQ(json.at("/ ")->text().view(), "7");
  EXPECT_EQ(json.at("/m~0n")->text().view(), "8");
}

TEST(JsonPointer, RefusesWhatTheGrammarOfRfc6901Refuses) {
  const Json json = parsed(R"({"a":[10,11,12],"~":1,"/":2,"~2":3,"m~":4,"01":5,"-":6})");
  for (const char* pointer : {"a",
                              "/a/01",
                              "/a/00",
                              "/a/-",
                              "/a/+1",
                              "/a/-1",
                              "/a/1 ",
                              "/a/ 1",
                              "/a/1e0",
                              "/a/",
                              "/a/3",
                              "/a/x",
                              "/a/18446744073709551616",
                              "/a/99999999999999999999999",
                              "/a/0/0",
                              "/~",
                              "/~2",
                              "/m~",
                              "/m~x",
                              "/a~",
                              "//",
                              "/a//",
                              "#/a",
                              "/b",
                              "0"}) {
    EXPECT_FALSE(json.at(pointer).has_value()) << pointer;
  }
  EXPECT_EQ(json.at("/a/0")->text().view(), "10");
  EXPECT_EQ(json.at("/a/2")->text().view(), "12");
  EXPECT_EQ(json.at("/~0")->text().view(), "1");
  EXPECT_EQ(json.at("/~1")->text().view(), "2");
  EXPECT_EQ(json.at("/~02")->text().view(), "3");
  EXPECT_EQ(json.at("/01")->text().view(), "5");
  EXPECT_EQ(json.at("/-")->text().view(), "6");
}

TEST(JsonPointer, DecodesTildesOnce) {
  const Json json = parsed(R"({"~1":1,"/":2})");
  EXPECT_EQ(json.at("/~01")->text().view(), "1");
  EXPECT_EQ(json.at("/~1")->text().view(), "2");
}

TEST(Json, BecomesCompactWithoutLosingAnything) {
  EXPECT_EQ(
      parsed(" { \"a b\" : [ 1.50 , \" \\u0041 \" , { } , [ ] ] ,\n\"c\":null } ").compact().text().view(),
      "{\"a b\":[1.50,\" \\u0041 \",{},[]],\"c\":null}");
  const Json already = parsed(R"({"a":[1,2]})");
  EXPECT_EQ(already.compact().text().data(), already.text().data())
      << "shared if there is nothing to leave out";
  EXPECT_EQ(parsed("\" \"").compact().text().view(), "\" \"");
}

TEST(Json, BecomesPrettyOverSeveralLines) {
  EXPECT_EQ(parsed(R"({"a":[1,{"b":[]},{}],"c":"x:,[y"})").pretty(), R"({
  "a": [
    1,
    {
      "b": []
    },
    {}
  ],
  "c": "x:,[y"
})");
  EXPECT_EQ(parsed("[]").pretty(), "[]");
  EXPECT_EQ(parsed("{ }").pretty(), "{}");
  EXPECT_EQ(parsed("1.0").pretty(), "1.0");
  EXPECT_EQ(parsed("[[]]").pretty(), "[\n  []\n]");
}

TEST(Json, ComparesTextsAndValues) {  // JSON2
  const auto equal = [](std::string_view a, std::string_view b) {
    const bool forth = Json::equal(parsed(a), parsed(b));
    EXPECT_EQ(forth, Json::equal(parsed(b), parsed(a))) << a << " " << b;
    return forth;
  };
  EXPECT_TRUE(parsed("[1]") == parsed(" [1] "));
  EXPECT_FALSE(parsed("[1]") == parsed("[ 1]"));
  EXPECT_TRUE(equal("[1]", "[ 1]"));
  EXPECT_TRUE(equal(R"({"a":"\u0041\/"})", R"({ "\u0061" : "A/" })"));
  EXPECT_TRUE(equal("\"\xC3\xA9\"", "\"\\u00e9\""));
  EXPECT_TRUE(equal("[]", "[ ]"));
  EXPECT_FALSE(equal("[]", "{}"));
  EXPECT_FALSE(equal("[1]", "[1,1]"));
  EXPECT_FALSE(equal("[1,2]", "[12]"));
  EXPECT_FALSE(equal("[[1],2]", "[[1,2]]"));
  EXPECT_FALSE(equal("1", "\"1\""));
  EXPECT_FALSE(equal("null", "\"null\""));
  EXPECT_FALSE(equal("true", "false"));
  EXPECT_FALSE(equal("\"a\"", "\"b\""));
  EXPECT_FALSE(equal("\"a\"", "\"a\\u0000\""));
  EXPECT_FALSE(equal("1", "1.0")) << "numbers by their spelling";
  EXPECT_FALSE(equal("-0", "0"));
  EXPECT_FALSE(equal(R"({"a":1,"b":2})", R"({"b":2,"a":1})")) << "members in their order";
  EXPECT_FALSE(equal(R"({"a":1,"a":2})", R"({"a":2})")) << "a member that comes twice counts twice";
}

// A document far deeper than any stack: nothing that touches it may recurse.
TEST(Json, DoesNotRecurse) {
  constexpr std::size_t kDepth = 500'000;
  std::string text;
  for (std::size_t i = 0; i < kDepth; ++i) text += i % 2 == 0 ? "[ " : "{\"k\":";
  text += "[]";
  for (std::size_t i = kDepth; i-- > 0;) text += i % 2 == 0 ? ']' : '}';
  const json::Limits limits = {.depth = kDepth + 1};
  std::optional<Json> deep = *Json::parse(text, limits);
  EXPECT_FALSE(Json::parse(text).has_value());
  const Json compact = deep->compact();
  EXPECT_EQ(compact.text().size(), text.size() - kDepth / 2);
  EXPECT_TRUE(Json::equal(*deep, compact));
  EXPECT_EQ(deep->elements().size(), 1U);
  EXPECT_EQ(deep->elements()[0].members().size(), 1U);
  EXPECT_TRUE(deep->at("/0/k/0/k")->is_array());
  const std::string pretty = deep->pretty();
  EXPECT_TRUE(Json::equal(*Json::parse(pretty, {.bytes = pretty.size(), .depth = kDepth + 1}), *deep));
  EXPECT_LT(pretty.size(), 100 * text.size()) << "lines do not grow with the depth for ever";
  deep.reset();
}

// What a pretty text may cost is bounded by what the value costs.
TEST(Json, IsPrettyAtABoundedSize) {
  std::string text(500, '[');
  for (int i = 0; i < 10'000; ++i) text += "0,";
  text += "0" + std::string(500, ']');
  EXPECT_LT(parsed(text).pretty().size(), 100 * text.size());
}

TEST(Json, OfANumberNeedsNoCopyOfItsParent) {
  const Json json = parsed(R"({"a":[1,2,3]})");
  const Json list = *json.get("a");
  const auto elements = list.elements();
  EXPECT_EQ(elements[2].text().data(), list.text().data() + 5);
}

}  // namespace
}  // namespace parley
