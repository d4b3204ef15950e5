#include "json/python.h"

#include <gtest/gtest.h>

#include <utility>

namespace parley::json {
namespace {

// What Python 3.11 printed for json.dumps(json.loads(...), ensure_ascii=False, separators=(",", ":")).
TEST(PythonJson, SpellsJsonAsDumpsDoes) {
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {R"( { "a" : [ 1 , null , true ] } )", R"({"a":[1,null,true]})"},
      {R"("\u00e9\/\ud83d\ude42\u0041")",
       "\"\xC3\xA9/\xF0\x9F\x99\x82"
       "A\""},
      {R"("\u0001\u001F\u007f\b\f\n\r\t\"\\")", "\"\\u0001\\u001f\x7f\\b\\f\\n\\r\\t\\\"\\\\\""},
      {R"("a, b: c")", R"("a, b: c")"},
      {"-0", "0"},
      {"-0.0", "-0.0"},
      {"0e5", "0.0"},
      {"1.50", "1.5"},
      {"1e2", "100.0"},
      {"1E-4", "0.0001"},
      {"0.00001", "1e-05"},
      {"1e15", "1000000000000000.0"},
      {"123456789012345.6", "123456789012345.6"},
      {"9999999999999998.0", "9999999999999998.0"},
      {"1e16", "1e+16"},
      {"12345678901234567.0", "1.2345678901234568e+16"},
      {"1.7976931348623157e308", "1.7976931348623157e+308"},
      {"5e-324", "5e-324"},
      {"123456789012345678901234567890", "123456789012345678901234567890"},
      {"[]", "[]"},
      {"{}", "{}"},
  };
  for (const auto& [json, expected] : vectors) EXPECT_EQ(python_json(json), expected) << json;
}

TEST(PythonJson, PutsASpaceAfterSeparatorsByDefault) {
  EXPECT_EQ(python_json(R"({"a":[1,2.50],"b, c":{"d":":"}})", Gaps::Spaces),
            R"({"a": [1, 2.5], "b, c": {"d": ":"}})");
}

// Python would write words that are no JSON, or another value.
TEST(PythonJson, KeepsTheSpellingOfNumbersBeyondADouble) {
  EXPECT_EQ(python_json("[1e400,-1e400,1e-400]"), "[1e400,-1e400,1e-400]");
}

TEST(PythonJson, RespellsDeepAndLongValuesInOnePass) {
  constexpr std::size_t kDepth = 100'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  EXPECT_EQ(python_json(deep), deep);
}

}  // namespace
}  // namespace parley::json
