#include "store/words.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/text.h"

namespace parley::store {
namespace {

using Strings = std::vector<std::string>;

TEST(Words, AreRunsOfLettersAndDigitsWithoutCase) {
  EXPECT_EQ(indexed_words("Hello, World!"), " hello world ");
  EXPECT_EQ(indexed_words("x86-64 v2.0"), " x86 64 v2 0 ");
  EXPECT_EQ(indexed_words("STRASSE Stra\u00dfe"), " strasse strasse ");
  EXPECT_EQ(indexed_words("\uff21\uff22\uff23 \ufb01n"), " abc fin ");
  EXPECT_EQ(indexed_words("cafe\u0301"), indexed_words("caf\u00e9"));
}

// By the whole text, however ASCII and other characters stand next to each other.
TEST(Words, AreThoseOfTheFoldedText) {
  const Strings pieces = {"a",      "E",      " ",      "9",      std::string(1, '\0'),
                          "\u00c9", "\u0301", "\u0323", "\u00ad", "\u200d",
                          "\u00df", "\ufb01", "\u00bd", "\u4e2d", "\uff21",
                          "\u1100", "\u1161", "\u0130", "\u03a3", "\U0001F600"};
  std::mt19937 random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto left = random() % 9; left > 0; --left) text += pieces[random() % pieces.size()];
    utf8proc_uint8_t* folded = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &folded,
                     static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                                    UTF8PROC_CASEFOLD | UTF8PROC_IGNORE));
    ASSERT_GE(size, 0);
    const std::string whole(reinterpret_cast<const char*>(folded), static_cast<std::size_t>(size));
    std::free(folded);
    EXPECT_EQ(indexed_words(text), indexed_words(whole)) << text;
  }
}

TEST(Words, AreNoneWhereThereIsNoLetter) {
  EXPECT_EQ(indexed_words(""), " ");
  EXPECT_EQ(indexed_words(" \n\t.,;!"), " ");
  EXPECT_EQ(indexed_words("\U0001F600"), " ");
  EXPECT_EQ(indexed_words(std::string(3, '\0')), " ");
}

TEST(Words, AreApartWhereANulIs) {
  EXPECT_EQ(indexed_words(std::string("before\0behind", 13)), " before behind ");
}

TEST(Words, ArePairsInChinese) {
  EXPECT_EQ(indexed_words("\u4e2d"), " \u4e2d ");
  EXPECT_EQ(indexed_words("\u4e2d\u6587"), " \u4e2d\u6587 \u6587 ");
  EXPECT_EQ(indexed_words("\u4e2d\u6587\u5b57"), " \u4e2d\u6587 \u6587\u5b57 \u5b57 ");
  EXPECT_EQ(indexed_words("GPT\u6a21\u578b2"), " gpt \u6a21\u578b \u578b 2 ");
  EXPECT_EQ(indexed_words("\U00020000\U00020001"), " \U00020000\U00020001 \U00020001 ");
}

TEST(Words, OfASearchArePhrases) {
  EXPECT_EQ(phrases_of(""), Strings{});
  EXPECT_EQ(phrases_of(" \"*\" "), Strings{});
  EXPECT_EQ(phrases_of("Hello-World"), (Strings{"hello", "world"}));
  EXPECT_EQ(phrases_of("\u4e2d"), Strings{"\u4e2d*"});
  EXPECT_EQ(phrases_of("\u4e2d\u6587"), Strings{"\u4e2d\u6587"});
  EXPECT_EQ(phrases_of("\u4e2d\u6587\u5b57 a"), (Strings{"\u4e2d\u6587 \u6587\u5b57", "a"}));
}

