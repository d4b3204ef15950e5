#include "server/http/model_field.h"

#include <gtest/gtest.h>

namespace parley::server {
namespace {

constexpr std::string_view kJson = "application/json";

std::string replaced(std::string_view body, std::string_view type, std::string_view expected_name) {
  const auto field = model_field(body, type);
  if (!field) return field.error().message;
  if (!*field) return "none";
  EXPECT_EQ((*field)->name, expected_name);
  return (*field)->replaced(body, "n\"w");
}

TEST(ModelField, IsFoundInJson) {
  EXPECT_EQ(replaced(R"( {"a": [1 ], "model" : "p/m\u0041" , "b":{"model":"x"}} )", kJson, "p/mA"),
            R"( {"a": [1 ], "model" : "n\"w" , "b":{"model":"x"}} )");
  EXPECT_EQ(replaced(R"({"b":{"model":"x"}})", kJson, ""), "none");
  EXPECT_EQ(replaced("", kJson, ""), "none");
  EXPECT_EQ(replaced("not json", "text/plain", ""), "none");
  EXPECT_EQ(replaced(R"({"model":"a"})", "text/plain", "a"), R"({"model":"n\"w"})");
}

TEST(ModelField, IsRefusedWhereAnotherReaderCouldFindAnother) {
  EXPECT_EQ(replaced(R"({"model":"a","model":"b"})", kJson, ""), "the body names two models");
  EXPECT_EQ(replaced(R"({"model":"a","mod\u0065l":"b"})", kJson, ""), "the body names two models");
  EXPECT_EQ(replaced(R"({"model":1})", kJson, ""), "'model' is not a string");
  EXPECT_TRUE(replaced("not json", kJson, "").starts_with("the body is not valid JSON"));
  EXPECT_TRUE(replaced("not json", "", "").starts_with("the body is not valid JSON"));
  const std::string part = "--XX\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\na\r\n";
  const std::string_view type = "multipart/form-data; boundary=XX";
  EXPECT_EQ(replaced(part + part + "--XX--", type, ""), "the body names two models");
  EXPECT_EQ(replaced(part + "--XX--", "multipart/form-data; boundary=XX; boundary=YY", ""),
            "the Content-Type of the form needs one boundary");
  EXPECT_EQ(replaced(part, type, ""), "a part of the body has no end");
}

TEST(ModelField, IsFoundInAForm) {
  const std::string body =
      "--XX\r\nContent-Disposition: form-data; name=\"file\"; "
      "filename=\"model\"\r\n\r\nname=\"model\"\r\n\r\n\x01\r\n"
      "--XX\r\ncontent-disposition: form-data; name=\"model\"\r\n\r\np/whisper\r\n--XX--\r\n";
  std::string expected = body;
  expected.replace(expected.find("p/whisper"), 9, "n\"w");
  EXPECT_EQ(replaced(body, "multipart/form-data; boundary=XX", "p/whisper"), expected);
  EXPECT_EQ(replaced(body, "Multipart/Form-Data; charset=x; Boundary=\"XX\"", "p/whisper"), expected);
  EXPECT_EQ(replaced(body, "multipart/form-data; boundary=YY", ""), "the body has no part");
  EXPECT_EQ(replaced("--XX--", "multipart/form-data; boundary=XX", ""), "none");
}

}  // namespace
}  // namespace parley::server
