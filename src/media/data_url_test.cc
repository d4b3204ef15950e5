#include "parley/media/data_url.h"

#include <gtest/gtest.h>

namespace parley {
namespace {

using std::string_literals::operator""s;

// The first bytes of a PNG, which are all that is looked at here.
const std::string kPng = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"s;

std::string shown(std::string_view text, std::size_t max_bytes = kMaxDataUrlBytes) {
  const auto url = read_data_url(text, max_bytes);
  return url ? url->media_type + "|" + url->bytes : std::string(to_string(url.error().code));
}

// DATA_URL1
TEST(DataUrl, IsReadAsBrowsersReadIt) {
  EXPECT_EQ(shown("data:,hello"), "text/plain|hello");
  EXPECT_EQ(shown("data:text/html,%3Cb%3E,x"), "text/html|<b>,x");
  EXPECT_EQ(shown("DATA:Image/PNG;base64,aGk="), "image/png|hi");
  EXPECT_EQ(shown("data:image/png;base64,aGk"), "image/png|hi");
  EXPECT_EQ(shown("data:image/png;  BASE64,a G\tk\n="), "image/png|hi");
  EXPECT_EQ(shown("data:image/png;base64,%61Gk%3D"), "image/png|hi");
  EXPECT_EQ(shown("data:image/png;base64 ,aGk="), "image/png|hi")
      << "blanks around the head are no part of it";
  EXPECT_EQ(shown("data:image/png;base64;x=y,aGk="), "image/png|aGk=");
  EXPECT_EQ(shown("data:base64,aGk="), "text/plain|aGk=");
  EXPECT_EQ(shown("data:;base64,aGk="), "text/plain|hi");
  EXPECT_EQ(shown("data:image/png?; base64,aGk="), "text/plain|aGk=") << "the space is %20 in a query";
  EXPECT_EQ(read_data_url("data:a/b;x=y ?z,").value().parameters.at(0).second, "y%20?z");
  EXPECT_EQ(shown("data:,a#b,c"), "text/plain|a");
  EXPECT_EQ(shown("data:,a?b"), "text/plain|a?b");
  EXPECT_EQ(shown(" d\nata:,x "), "text/plain|x");
  EXPECT_EQ(shown("da" + std::string(1000, '\n') + "ta\t:,x"), "text/plain|x");
  EXPECT_EQ(shown("data:,%"), "text/plain|%");
  EXPECT_EQ(shown("data:,%00\xC3\xA9"), "text/plain|\0\xC3\xA9"s);
  EXPECT_EQ(shown("data:/a,b/../c,d"), "text/plain|d") << "a path with a slash in front is resolved";
  EXPECT_EQ(shown("data:/a,b\x01#c"), "text/plain|b\x01")
      << "nothing but the ends of the whole text is cut off";
  EXPECT_EQ(shown("data:image/png;charset=x;base64,aGk="), "image/png|hi");
}

// DATA_URL1
TEST(DataUrl, KeepsParametersAndTheirDefaults) {
  EXPECT_EQ(read_data_url("data:,x")->parameters,
            (std::vector<std::pair<std::string, std::string>>{{"charset", "US-ASCII"}}));
  EXPECT_EQ(read_data_url("data:;A=b,x")->parameters,
            (std::vector<std::pair<std::string, std::string>>{{"a", "b"}}));
}

// DATA_URL1
TEST(DataUrl, RefusesInvalidDataUrls) {
  for (const std::string_view text :
       {"", "data:", "data:image/png;base64", "https://example.com/,x", "data", "data;,x", "data:;base64,a",
        "data:;base64,a===", "data:;base64,a-_b", "data:x#,y"}) {
    EXPECT_EQ(shown(text), "invalid") << text;
  }
  EXPECT_EQ(shown("data:,\xFF"), "invalid_utf8");
}

// DATA_URL2
TEST(DataUrl, HoldsItsLimit) {
  EXPECT_EQ(shown("data:,12345", 6), "text/plain|12345");
  EXPECT_EQ(shown("data:,%31%32%33%34%35", 5), "text/plain|12345");
  EXPECT_EQ(shown("data:,12345", 4), "limit_exceeded");
  const std::string base64 = "data:;base64," + base64_encode("12345");
  EXPECT_EQ(shown(base64, 6), "text/plain|12345");
  EXPECT_EQ(shown(base64, 5), "text/plain|12345");
  EXPECT_EQ(shown(base64, 4), "limit_exceeded");
  EXPECT_EQ(shown("data:,"s + std::string(1'000'000, 'x'), 10), "limit_exceeded");
}

// DATA_URL3
TEST(MediaDataUrl, HasTheTypeOfItsBytes) {
  const std::string base64 = base64_encode(kPng);
  for (const auto& [head, declared, corrected] :
       {std::tuple{"image/png;base64", "image/png", false},
        {"image/jpeg;base64", "image/jpeg", true},
        {"audio/wav;base64", "audio/wav", true},
        {";base64", "", false},
        {";x=text/html;base64", "", false},
        {"application/octet-stream;base64", "application/octet-stream", true},
        {"image/x-png;base64", "image/png", false},
        {"IMAGE/PNG;name=a.svg;base64", "image/png", false}}) {
    const std::string text = "data:" + std::string(head) + "," + base64;
    const auto media = read_media_data_url(text);
    ASSERT_TRUE(media) << text << ": " << media.error().message;
    EXPECT_EQ(media->media_type, "image/png") << text;
    EXPECT_EQ(media->declared, declared) << text;
    EXPECT_EQ(media->is_corrected(), corrected) << text;
    EXPECT_EQ(media->bytes, kPng);
    EXPECT_EQ(media->base64, base64);
  }
}

TEST(MediaDataUrl, GivesBase64OnlyAsItStandsThere) {
  std::string spaced = base64_encode(kPng);
  spaced.insert(4, " ");
  const auto media = read_media_data_url("data:image/png;base64," + spaced);
  ASSERT_TRUE(media);
  EXPECT_EQ(media->bytes, kPng);
  EXPECT_TRUE(media->base64.empty());
}

// DATA_URL4
TEST(MediaDataUrl, RefusesEverythingElse) {
  const std::string png = base64_encode(kPng);
  for (const std::string& text :
       {"data:text/html;base64," + png, "data:image/svg+xml;base64," + png, "data:text/plain;base64," + png,
        " data:text/plain;base64," + png, "data:application/json;base64," + png,
        "data:nonsense;base64," + png, "data:image/png;base64," + base64_encode("<html><script>"),
        "data:image/png;base64," + base64_encode("<svg/>"),
        "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>"s, "data:image/png;base64,"s,
        "data:image/png;base64," + base64_encode("%PDF-1.7"), "data:,hello"s}) {
    const auto media = read_media_data_url(text);
    ASSERT_FALSE(media) << text;
    EXPECT_EQ(media.error().code, Code::Unsupported) << text;
  }
}

// DATA_URL5
TEST(DataUrl, IsMadeOnce) {
  EXPECT_EQ(data_url("image/png", "aGk="), "data:image/png;base64,aGk=");
  EXPECT_EQ(data_url("image/png", "data:image/jpeg;base64,aGk="), "data:image/jpeg;base64,aGk=");
  EXPECT_EQ(data_url("image/png", data_url("image/png", "aGk=")), "data:image/png;base64,aGk=");
}

// DATA_URL6
TEST(DataUrl, DoesNotRepeatItsDataInErrors) {
  const auto url = read_data_url("data:;base64,topsecretword!");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().message.find("topsecretword"), std::string::npos);
}

}  // namespace
}  // namespace parley
