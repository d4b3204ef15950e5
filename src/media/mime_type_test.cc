#include "media/mime_type.h"

#include <gtest/gtest.h>

namespace parley::media {
namespace {

std::string shown(std::string_view text) {
  const auto type = parse_mime_type(text);
  if (!type) return "none";
  std::string out = type->essence;
  for (const auto& [name, value] : type->parameters) out += ";" + name + "=[" + value + "]";
  return out;
}

TEST(MimeType, ReadsTypesAndParameters) {
  EXPECT_EQ(shown("image/png"), "image/png");
  EXPECT_EQ(shown("\t IMAGE/PNG \r\n"), "image/png");
  EXPECT_EQ(shown("text/html;charset=UTF-8"), "text/html;charset=[UTF-8]");
  EXPECT_EQ(shown("text/html ; Charset = x"), "text/html");
  EXPECT_EQ(shown("text/html; a=\"b;\\\"c\" junk;d=e"), "text/html;a=[b;\"c];d=[e]");
  EXPECT_EQ(shown("text/html;a=b;a=c;;x;y=;z=\"\""), "text/html;a=[b];z=[]");
  EXPECT_EQ(shown("text/html;a=\"b\\"), "text/html;a=[b\\]");
}

TEST(MimeType, RefusesInvalidTypes) {
  for (const char* text :
       {"", "image", "/png", "image/", "image /png", "im age/png", "image/p ng", "image/png,x"}) {
    EXPECT_EQ(shown(text), "none") << text;
  }
}

TEST(MimeType, KnowsMedia) {
  EXPECT_TRUE(is_media("image/png") && is_media("audio/x") && is_media("video/mp4"));
  EXPECT_FALSE(is_media("image/svg+xml") || is_media("text/html") || is_media("") || is_media("imagex/png"));
}

TEST(MimeType, StopsCountingParameters) {
  std::string text = "a/b";
  for (int i = 0; i < 100; ++i) text += ";p" + std::to_string(i) + "=1";
  EXPECT_EQ(parse_mime_type(text)->parameters.size(), 32U);
}

}  // namespace
}  // namespace parley::media
