#include <gtest/gtest.h>

#include "guard/fetch/fetch.h"

namespace parley {
namespace {

UrlReason reason(std::string_view url, FetchOptions options) {
  return check_url(url, FetchPolicy::of(std::move(options)).value()).reason;
}

// FETCH1
TEST(CheckUrl, AllowsNothingWithoutAPolicy) {
  for (const char* url :
       {"https://example.com/", "http://127.0.0.1/", "file:///etc/hostname", "data:,x", "nonsense"}) {
    EXPECT_EQ(check_url(url, FetchPolicy()).reason, UrlReason::Off) << url;
  }
  EXPECT_EQ(check_address(IpAddress::v4(0x08080808), FetchPolicy()).reason, UrlReason::Off);
}

TEST(CheckUrl, AllowsHttpsOnlyByDefault) {
  EXPECT_EQ(reason("https://example.com/", {}), UrlReason::None);
  EXPECT_EQ(reason("http://example.com/", {}), UrlReason::Scheme);
  EXPECT_EQ(reason("file:///etc/hostname", {}), UrlReason::Scheme);
  EXPECT_EQ(reason("http://example.com/", {.allow_http = true}), UrlReason::None);
  EXPECT_EQ(reason("https://example.com/", {.allow_https = false, .allow_http = true}), UrlReason::Scheme);
}

TEST(CheckUrl, MatchesHostsAndEndings) {
  const FetchOptions options{.denied_hosts = {"bad.Example.com", ".bad.example.org."},
                             .allowed_hosts = {"example.com", ".Example.com", "8.8.8.8",
                                               "b\xC3\xBC"
                                               "cher.example"}};
  EXPECT_EQ(reason("https://example.com/", options), UrlReason::None);
  EXPECT_EQ(reason("https://a.example.com/", options), UrlReason::None);
  EXPECT_EQ(reason("https://a.example.com./", options), UrlReason::None);
  EXPECT_EQ(reason("https://134744072/", options), UrlReason::None);
  EXPECT_EQ(reason("https://xn--bcher-kva.example/", options), UrlReason::None);
  EXPECT_EQ(reason("https://aexample.com/", options), UrlReason::NotListed);
  EXPECT_EQ(reason("https://example.com.evil.example/", options), UrlReason::NotListed);
  EXPECT_EQ(reason("https://8.8.4.4/", options), UrlReason::NotListed);
  EXPECT_EQ(reason("https://bad.example.com/", options), UrlReason::Denied);
  EXPECT_EQ(reason("https://x.bad.example.org/", options), UrlReason::Denied);
  EXPECT_EQ(reason("https://bad.example.org/", options), UrlReason::NotListed);
}

// FETCH3: a list opens no address.
TEST(CheckUrl, KeepsPrivateAddressesShutEvenIfTheyAreListed) {
  const FetchOptions options{.allowed_hosts = {"127.0.0.1", "localhost", "[::1]"}};
  EXPECT_EQ(reason("https://127.0.0.1/", options), UrlReason::Address);
  EXPECT_EQ(reason("https://[::1]/", options), UrlReason::Address);
  EXPECT_EQ(reason("https://localhost/", options), UrlReason::Local);
}

// FETCH10
TEST(CheckUrl, OpensLocalNamesButNoMetadata) {
  const FetchOptions options{.allow_private = true};
  EXPECT_EQ(reason("https://localhost/", options), UrlReason::None);
  EXPECT_EQ(reason("https://db.internal/", options), UrlReason::None);
  EXPECT_EQ(reason("https://10.0.0.1/", options), UrlReason::None);
  EXPECT_EQ(reason("https://metadata.google.internal/", options), UrlReason::Metadata);
  EXPECT_EQ(reason("https://169.254.169.254/", options), UrlReason::Address);
  EXPECT_EQ(reason("https://[::ffff:169.254.169.254]/", options), UrlReason::Address);
  EXPECT_EQ(reason("https://192.0.0.192/", options), UrlReason::Address);
  for (const char* url :
       {"https://100.100.100.200/", "https://168.63.129.16/", "https://[::ffff:100.100.100.200]/",
        "https://[fd00:ec2::254]/", "https://[fd20:ce::254]/", "https://rancher-metadata/"}) {
    EXPECT_EQ(reason(url, options), UrlReason::Metadata) << url;
  }
}

TEST(CheckUrl, LimitsNames) {
  const std::string label(63, 'a');
  const std::string name = label + "." + label + "." + label + ".";  // 192
  EXPECT_EQ(reason("https://" + label + ".example.com/", {}), UrlReason::None);
  EXPECT_EQ(reason("https://a" + label + ".example.com/", {}), UrlReason::Name);
  EXPECT_EQ(reason("https://" + name + std::string(61, 'b') + "/", {}), UrlReason::None);  // 253
  EXPECT_EQ(reason("https://" + name + std::string(62, 'b') + "/", {}), UrlReason::Name);
}

TEST(FetchPolicy, RefusesInvalidHostsAndRoots) {
  for (const char* host :
       {"", ".", "a b", "example.com/x", "example.com:80", "u@example.com", ".1.2.3.4", "https://x"}) {
    EXPECT_FALSE(FetchPolicy::of({.allowed_hosts = {host}})) << host;
    EXPECT_FALSE(FetchPolicy::of({.denied_hosts = {host}})) << host;
  }
  for (const std::string& root : {std::string("relative"), std::string("/a/../b"), std::string("/a/./b"),
                                  std::string("/a//b"), std::string("/a/.."), std::string("/a\0b", 4)}) {
    EXPECT_FALSE(FetchPolicy::of({.root = root})) << root;
  }
  EXPECT_EQ(FetchPolicy::of({.root = "/a/b/"})->options()->root, "/a/b");
  EXPECT_EQ(FetchPolicy::of({.root = "/"})->options()->root, "/");
}

TEST(UrlReason, HasANameForEach) {
  EXPECT_EQ(to_string(UrlReason::None), "");
  EXPECT_EQ(to_string(UrlReason::NotListed), "not_listed");
  EXPECT_EQ(to_string(UrlReason::Root), "root");
}

}  // namespace
}  // namespace parley
