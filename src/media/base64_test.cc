#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/allocations_testing.h"
#include "parley/media/data_url.h"

namespace parley {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr Base64Mode kModes[] = {Base64Mode::Canonical, Base64Mode::OpenManus, Base64Mode::Forgiving};

// The judge works bit by bit and follows each rule book step by step; nothing stands for a refusal.

std::optional<std::string> bits_to_bytes(std::string_view digits) {
  std::vector<bool> bits;
  for (const char c : digits) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    for (int bit = 5; bit >= 0; --bit) bits.push_back((value >> bit & 1) != 0);
  }
  std::string bytes;
  for (std::size_t i = 0; i + 8 <= bits.size(); i += 8) {
    unsigned byte = 0;
    for (std::size_t k = 0; k < 8; ++k) byte = byte * 2 + (bits[i + k] ? 1 : 0);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

std::string naive_encode(std::string_view bytes) {
  std::string bits;
  for (const char c : bytes) {
    for (int bit = 7; bit >= 0; --bit) bits += (static_cast<unsigned char>(c) >> bit & 1) != 0 ? '1' : '0';
  }
  while (bits.size() % 6 != 0) bits += '0';
  std::string text;
  for (std::size_t i = 0; i < bits.size(); i += 6)
    text += kAlphabet[std::stoul(bits.substr(i, 6), nullptr, 2)];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

// RFC 4648, read backwards: a text is canonical if it is what the encoder makes of its meaning.
std::optional<std::string> judge_canonical(std::string_view text) {
  std::string_view digits = text.substr(0, text.find('='));
  std::optional<std::string> bytes = bits_to_bytes(digits);
  if (!bytes || naive_encode(*bytes) != text) return std::nullopt;
  return bytes;
}

// The steps of OpenManus' check of screenshots, as far as the bytes. Only texts of ASCII are judged.
std::optional<std::string> judge_openmanus(std::string_view text) {
  if (text.size() < 10) return std::nullopt;
  if (text.substr(0, 5) == "data:") {
    if (text.find(',') == std::string_view::npos) return std::nullopt;
    text = text.substr(text.find(',') + 1);
  }
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::optional<std::string> bytes = bits_to_bytes(text.substr(0, text.size() - padding));
  if (bytes && bytes->size() > 10 * 1024 * 1024) return std::nullopt;
  return bytes;
}

// The Infra standard's "forgiving-base64 decode".
std::optional<std::string> judge_forgiving(std::string_view text) {
  std::string data;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\n' && c != '\f' && c != '\r') data += c;
  }
  if (data.size() % 4 == 0) {
    if (data.ends_with("==")) {
      data.resize(data.size() - 2);
    } else if (data.ends_with("=")) {
      data.resize(data.size() - 1);
    }
  }
  if (data.size() % 4 == 1) return std::nullopt;
  return bits_to_bytes(data);
}

std::optional<std::string> judge(std::string_view text, Base64Mode mode) {
  switch (mode) {
    case Base64Mode::Canonical:
      return judge_canonical(text);
    case Base64Mode::OpenManus:
      return judge_openmanus(text);
    case Base64Mode::Forgiving:
      return judge_forgiving(text);
  }
  return std::nullopt;
}

void expect_agreement(std::string_view text, Base64Mode mode) {
  const std::optional<std::string> expected = judge(text, mode);
  const Result<std::string> bytes = base64_decode(text, mode);
  const Result<void> checked = base64_check(text, mode);
  ASSERT_EQ(bytes.has_value(), expected.has_value()) << text << " in mode " << static_cast<int>(mode);
  ASSERT_EQ(checked.has_value(), expected.has_value()) << text << " in mode " << static_cast<int>(mode);
  if (expected) {
    ASSERT_EQ(*bytes, *expected) << text;
  } else {
    ASSERT_EQ(bytes.error(), checked.error());
    ASSERT_EQ(bytes.error().code, Code::Invalid);
    // The lenient modes ignore spare bits, so they must never blame them.
    const bool blames_bits = bytes.error().message.find("bits") != std::string::npos;
    ASSERT_TRUE(mode == Base64Mode::Canonical || !blames_bits) << text << ": " << bytes.error().message;
  }
}

// The offset that the error of `text` names.
std::size_t error_offset(std::string_view text, Base64Mode mode) {
  const Result<void> checked = base64_check(text, mode);
  if (checked) return std::string::npos;
  const std::size_t at = checked.error().message.find(" at offset ");
  return at == std::string::npos ? at : std::stoul(checked.error().message.substr(at + 11));
}

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(Base64, MatchesTheVectorsOfRfc4648) {
  const std::pair<std::string_view, std::string_view> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text).value(), bytes);
    EXPECT_EQ(base64_decode(text, Base64Mode::Forgiving).value(), bytes);
  }
}

