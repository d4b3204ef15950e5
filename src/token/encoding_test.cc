#include "parley/token/encoding.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "parley/media/data_url.h"
#include "token/naive_encoding_testing.h"
#include "token/tables.h"

namespace parley {
namespace {

std::vector<Encoding> both() { return {Encoding::cl100k_base(), Encoding::o200k_base()}; }

const token::Vocabulary& vocabulary_of(const Encoding& encoding) {
  return encoding.name() == "o200k_base" ? *token::o200k_base() : *token::cl100k_base();
}

// Random texts of which many parts are tokens, characters or neither.
std::string random_text(std::mt19937_64& random, std::size_t atoms) {
  static const std::vector<std::string> kAtoms{
      "a",      "e",          "t",      "th",     "ing",    "X",      "Q",      "'",      "'s",     " ",
      "  ",     "\n",         "\t",     "0",      "42",     ".",      "...",    "/",      "\u00E9", "\u0430",
      "\u0431", "\u4F60",     "\u597D", "\u7684", "\u3002", "\uFF0C", "\u0301", "\u0915", "\u093E", "\uAC00",
      "\uB2E4", "\U0001F600", "\u200D", "_",      "-",      "=",      "the",    "qz",     "\u3042"};
  std::string text;
  for (std::size_t i = 0; i < atoms; ++i) {
    const std::string& atom = kAtoms[random() % kAtoms.size()];
    const std::size_t repeat = random() % 16 == 0 ? random() % 40 : 1;
    for (std::size_t k = 0; k < repeat; ++k) text += atom;
  }
  return text;
}

std::string random_bytes(std::mt19937_64& random, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    // Mostly bytes that mean something, so that pieces of characters meet.
    bytes += static_cast<char>(random() % 4 == 0 ? random() : "\xE4\xBD\xA0\x80 a\xF0\x9F\xC3"[random() % 9]);
  }
  return bytes;
}

// Worked numbers of OpenManus' TokenCounter, its text part: cl100k_base, then o200k_base.
TEST(EncodingTest, CountsWhatOpenManusCounts) {
  struct Worked {
    const char* text;
    std::size_t cl100k, o200k;
  };
  for (const Worked& each : {Worked{"system", 1, 1},
                             {"user", 1, 1},
                             {"assistant", 1, 1},
                             {"tool", 1, 1},
                             {"You are a helpful assistant", 5, 5},
                             {"Hello", 1, 1},
                             {"How are you?", 4, 4},
                             {"\u4F60\u662F\u4E00\u4E2A\u6709\u7528\u7684\u52A9\u624B", 9, 7},
                             {"\u4F60\u597D\uFF0C\u8BF7\u5E2E\u6211\u5199\u4E00\u9996\u8BD7", 11, 8},
                             {"web_search", 2, 2},
                             {"{\"query\": \"OpenManus\"}", 8, 8},
                             {"call_123", 3, 3},
                             {"<|endoftext|>", 7, 7},
                             {"", 0, 0}}) {
    EXPECT_EQ(Encoding::cl100k_base().count(each.text), each.cl100k) << each.text;
    EXPECT_EQ(Encoding::o200k_base().count(each.text), each.o200k) << each.text;
  }
}

// The SHA-256 that tiktoken pins for its rank files.
TEST(EncodingTest, HoldsThePublishedRanks) {
  for (const Encoding& encoding : both()) {
    std::string file;
    for (std::uint32_t id = 0; id < encoding.size(); ++id) {
      file += base64_encode(encoding.decode({&id, 1}).value()) + " " + std::to_string(id) + "\n";
    }
    EXPECT_EQ(sha256_hex(file), encoding.name() == "o200k_base"
                                    ? "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
                                    : "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7");
  }
}

// ENCODING1, as far as merging goes; golden_test.cc has the rest.
TEST(EncodingTest, MergesAsTheDefinitionSays) {
  std::mt19937_64 random(7);
  for (const Encoding& encoding : both()) {
    for (int i = 0; i < 1500; ++i) {
      const std::string text = random_text(random, 1 + random() % 30);
      EXPECT_EQ(encoding.encode(text), token::naive_ids(vocabulary_of(encoding), text)) << text;
    }
  }
}

TEST(EncodingTest, CountsWhatItEncodesAndDecodesItBack) {  // ENCODING2, ENCODING3
  std::mt19937_64 random(11);
  for (const Encoding& encoding : both()) {
    for (int i = 0; i < 3000; ++i) {
      const std::string text =
          i % 2 == 0 ? random_text(random, random() % 60) : random_bytes(random, random() % 90);
      const std::vector<std::uint32_t> ids = encoding.encode(text);
      EXPECT_EQ(encoding.count(text), ids.size());
      EXPECT_EQ(encoding.decode(ids).value(), text);
    }
  }
}

TEST(EncodingTest, TakesSpecialTokensForText) {  // ENCODING4
  for (const Encoding& encoding : both()) {
    for (const std::string_view text : {"<|endoftext|>", "<|im_start|>", "a<|fim_prefix|>b"}) {
      EXPECT_GT(encoding.count(text), 1U);
      EXPECT_EQ(encoding.decode(encoding.encode(text)).value(), text);
    }
  }
}

TEST(EncodingTest, CountsBytesThatAreNotUtf8) {  // ENCODING5
  std::mt19937_64 random(13);
  for (const Encoding& encoding : both()) {
    EXPECT_EQ(encoding.count("\xFF"), 1U);
    for (int i = 0; i < 500; ++i) {
      const std::string bytes = random_bytes(random, random() % 60);
      EXPECT_EQ(encoding.encode(bytes), token::naive_ids(vocabulary_of(encoding), bytes));
    }
  }
}

// ENCODING6: with quadratic merging each of these would take minutes.
TEST(EncodingTest, StaysLinearOnLongPieces) {
  std::mt19937_64 random(17);
  constexpr std::size_t kSize = 1'000'000;
  std::string letters;
  while (letters.size() < kSize) letters += static_cast<char>('a' + random() % 26);
  for (const Encoding& encoding : both()) {
    EXPECT_EQ(encoding.count(std::string(kSize, 'a')), kSize / 8);
    EXPECT_EQ(encoding.count(std::string(kSize, ' ')), 7813U);
    const std::vector<std::uint32_t> ids = encoding.encode(letters);
    EXPECT_EQ(encoding.decode(ids).value(), letters);
  }
}

// Pieces around the lengths where another way of merging begins.
TEST(EncodingTest, MergesPiecesOfAnyLength) {
  std::mt19937_64 random(19);
  for (const Encoding& encoding : both()) {
    for (const std::size_t size : {14, 15, 16, 17, 39, 40, 41, 127, 128, 129, 2048, 2049}) {
      for (const unsigned letters : {2, 26}) {
        std::string text;
        while (text.size() < size) text += static_cast<char>('a' + random() % letters);
        EXPECT_EQ(encoding.encode(text), token::naive_ids(vocabulary_of(encoding), text)) << text;
      }
    }
  }
}

// ENCODING7: enough different pieces to evict everything from the cache, several times.
TEST(EncodingTest, GivesTheSameAfterEvictions) {
  const Encoding encoding = Encoding::o200k_base();
  const auto text = [](int round) {
    std::string out;
    for (int i = 0; i < 150'000; ++i) out += " " + std::to_string(i * 7 + round) + "x" + std::to_string(i);
    return out;
  };
  const std::size_t first = encoding.count(text(0));
  for (int round = 1; round < 3; ++round)
    EXPECT_EQ(encoding.count(text(round)), encoding.encode(text(round)).size());
  EXPECT_EQ(encoding.count(text(0)), first);
}

TEST(EncodingTest, CountsFromManyThreads) {
  std::mt19937_64 random(23);
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back(random_text(random, 100));
  const auto total = [&] {
    std::size_t sum = 0;
    for (const std::string& text : texts) {
      for (const Encoding& encoding : both()) sum += encoding.count(text);
    }
    return sum;
  };
  const std::size_t expected = total();
  std::vector<std::size_t> sums(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t& sum : sums) threads.emplace_back([&sum, &total] { sum = total(); });
  }
  for (const std::size_t sum : sums) EXPECT_EQ(sum, expected);
}

TEST(EncodingTest, IsFoundByName) {
  EXPECT_EQ(Encoding::named("cl100k_base").value().size(), 100'256U);
  EXPECT_EQ(Encoding::named("o200k_base").value().size(), 199'998U);
  EXPECT_EQ(Encoding::named("o200k_base").value().name(), "o200k_base");
  const auto none = Encoding::named("gpt2");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::NotFound);
  EXPECT_NE(none.error().message.find("cl100k_base, o200k_base"), std::string::npos);
}

TEST(EncodingTest, IsFoundByModel) {
  for (const char* model :
       {"gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-nano", "gpt-5", "gpt-5-mini", "o1", "o1-pro", "o3",
        "o3-mini", "o4-mini", "o4-mini-2025-04-16", "chatgpt-4o-latest", "ft:gpt-4o:x"}) {
    const Encoding::Choice choice = Encoding::for_model(model);
    EXPECT_EQ(choice.encoding.name(), "o200k_base") << model;
    EXPECT_TRUE(choice.is_exact) << model;
  }
  for (const char* model : {"gpt-4", "gpt-4-turbo", "gpt-4-0613", "gpt-3.5-turbo", "gpt-3.5-turbo-16k",
                            "text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"}) {
    const Encoding::Choice choice = Encoding::for_model(model);
    EXPECT_EQ(choice.encoding.name(), "cl100k_base") << model;
    EXPECT_TRUE(choice.is_exact) << model;
  }
  for (const char* model : {"claude-opus-4", "gemini-2.5-pro", "qwen3", "", "gpt-", "o11"}) {
    const Encoding::Choice choice = Encoding::for_model(model);
    EXPECT_EQ(choice.encoding.name(), "o200k_base") << model;
    EXPECT_FALSE(choice.is_exact) << model;
  }
}

TEST(EncodingTest, RefusesUnknownIds) {
  const Encoding encoding = Encoding::o200k_base();
  const std::vector<std::uint32_t> ids{0, 199'999, 1};  // <|endoftext|>
  const auto decoded = encoding.decode(ids);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code, Code::Invalid);
  EXPECT_EQ(decoded.error().message, "unknown token id 199999 at index 1: not in o200k_base");
  EXPECT_EQ(encoding.decode({}).value(), "");
}

// ---- Files

std::string rank_line(std::string_view token, std::uint32_t rank) {
  return base64_encode(token) + " " + std::to_string(rank) + "\n";
}

// The 256 bytes, each with its value as rank.
std::string byte_lines() {
  std::string file;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    file += rank_line({&c, 1}, byte);
  }
  return file;
}

Result<Encoding> encoding_of(std::string_view file) {
  return Encoding::from_tiktoken(file, SplitPattern::Cl100k, "mine");
}

TEST(TiktokenFile, GivesTheSameAsTheBuiltInTable) {
  const Encoding built_in = Encoding::cl100k_base();
  std::string file;
  for (std::uint32_t id = 0; id < built_in.size(); ++id)
    file += rank_line(built_in.decode({&id, 1}).value(), id);
  const Encoding read = encoding_of(file).value();
  EXPECT_EQ(read.size(), built_in.size());
  EXPECT_EQ(read.name(), "mine");
  std::mt19937_64 random(29);
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_text(random, random() % 100);
    EXPECT_EQ(read.encode(text), built_in.encode(text));
  }
}