TEST(Words, AreFoundWholeAndNextToEachOther) {
  EXPECT_TRUE(has_phrase(" hello world ", "hello"));
  EXPECT_FALSE(has_phrase(" hello world ", "hell"));
  EXPECT_FALSE(has_phrase(" othello ", "hello"));
  EXPECT_TRUE(has_phrase(" ab bc c ", "ab bc"));
  EXPECT_FALSE(has_phrase(" ab b bc c ", "ab bc"));
  EXPECT_TRUE(has_phrase(" ab bc c ", "b*"));
  EXPECT_FALSE(has_phrase(" ab c ", "b*"));
  EXPECT_TRUE(has_phrases(" a b ", {"b", "a"}));
  EXPECT_FALSE(has_phrases(" a b ", {"b", "c"}));
}

// Among Chinese characters alone, a word is found exactly where its characters stand in the text.
TEST(Words, OfChineseAreFoundWhereTheCharactersStand) {
  std::mt19937 random(1);
  const auto text_of = [&](std::size_t length) {
    std::string out;
    for (std::size_t i = 0; i < length; ++i) append_utf8(out, static_cast<char32_t>(0x4E00 + random() % 3));
    return out;
  };
  std::size_t found = 0;
  for (int i = 0; i < 5'000; ++i) {
    const std::string text = text_of(random() % 12);
    const std::string word = text_of(1 + random() % 4);
    const bool is_there = text.contains(word);
    EXPECT_EQ(has_phrases(indexed_words(text), phrases_of(word)), is_there) << word << " in " << text;
    found += is_there ? 1 : 0;
  }
  EXPECT_GT(found, 500U);
  EXPECT_LT(found, 4'500U);
}

TEST(Words, AfterTheFirstMegabyteAreIgnored) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  const std::string word = "needle";
  const auto is_found = [&](std::size_t end) {
    const std::string text = std::string(end - word.size(), ' ') + word;
    return has_phrase(indexed_words(text), word);
  };
  EXPECT_TRUE(is_found(kMost - 1));
  EXPECT_TRUE(is_found(kMost));
  EXPECT_FALSE(is_found(kMost + 1));
  // The cut falls on a character.
  const std::string text = std::string(kMost - 1, ' ') + "\u4e2d";
  EXPECT_EQ(indexed_words(text), " ");
}

TEST(Excerpt, IsTheLineOfTheFirstPhrase) {
  const std::string text = "one\n  two needles \nThe Needle here\r\nneedle";
  EXPECT_EQ(excerpt(text, {"needle"}), "The Needle here");
  EXPECT_EQ(excerpt(text, {"two", "needle"}), "two needles");
  EXPECT_EQ(excerpt(text, {"nothing"}), "one");
  EXPECT_EQ(excerpt("", {"nothing"}), "");
}

TEST(Excerpt, OfALongLineIsThePartWithThePhrase) {
  const std::string text = std::string(500, '.') + " needle " + std::string(500, '.');
  const std::string shown = excerpt(text, {"needle"});
  EXPECT_LE(shown.size(), 160U);
  EXPECT_TRUE(shown.contains("needle"));
  std::string wide;
  while (wide.size() < 1'000) wide += "\u3002";
  EXPECT_TRUE(is_utf8(excerpt(wide + " needle " + wide, {"needle"})));
}

TEST(Title, IsTheFirstLineThatSaysSomething) {
  EXPECT_EQ(title_of(""), "");
  EXPECT_EQ(title_of(" \n\t\r\n"), "");
  EXPECT_EQ(title_of("\n  What is up?\r\nMore"), "What is up?");
}

TEST(Title, IsCutOnACharacter) {
  EXPECT_EQ(title_of(std::string(159, 'x')), std::string(159, 'x'));
  EXPECT_EQ(title_of(std::string(160, 'x')), std::string(160, 'x'));
  EXPECT_EQ(title_of(std::string(161, 'x')), std::string(160, 'x') + "...");
  EXPECT_EQ(title_of(std::string(159, 'x') + "\u00e9"), std::string(159, 'x') + "...");
}

}  // namespace
}  // namespace parley::store