TEST(Base64, RoundTripsEveryLength) {
  std::mt19937 random(3);
  for (std::size_t length = 0; length <= 300; ++length) {
    const std::string bytes = random_bytes(random, length);
    const std::string text = base64_encode(bytes);
    ASSERT_EQ(text, naive_encode(bytes));
    ASSERT_EQ(base64_decode(text).value(), bytes);
    ASSERT_EQ(base64_decode(text, Base64Mode::Forgiving).value(), bytes);
    if (text.size() >= 10) {
      ASSERT_EQ(base64_decode(text, Base64Mode::OpenManus).value(), bytes);
    }
  }
}

TEST(Base64, KnowsEveryCharacterAtEveryPlace) {
  for (std::size_t place = 0; place < 16; ++place) {
    for (int c = 0; c < 128; ++c) {
      std::string text = "QUJDREVGR0hJSktM";
      text[place] = static_cast<char>(c);
      for (const Base64Mode mode : kModes) expect_agreement(text, mode);
    }
  }
}

TEST(Base64, AgreesWithTheJudgeOnAllShortTextsOfTellingCharacters) {
  const std::string characters = "Ab/=\n!";
  for (std::size_t length = 0; length <= 6; ++length) {
    std::vector<std::size_t> digits(length, 0);
    for (std::size_t i = 0; i < length || length == 0;) {
      std::string text;
      for (const std::size_t digit : digits) text += characters[digit];
      expect_agreement(text, Base64Mode::Canonical);
      expect_agreement(text, Base64Mode::Forgiving);
      expect_agreement("data:abcde," + text, Base64Mode::OpenManus);
      expect_agreement("AAAABBBBCCCC" + text, Base64Mode::OpenManus);
      if (length == 0) break;
      for (i = 0; i < length && ++digits[i] == characters.size(); ++i) digits[i] = 0;
    }
  }
}

TEST(Base64, AgreesWithTheJudgeOnMutatedTexts) {
  std::mt19937 random(4);
  constexpr std::string_view kInserts = "=\n \t\r\f\v-_!A/+.,\0"sv;
  for (int round = 0; round < 30'000; ++round) {
    std::string text = base64_encode(random_bytes(random, random() % 60));
    for (auto mutations = random() % 4; mutations > 0; --mutations) {
      const std::size_t at = random() % (text.size() + 1);
      switch (random() % 4) {
        case 0:
          text.insert(at, 1, kInserts[random() % kInserts.size()]);
          break;
        case 1:
          text.erase(at, 1);
          break;
        case 2:
          text.resize(at);
          break;
        default:
          text.insert(at, random() % 2 == 0 ? "\r\n" : "=");
          break;
      }
    }
    if (random() % 8 == 0) text.insert(0, random() % 2 == 0 ? "data:," : "data:image/png;base64,");
    for (const Base64Mode mode : kModes) expect_agreement(text, mode);
  }
}

TEST(Base64, HasExactlyOneCanonicalSpelling) {
  for (const std::string_view text :
       {"Zg"sv,     "Zg="sv,      "Zg==="sv,    "Zh=="sv,   "Zm9="sv, "Zm8"sv,       " Zg=="sv,
        "Zg==\n"sv, "Zm9v\n"sv,   "Zg==Zg=="sv, "Z"sv,      "="sv,    "=="sv,        "===="sv,
        "Z==="sv,   "Zm9v===="sv, "Zm-_"sv,     "Zm9v\0"sv, "ab=="sv, "Zm\xC3\xA9"sv}) {
    const Result<std::string> bytes = base64_decode(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, Code::Invalid) << text;
  }
}