// Random vocabularies: merges that are out of order, tokens that merging cannot make, ids with gaps.
TEST(TiktokenFile, MergesAnyVocabularyAsTheDefinitionSays) {
  std::mt19937_64 random(31);
  const std::vector<std::string> atoms{"a", "b", "c", "\u4F60", "\u597D", "\xE4", "\xBD\xA0\xE5", "\xA0"};
  for (int round = 0; round < 60; ++round) {
    std::string file = byte_lines();
    std::vector<std::string> tokens;
    for (int i = 0; i < 60; ++i) {
      std::string token;
      for (std::size_t parts = 2 + random() % 4; parts > 0; --parts) token += atoms[random() % atoms.size()];
      if (token.size() > 1 && std::find(tokens.begin(), tokens.end(), token) == tokens.end())
        tokens.push_back(token);
    }
    std::uint32_t rank = 256 + (round % 2 == 0 ? 0 : 1000);
    for (const std::string& token : tokens) file += rank_line(token, rank += 1 + round % 3);
    const auto vocabulary = token::read_tiktoken(file, SplitPattern::Cl100k, "random").value();
    const Encoding encoding = encoding_of(file).value();
    for (int i = 0; i < 200; ++i) {
      std::string text;
      for (std::size_t parts = random() % 50; parts > 0; --parts) text += atoms[random() % atoms.size()];
      const std::vector<std::uint32_t> ids = encoding.encode(text);
      EXPECT_EQ(ids, token::naive_ids(*vocabulary, text));
      EXPECT_EQ(encoding.decode(ids).value(), text);
      EXPECT_EQ(encoding.count(text), ids.size());
    }
  }
}

