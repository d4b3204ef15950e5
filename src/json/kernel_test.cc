#include "json/kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/guard_page_testing.h"
#include "base/kernel_choice.h"
#include "json/judge_testing.h"
#include "parley/json/json.h"

// The invariants of kernel.h, as quoted below:
//   KERNEL1  Every kernel gives the verdict and the bytes of the scalar one.
//   KERNEL2  scan() accepts only what is wholly valid: escapes, surrogate pairs, UTF-8, no control
//            characters.
//   KERNEL3  A kernel reads at most kPadding bytes after the text it is given.
// Every text below is laid down so that its padding ends at a page that cannot be read, every result is
// written into room that ends at one, and the judge, not the scalar kernel, says what is right.

namespace parley::json {
namespace {

using test::GuardedMemory;

constexpr std::size_t kRoom = std::size_t{64} * 1024;

GuardedMemory& inputs() {
  static GuardedMemory memory(kRoom);
  return memory;
}
GuardedMemory& outputs() {
  static GuardedMemory memory(6 * kRoom);
  return memory;
}

const std::vector<const Kernel*>& supported_kernels() {
  static const std::vector<const Kernel*> all = parley::supported_kernels(kernels());
  return all;
}

std::string shown(std::string_view bytes) { return testing::PrintToString(std::string(bytes)); }

// What a kernel makes of `text`; neither reading nor writing a byte it has no right to. Escaping and
// unescaping take texts from anywhere, so they get no padding at all.
std::string escaped_by(const Kernel& kernel, std::string_view text) {
  char* out = outputs().last(6 * text.size() + 64);
  char* end = kernel.escape(inputs().place(text, 0), text.size(), out);
  return {out, end};
}
std::string unescaped_by(const Kernel& kernel, std::string_view spelled) {
  char* out = outputs().last(spelled.size() + 64);
  char* end = kernel.unescape(inputs().place(spelled, 0), spelled.size(), out);
  return {out, end};
}

// Every kernel must find in `text`, which begins after an opening quote, what the judge finds.
testing::AssertionResult read_right(std::string_view text) {
  const judge::String right = judge::read_string(text, 0);
  const bool valid = right.fault == StringFault::None;
  const char* const p = inputs().place(text, kPadding);
  for (const Kernel* kernel : supported_kernels()) {
    const char* const found = kernel->scan(p);
    if (found != (valid ? p + right.at : nullptr)) {
      return testing::AssertionFailure()
             << kernel->name
             << (found != nullptr ? " accepts up to byte " + std::to_string(found - p) : " refuses")
             << ", the judge " << (valid ? "accepts up to byte " + std::to_string(right.at) : "refuses")
             << ": " << shown(text);
    }
  }
  const StringReport report = examine_string(p, p + text.size());
  if (report.fault != right.fault || report.at != p + right.at) {
    return testing::AssertionFailure()
           << "examine_string says " << static_cast<int>(report.fault) << " at byte " << report.at - p
           << ", the judge " << static_cast<int>(right.fault) << " at byte " << right.at << ": "
           << shown(text);
  }
  if (!valid) return testing::AssertionSuccess();
  for (const Kernel* kernel : supported_kernels()) {
    const std::string plain = unescaped_by(*kernel, text.substr(0, right.at));
    if (plain != right.text) {
      return testing::AssertionFailure() << kernel->name << " unescapes to " << shown(plain) << ", not "
                                         << shown(right.text) << ": " << shown(text);
    }
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult written_right(std::string_view text) {
  const std::string right = judge::escaped(text);
  for (const Kernel* kernel : supported_kernels()) {
    const std::string spelled = escaped_by(*kernel, text);
    if (spelled != right) {
      return testing::AssertionFailure() << kernel->name << " escapes to " << shown(spelled) << ", not "
                                         << shown(right) << ": " << shown(text);
    }
    const std::string back = unescaped_by(*kernel, spelled);
    if (back != text) {
      return testing::AssertionFailure()
             << kernel->name << " comes back as " << shown(back) << ": " << shown(text);
    }
  }
  return testing::AssertionSuccess();
}

std::string repeated(std::string_view unit, std::size_t length) {
  std::string out;
  while (out.size() < length) out += unit;
  return out;
}

// Text after the closing quote must not affect the verdict.
constexpr std::string_view kTails[] = {
    "", "\"", "\",\"next\"", "\"\\\\\\u\\uD800\\q\"", "\"\xFF\xC3\xA9\xE2\x82\x01\x02",
};

// Each background is a run of whole units, so that a byte put into it hits every part of a unit.
constexpr std::string_view kBackgrounds[] = {
    "a",
    "\\n",
    "\\\\",
    "\\u00e9",
    "\\uD83D\\uDE00",
    "\xC3\xA9",
    "\xE2\x82\xAC",
    "\xF0\x9F\x98\x80",
    "a\\\"b\xC3\xA9\\uABCD",
};

TEST(Judge, KnowsTheEscapesAndTheCharacters) {
  const auto text = [](std::string_view inside) {
    const judge::String read = judge::read_string(std::string(inside) + "\"", 0);
    return read.fault == StringFault::None ? read.text
                                           : "fault " + std::to_string(static_cast<int>(read.fault));
  };
  EXPECT_EQ(text(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text(R"(\u0041\u00e9\u20AC\uD83D\uDe00)"), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(text("\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF\x7F"),
            "\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF\x7F");
  const auto fault = [](std::string_view inside) {
    return judge::read_string(std::string(inside) + "\"", 0).fault;
  };
  for (const char* bad :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xFF"}) {
    EXPECT_EQ(fault(bad), StringFault::BadUtf8) << shown(bad);
  }
  for (const char* bad : {R"(\a)", R"(\u12)", R"(\u12g4)", R"(\U0041)", R"(\ud800\u12)", R"(\)"}) {
    EXPECT_NE(fault(bad), StringFault::None) << bad;
  }
  for (const char* lone :
       {R"(\ud800)", R"(\udc00)", R"(\udc00\ud800)", R"(\ud800\ud800)", R"(\ud800x)", R"(\ud800\n)"}) {
    EXPECT_EQ(fault(lone), StringFault::LoneSurrogate) << lone;
  }
  EXPECT_EQ(fault("\x1F"), StringFault::Control);
  EXPECT_EQ(judge::escaped("\x01\x1F\"\\\b\x18 \x7F\xC3\xA9/"), R"(\u0001\u001f\"\\\b\u0018 )"
                                                                "\x7F\xC3\xA9/");
}

TEST(Kernel, IsChosenOnceAndScalarIsAlwaysThere) {
  ASSERT_FALSE(kernels().empty());
  EXPECT_EQ(kernels().front(), &kScalarKernel);
  EXPECT_TRUE(kScalarKernel.supported());
  EXPECT_TRUE(kernel().supported());
  EXPECT_EQ(&kernel(), supported_kernels().back());
}

TEST(Kernel, CanBeForced) {
  const Kernel& chosen = kernel();
  for (const Kernel* each : supported_kernels()) {
    use_kernel(*each);
    EXPECT_EQ(&kernel(), each);
  }
  use_kernel(chosen);
}

TEST(KernelScan, JudgesEveryByteAtEveryPosition) {  // KERNEL1 KERNEL2 KERNEL3
  for (const std::string_view unit : kBackgrounds) {
    std::string text = repeated(unit, 144);
    text += "\",\"";
    for (std::size_t at = 0; at <= 130; ++at) {
      const char before = text[at];
      for (int value = 0; value < 256; ++value) {
        text[at] = static_cast<char>(value);
        ASSERT_TRUE(read_right(text));
      }
      text[at] = before;
    }
  }
}

TEST(KernelScan, EndsAtTheQuoteWhateverStandsAfterIt) {  // KERNEL2
  for (const std::string_view tail : kTails) {
    for (const std::string_view unit : kBackgrounds) {
      for (std::size_t units = 0; units * unit.size() <= 200; ++units) {
        for (std::size_t shift = 0; shift < unit.size(); ++shift) {
          ASSERT_TRUE(read_right(std::string(shift, '.') + repeated(unit, units * unit.size()).append(tail)));
        }
      }
    }
  }
}

TEST(KernelScan, FindsTheEndOfPlainTextOfEveryLength) {  // KERNEL1 KERNEL3
  for (std::size_t length = 0; length <= 1100; ++length) {
    ASSERT_TRUE(read_right(std::string(length, 'A') + "\""));
    ASSERT_TRUE(read_right(std::string(length, 'A')));  // no closing quote: the NUL after the text ends it
  }
}

// Long plain runs go through a tight loop of their own; what ends them must be seen wherever it stands.
TEST(KernelScan, SeesWhatEndsALongPlainRun) {  // KERNEL1 KERNEL2
  for (const std::string_view end :
       {"\\n", "\\q", "\\\"", "\\", "\\u00e9", "\\u00g9", "\\ud800", "\\uD83D\\uDE00", "\xC3\xA9", "\xC3",
        "\x80", "\xF0\x9F\x98\x80", "\xF0\x9F\x98", "\x1F", "\x7F"}) {
    for (std::size_t length = 180; length <= 720; ++length) {
      const std::string text = std::string(length, 'A').append(end);
      ASSERT_TRUE(read_right(text + "\""));
      ASSERT_TRUE(read_right(text + std::string(400, 'B') + "\""));
    }
  }
}

TEST(KernelScan, SeesANulInTheText) {  // KERNEL2
  for (std::size_t length = 0; length <= 400; ++length) {
    std::string text(length, 'A');
    text += '\0';
    ASSERT_TRUE(read_right(text + "BCD\""));
    ASSERT_TRUE(read_right(text + "\""));
  }
}

TEST(KernelScan, PairsBackslashesInRunsOfEveryLength) {  // KERNEL1 KERNEL2
  for (std::size_t before = 0; before <= 70; ++before) {
    for (std::size_t run = 0; run <= 140; ++run) {
      const std::string text = std::string(before, 'a') + std::string(run, '\\');
      for (const std::string_view after : {"\"", "\"\"", "n\"", "u0041\"", "u004\"", "x\"", ""}) {
        ASSERT_TRUE(read_right(text + std::string(after)));
      }
    }
  }
}

TEST(KernelScan, JudgesEveryEscapeByNumber) {  // KERNEL1 KERNEL2
  constexpr char kDigits[] = "0123456789abcdef";
  for (unsigned unit = 0; unit < 0x10000; ++unit) {
    std::string spelled = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) spelled += kDigits[unit >> shift & 15];
    ASSERT_TRUE(read_right(std::string(57 + unit % 9, 'a') + spelled + "\""));
  }
}

TEST(KernelScan, JudgesEveryByteAsAHexDigit) {  // KERNEL1 KERNEL2
  for (std::size_t before = 50; before <= 66; ++before) {
    for (std::size_t digit = 0; digit < 4; ++digit) {
      for (int value = 0; value < 256; ++value) {
        std::string spelled = "\\u1aF0";
        spelled[2 + digit] = static_cast<char>(value);
        ASSERT_TRUE(read_right(std::string(before, 'a') + spelled + "b\""));
      }
    }
  }
}

// Pairs, halves, halves in the wrong order, and neighbours of the surrogate range, at every offset.
TEST(KernelScan, PairsSurrogatesAtEveryOffset) {  // KERNEL1 KERNEL2
  const std::string_view units[] = {"\\ud7ff", "\\uD800",  "\\udbFf", "\\uDBFF", "\\udc00",
                                    "\\uDFff", "\\ue000",  "\\uD9a",  "\\n",     "d",
                                    "\\\\",    "\xC3\xA9", ""};
  for (std::size_t before = 0; before <= 130; ++before) {
    const std::string text(before, 'a');
    for (const std::string_view first : units) {
      for (const std::string_view second : units) {
        ASSERT_TRUE(read_right(text + std::string(first).append(second) + "\""));
        ASSERT_TRUE(read_right(text + std::string(first).append(second) + "bcdefgh\""));
      }
    }
  }
  for (std::size_t before = 40; before <= 64; ++before) {
    const std::string text(before, 'a');
    for (const std::string_view first : units) {
      for (const std::string_view second : units) {
        for (const std::string_view third : units) {
          ASSERT_TRUE(read_right(text + std::string(first).append(second).append(third) + "\""));
        }
      }
    }
  }
}

// What a block leaves pending must be forgotten by the time the next but one begins.
TEST(KernelScan, DoesNotPairSurrogatesThatStandApart) {  // KERNEL1 KERNEL2
  for (std::size_t before = 40; before <= 70; ++before) {
    for (std::size_t apart = 0; apart <= 140; ++apart) {
      const std::string text = std::string(before, 'a') + "\\ud83d" + std::string(apart, 'b');
      ASSERT_TRUE(read_right(text + "\\ude00\""));
      ASSERT_TRUE(read_right(text + "de00\""));
      ASSERT_TRUE(read_right(text + "\\u0041\""));
    }
  }
}

TEST(KernelScan, JudgesEveryTwoBytesAroundABorder) {  // KERNEL1 KERNEL2
  for (std::size_t before : {std::size_t{31}, std::size_t{62}, std::size_t{63}}) {
    std::string text(before, 'a');
    text += "..b\"";
    for (int first = 0; first < 256; ++first) {
      text[before] = static_cast<char>(first);
      for (int second = 0; second < 256; ++second) {
        text[before + 1] = static_cast<char>(second);
        ASSERT_TRUE(read_right(text));
      }
    }
  }
}

// One byte of each class that UTF-8 tells apart, in all combinations of four, across the borders of
// registers and blocks.
TEST(KernelScan, JudgesFourBytesOfEveryClassAcrossBorders) {  // KERNEL1 KERNEL2
  constexpr unsigned char kClasses[] = {'a',  '"',  '\\', 'u',  0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1,
                                        0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
  unsigned turn = 0;
  for (const unsigned char a : kClasses) {
    for (const unsigned char b : kClasses) {
      for (const unsigned char c : kClasses) {
        for (const unsigned char d : kClasses) {
          const std::size_t before = (turn & 1) != 0 ? 60 + turn / 2 % 4 : 28 + turn / 2 % 4;
          ++turn;
          std::string text(before, 'a');
          for (const unsigned char each : {a, b, c, d}) text += static_cast<char>(each);
          ASSERT_TRUE(read_right(text + "\""));
        }
      }
    }
  }
}

TEST(KernelScan, RefusesACharacterCutByTheQuoteOrTheEnd) {  // KERNEL2
  for (const std::string_view whole :
       {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xEF\xBF\xBD", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    for (std::size_t before = 0; before <= 200; ++before) {
      for (std::size_t kept = 0; kept <= whole.size(); ++kept) {
        const std::string text = std::string(before, 'a').append(whole.substr(0, kept));
        ASSERT_TRUE(read_right(text + "\""));
        ASSERT_TRUE(read_right(text + "\"\x80\x80\x80"));  // the rest of it comes after the quote
        ASSERT_TRUE(read_right(text));
      }
    }
  }
}

std::string random_text(std::mt19937& random, std::size_t units) {
  static constexpr std::string_view kUnits[] = {
      "a",
      "plain text of some length, without anything to escape",
      "\\n",
      "\\\"",
      "\\\\",
      "\\/",
      "\\u0000",
      "\\u00e9",
      "\\uFFFF",
      "\\ud83d\\ude00",
      "\\uDBFF\\uDFFF",
      "\xC3\xA9",
      "\xE2\x82\xAC",
      "\xED\x9F\xBF",
      "\xF0\x9F\x98\x80",
      "\xF4\x8F\xBF\xBF",
      "\x7F",
      "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0NTY3ODkrLw==",
  };
  std::string out;
  for (std::size_t i = 0; i < units; ++i) out += kUnits[random() % std::size(kUnits)];
  return out;
}

TEST(KernelScan, AgreesWithTheJudgeOnRandomMutants) {  // KERNEL1 KERNEL2 KERNEL3
  std::mt19937 random(20240607);
  static constexpr unsigned char kDamage[] = {'"', '\\', 'u',  'd',  'D',  '8',  'c',  '0',
                                              0,   0x1F, 0x80, 0xBF, 0xC3, 0xE2, 0xED, 0xF0};
  for (int round = 0; round < 200'000; ++round) {
    std::string text = random_text(random, random() % 12) + "\"";
    text.append(kTails[random() % std::size(kTails)]);
    for (auto changes = random() % 4; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text[at] = static_cast<char>(kDamage[random() % std::size(kDamage)]);
          break;
        case 2:
          text.erase(at, 1 + random() % 3);
          break;
        default:
          text.insert(at, 1, static_cast<char>(kDamage[random() % std::size(kDamage)]));
          break;
      }
      if (text.empty()) text = "\"";
    }
    ASSERT_TRUE(read_right(text)) << "round " << round;
  }
}

TEST(KernelEscape, WritesEveryByteAtEveryPosition) {  // KERNEL1
  for (const std::string_view unit : {"a", "\"", "\n", "\xC3\xA9", "a\\b\"c\x01"}) {
    std::string text = repeated(unit, 100);
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char before = text[at];
      for (int value = 0; value < 256; ++value) {
        text[at] = static_cast<char>(value);
        ASSERT_TRUE(written_right(text));
      }
      text[at] = before;
    }
  }
}

TEST(KernelEscape, WritesTextsOfEveryLength) {  // KERNEL1 KERNEL3
  for (const std::string_view unit : {"a", "\"", "\x1F", "\xF0\x9F\x98\x80", "ab\ncd\"ef\\"}) {
    for (std::size_t length = 0; length <= 300; ++length) {
      ASSERT_TRUE(written_right(repeated(unit, length).substr(0, length)));
    }
  }
}

// A control character without a letter shares its low bits with one that has a letter.
TEST(KernelEscape, TellsControlsWithTheSameLowBitsApart) {  // KERNEL1
  for (std::size_t length : {std::size_t{1}, std::size_t{32}, std::size_t{64}, std::size_t{100}}) {
    for (char c = 0; c < 32; ++c) ASSERT_TRUE(written_right(std::string(length, c)));
  }
}

TEST(KernelEscape, WritesRandomBytes) {  // KERNEL1
  std::mt19937 random(7);
  for (int round = 0; round < 50'000; ++round) {
    std::string text(random() % 200, 'a');
    const auto density = 1 + random() % 20;
    for (char& c : text) {
      if (random() % density == 0) c = static_cast<char>(random() % 3 != 0 ? random() % 0x60 : random());
    }
    ASSERT_TRUE(written_right(text)) << "round " << round;
  }
}

TEST(KernelEscape, GivesWhatScanAcceptsAndUnescapeTurnsBack) {  // KERNEL2
  std::mt19937 random(8);
  for (int round = 0; round < 20'000; ++round) {
    const std::string spelled = random_text(random, random() % 12);
    const judge::String read = judge::read_string(spelled + "\"", 0);
    ASSERT_EQ(read.fault, StringFault::None);
    ASSERT_TRUE(written_right(read.text));
    ASSERT_TRUE(read_right(judge::escaped(read.text) + "\""));
  }
}

TEST(KernelUnescape, TakesRunsOfEscapesOfEveryLength) {  // KERNEL1 KERNEL3
  for (const std::string_view unit :
       {"\\n", "\\u0041", "\\u00e9", "\\u20ac", "\\ud83d\\ude00", "\\\\", "\\\"\\/\\b\\f\\n\\r\\t"}) {
    for (std::size_t before = 0; before <= 66; ++before) {
      std::string text(before, 'a');
      for (std::size_t count = 0; count < 40; ++count) {
        ASSERT_TRUE(read_right(text + "\""));
        ASSERT_TRUE(read_right(text + "tail\""));
        text += unit;
      }
    }
  }
}

}  // namespace
}  // namespace parley::json