TEST(Base64, ForgivesWhatTheWhatwgRulesForgive) {
  const std::pair<std::string_view, std::string_view> good[] = {
      {"ab==", "i"},
      {"ab", "i"},
      {"abc", "i\xB7"},
      {"abc=", "i\xB7"},
      {" \t\n\f\r", ""},
      {" a\tb\n=\f=\r", "i"},
      {"a b c d", "i\xB7\x1D"},
      {"abcd\n", "i\xB7\x1D"},
      {"ab= =", "i"},
  };
  for (const auto& [text, bytes] : good)
    EXPECT_EQ(base64_decode(text, Base64Mode::Forgiving).value(), bytes) << text;
  for (const std::string_view text : {"a"sv,          "abcde"sv, "ab="sv,           "ab==="sv,  "="sv,
                                      "=="sv,         "==="sv,   "===="sv,          "a="sv,     "a=="sv,
                                      "a==="sv,       "a=b="sv,  "abcd="sv,         "abcd=="sv, "abcd===="sv,
                                      "ab==cd"sv,     "=abc"sv,  "ab\vcd"sv,        "ab\0cd"sv, "abcd\0"sv,
                                      "ab\xC2\xA0"sv, "ab-_"sv,  "ab\xE2\x80\xA8"sv}) {
    const Result<std::string> bytes = base64_decode(text, Base64Mode::Forgiving);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().code, Code::Invalid);
  }
}

TEST(Base64, FollowsOpenManusStepByStep) {
  const auto decode = [](std::string_view text) { return base64_decode(text, Base64Mode::OpenManus); };
  // 1: the length counts the prefix and is counted in characters.
  EXPECT_FALSE(decode(""));
  EXPECT_FALSE(decode("QUJDREVGR"));
  EXPECT_FALSE(decode("QUJDREVG"));
  EXPECT_FALSE(decode("data:\xC3\xA9,QU"));
  EXPECT_FALSE(decode("data:\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80,"));
  EXPECT_EQ(decode("data:\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80,").value(), "");
  // 2: the first comma decides, whatever stands before it.
  EXPECT_EQ(decode("data:image/png;base64,QUJD").value(), "ABC");
  EXPECT_EQ(decode("data:text/plain,QUJD").value(), "ABC");
  EXPECT_EQ(decode("data:;;;,QUJD").value(), "ABC");
  EXPECT_EQ(decode("data:abcd,").value(), "");
  EXPECT_FALSE(decode("data:QUJDQUJD"));
  EXPECT_FALSE(decode("data:a,QUJD,QUJD"));
  // 3: DATA: is no prefix; one alphabet, at most two '=' and those at the end.
  EXPECT_FALSE(decode("DATA:image/png;base64,QUJD"));
  EXPECT_FALSE(decode("QUJDQUJDQU-_"));
  EXPECT_FALSE(decode("QUJD QUJDQUJ"));
  EXPECT_FALSE(decode("QU==QUJDQUJD"));
  EXPECT_FALSE(decode("QUJDQUJDQ==="));
  // 4 and 5: a multiple of four; the line feed that slips through the pattern fails later.
  EXPECT_FALSE(decode("AAAAAAAAAA"));
  EXPECT_FALSE(decode("QUJDQUJDQUJD\n"));
  EXPECT_FALSE(decode("QUJDQUJDQUJ\n"));
  // Spare bits do not matter.
  EXPECT_EQ(decode("QUJDQUJDab==").value(), "ABCABCi");
  EXPECT_EQ(decode("QUJDQUJDQUJ/").value().size(), 9U);
}