TEST(TiktokenFile, NeedsNoOrderAndNoLastLineEnd) {
  std::string file = rank_line("ab", 256) + "\n" + byte_lines();
  file.pop_back();
  const Encoding encoding = encoding_of(file).value();
  EXPECT_EQ(encoding.size(), 257U);
  EXPECT_EQ(encoding.encode("ab"), (std::vector<std::uint32_t>{256}));
}

TEST(TiktokenFile, RefusesOtherLinesByTheirNumber) {
  struct Bad {
    std::string line, message;
  };
  const std::string bytes = byte_lines();
  for (const Bad& bad : {Bad{"YWI=", "expected a token, a space and a rank at line 257"},
                         {"YWI= ", "expected a rank below 4294967295 at line 257"},
                         {"YWI= 12x", "expected a rank below 4294967295 at line 257"},
                         {"YWI= -1", "expected a rank below 4294967295 at line 257"},
                         {"YWI=  300", "expected a rank below 4294967295 at line 257"},
                         {"YWI= 4294967295", "expected a rank below 4294967295 at line 257"},
                         {"YWI= 99999999999", "expected a rank below 4294967295 at line 257"},
                         {"YW*= 300", "base64 has an invalid character at offset 2 at line 257"},
                         {" 300", "empty token at line 257"},
                         {"YWI= 255", "duplicate rank at line 257"},
                         {"YQ== 300", "duplicate token at line 257"}}) {
    const auto encoding = encoding_of(bytes + bad.line + "\n");
    ASSERT_FALSE(encoding.has_value()) << bad.line;
    EXPECT_EQ(encoding.error().code, Code::Malformed);
    EXPECT_EQ(encoding.error().message, bad.message);
  }
}

