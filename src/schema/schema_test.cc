// Each keyword by a table of values, then the sentences, the limits and what is refused. Quotes SCHEMA1 to
// SCHEMA5. Drafts and references are in schema_draft_test.cc. tests/judges/schemas.sh compares with another
// implementation, and tests/judges/schema_suite.sh runs JSON-Schema-Test-Suite.
#include "parley/schema/schema.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace parley {
namespace {

Schema schema(std::string_view text) {
  const auto made = Schema::of(Json::parse(text).value());
  EXPECT_TRUE(made.has_value()) << text << ": " << (made ? "" : made.error().message);
  return made.value();
}

struct Row {
  const char* schema;
  const char* good;  // a list of values
  const char* bad;
};

// SCHEMA1
TEST(Schema, ChecksEachKeyword) {
  const Row rows[] = {
      {"true", R"([1,null,{}])", "[]"},
      {"false", "[]", R"([1,null,{}])"},
      {"{}", R"([1,null,{},"x"])", "[]"},
      {R"({"type":"integer"})", "[1,-3,1.0,1e3,12345678901234567890]", R"([1.5,"1",true,null])"},
      {R"({"type":"number"})", "[1,1.5,1e400]", R"(["1",true,null])"},
      {R"({"type":"boolean"})", "[true,false]", R"([0,"true",null])"},
      {R"({"type":["string","null"]})", R"(["",null])", "[0,false,[],{}]"},
      {R"({"type":"string","nullable":true})", R"(["",null])", "[0,false]"},
      {R"({"type":"string","nullable":false})", R"([""])", "[null]"},
      {R"({"enum":["a",1,null,{"x":1,"y":2}]})", R"(["a",1.0,null,{"y":2.0,"x":1}])",
       R"(["A",2,false,{"x":1}])"},
      {R"({"const":[1,{"a":"\u0062"}]})", R"([[1,{"a":"b"}]])", R"([[1],[1,{"a":"c"}],1])"},
      {R"({"properties":{"a":{"type":"string"}}})", R"([{"a":"x"},{},{"b":1},5])", R"([{"a":1}])"},
      {R"({"required":["a","b"]})", R"([{"a":1,"b":2},5])", R"([{"a":1},{}])"},
      {R"({"properties":{"a":true},"additionalProperties":false})", R"([{"a":1},{}])", R"([{"b":1}])"},
      {R"({"properties":{"a":true},"additionalProperties":{"type":"string"}})", R"([{"a":1,"b":"x"}])",
       R"([{"b":1}])"},
      {R"({"patternProperties":{"^x_":{"type":"integer"}},"additionalProperties":false})",
       R"([{"x_a":1},{}])", R"([{"x_a":"1"},{"y":1}])"},
      {R"({"propertyNames":{"maxLength":3}})", R"([{"abc":1},{}])", R"([{"abcd":1}])"},
      {R"({"minProperties":1,"maxProperties":2})", R"([{"a":1},{"a":1,"b":2}])",
       R"([{},{"a":1,"b":2,"c":3}])"},
      {R"({"dependentRequired":{"a":["b"]}})", R"([{"a":1,"b":1},{"b":1},{}])", R"([{"a":1}])"},
      {R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"([{"a":1,"b":1},{"b":1},5])", R"([{"a":1}])"},
      {R"({"dependencies":{"a":["b"],"c":{"maxProperties":1}}})", R"([{"a":1,"b":1},{"c":1}])",
       R"([{"a":1},{"c":1,"d":1}])"},
      {R"({"properties":{"a":true},"unevaluatedProperties":false})", R"([{"a":1},{},5])", R"([{"b":1}])"},
      {R"({"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":true}}],
           "unevaluatedProperties":false})",
       R"([{"a":1},{"a":1,"b":2},{"b":1}])", R"([{"a":2},{"c":1}])"},
      {R"({"if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"properties":{"b":true}},
           "unevaluatedProperties":{"type":"string"}})",
       R"([{"a":1,"b":2},{"a":"x","b":"y"}])", R"([{"a":2},{"a":1,"b":1,"c":1}])"},
      {R"({"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false})", "[{}]", R"([{"a":1}])"},
      {R"({"allOf":[{"properties":{"a":true}},{"unevaluatedProperties":false}]})", "[{}]", R"([{"a":1}])"},
      {R"({"prefixItems":[true],"contains":{"type":"string"},"unevaluatedItems":false})",
       R"([[1,"x"],["x"]])", R"([[1,2,"x"],[1]])"},
      {R"({"oneOf":[{"prefixItems":[{"const":1},true]},{"prefixItems":[{"const":2}]}],"unevaluatedItems":false})",
       "[[1,5],[2]]", "[[2,5],[1,5,6],[3]]"},
      {R"({"items":{"type":"integer"}})", R"([[],[1,2],"x"])", R"([[1,"2"]])"},
      {R"({"prefixItems":[{"type":"string"},true],"items":false})", R"([[],["a"],["a",1]])",
       R"([[1],["a",1,2]])"},
      {R"({"items":[{"type":"string"}]})", R"([[],["a",5]])", R"([[1]])"},
      {R"({"additionalItems":false,"items":[{"type":"string"}]})", R"([[],["a"]])", R"([["a",5]])"},
      {R"({"additionalItems":false,"items":{"type":"string"}})", R"([["a","b"]])", "[[1]]"},
      {R"({"contains":{"const":1}})", "[[1],[2,1]]", "[[],[2]]"},
      {R"({"contains":{"const":1},"minContains":0,"maxContains":1})", "[[],[1,2]]", "[[1,1]]"},
      {R"({"minItems":1,"maxItems":2})", "[[1],[1,2]]", "[[],[1,2,3]]"},
      {R"({"uniqueItems":true})", R"([[],[1,2,"1"],[{"a":1},{"a":2}]])",
       R"([[1,1.0],[{"a":1,"b":2},{"b":2,"a":1}]])"},
      {R"({"minimum":1.5,"maximum":3})", "[1.5,2,3.0]", "[1.49,3.01,-2]"},
      {R"({"exclusiveMinimum":1,"exclusiveMaximum":2})", "[1.1,1.9]", "[1,2,1.0]"},
      {R"({"multipleOf":0.1})", "[0,0.3,2,1e300]", "[0.35]"},
      {R"({"minLength":2,"maxLength":3})", R"(["ab","abc","\ud83d\ude00\u00e9",5])",
       R"(["a","abcd","\ud83d\ude00"])"},
      {R"({"pattern":"^[a-z]+\\d$"})", R"(["a1",5])", R"(["A1","a1x","a1\n"])"},
      {R"({"pattern":"\u00e9\\u00e9\\x41"})", R"(["__\u00e9\u00e9A_"])", R"(["ee41"])"},
      {R"({"pattern":"^\\s[\\sx]\\S[\\S]$"})", R"(["\u00a0xab","\ufeff\u2003\u0000\u180e"])",
       R"(["ax\u00a0b"," x\u3000a"])"},
      {R"({"pattern":"^.$"})", R"(["a","\ud83d\ude00"])", R"(["\r","\u2028","\n"])"},
      {R"({"pattern":"^\\p{Letter}\\p{sc=Greek}\\P{digit}$"})", R"(["\u00e9\u03b1x"])",
       R"(["1\u03b1x","\u00e9\u03b12"])"},
      {R"({"pattern":"^\\ud83d\\ude00[[:x]$"})", R"(["\ud83d\ude00[","\ud83d\ude00:"])",
       R"(["\ud83d\ude00]"])"},
      {R"json({"pattern":"^(?<word>[\\b]\\cA)$"})json", R"(["\b\u0001"])", R"(["b\u0001"])"},
      {R"({"allOf":[{"minimum":1},{"maximum":2}]})", "[1,2]", "[0,3]"},
      {R"({"anyOf":[{"type":"string"},{"minimum":5}]})", R"(["x",5,null])", "[4]"},
      {R"({"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"object","additionalProperties":false}]})",
       "[[1],{}]", R"([["x"],[1,"x"],{"a":1}])"},
      {R"({"oneOf":[{"multipleOf":2},{"multipleOf":3}]})", "[2,3,4]", "[1,6]"},
      {R"({"not":{"type":"string"}})", "[1]", R"(["x"])"},
      {R"({"if":{"type":"string"},"then":{"minLength":1},"else":{"minimum":1}})", R"(["x",1])", R"(["",0])"},
      {R"({"if":{"type":"string"},"else":false})", R"(["x"])", "[1]"},
      {R"({"$ref":"#/$defs/a%20~1b","$defs":{"a /b":{"type":"string"}}})", R"(["x"])", "[1]"},
      {R"({"$ref":"#/$defs/a","maxLength":1,"$defs":{"a":{"type":"string"}}})", R"(["x"])", R"([1,"xx"])"},
      {R"({"$ref":"#/properties/b","properties":{"b":{"minProperties":1}}})", R"([{"a":1}])", "[{}]"},
      {R"({"properties":{"next":{"$ref":"#"}},"required":["v"]})",
       R"([{"v":1,"next":{"v":2,"next":{"v":3}}}])", R"([{"v":1,"next":{"v":2,"next":{}}}])"},
      {R"({"type":"string","format":"email","x-unknown":{"type":"integer"},"description":1})",
       R"(["anything"])", "[]"},
  };
  for (const Row& row : rows) {
    const Schema checked = schema(row.schema);
    for (const Json& value : Json::parse(row.good)->elements()) {
      const auto errors = checked.check(value);
      EXPECT_TRUE(errors.empty()) << row.schema << " refuses " << value.text().view() << ": "
                                  << errors[0].message;
    }
    for (const Json& value : Json::parse(row.bad)->elements()) {
      EXPECT_FALSE(checked.check(value).empty()) << row.schema << " takes " << value.text().view();
    }
  }
}

// SCHEMA2
TEST(Schema, ComparesNumbersExactly) {
  const Schema big = schema(R"({"maximum":9007199254740993})");
  EXPECT_TRUE(big.check(Json::parse("9007199254740993").value()).empty());
  EXPECT_FALSE(big.check(Json::parse("9007199254740994").value()).empty());
  const Schema fine = schema(R"({"minimum":0.1})");
  EXPECT_FALSE(fine.check(Json::parse("0.09999999999999999999").value()).empty());
}

std::string said(std::string_view schema_text, std::string_view value) {
  std::string out;
  for (const Error& error : schema(schema_text).check(Json::parse(value).value())) {
    out += error.path + ": " + error.message + "\n";
  }
  return out;
}

// SCHEMA3
TEST(Schema, ReportsWhereAndWhatWasExpected) {
  constexpr std::string_view kTool = R"({
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 1}, "unit": {"enum": ["c", "f"]},
                   "days": {"type": "array", "items": {"type": ["integer", "null"], "minimum": 1}, "maxItems": 2},
                   "a/b": {"anyOf": [{"type": "string"}, {"type": "object", "required": ["x"]}]}},
    "required": ["city"], "additionalProperties": false})";
  EXPECT_EQ(said(kTool, R"({"city":"Oslo","unit":"c","days":[1,null]})"), "");
  EXPECT_EQ(said(kTool, R"([])"), ": expected an object, got an array\n");
  EXPECT_EQ(said(kTool, R"({"unit":"k"})"),
            ": the member 'city' is missing\n/unit: expected one of \"c\", \"f\", got \"k\"\n");
  EXPECT_EQ(said(kTool, R"({"city":""})"), "/city: expected at least 1 character, got 0\n");
  EXPECT_EQ(said(kTool, R"({"city":"x","days":[1,0,"2"]})"),
            "/days: expected at most 2 elements, got 3\n/days/1: expected at least 1, got 0\n"
            "/days/2: expected null or an integer, got a string\n");
  EXPECT_EQ(said(kTool, R"({"city":"x","town":"y"})"),
            "/town: unknown member; known members: 'a/b', 'city', 'days', 'unit'\n");
  EXPECT_EQ(
      said(R"({"$ref":"#/$defs/a","unevaluatedProperties":false,"$defs":{"a":{"properties":{"x":true}}}})",
           R"({"x":1,"y":2})"),
      "/y: unknown member\n");
  EXPECT_EQ(said(kTool, R"({"city":"x","a/b":{}})"),
            "/a~1b: the value matches none of the 2 allowed schemas: /a~1b expected a string, got an object; "
            "or /a~1b the "
            "member 'x' is missing\n");
}

