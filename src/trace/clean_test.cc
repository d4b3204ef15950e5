#include "trace/clean.h"

#include <gtest/gtest.h>

#include "parley/json/json.h"

namespace parley::trace {
namespace {

TEST(Clean, TakesSecretsOutOfStringsAndLeavesTheJsonWhole) {
  const std::string key = "sk-ant-api03-" + std::string(95, 'a');
  const std::string json = R"({"a":["x\n)" + key +
                           R"(","-----BEGIN PRIVATE KEY-----\nMII"],"b":"-----END)"
                           R"( PRIVATE KEY-----","n":1.50})";
  const std::string clean = clean_json(json, 8192);
  EXPECT_EQ(clean.find(key), std::string::npos);
  const auto parsed = Json::parse(clean);
  ASSERT_TRUE(parsed) << clean;
  EXPECT_NE(parsed->at("/a/0")->as_string()->view().find("[redacted: "), std::string_view::npos);
  EXPECT_EQ(parsed->at("/n")->text().view(), "1.50");
}

TEST(Clean, FindsASecretThatIsEscaped) {
  const std::string key = "sk-ant-api03-" + std::string(95, 'a');
  const std::string json = "\"{\\\"key\\\": \\\"\\u0073" + key.substr(1) + "\\\"}\"";
  ASSERT_EQ(json.find(key), std::string::npos);
  EXPECT_EQ(clean_json(json, 8192).find(key.substr(2)), std::string::npos);
}

TEST(Clean, LeavesAloneWhatIsShortAndNoSecret) {
  for (const std::string_view json :
       {"\"\"", "null", "[]", R"({"a":{"b":[true,"x \" y \\"]}})", "\"\\\\\""}) {
    EXPECT_EQ(clean_json(json, 8192), json);
  }
}

TEST(Clean, CutsLongStringsAndSaysSo) {
  const std::string json = "[\"" + std::string(500, 'x') + "\",\"short\"]";
  const auto parsed = Json::parse(clean_json(json, 100));
  ASSERT_TRUE(parsed);
  const Text cut = *parsed->at("/0")->as_string();
  EXPECT_LE(cut.size(), 100U);
  EXPECT_NE(cut.view().find("cut"), std::string_view::npos);
  EXPECT_EQ(parsed->at("/1")->as_string(), Text("short"));
}

}  // namespace
}  // namespace parley::trace