TEST(TiktokenFile, RefusesAFileWithoutAllBytes) {
  const auto empty = encoding_of("");
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().message, "no token for the single byte 0");
  const std::string bytes = byte_lines();
  const auto last_missing = encoding_of(std::string_view(bytes).substr(0, bytes.rfind("/w==")));
  ASSERT_FALSE(last_missing.has_value());
  EXPECT_EQ(last_missing.error().code, Code::Malformed);
  EXPECT_EQ(last_missing.error().message, "no token for the single byte 255");
}

TEST(TiktokenFile, LimitsTheLengthOfATokenAt4096) {
  for (const std::size_t size : {4095, 4096, 4097}) {
    const auto encoding = encoding_of(byte_lines() + rank_line(std::string(size, 'a'), 256));
    EXPECT_EQ(encoding.has_value(), size <= 4096) << size;
    if (!encoding) {
      EXPECT_EQ(encoding.error().code, Code::LimitExceeded);
      EXPECT_EQ(encoding.error().message, "token longer than 4096 bytes at line 257");
    } else {
      EXPECT_EQ(encoding->count(std::string(size, 'a')), 1U);
      EXPECT_EQ(encoding->count(std::string(size + 1, 'a')), size + 1);  // no merge leads there
    }
  }
}

TEST(TiktokenFile, LimitsTheNumberOfTokens) {
  std::string file = byte_lines();
  constexpr std::uint32_t kLimit = 1 << 19;
  for (std::uint32_t rank = 256; rank < kLimit; ++rank) {
    const std::string token{static_cast<char>(rank), static_cast<char>(rank >> 8),
                            static_cast<char>(rank >> 16)};
    file += rank_line(token, rank);
  }
  EXPECT_EQ(encoding_of(file).value().size(), kLimit);
  const auto above = encoding_of(file + rank_line("a longer one", kLimit));
  ASSERT_FALSE(above.has_value());
  EXPECT_EQ(above.error().code, Code::LimitExceeded);
}

}  // namespace
}  // namespace parley
