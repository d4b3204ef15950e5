#include "base/secret_scan.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cctype>
#include <fstream>
#include <string>
#include <vector>

#include "base/allocations_testing.h"
#include "base/planted_secret_testing.h"
#include "parley/base/error.h"
#include "parley/base/secret.h"

namespace parley {
namespace {

// {a20} and the like, as tests/guard/secrets.txt says.
std::string expanded(std::string_view text) {
  constexpr std::string_view kAlnum = "q7Zr3Xk9Wm2Vt8Bn5Lh4Gd6Fs1JpYcTbRa";
  constexpr std::string_view kHex = "3f9a0c7e5b2d8146";
  constexpr std::string_view kUpper = "Q7ZX3K9WM2VT8BN5LHGD";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t close = text[i] == '{' ? text.find('}', i) : std::string_view::npos;
    const char set = i + 1 < text.size() ? text[i + 1] : ' ';
    if (close != std::string_view::npos && close > i + 2 &&
        std::string_view("ahu").find(set) != std::string_view::npos &&
        std::isdigit(static_cast<unsigned char>(text[i + 2])) != 0) {
      const std::string_view from = set == 'a' ? kAlnum : set == 'h' ? kHex : kUpper;
      const auto count = std::stoul(std::string(text.substr(i + 2, close - i - 2)));
      for (std::size_t k = 0; k < count; ++k) out += from[k % from.size()];
      i = close;
    } else if (text.substr(i, 2) == "\\n" && (i == 0 || text[i - 1] != '\\')) {
      out += '\n';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

struct Case {
  std::string kind, text, expected;
};

std::vector<Case> cases() {
  std::ifstream file(PARLEY_SOURCE_DIR "/tests/guard/secrets.txt");
  std::vector<Case> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t colon = line.find(": ");
    const std::string kind = line.substr(0, colon);
    std::string text = line.substr(colon + 2);
    std::string expected = text;
    const std::size_t open = text.find("<<");
    const std::size_t close = text.find(">>");
    if (kind != "none") {
      expected = text.substr(0, open) + "[redacted: " + kind + "]" + text.substr(close + 2);
      text.erase(close, 2).erase(open, 2);
    }
    out.push_back({kind, expanded(text), expanded(expected)});
  }
  return out;
}

TEST(Redacted, FollowsTheTableOfCases) {
  const std::vector<Case> all = cases();
  ASSERT_GT(all.size(), 60U);
  for (const Case& each : all) {
    EXPECT_TRUE(redacted(each.text) == each.expected)
        << each.kind << ": expected " << each.expected << "\n  was " << redacted(each.text);
  }
}

// Any pieces of secrets and of markers in any order: a second pass finds nothing.
RC_GTEST_PROP(Redacted, IsIdempotent, ()) {
  static const std::vector<Case> all = cases();
  static const std::vector<std::string> joints = {"",
                                                  " ",
                                                  "\n",
                                                  "\\n",
                                                  "-",
                                                  "_",
                                                  "=",
                                                  ":",
                                                  ";",
                                                  "&",
                                                  "?",
                                                  "/",
                                                  "@",
                                                  "://",
                                                  "a",
                                                  "7",
                                                  ".",
                                                  "\"",
                                                  "password=",
                                                  "key=",
                                                  "pwd=",
                                                  "Bearer ",
                                                  "authorization: Basic ",
                                                  "-----BEGIN PRIVATE KEY-----",
                                                  "-----END ",
                                                  "eyJ",
                                                  "sk-"};
  std::string text;
  const auto pieces = *rc::gen::inRange(0, 12);
  for (int i = 0; i < pieces; ++i) {
    if (*rc::gen::arbitrary<bool>()) {
      const Case& any = all[*rc::gen::inRange<std::size_t>(0, all.size())];
      const auto from = *rc::gen::inRange<std::size_t>(0, any.text.size());
      text += any.text.substr(from, *rc::gen::inRange<std::size_t>(0, any.text.size() + 1 - from) * 2);
    } else {
      text += joints[*rc::gen::inRange<std::size_t>(0, joints.size())];
    }
  }
  const std::string once = redacted(text);
  RC_ASSERT(redacted(once) == once);
  RC_ASSERT(once.size() <= 4 * text.size());
}

// The words of a marker make nothing after it a secret.
TEST(Redacted, MarkersAreNoContext) {
  for (const std::string_view text : {"authorization: Basic dXNlcjpwYXNzauthorization: Basic orlzation",
                                      "-----BEGIN -----BEGIN PRIVATE KEY-----aaaa PRIVATE KEY-----",
                                      "is://sk-a8mindddddddddddddddd.sk-a8mindddddddddddddddd:pw@host"}) {
    const std::string once = redacted(text);
    EXPECT_EQ(redacted(once), once);
  }
}

TEST(Redacted, FindsKeysInTheNameBeforeAPassword) {
  EXPECT_EQ(redacted("https://sk-a8mindddddddddddddddd:pw@host sk-a8mindddddddddddddddd"),
            "https://[redacted: api key]:[redacted: password]@host [redacted: api key]");
}

TEST(Redacted, TakesLongPasswordsWhole) {
  std::string text = "a=b;pwd=x";
  for (int i = 0; i < 5000; ++i) text += "\u00E9";
  EXPECT_EQ(redacted(text), "a=b;pwd=[redacted: password]");
}

TEST(Redacted, LeavesCleanTextsAlone) {
  std::string text = "nothing to see here";
  EXPECT_FALSE(redact(text));  // and the tables are made
  EXPECT_EQ(test::allocations_of([&] { redact(text); }), 0U);
  text = "key " + planted_secret();
  EXPECT_TRUE(redact(text));
  EXPECT_EQ(text, "key [redacted: anthropic key]");
}

// What begins like a secret and never becomes one, a megabyte of it.
TEST(SecretScan, IsLinearOnNearMatches) {
  std::vector<std::string> units = {"sk-",
                                    "sk-ant-",
                                    "eyJ",
                                    "eyJ.",
                                    "eyJaaaaaaaaaa.",
                                    "://",
                                    "a://b:",
                                    "Bearer ",
                                    "password=",
                                    "x=y password=",
                                    ";pwd=",
                                    "?key=",
                                    "key=",
                                    "AKIA",
                                    "-----BEGIN RSA PRIVATE KEY-----",
                                    "-----",
                                    "-----BEGIN ",
                                    "-----END ",
                                    "authorization: basic ",
                                    "SG.",
                                    "a",
                                    "=",
                                    " "};
  for (const std::string& unit : units) {
    std::uint64_t last = 0;
    for (const std::size_t size : {100'000U, 1'000'000U}) {
      std::string text = "eyJ";
      while (text.size() < size) text += unit;
      SecretScan scan(text);
      while (scan.next()) {
      }
      EXPECT_LE(scan.steps(), 40 * text.size()) << unit;
      EXPECT_TRUE(last == 0 || scan.steps() <= 11 * last + 1000) << unit;
      last = scan.steps();
    }
  }
}

// Errors are made in one place, and nothing that looks like a secret gets past it.
TEST(Errors, NeverHoldASecret) {
  const Error error =
      fail(Code::Unavailable, "the provider said: bad key " + planted_secret(), "/keys/" + planted_secret())
          .error();
  EXPECT_EQ(error.message, "the provider said: bad key [redacted: anthropic key]");
  EXPECT_EQ(error.path, "/keys/[redacted: anthropic key]");
}

}  // namespace
}  // namespace parley
