#include <gtest/gtest.h>

#include "parley/media/data_url.h"

namespace parley {
namespace {

TEST(SplitDataUrl, FindsTheParts) {
  const DataUrlParts parts = split_data_url("data:image/png;name=x;base64,AAAA,B");
  EXPECT_EQ(parts.media_type, "image/png");
  EXPECT_EQ(parts.data, "AAAA,B");
  EXPECT_TRUE(parts.is_base64);
}

TEST(SplitDataUrl, TakesBase64AsTheLastWordOnly) {
  for (const char* text :
       {"data:;base64,x", "DATA:a/b;BASE64,x", "data:a/b;  base64,x", "data:;x=y; base64,x"}) {
    EXPECT_TRUE(split_data_url(text).is_base64) << text;
  }
  for (const char* text : {"data:base64,x", "data:a/b;base64;x=y,x", "data:a/b;base64 ,x",
                           "data:a/b;xbase64,x", "data:,x", "data:;,x"}) {
    EXPECT_FALSE(split_data_url(text).is_base64) << text;
    EXPECT_EQ(split_data_url(text).data, "x") << text;
  }
}

TEST(SplitDataUrl, GivesNothingForAnythingElse) {
  for (const char* text :
       {"", "data:", "data:image/png;base64", "dat:,x", " data:,x", "https://example.com/,x"}) {
    const DataUrlParts parts = split_data_url(text);
    EXPECT_TRUE(parts.media_type.empty() && parts.data.empty() && !parts.is_base64) << text;
  }
  EXPECT_TRUE(is_data_url("dAtA:"));
  EXPECT_FALSE(is_data_url("data"));
}

}  // namespace
}  // namespace parley