TEST(Schema, GivesAtMostSoManyFindings) {
  const Schema numbers = schema(R"({"items":{"type":"integer"}})");
  const Json value = Json::parse(R"(["a","b","c","d"])").value();
  EXPECT_EQ(numbers.check(value, 2).size(), 2U);
  EXPECT_EQ(numbers.check(value).size(), 4U);
}

std::string refusal(std::string_view text) {
  const auto made = Schema::of(Json::parse(text).value());
  return made ? "taken" : std::string(to_string(made.error().code)) + " " + made.error().path;
}

// SCHEMA1
TEST(Schema, RefusesInvalidAndUnsupportedSchemas) {
  const std::pair<const char*, const char*> rows[] = {
      {"5", "invalid "},
      {R"({"type":"text"})", "invalid /type"},
      {R"({"type":[]})", "invalid /type"},
      {R"({"properties":{"a":{"items":7}}})", "invalid /properties/a/items"},
      {R"({"properties":[]})", "invalid /properties"},
      {R"({"required":"a"})", "invalid /required"},
      {R"({"required":[1]})", "invalid /required"},
      {R"({"enum":"a"})", "invalid /enum"},
      {R"({"minLength":-1})", "invalid /minLength"},
      {R"({"minLength":1.5})", "invalid /minLength"},
      {R"({"minimum":"1"})", "invalid /minimum"},
      {R"({"multipleOf":0})", "invalid /multipleOf"},
      {R"({"uniqueItems":1})", "invalid /uniqueItems"},
      {R"({"anyOf":{}})", "invalid /anyOf"},
      {R"json({"pattern":"("})json", "invalid /pattern"},
      {R"json({"pattern":"^(?!a)"})json", "unsupported /pattern"},
      {R"json({"pattern":"(a)\\1"})json", "unsupported /pattern"},
      {R"({"$ref":"#/$defs/none"})", "not_found /$ref"},
      {R"({"$ref":"https://example.com/x"})", "unsupported /$ref"},
      {R"({"$ref":"#name"})", "not_found /$ref"},
      {R"({"$ref":5})", "invalid /$ref"},
      {R"({"$dynamicRef":"#x"})", "not_found /$dynamicRef"},
      {R"({"$recursiveRef":"#"})", "unsupported /$recursiveRef"},
      {R"({"dependencies":{"a":5}})", "invalid /dependencies/a"},
      {R"({"dependencies":{"a":[5]}})", "invalid /dependencies/a"},
      {R"({"dependentSchemas":{"a":5}})", "invalid /dependentSchemas/a"},
      {R"({"exclusiveMinimum":true})", "invalid /exclusiveMinimum"},
      {R"({"multipleOf":1234567890123456789})", "unsupported /multipleOf"},
      {R"json({"pattern":"(?<=a)b"})json", "unsupported /pattern"},
      {R"({"minLength":1e400,"maxLength":3.0})", "taken"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(refusal(text), expected) << text;
}

std::string nested(std::size_t depth, std::string_view open, std::string_view close) {
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) out += open;
  out += "1";
  for (std::size_t i = 0; i < depth; ++i) out += close;
  return out;
}

std::string verdict(const Schema& checked, const Json& value) {
  const auto errors = checked.check(value);
  return errors.empty() ? "good" : std::string(to_string(errors[0].code));
}

// SCHEMA4, SCHEMA5
TEST(Schema, ACheckEndsWhateverTheSchemaIs) {
  EXPECT_EQ(verdict(schema(R"({"$ref":"#"})"), Json::number(1)), "limit_exceeded");
  EXPECT_EQ(verdict(schema(R"({"not":{"$ref":"#"}})"), Json::number(1)), "limit_exceeded");

  const Schema deep = schema(R"({"items":{"$ref":"#"}})");  // two levels each
  const auto arrays = [](std::size_t depth) { return Json::parse(nested(depth, "[", "]")).value(); };
  EXPECT_EQ(verdict(deep, arrays(99)), "good");
  EXPECT_EQ(verdict(deep, arrays(100)), "limit_exceeded");

  // Each level checks the next one twice: 2^40 checks without a limit.
  std::string defs;
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    defs += "\"d" + std::to_string(i) + "\":{\"allOf\":[" + next + "," + next + "]},";
  }
  SchemaLimits limits;
  limits.work = 100'000;
  const auto twice = Schema::of(
      Json::parse("{\"$ref\":\"#/$defs/d0\",\"$defs\":{" + defs + "\"d40\":true}}").value(), limits);
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(verdict(*twice, Json::number(1)), "limit_exceeded");
}

TEST(Schema, HasLimits) {
  SchemaLimits limits;
  limits.nodes = 3;
  const auto with = [&](std::string_view text) {
    return Schema::of(Json::parse(text).value(), limits).has_value();
  };
  EXPECT_TRUE(with(R"({"allOf":[true,true]})"));
  EXPECT_FALSE(with(R"({"allOf":[true,true,true]})"));
  limits = {};
  limits.bytes = 11;
  EXPECT_TRUE(with(R"({"not":{} })"));
  EXPECT_FALSE(with(R"({"not":{}  })"));
}

// Paths are for errors: were one kept for each schema, these would be 2 GB.
TEST(Schema, KeepsNoPathsOfItsSchemas) {
  std::string many = "true";
  for (int i = 0; i < 8000; ++i) many += ",true";
  const std::string text =
      R"({"properties":{")" + std::string(250'000, 'n') + R"(":{"allOf":[)" + many + "]}}}";
  EXPECT_TRUE(Schema::of(Json::parse(text).value()).has_value());
}

TEST(Schema, IsSafeFromAnyThread) {
  const Schema shared = schema(R"({"type":"object","properties":{"a":{"pattern":"^x+$"}}})");
  const Json value = Json::parse(R"({"a":"xxx"})").value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) EXPECT_TRUE(shared.check(value).empty());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace parley
