#include "parley/base/url.h"

#include <gtest/gtest.h>

#include <string>

namespace parley {
namespace {

using std::string_literals::operator""s;

std::string href(std::string_view text) {
  const auto url = parse_url(text);
  return url ? url->href() : std::string(to_string(url.error().code));
}
std::string resolved(std::string_view reference, std::string_view base) {
  const auto url = resolve_url(reference, parse_url(base).value());
  return url ? url->href() : std::string(to_string(url.error().code));
}

TEST(Url, HasItsParts) {
  const Url url = parse_url("HTTPS://User:p%40ss@Example.COM:8443/a/../b?q=1#end").value();
  EXPECT_EQ(url.scheme, "https");
  EXPECT_EQ(url.username, "User");
  EXPECT_EQ(url.password, "p%40ss");
  EXPECT_TRUE(url.has_credentials());
  EXPECT_EQ(url.host, "example.com");
  EXPECT_EQ(url.host_kind, HostKind::Domain);
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.path, "/b");
  EXPECT_EQ(url.query, "q=1");
  EXPECT_EQ(url.fragment, "end");
  EXPECT_EQ(url.href(), "https://User:p%40ss@example.com:8443/b?q=1#end");
}

// URL1
TEST(Url, ReadsAgainWhatItWrote) {
  for (const std::string_view text :
       {"http://a", "http://a?", "http://a#", "foo:", "foo:/..//x", "foo:/.//p", "foo:///", "foo://",
        "data:, x y #z", "data:a ?b", "file:///C|/..", "file://h/x", "mailto:a@b",
        "http://u@[::1]:81/%zz|?'\"`#`", "foo://h\x7F/", "http://0x7f.1/", "http://\xC3\xA9.com/\xC3\xA9",
        "about:blank", "http://a/%2e%2E/b/%2e"}) {
    const auto url = parse_url(text);
    ASSERT_TRUE(url) << text;
    EXPECT_EQ(parse_url(url->href()), *url) << text;
  }
}

// URL2
TEST(Url, SeesTheAddressInEverySpelling) {
  for (const std::string_view text :
       {"http://127.0.0.1", "http://127.1/", "http://0x7f.1/", "http://0177.0.0.1/", "http://2130706433/",
        "http://%31%32%37.0.0.1/", "http://127.0.0.1./", "http:\\\\127.0.0.1", "http:127.0.0.1",
        "http://\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.0.0.1/", "http://127\u30020.0.1", "http://1\t27.0.0.1",
        "http://evil.example@127.0.0.1", "\x01 http:////127.0.0.1"}) {
    const auto url = parse_url(text);
    ASSERT_TRUE(url) << text;
    EXPECT_EQ(url->host_kind, HostKind::Ipv4) << text;
    EXPECT_EQ(url->address, IpAddress::v4(0x7F000001)) << text;
    EXPECT_EQ(url->host, "127.0.0.1") << text;
  }
  const Url six = parse_url("http://[::FFFF:127.0.0.1]/").value();
  EXPECT_EQ(six.host_kind, HostKind::Ipv6);
  EXPECT_EQ(six.host, "[::ffff:7f00:1]");
  EXPECT_EQ(parse_url("http://1.2.3/").value().host, "1.2.0.3");
  EXPECT_EQ(parse_url("foo://127.1/").value().host_kind, HostKind::Opaque);
}

// URL3
TEST(Url, WritesPrintableCharacters) {
  EXPECT_EQ(href("http://a/ \x01\x7F\xC3\xA9\"<>^`{}|?\"'<>#`\""),
            "http://a/%20%01%7F%C3%A9%22%3C%3E%5E%60%7B%7D|?%22%27%3C%3E#%60%22");
  EXPECT_EQ(href("foo:a b\x01 ?'"), "foo:a b%01%20?'");
  EXPECT_EQ(href("http://u /:;=[]\\@h/"), "invalid") << "a backslash ends the authority";
  EXPECT_EQ(href("http://u ;=[]^|@h/"), "http://u%20%3B%3D%5B%5D%5E%7C@h/");
}

TEST(Url, TakesPathsApart) {
  EXPECT_EQ(href("http://a/b/./c/../d/%2e%2E/.%2e/e/.."), "http://a/");
  EXPECT_EQ(href("http://a/../../b"), "http://a/b");
  EXPECT_EQ(href("http://a/b/..."), "http://a/b/...");
  EXPECT_EQ(href("http:\\\\a\\b\\..\\c"), "http://a/c");
  EXPECT_EQ(href("foo://a\\b"), "invalid");
  EXPECT_EQ(href("foo:/a\\..\\b/../c"), "foo:/c");
  EXPECT_EQ(href("foo:/..//x"), "foo:/.//x");
  EXPECT_EQ(href("foo:a/../b"), "foo:a/../b");
  EXPECT_EQ(href("file:///C|/x/../../.."), "file:///C:/");
  EXPECT_EQ(href("file://localhost/x"), "file:///x");
  EXPECT_EQ(href("file:\\\\C:\\x"), "file:///C:/x");
}

TEST(Url, DropsTheDefaultPort) {
  EXPECT_EQ(href("https://a:443/"), "https://a/");
  EXPECT_EQ(href("http://a:00080/"), "http://a/");
  EXPECT_EQ(href("http://a:443/"), "http://a:443/");
  EXPECT_EQ(href("foo://a:80/"), "foo://a:80/");
  EXPECT_EQ(href("http://a:/"), "http://a/");
  EXPECT_EQ(href("http://a:65535/"), "http://a:65535/");
  EXPECT_EQ(href("http://a:65536/"), "invalid");
  EXPECT_EQ(href("http://a:8 0/"), "invalid");
  EXPECT_EQ(parse_url("wss://a").value().effective_port(), 443);
  EXPECT_EQ(parse_url("foo://a").value().effective_port(), 0);
}

TEST(Url, RefusesInvalidUrls) {
  for (const std::string_view text : {"",
                                      "//a",
                                      "a",
                                      "/a",
                                      ":",
                                      "1a:b",
                                      "http:",
                                      "http://",
                                      "http:///",
                                      "http://@",
                                      "http://u@/",
                                      "http://:80/",
                                      "http://[::1",
                                      "http://[::1]x/",
                                      "http://a b/",
                                      "http://a%00b/",
                                      "http://a%20b/",
                                      "http://a^b/",
                                      "http://a|b/",
                                      "http://a<b/",
                                      "http://1.2.3.4.5/",
                                      "http://256.0.0.1/",
                                      "http://x.0xg.09/",
                                      "http://xn--a/",
                                      "http://xn--a-9ca/",
                                      "http://%ff.com/",
                                      "foo://a b/",
                                      "foo://:80/",
                                      "http://\xC2\xAD/"}) {
    EXPECT_EQ(href(text), "invalid") << text;
  }
  EXPECT_EQ(href("http://a\0b/"s), "invalid");
  EXPECT_EQ(href("http://a/\xFF"), "invalid_utf8");
}

TEST(Url, ConvertsHostsThatAreNotAscii) {
  EXPECT_EQ(href("http://\xC3\x89.COM/"), "http://xn--9ca.com/");
  EXPECT_EQ(href("http://fa\xC3\x9F.de/"), "http://xn--fa-hia.de/");
  EXPECT_EQ(href("http://%C3%A9.com/"), "http://xn--9ca.com/");
  EXPECT_EQ(href("http://a\xC2\xAD"
                 "b.com/"),
            "http://ab.com/");
  EXPECT_EQ(href("http://xn--i-7iq.ws/"), "http://xn--i-7iq.ws/");
}

TEST(Url, AsksForPunycodeWhereItIsNotCertain) {
  for (const std::string_view text : {"http://\xE1\xBA\x9E.de/", "http://\xE2\x98\x83.net/"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().message, "cannot convert a non-ASCII host reliably: write it in its xn-- form");
  }
}

TEST(Url, ResolvesReferences) {
  const std::string_view base = "https://u:p@h.example:8443/a/b?q#f";
  EXPECT_EQ(resolved("", base), "https://u:p@h.example:8443/a/b?q");
  EXPECT_EQ(resolved("#g", base), "https://u:p@h.example:8443/a/b?q#g");
  EXPECT_EQ(resolved("?r", base), "https://u:p@h.example:8443/a/b?r");
  EXPECT_EQ(resolved("c", base), "https://u:p@h.example:8443/a/c");
  EXPECT_EQ(resolved("../../c", base), "https://u:p@h.example:8443/c");
  EXPECT_EQ(resolved("/c", base), "https://u:p@h.example:8443/c");
  EXPECT_EQ(resolved("//169.254.169.254/x", base), "https://169.254.169.254/x");
  EXPECT_EQ(resolved("\\\\0xA9FEA9FE/x", base), "https://169.254.169.254/x");
  EXPECT_EQ(resolved("http:c", base), "http://c/");
  EXPECT_EQ(resolved("https:c", base), "https://u:p@h.example:8443/a/c");
  EXPECT_EQ(resolved("file:c", base), "file:///c");
  EXPECT_EQ(resolved("x", "data:,y"), "invalid");
  EXPECT_EQ(resolved("#x", "data:,y"), "data:,y#x");
  EXPECT_EQ(resolved("/x", "file:///C:/a"), "file:///C:/x");
  EXPECT_EQ(resolved("D|/x", "file:///C:/a"), "file:///D:/x");
}

// URL5
TEST(Url, HoldsItsLimit) {
  EXPECT_TRUE(parse_url("http://a/", 10));
  EXPECT_TRUE(parse_url("http://a/b", 10));
  const auto longer = parse_url("http://a/bc", 10);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, Code::LimitExceeded);
}

// URL4
TEST(Url, TakesManySegmentsAndDots) {
  std::string text = "http://a/";
  for (int i = 0; i < 100'000; ++i) text += "x/";
  for (int i = 0; i < 100'000; ++i) text += "../";
  EXPECT_EQ(href(text), "http://a/");
}

TEST(Url, DoesNotRepeatAPasswordInAnError) {
  const auto url = parse_url("http://u:topsecretword@[::1/");
  ASSERT_FALSE(url);
  EXPECT_EQ(url.error().message.find("topsecretword"), std::string::npos);
}

TEST(PercentDecode, KeepsInvalidEscapes) {
  EXPECT_EQ(percent_decode("%41%4a%zz%4%"), "AJ%zz%4%");
  EXPECT_EQ(percent_decode("%00"), "\0"s);
  EXPECT_EQ(percent_decode("/a%20b%25%2Fc"), "/a b%/c");
  EXPECT_EQ(percent_decode("%"), "%");
  EXPECT_EQ(percent_decode("%2"), "%2");
  EXPECT_EQ(percent_decode("%zz"), "%zz");
}

}  // namespace
}  // namespace parley