// 6: at most 10 MiB, and only once the alphabet and the length are right.
TEST(Base64, HasOpenManusSizeLimit) {
  const std::string largest = base64_encode(std::string(kOpenManusImageBytes, 'x'));
  std::string larger = base64_encode(std::string(kOpenManusImageBytes + 1, 'x'));
  EXPECT_TRUE(base64_check(largest, Base64Mode::OpenManus));
  EXPECT_EQ(base64_decode(largest, Base64Mode::OpenManus).value().size(), kOpenManusImageBytes);
  EXPECT_EQ(base64_check(larger, Base64Mode::OpenManus).error().code, Code::LimitExceeded);
  EXPECT_EQ(base64_check("data:," + larger, Base64Mode::OpenManus).error().code, Code::LimitExceeded);
  EXPECT_TRUE(base64_check(larger, Base64Mode::Canonical));
  larger[1'000] = '!';
  EXPECT_EQ(base64_check(larger, Base64Mode::OpenManus).error().code, Code::Invalid);
  EXPECT_EQ(error_offset(larger, Base64Mode::OpenManus), 1'000U);
}

TEST(Base64, ChecksTheLimitBeforeAnythingElse) {
  for (std::size_t size = 9; size < 30; ++size) {
    const std::string text = base64_encode(std::string(size, 'x'));
    for (const Base64Mode mode : kModes) {
      EXPECT_TRUE(base64_decode(text, mode, size));
      EXPECT_TRUE(base64_check(text, mode, size));
      const Result<std::string> refused = base64_decode(text, mode, size - 1);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, Code::LimitExceeded);
      EXPECT_NE(refused.error().message.find(std::to_string(size - 1) + " bytes"), std::string::npos);
      EXPECT_EQ(base64_check(text, mode, size - 1).error().code, Code::LimitExceeded);
    }
  }
  EXPECT_EQ(base64_decode("!!!!", Base64Mode::Canonical, 2).error().code, Code::LimitExceeded);
  EXPECT_EQ(base64_decode("! ! ! !", Base64Mode::Forgiving, 2).error().code, Code::LimitExceeded);
  EXPECT_TRUE(base64_decode(" Z\ng ", Base64Mode::Forgiving, 1));
  EXPECT_TRUE(base64_decode("", Base64Mode::Canonical, 0));
}

TEST(Base64, AllocatesNothingToCheckAGoodText) {
  const std::string text = base64_encode(std::string(10'000, 'x')) + "\r\n";
  const std::string_view padded = std::string_view(text).substr(0, text.size() - 2);
  EXPECT_EQ(test::allocations_of([&] {
              EXPECT_TRUE(base64_check(padded, Base64Mode::Canonical));
              EXPECT_TRUE(base64_check(padded, Base64Mode::OpenManus));
              EXPECT_TRUE(base64_check(text, Base64Mode::Forgiving));
            }),
            0U);
}

TEST(Base64, NamesTheOffsetOfTheFault) {
  const Base64Mode canonical = Base64Mode::Canonical;
  EXPECT_EQ(error_offset("Zm9vYm!y", canonical), 6U);
  EXPECT_EQ(error_offset("Zm9v\xC3\xA9rs", canonical), 4U);
  EXPECT_EQ(error_offset("Zm9vY", canonical), 5U);
  EXPECT_EQ(error_offset("Zm9vYg=", canonical), 7U);
  EXPECT_EQ(error_offset("Zm9v=", canonical), 4U);
  EXPECT_EQ(error_offset("Zg==Zg==", canonical), 4U);
  EXPECT_EQ(error_offset("Zm8==", canonical), 4U);
  EXPECT_EQ(error_offset("Zg=v", canonical), 3U);
  EXPECT_EQ(error_offset("Zh==", canonical), 1U) << "the digit with the spare bits";
  EXPECT_EQ(error_offset("Zg==\n", canonical), 4U);
  EXPECT_EQ(error_offset(" Z g\n!", Base64Mode::Forgiving), 5U);
  EXPECT_EQ(error_offset("data:image/png;base64,QUJ!", Base64Mode::OpenManus), 25U);
}

// The offset is where a reader from left to right first knows: what lies before it could still have
// become good, and with the character at it nothing could.
TEST(Base64, NamesTheFirstOffsetFromWhichNoTextCouldBeGood) {
  const auto can_become_good = [](const std::string& start, Base64Mode mode) {
    for (const char* end : {"", "A", "AA", "AAA", "=", "==", "A=", "A==", "AA="}) {
      if (judge(start + end, mode)) return true;
    }
    return false;
  };
  std::mt19937 random(5);
  constexpr std::string_view kCharacters = "AQgw=\n!"sv;  // The digits set no spare bits as last ones.
  for (const Base64Mode mode : {Base64Mode::Canonical, Base64Mode::Forgiving}) {
    for (int round = 0; round < 20'000; ++round) {
      std::string text;
      for (auto i = random() % 10; i > 0; --i) text += kCharacters[random() % (4 + random() % 4)];
      if (judge(text, mode)) continue;
      const std::size_t offset = error_offset(text, mode);
      ASSERT_LE(offset, text.size()) << text;
      EXPECT_TRUE(can_become_good(text.substr(0, offset), mode)) << text << " " << offset;
      if (offset < text.size()) {
        EXPECT_FALSE(can_become_good(text.substr(0, offset + 1), mode)) << text << " " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace parley
