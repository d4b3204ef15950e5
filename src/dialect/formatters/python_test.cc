#include "dialect/formatters/python.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace parley::dialect {
namespace {

using Vectors = std::vector<std::pair<std::string_view, std::string_view>>;

// What Python 3.11 made of base64.b64encode(base64.b64decode(...)); "!" is binascii.Error.
TEST(Python, DecodesBase64AsB64decodeDoes) {
  const Vectors vectors = {
      {"", ""},          {"QQ==", "QQ=="},    {"QR==", "QQ=="},     {"QUI=", "QUI="},
      {"QUJD", "QUJD"},  {"Q Q = =", "QQ=="}, {"QQ==QQ==", "QQ=="}, {"%%%", ""},
      {"Q", "!"},        {"QQ", "!"},         {"QQ=", "!"},         {"QUI", "!"},
      {"QQ=A=", "QQA="}, {"=QUJD", "QUJD"},   {"QUJDQ", "!"},       {"QUJD====", "QUJD"},
      {"-_-_", ""},
  };
  for (const auto& [text, expected] : vectors) EXPECT_EQ(python_base64(text).value_or("!"), expected) << text;
}

TEST(Python, FindsTheSchemeThatUrlparseFinds) {
  const Vectors vectors = {
      {"https://a/b", "https"},
      {" \tHTTP://a", "HTTP"},
      {"data:image/png;base64,A", "data"},
      {"c:\\pic.png", "c"},
      {"a+b-c.d:x", "a+b-c.d"},
      {"/home/a:b.png", ""},
      {"pic.png", ""},
      {":x", ""},
      {"1a:x", ""},
      {"a_b:x", ""},
      {"", ""},
  };
  for (const auto& [url, expected] : vectors) EXPECT_EQ(python_url_scheme(url), expected) << url;
}

}  // namespace
}  // namespace parley::dialect
