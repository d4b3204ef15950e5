#include "token/split.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parley/base/text.h"
#include "token/naive_encoding_testing.h"

namespace parley::token {
namespace {

using Pieces = std::vector<std::string>;

Pieces cl100k(std::string_view text) { return pieces_of<SplitPattern::Cl100k>(text); }
Pieces o200k(std::string_view text) { return pieces_of<SplitPattern::O200k>(text); }

TEST(Split, TakesOneCharacterBeforeAWord) {
  EXPECT_EQ(cl100k("a b\tc.d  e"), (Pieces{"a", " b", "\tc", ".d", " ", " e"}));
  EXPECT_EQ(o200k("a b\tc.d  e"), (Pieces{"a", " b", "\tc", ".d", " ", " e"}));
  EXPECT_EQ(o200k("a\nb"), (Pieces{"a", "\n", "b"}));
}

TEST(Split, KnowsContractionsInEitherCase) {
  EXPECT_EQ(cl100k("I'm HE'LL we've x'x"), (Pieces{"I", "'m", " HE", "'LL", " we", "'ve", " x", "'x"}));
  EXPECT_EQ(o200k("I'm HE'LL we've x'x"), (Pieces{"I'm", " HE'LL", " we've", " x", "'x"}));
}

// The long s folds to s; the Kelvin sign folds to k, which no contraction has.
TEST(Split, FoldsCaseAsUnicodeDoes) {
  EXPECT_EQ(cl100k("a'\u017Fb"), (Pieces{"a", "'\u017F", "b"}));
  EXPECT_EQ(o200k("a'\u017Fb"), (Pieces{"a'\u017F", "b"}));
  EXPECT_EQ(o200k("a'\u212A"), (Pieces{"a", "'\u212A"}));
}

TEST(Split, PartsWordsOfO200kAtCapitals) {
  EXPECT_EQ(o200k("someCamelCaseHTTPWord XMLs"), (Pieces{"some", "Camel", "Case", "HTTPWord", " XMLs"}));
  EXPECT_EQ(cl100k("someCamelCase"), (Pieces{"someCamelCase"}));
}

// Letters without case and marks are in both classes of O200k, so its pattern gives characters back.
TEST(Split, GivesBackWhatO200kTookTooMuchOf) {
  EXPECT_EQ(o200k("\u4F60XY"), (Pieces{"\u4F60", "XY"}));
  EXPECT_EQ(o200k("X\u4F60Yz"), (Pieces{"X\u4F60Yz"}));
  EXPECT_EQ(o200k("X\u4F60YZ!"), (Pieces{"X\u4F60", "YZ", "!"}));
  EXPECT_EQ(o200k("\u0301XY"), (Pieces{"\u0301", "XY"}));
  EXPECT_EQ(o200k("\u0301Xy"), (Pieces{"\u0301Xy"}));
  EXPECT_EQ(o200k(" \u0301XY"), (Pieces{" \u0301", "XY"}));
  EXPECT_EQ(o200k("\u0301's"), (Pieces{"\u0301's"}));
}

TEST(Split, TakesThreeDigitsAtMost) {
  EXPECT_EQ(cl100k("1234567 89"), (Pieces{"123", "456", "7", " ", "89"}));
  EXPECT_EQ(o200k("\u0661\u06622\u00BDx"), (Pieces{"\u0661\u06622", "\u00BD", "x"}));
}

TEST(Split, TakesLineEndsAfterSymbols) {
  EXPECT_EQ(cl100k("a!?\r\n\n/b"), (Pieces{"a", "!?\r\n\n", "/b"}));
  EXPECT_EQ(o200k("a!?\r\n/\n//b"), (Pieces{"a", "!?\r\n/\n//", "b"}));
  EXPECT_EQ(cl100k(" ."), (Pieces{" ."}));
}

TEST(Split, EndsWhiteSpaceAtItsLastLineEnd) {
  for (const auto& split : {cl100k, o200k}) {
    EXPECT_EQ(split("a  \n \n  b"), (Pieces{"a", "  \n \n", " ", " b"}));
    EXPECT_EQ(split("a   1"), (Pieces{"a", "  ", " ", "1"}));
    EXPECT_EQ(split("\u3000\u3000x"), (Pieces{"\u3000", "\u3000x"}));
  }
  EXPECT_EQ(cl100k("a \n  "), (Pieces{"a", " \n  "}));
  EXPECT_EQ(o200k("a \n  "), (Pieces{"a", " \n", "  "}));
}

// ENCODING5: a sequence that was cut off is one symbol, bytes that start nothing are one each.
TEST(Split, TakesAnIllFormedPartForASymbol) {
  EXPECT_EQ(cl100k("\xE4\xBD"
                   "a"),
            (Pieces{"\xE4\xBD"
                    "a"}));
  EXPECT_EQ(cl100k("\xBD\xBD"
                   "a"),
            (Pieces{"\xBD\xBD", "a"}));
  EXPECT_EQ(cl100k(" \xFF!\n"), (Pieces{" \xFF!\n"}));
  EXPECT_EQ(o200k("a\xED\xA0\x80z"), (Pieces{"a", "\xED\xA0\x80", "z"}));
}

// The same text, far from the end of the buffer and close to it, goes different ways through the code.
TEST(Split, DoesNotDependOnWhatFollows) {
  const std::vector<std::string> words{
      "a", "aB", "Ab", " the", "'s", "It's", ".x", "\n", "7", "ABCDEFGHIJKLMNOPQ", "\u00E9t"};
  for (const std::string& first : words) {
    for (const std::string& second : words) {
      const std::string text = first + second;
      for (const auto& split : {cl100k, o200k}) {
        Pieces pieces = split(text + "\n....................x");
        const Pieces alone = split(text);
        // A line end takes part in what is before it; any other end of a piece stays.
        if (text.ends_with('\n')) continue;
        pieces.resize(std::min(pieces.size(), alone.size()));
        EXPECT_EQ(pieces, alone) << text;
      }
    }
  }
}

TEST(UnicodeClass, AgreesWithUtf8OnEveryPairOfBytesAndMore) {
  const ClassTable& classes = class_table();
  for (unsigned b0 = 0; b0 < 256; ++b0) {
    for (unsigned b1 = 0; b1 < 256; ++b1) {
      for (const std::string_view rest : {"", "\x80", "\xBF\xBF", "\x80\x80", "a", "\xC3"}) {
        std::string text{static_cast<char>(b0), static_cast<char>(b1)};
        text += rest;
        const Char c = char_at(classes, text.data(), text.data() + text.size());
        const std::size_t well_formed = utf8_sequence_length(text, 0);
        if (well_formed > 0) {
          EXPECT_EQ(c.size, well_formed);
        } else {
          EXPECT_EQ(c.kind, kSymbol);
          std::size_t replaced = 0;
          repair_utf8(std::string_view(text).substr(0, c.size), &replaced);
          EXPECT_EQ(replaced, 1U);  // it is one maximal part: no shorter, and no longer
          if (c.size < text.size()) {
            std::size_t longer = 0;
            repair_utf8(std::string_view(text).substr(0, c.size + std::size_t{1}), &longer);
            const bool is_more = utf8_sequence_length(text, c.size) == 1 || longer == 2;
            EXPECT_TRUE(is_more);
          }
        }
      }
    }
  }
}

TEST(UnicodeClass, HasTheClassesOfUnicode16) {
  const ClassTable& classes = class_table();
  EXPECT_EQ(classes[U'a'], kLower);
  EXPECT_EQ(classes[0x01C5], kUpper);  // title case
  EXPECT_EQ(classes[0x02B0], kOtherLetter);
  EXPECT_EQ(classes[0x0897], kMark);   // new in 16.0
  EXPECT_EQ(classes[0x1C89], kUpper);  // new in 16.0
  EXPECT_EQ(classes[0x88F], kSymbol);  // new in 17.0
  EXPECT_EQ(classes[0x2167], kNumber);
  EXPECT_EQ(classes[0x85], kSpace);
  EXPECT_EQ(classes[0x200B], kSymbol);
  EXPECT_EQ(classes[U'\r'], kNewline);
  EXPECT_EQ(classes[0x10FFFF], kSymbol);
}

}  // namespace
}  // namespace parley::token
