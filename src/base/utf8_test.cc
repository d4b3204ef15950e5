#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "parley/base/text.h"

namespace parley {
namespace {

// The judge knows UTF-8 by arithmetic: it decodes a sequence as a number and asks whether the number is
// allowed and whether it needed that many bytes. It shares nothing with the tables of text.h.

std::string encode(unsigned long code_point) {
  int continuations = 0;
  unsigned long lead = 0;
  if (code_point >= 65536) {
    continuations = 3;
    lead = 240;
  } else if (code_point >= 2048) {
    continuations = 2;
    lead = 224;
  } else if (code_point >= 128) {
    continuations = 1;
    lead = 192;
  }
  std::string reversed;
  for (int i = 0; i < continuations; ++i) {
    reversed += static_cast<char>(128 + code_point % 64);
    code_point /= 64;
  }
  reversed += static_cast<char>(lead + code_point);
  return {reversed.rbegin(), reversed.rend()};
}

bool is_scalar(unsigned long code_point) {
  return code_point < 0x110000 && !(code_point >= 0xD800 && code_point < 0xE000);
}

bool is_one_character(std::string_view bytes) {
  unsigned long code_point = static_cast<unsigned char>(bytes[0]);
  if (code_point >= 128) code_point %= 128UL >> bytes.size();
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    code_point = code_point * 64 + static_cast<unsigned char>(bytes[i]) % 64;
  }
  return is_scalar(code_point) && encode(code_point) == bytes;
}

// The starts, without the last byte, of all characters of more than one byte.
const std::unordered_set<std::string>& character_starts() {
  static const std::unordered_set<std::string> starts = [] {
    std::unordered_set<std::string> all;
    for (unsigned long code_point = 128; code_point < 0x110000; code_point += 64) {
      if (!is_scalar(code_point)) continue;
      const std::string bytes = encode(code_point);
      for (std::size_t i = 1; i < bytes.size(); ++i) all.insert(bytes.substr(0, i));
    }
    return all;
  }();
  return starts;
}

struct Verdict {
  std::size_t prefix = 0;
  std::size_t replaced = 0;
  std::string repaired;
};

Verdict judge(std::string_view bytes) {
  Verdict verdict;
  std::size_t i = 0;
  while (i < bytes.size()) {
    std::size_t good = 0;
    std::size_t start = 1;
    for (std::size_t length = 1; length <= 4 && i + length <= bytes.size(); ++length) {
      const std::string_view part = bytes.substr(i, length);
      if (is_one_character(part)) good = length;
      if (character_starts().contains(std::string(part))) start = length;
    }
    if (good > 0) {
      verdict.repaired += bytes.substr(i, good);
      i += good;
      if (verdict.replaced == 0) verdict.prefix = i;
    } else {
      verdict.repaired += "\xEF\xBF\xBD";
      ++verdict.replaced;
      i += start;
    }
  }
  return verdict;
}

// Compares without EXPECT macros, which would cost more than the work in millions of calls.
bool agrees(std::string_view bytes) {
  const Verdict expected = judge(bytes);
  std::size_t replaced = 99;
  return valid_utf8_prefix(bytes) == expected.prefix && is_utf8(bytes) == (expected.replaced == 0) &&
         is_utf8_constexpr(bytes) == (expected.replaced == 0) &&
         repair_utf8(bytes, &replaced) == expected.repaired && replaced == expected.replaced &&
         is_utf8(expected.repaired);
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "0123456789ABCDEF"[byte / 16];
    out += "0123456789ABCDEF"[byte % 16];
    out += ' ';
  }
  return out;
}

// Both ends of every range of table 3-7, and their neighbours.
constexpr unsigned char kInteresting[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                          0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                                          0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF};

// Runs over all texts of `length` bytes from `alphabet`.
template <typename Function>
void for_all_texts(const std::string& alphabet, std::size_t length, Function function) {
  std::vector<std::size_t> digits(length, 0);
  std::string text(length, alphabet[0]);
  for (;;) {
    for (std::size_t i = 0; i < length; ++i) text[i] = alphabet[digits[i]];
    function(text);
    std::size_t i = 0;
    while (i < length && ++digits[i] == alphabet.size()) digits[i++] = 0;
    if (i == length) return;
  }
}

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

std::string interesting_bytes() { return {std::begin(kInteresting), std::end(kInteresting)}; }

TEST(Utf8, AgreesWithTheJudgeOnAllTextsOfOneAndTwoBytes) {
  EXPECT_TRUE(agrees(""));
  for (const std::size_t length : {1U, 2U}) {
    for_all_texts(all_bytes(), length, [](const std::string& text) {
      if (!agrees(text)) ADD_FAILURE() << hex(text);
    });
  }
}

TEST(Utf8, AgreesWithTheJudgeOnInterestingTextsOfThreeAndFourBytes) {
  for (const std::size_t length : {3U, 4U}) {
    for_all_texts(interesting_bytes(), length, [](const std::string& text) {
      if (!agrees(text)) ADD_FAILURE() << hex(text);
    });
  }
}

TEST(Utf8, AgreesWithTheJudgeOnEveryCodePoint) {
  for (unsigned long code_point = 0; code_point < 0x110000; ++code_point) {
    const std::string bytes = encode(code_point);
    const bool expected = is_scalar(code_point);
    if (is_utf8(bytes) != expected) ADD_FAILURE() << hex(bytes);
    if (!expected) continue;
    std::string appended = "x";
    append_utf8(appended, static_cast<char32_t>(code_point));
    if (appended != "x" + bytes) ADD_FAILURE() << hex(bytes);
    if (utf8_length(bytes) != 1) ADD_FAILURE() << hex(bytes);
  }
}

// The words of eight bytes must not hide what lies at their edges.
TEST(Utf8, FindsTheFirstBadByteAtEveryDistanceFromWordEdges) {
  const std::vector<std::string> parts = {"\x80",         "\xC2",         "\xE2\x82", "\xF0\x9F\x98",
                                          "\xED\xA0\x80", "\xC3\xA9\xFF", "\xFF",     "\xF0\x9F\x98\x80\xC0"};
  for (const std::string& part : parts) {
    for (std::size_t before = 0; before < 40; ++before) {
      for (std::size_t after = 0; after < 20; ++after) {
        const std::string text = std::string(before, 'a') + part + std::string(after, 'b');
        ASSERT_TRUE(agrees(text)) << hex(text);
      }
    }
  }
}

TEST(Utf8, AgreesWithTheJudgeOnRandomMixtures) {
  std::mt19937 random(1);
  const std::string bytes = interesting_bytes();
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (auto parts = random() % 12; parts > 0; --parts) {
      switch (random() % 4) {
        case 0:
          text.append(random() % 20, 'x');
          break;
        case 1:
          text += encode(random() % 0xD800);
          break;
        case 2:
          text += encode(0x10000 + random() % 0x100000);
          break;
        default:
          text += bytes[random() % bytes.size()];
          break;
      }
    }
    ASSERT_TRUE(agrees(text)) << hex(text);
  }
}

// The example of the Unicode standard, section 3.9, table 3-11, and Python's answers.
TEST(Utf8, ReplacesMaximalSubparts) {
  std::size_t replaced = 0;
  EXPECT_EQ(repair_utf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", &replaced),
            "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\x41");
  EXPECT_EQ(replaced, 4U);
  EXPECT_EQ(repair_utf8("\xED\xA0\x80", &replaced), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(replaced, 3U);
  EXPECT_EQ(repair_utf8("good", &replaced), "good");
  EXPECT_EQ(replaced, 0U);
  EXPECT_EQ(repair_utf8("\xFF"), "\xEF\xBF\xBD");
}

TEST(Utf8, FloorsOffsetsToCodePointBoundaries) {
  const std::string text = encode('a') + encode(0xE9) + encode(0x20AC) + encode(0x1F600) + encode('z');
  const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t offset = 0; offset < std::size(expected); ++offset) {
    EXPECT_EQ(utf8_floor(text, offset), expected[offset]) << offset;
  }
  EXPECT_EQ(utf8_floor(text, std::string_view::npos), text.size());
  EXPECT_EQ(utf8_floor("", 0), 0U);
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(utf8_length(std::string_view("a\0b", 3)), 3U);
  EXPECT_EQ(utf8_length(encode(0xE9) + encode(0x20AC) + encode(0x1F600)), 3U);
}

static_assert(is_utf8_constexpr("h\xC3\xA9"));
static_assert(!is_utf8_constexpr("h\xC3"));
static_assert(!is_utf8_constexpr("\xED\xA0\x80"));

}  // namespace
}  // namespace parley
