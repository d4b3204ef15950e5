#include "json/cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/verdicts_testing.h"

// The invariants of cursor.h, as quoted below:
//   CURSOR1  A document is accepted only if every byte of it is strict JSON and UTF-8.
//   CURSOR2  Slices are the exact bytes: strings without their quotes, other values whole.
//   CURSOR3  Nothing recurses on input depth: unknown values go through one loop with an explicit stack.
//   CURSOR4  The first fault wins: later ones are not recorded, and finish() fails.
//   CURSOR5  Faults and notes are byte offsets; pointer_at() turns them into JSON Pointers afterwards.

namespace parley::json {
namespace {

using namespace std::literals;

Walked skipped(std::string_view bytes, const CursorOptions& options = {}) {
  return walked(bytes, false, options);
}

// All verdicts on a document agree: every kernel, both ways to walk, strict and lenient, the judge, the DOM.
testing::AssertionResult agreed(std::string_view bytes) {
  const std::string why = disagreement(bytes);
  if (why.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << why << ": " << testing::PrintToString(std::string(bytes));
}

std::string nested(std::size_t depth, char open, std::string_view inside = {}) {
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) out += open == '[' ? "[" : "{\"k\":";
  out += open == '{' && inside.empty() ? "0" : inside;
  out.append(depth, open == '[' ? ']' : '}');
  return out;
}

// Random documents, with all that can be odd in one: escapes, spaces, names that come twice.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string document() {
    std::string out = chance(30) ? "\xEF\xBB\xBF" : "";
    budget_ = 30;
    value(out, 0);
    return out;
  }

  // Damages a byte or three of a document.
  std::string mutant(std::string document) {
    static constexpr std::string_view kDamage =
        "{}[]:,\"\\ \t\n\r0-+.eEutfnxdD8c/\x00\x01\x1F\x7F\x80\xC3\xA9\xED\xF0\xFF"sv;
    for (unsigned changes = 1 + below(3); changes > 0 && !document.empty(); --changes) {
      const std::size_t at = below(document.size());
      switch (below(5)) {
        case 0:
          document[at] = static_cast<char>(random_());
          break;
        case 1:
          document[at] = kDamage[below(kDamage.size())];
          break;
        case 2:
          document.erase(at, 1 + below(4));
          break;
        case 3:
          document.insert(at, 1, kDamage[below(kDamage.size())]);
          break;
        default:
          document.insert(at, document.substr(below(document.size()), below(12)));
          break;
      }
    }
    return document;
  }

 private:
  unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned one_in) { return below(one_in) == 0; }

  template <std::size_t N>
  void one_of(std::string& out, const std::string_view (&choices)[N]) {
    out += choices[below(N)];
  }
  void space(std::string& out) {
    static constexpr std::string_view kSpaces[] = {" ", "\n", "\r\n", "\t", "  ", " \n "};
    if (chance(4)) one_of(out, kSpaces);
  }
  void string(std::string& out) {
    static constexpr std::string_view kParts[] = {
        "a",
        "text",
        "\\n",
        "\\\"",
        "\\\\",
        "\\u0061",
        "\\ud83d\\ude00",
        "\xC3\xA9",
        "\xF0\x9F\x98\x80",
        "\\ud800",
        "\\udc00",
        "\\/",
        "a long run of plain text that fills more than one block of 64 bytes, surely"};
    out += '"';
    for (unsigned parts = below(5); parts > 0; --parts) one_of(out, kParts);
    out += '"';
  }
  void name(std::string& out) {
    static constexpr std::string_view kNames[] = {"\"a\"", "\"b\"", "\"\\u0061\"", "\"role\"",
                                                  "\"\"",  "\"c\"", "\"d\"",       "\"e\""};
    if (chance(4)) {
      string(out);
    } else {
      one_of(out, kNames);
    }
  }
  void value(std::string& out, unsigned depth) {
    static constexpr std::string_view kScalars[] = {"0",
                                                    "-1",
                                                    "1.5",
                                                    "-0",
                                                    "1e5",
                                                    "12E-3",
                                                    "0.0e+10",
                                                    "true",
                                                    "false",
                                                    "null",
                                                    "1e400",
                                                    "12345678901234567890123",
                                                    "9007199254740993"};
    space(out);
    const unsigned kind = budget_ == 0 || depth > 8 ? 2 + below(2) : below(4);
    if (budget_ > 0) --budget_;
    if (kind == 3) {
      string(out);
    } else if (kind == 2) {
      one_of(out, kScalars);
    } else {
      out += kind == 0 ? '{' : '[';
      for (unsigned left = below(6); left > 0; --left) {
        space(out);
        if (kind == 0) {
          name(out);
          space(out);
          out += ':';
        }
        value(out, depth + 1);
        if (left > 1) out += ',';
      }
      space(out);
      out += kind == 0 ? '}' : ']';
    }
    space(out);
  }

  std::mt19937 random_;
  unsigned budget_ = 0;
};

TEST(Cursor, AgreesWithTheJudgeAndTheDomOnGeneratedDocuments) {  // CURSOR1 CURSOR2
  Generator generator(1);
  for (int round = 0; round < 3'000; ++round) ASSERT_TRUE(agreed(generator.document())) << "round " << round;
}

TEST(Cursor, AgreesWithTheJudgeAndTheDomOnMutants) {  // CURSOR1 CURSOR2
  Generator generator(2);
  for (int round = 0; round < 25'000; ++round) {
    ASSERT_TRUE(agreed(generator.mutant(generator.document()))) << "round " << round;
  }
}

TEST(Cursor, AgreesOnEveryPrefixOfADocument) {  // CURSOR1
  const std::string document =
      "\xEF\xBB\xBF"
      R"( {"role":"us\u0065r","content":[{"text":"caf)"
      "\xC3\xA9"
      R"( \ud83d\ude00\n"},-12.5e+3,true,false,null,[],{}],"role":0} )";
  for (std::size_t length = 0; length <= document.size(); ++length) {
    ASSERT_TRUE(agreed(document.substr(0, length)));
  }
}

TEST(Cursor, AgreesOnEveryShortSequenceOfTokens) {  // CURSOR1
  const std::string_view tokens[] = {"[", "]", "{", "}", ",", ":", "\"a\"", "0"};
  std::vector<std::string> level = {""};
  for (int length = 0; length <= 5; ++length) {
    std::vector<std::string> next;
    for (const std::string& text : level) {
      ASSERT_TRUE(agreed(text));
      if (length < 5) {
        for (const std::string_view token : tokens) next.push_back(text + std::string(token));
      }
    }
    level = std::move(next);
  }
}

TEST(Cursor, KnowsTheGrammarOfNumbers) {  // CURSOR1 CURSOR2
  const std::regex grammar("-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?");
  std::vector<std::string> level = {""};
  for (int length = 1; length <= 5; ++length) {
    std::vector<std::string> next;
    for (const std::string& text : level) {
      for (const char c : "-+.eE019"sv) next.push_back(text + c);
    }
    for (const std::string& text : next) {
      const Walked walk = skipped(text);
      ASSERT_EQ(walk.good, std::regex_match(text, grammar)) << text;
      if (walk.good) {
        ASSERT_EQ(walk.root.end, text.size());
      }
    }
    level = std::move(next);
  }
}

TEST(Cursor, KeepsNumbersAsTheyAreSpelled) {  // CURSOR2
  for (const std::string_view number :
       {"1e400", "-1E+99999999999999999999", "123456789012345678901234567890", "1.0", "-0", "-0.0e-0",
        "9007199254740993", "0.1000000000000000055511151231257827"}) {
    const std::string document = "[ " + std::string(number) + " ]";
    const Walked walk = walked(document, true);
    ASSERT_TRUE(walk.good) << number;
    EXPECT_EQ(bytes_of(document, walk.root.elements[0]), number);
  }
}

TEST(Cursor, KnowsTheLiteralsAndNothingLikeThem) {  // CURSOR1
  for (const std::string_view word : {"true", "false", "null"}) {
    EXPECT_TRUE(agreed(word));
    EXPECT_TRUE(skipped(word).good);
    for (std::size_t i = 0; i < word.size(); ++i) {
      for (int value = 0; value < 256; ++value) {
        std::string changed(word);
        changed[i] = static_cast<char>(value);
        ASSERT_TRUE(agreed(changed));
        ASSERT_TRUE(agreed("[" + changed + "]"));
      }
      ASSERT_FALSE(skipped(word.substr(0, i)).good);
      ASSERT_FALSE(skipped("[0," + std::string(word.substr(0, i)) + "]").good);
    }
    ASSERT_FALSE(skipped(std::string(word) + "x").good);
  }
  for (const std::string_view word :
       {"NaN", "Infinity", "-Infinity", "-NaN", "undefined", "True", "nil", "'a'", "a"}) {
    EXPECT_FALSE(skipped(word).good) << word;
  }
}

TEST(Cursor, TakesOnlyTheFourSpaces) {  // CURSOR1
  for (int value = 0; value < 256; ++value) {
    const std::string c(1, static_cast<char>(value));
    for (const std::string& text :
         {c + "[1]", "[" + c + "1]", "[1" + c + "]", "[1]" + c, "{\"a\"" + c + ":1}", "{\"a\":" + c + "1}",
          "{" + c + "\"a\":1" + c + "}", "[1," + c + "2]", c}) {
      ASSERT_TRUE(agreed(text));
    }
  }
  EXPECT_TRUE(
      skipped(" \t\r\n[ \t\r\n1 \t\r\n, \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n1 \t\r\n} \t\r\n] \t\r\n").good);
}

TEST(Cursor, GivesExactSlices) {  // CURSOR2
  const std::string document = R"(  {"key" : "va\"lue", "list":[1, -2.50 ,"",{}], "o":{"n":null} }  )";
  Buffer buffer = Buffer::copy_of(document);
  Cursor cursor(buffer, {});
  std::vector<std::string> found;
  ASSERT_EQ(cursor.peek(), '{');
  ASSERT_TRUE(cursor.object([&](std::string_view key) {
    found.emplace_back(key);
    Slice slice;
    if (cursor.peek() == '"') {
      if (!cursor.string(slice)) return false;
      found.emplace_back(cursor.bytes(slice));
      return true;
    }
    if (key == "list") {
      return cursor.array([&](std::uint32_t index) {
        if (!cursor.skip(slice)) return false;
        found.push_back(std::to_string(index) + "=" + std::string(cursor.bytes(slice)));
        return true;
      });
    }
    if (!cursor.skip(slice)) return false;
    found.emplace_back(cursor.bytes(slice));
    return true;
  }));
  ASSERT_TRUE(cursor.finish());
  EXPECT_EQ(found, (std::vector<std::string>{"key", R"(va\"lue)", "list", "0=1", "1=-2.50", "2=\"\"", "3={}",
                                             "o", R"({"n":null})"}));
}

TEST(Cursor, GivesStringsOfEveryLength) {  // CURSOR2
  for (std::size_t length = 0; length <= 200; ++length) {
    const std::string inside(length, 'x');
    for (const std::string& tail : {""s, "\\n"s, "\xC3\xA9"s}) {
      const std::string document = "[\"" + inside + tail + "\",0]";
      Buffer buffer = Buffer::copy_of(document);
      Cursor cursor(buffer, {});
      Slice slice;
      ASSERT_TRUE(cursor.array([&](std::uint32_t index) {
        if (index == 0) return cursor.string(slice);
        Slice ignored;
        return cursor.skip(ignored);
      }));
      ASSERT_EQ(cursor.bytes(slice), inside + tail);
      ASSERT_EQ(slice.offset, 2U);
    }
  }
}

TEST(Cursor, UnescapesNames) {  // CURSOR2
  const std::string document = R"({"\u0072ole":1,"a\"b":2,"":3,"caf)"
                               "\xC3\xA9"
                               R"(":4,"a name of more than thirty-one bytes, \ud83d\ude00":5})";
  Buffer buffer = Buffer::copy_of(document);
  Cursor cursor(buffer, {});
  std::vector<std::string> names;
  ASSERT_TRUE(cursor.object([&](std::string_view key) {
    names.emplace_back(key);
    Slice ignored;
    return cursor.skip(ignored);
  }));
  EXPECT_EQ(names, (std::vector<std::string>{"role", "a\"b", "", "caf\xC3\xA9",
                                             "a name of more than thirty-one bytes, \xF0\x9F\x98\x80"}));
}

TEST(CursorLimits, CountTheBytesOfTheDocument) {
  const std::string document = R"(["four"])";
  for (const std::size_t limit : {document.size() - 1, document.size(), document.size() + 1}) {
    const Walked walk = skipped(document, {{.bytes = limit}, false});
    EXPECT_EQ(walk.good, document.size() <= limit);
    if (!walk.good) {
      EXPECT_EQ(walk.code, Code::LimitExceeded);
    }
  }
  EXPECT_EQ(skipped("", {{.bytes = 0}, false}).code, Code::Malformed);
  EXPECT_EQ(skipped("1", {{.bytes = 0}, false}).code, Code::LimitExceeded);
  EXPECT_TRUE(skipped("1", {{.bytes = SIZE_MAX}, false}).good);
}

// Short strings, long ones, ones with a lone surrogate, values and names all take different ways.
TEST(CursorLimits, CountTheSpelledBytesOfAString) {
  const std::vector<std::string> strings = {"abc",
                                            std::string(31, 'x'),
                                            std::string(32, 'x'),
                                            std::string(33, 'x'),
                                            std::string(200, 'x'),
                                            "\\u0061\\n",
                                            "caf\xC3\xA9",
                                            "lone \\ud800",
                                            std::string(100, 'y') + "\\udfff"};
  for (const std::string& inside : strings) {
    for (const std::string& document :
         {"\"" + inside + "\"", "[\"" + inside + "\"]", "{\"" + inside + "\":1}"}) {
      for (const std::size_t limit : {std::size_t{0}, inside.size() - 1, inside.size(), inside.size() + 1}) {
        for (const bool by_shape : {false, true}) {
          const Walked walk = walked(document, by_shape, {{.string = limit}, false});
          EXPECT_EQ(walk.good, inside.size() <= limit) << document << " limit " << limit;
          if (!walk.good) {
            EXPECT_EQ(walk.code, Code::LimitExceeded);
            EXPECT_EQ(walk.fault, document.find('"') + 1);
          }
        }
      }
    }
  }
  EXPECT_TRUE(skipped("\"\"", {{.string = 0}, false}).good);
}

TEST(CursorLimits, CountTheLevels) {
  for (const char open : {'[', '{'}) {
    for (const std::size_t limit :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{512}}) {
      for (const std::size_t depth : {limit, limit + 1}) {
        for (const bool by_shape : {false, true}) {
          const std::string document = nested(depth, open, "0");
          const Walked walk = walked(document, by_shape, {{.depth = limit}, false});
          EXPECT_EQ(walk.good, depth <= limit) << depth << " of " << limit;
          if (!walk.good) {
            EXPECT_EQ(walk.code, Code::LimitExceeded);
            EXPECT_EQ(walk.fault, limit * (open == '[' ? 1 : 5));
          }
        }
      }
    }
  }
  EXPECT_TRUE(skipped(nested(512, '[')).good) << "the default";
  EXPECT_FALSE(skipped(nested(513, '[')).good);
  // Levels that are closed again do not count.
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += nested(511, '[') + ",";
  EXPECT_TRUE(skipped(wide + "0]").good);
}

TEST(CursorLimits, StopTenMillionOpenBracketsEarly) {  // CURSOR3
  const Walked arrays = skipped(std::string().append(10'000'000, '['));
  EXPECT_FALSE(arrays.good);
  EXPECT_EQ(arrays.code, Code::LimitExceeded);
  EXPECT_EQ(arrays.fault, 512U);
  std::string objects;
  for (int i = 0; i < 2'000'000; ++i) objects += "{\"\":";
  EXPECT_EQ(skipped(objects).code, Code::LimitExceeded);
}

TEST(CursorLimits, LetADocumentBeAsDeepAsAsked) {  // CURSOR3
  constexpr std::size_t kDepth = 10'000'000;
  const CursorOptions options = {{.depth = kDepth}, false};
  const Walked open = skipped(std::string(kDepth, '['), options);
  EXPECT_FALSE(open.good);
  EXPECT_EQ(open.code, Code::Malformed);
  EXPECT_EQ(open.fault, kDepth);
  EXPECT_TRUE(skipped(nested(kDepth, '['), options).good);
  EXPECT_TRUE(skipped(nested(1'000'000, '{'), options).good);
}

// The offsets at which `document` repeats a name, by the judge.
void expect_duplicates(const std::string& document) {
  const judge::Document right(document);
  ASSERT_TRUE(right.accepted) << document.substr(0, 200);
  std::vector<std::pair<std::size_t, Code>> expected;
  for (const std::size_t at : right.repeated) expected.emplace_back(at, Code::DuplicateKey);
  std::sort(expected.begin(), expected.end());
  for (const bool by_shape : {false, true}) {
    const Walked lenient = walked(document, by_shape);
    ASSERT_TRUE(lenient.good) << lenient.message;
    EXPECT_EQ(lenient.oddities, expected) << document.substr(0, 500);
    const Walked strict = walked(document, by_shape, {{}, true});
    EXPECT_EQ(strict.good, expected.empty());
    if (!strict.good) {
      EXPECT_EQ(strict.code, Code::DuplicateKey);
      EXPECT_TRUE(std::find(right.repeated.begin(), right.repeated.end(), strict.fault) !=
                  right.repeated.end());
    }
  }
}

TEST(CursorDuplicates, AreFoundWhateverTheirSpelling) {
  expect_duplicates(R"({"a":1,"a":2})");
  expect_duplicates(R"({"a":1,"\u0061":2})");
  expect_duplicates(R"({"\u0061":1,"a":2,"\u0061":3})");
  expect_duplicates(R"({"":1,"":2})");
  expect_duplicates(R"({"a/b":1,"a\/b":2,"a\u002fb":3,"a\u002Fb":4})");
  expect_duplicates("{\"\xC3\xA9\":1,\"\\u00e9\":2,\"\\u00E9\":3}");
  expect_duplicates("{\"\xF0\x9F\x98\x80\":1,\"\\ud83d\\uDE00\":2}");
  expect_duplicates(R"({"\u0000":1,"\u0000\u0000":2,"":3,"\u0000":4})");
  expect_duplicates(R"({"a":1,"A":2,"a ":3," a":4})");
  expect_duplicates(
      R"({"1234567":1,"12345678":2,"123456789":3,"\u00312345678":4,"\u0031234567":5,"123456\u00379":6})");
  const std::string longer(100, 'x');
  expect_duplicates("{\"" + longer + "\":1,\"" + longer + "\":2,\"" + longer + "y\":3,\"\\u0078" +
                    longer.substr(1) + "\":4}");
}

TEST(CursorDuplicates, CountInTheirOwnObjectOnly) {
  expect_duplicates(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]})");
  expect_duplicates(R"({"a":{"b":1,"b":2},"b":{"a":3},"a":[{"c":1,"c":1}]})");
  expect_duplicates(R"([{"x":1,"y":{"x":1,"x":2},"x":3},{"x":1}])");
}

TEST(CursorDuplicates, AreFoundAmongManyNames) {
  std::mt19937 random(3);
  for (const std::size_t count : {15U, 16U, 17U, 18U, 63U, 64U, 65U, 66U, 300U, 2000U}) {
    for (const std::size_t range : {count * 20, count * 2, count, std::size_t{3}}) {
      std::string document = "{";
      for (std::size_t i = 0; i < count; ++i) {
        std::string name = "key" + std::to_string(random() % range);
        if (random() % 5 == 0) name.replace(0, 1, "\\u006b");
        document += (i == 0 ? "\"" : ",\"") + name + "\":" + std::to_string(i);
      }
      expect_duplicates(document + "}");
    }
  }
}

// Names of one length with the same first and last eight bytes look alike to the hash.
TEST(CursorDuplicates, AreNotMadeByNamesThatHashAlike) {
  std::string document = "{";
  for (int i = 0; i < 500; ++i) {
    const std::string middle = std::to_string(1000 + i);
    document += (i == 0 ? "" : ",") + ("\"first678" + middle) + "last5678\":" + std::to_string(i);
  }
  expect_duplicates(document + "}");
  expect_duplicates(document +
                    R"(,"first6781100last5678":0,"first6781499last5678":0,"first678\u0031007last5678":1})");
}

TEST(CursorDuplicates, OfAHostileObjectAreFoundInReasonableTime) {
  std::string document = "{";
  for (int i = 0; i < 50'000; ++i) {
    const std::string middle = std::to_string(100'000 + i);
    document += (i == 0 ? "" : ",") + ("\"first678" + middle) + "last5678\":0";
  }
  const Walked walk = skipped(document + ",\"first678149999last5678\":0}");
  ASSERT_TRUE(walk.good);
  EXPECT_EQ(walk.oddities.size(), 1U);
}

TEST(CursorDuplicates, AreReportedFirstOneFirstWhenStrict) {  // CURSOR4
  // Whatever the hashes are, the first repeated name of the document is the one that is named.
  for (char a = 'a'; a <= 'z'; ++a) {
    for (const char b : {'A', 'M', 'Z', '~'}) {
      const std::string first(1, a);
      const std::string second(1, b);
      const std::string document =
          "{\"" + first + "\":1,\"" + second + "\":2,\"" + first + "\":3,\"" + second + "\":4}";
      const Walked walk = skipped(document, {{}, true});
      ASSERT_FALSE(walk.good);
      EXPECT_EQ(walk.fault, 14U) << document;
    }
  }
}

TEST(CursorSurrogates, AreReplacedWhereTheyStand) {  // CURSOR5
  const std::string document =
      R"({"\ud800":"a\uDFFFb","long":"0123456789012345678901234567890123456789\udbff\ud83d\ude00","x":["\ud800\ud800","\udc00\ud800"]})";
  const Walked walk = walked(document, true);
  ASSERT_TRUE(walk.good) << walk.message;
  std::string expected = document;
  std::vector<std::pair<std::size_t, Code>> places;
  for (const std::string_view lone :
       {"\\ud800\":", "\\uDFFF", "\\udbff", "\\ud800\\ud800", "\\ud800\",", "\\udc00", "\\ud800\"]"}) {
    const std::size_t at = document.find(lone);
    ASSERT_NE(at, std::string::npos);
    expected.replace(at, 6, "\\ufffd");
    places.emplace_back(at, Code::LoneSurrogate);
  }
  std::sort(places.begin(), places.end());
  EXPECT_EQ(walk.bytes, expected);
  EXPECT_EQ(walk.oddities, places);
  EXPECT_EQ(walk.bytes.size(), document.size());
  EXPECT_TRUE(disagreement(document).empty());
}

TEST(CursorSurrogates, AreRefusedWhenStrictAndNothingIsChanged) {  // CURSOR4 CURSOR5
  for (const std::string_view document :
       {R"(["\ud800"])", R"(["ok","\udc00\ud83d\ude00"])", R"({"\udfff":1})", R"(["\ud83d\ude00\ud83d"])"}) {
    const Walked walk = skipped(document, {{}, true});
    EXPECT_FALSE(walk.good);
    EXPECT_EQ(walk.code, Code::LoneSurrogate);
    EXPECT_EQ(walk.bytes, document);
    const judge::Document right(document);
    ASSERT_EQ(right.lone.size(), 1U);
    EXPECT_EQ(walk.fault, right.lone[0]);
  }
  EXPECT_TRUE(skipped(R"(["\ud83d\ude00"])", {{}, true}).good);
}

TEST(CursorSurrogates, MakeTwoNamesOne) {
  const Walked walk = skipped(R"({"\ud800":1,"\udc00":2,"\ufffd":3})");
  ASSERT_TRUE(walk.good);
  EXPECT_EQ(walk.oddities.size(), 4U);
  EXPECT_TRUE(disagreement(R"({"\ud800":1,"\udc00":2,"\ufffd":3})").empty());
}

TEST(CursorMark, IsSkippedOnceAtTheStart) {  // CURSOR1
  const std::string mark = "\xEF\xBB\xBF";
  const Walked walk = skipped(mark + "[1]");
  EXPECT_TRUE(walk.good);
  EXPECT_EQ(walk.root.begin, 3U);
  EXPECT_TRUE(skipped(mark + " [1]").good);
  EXPECT_FALSE(skipped(mark + mark + "[1]").good);
  EXPECT_FALSE(skipped(" " + mark + "[1]").good);
  EXPECT_FALSE(skipped("[1]" + mark).good);
  EXPECT_FALSE(skipped("[" + mark + "1]").good);
  EXPECT_FALSE(skipped(mark).good);
  EXPECT_FALSE(skipped("\xEF\xBB").good);
  EXPECT_FALSE(skipped("\xEF\xBB[1]").good);
  EXPECT_TRUE(skipped("[\"" + mark + "\"]").good);
  EXPECT_FALSE(skipped("\xFE\xFF\0["s).good);
}

TEST(CursorNul, NeverEndsADocument) {  // CURSOR1
  for (const std::string& document : {"\0"s, "1\0"s, "[1]\0"s, "[1] \0 "s, "\0[1]"s, "[\0]"s, "[1\0]"s,
                                      "[1,\0 2]"s, "{\"a\"\0:1}"s, "{\"a\":1\0}"s, "\"a\0b\""s, "\"a\\\0b\""s,
                                      "\"\\u00\0\0\""s, "tru\0"s, "\"abc\0"s, "[1]\0\0\0\0"s, "1\0002"s}) {
    EXPECT_FALSE(skipped(document).good) << testing::PrintToString(document);
    EXPECT_TRUE(agreed(document));
  }
  EXPECT_TRUE(skipped(R"("\u0000")").good);
}

TEST(CursorFaults, NameTheByteAndTheReason) {  // CURSOR4 CURSOR5
  const auto fault = [](std::string_view document) {
    const Walked walk = skipped(document);
    EXPECT_FALSE(walk.good);
    return std::to_string(walk.fault) + " " + std::string(to_string(walk.code)) + ": " + walk.message;
  };
  EXPECT_EQ(fault(""), "0 malformed: expected a JSON value, but the document ends here");
  EXPECT_EQ(fault("  "), "2 malformed: expected a JSON value, but the document ends here");
  EXPECT_EQ(fault("[1,2"), "4 malformed: expected ',' or ']' after an element, but the document ends here");
  EXPECT_EQ(fault("[1 2]"), "3 malformed: expected ',' or ']' after an element");
  EXPECT_EQ(fault("[1,]"), "3 malformed: expected a JSON value");
  EXPECT_EQ(fault("[1}"), "2 malformed: expected ',' or ']' after an element");
  EXPECT_EQ(fault("{]"), "1 malformed: mismatched closing bracket");
  EXPECT_EQ(fault("{\"a\" 1}"), "5 malformed: expected ':' after a member name");
  EXPECT_EQ(fault("{\"a\":1,}"), "7 malformed: expected a member name in quotes");
  EXPECT_EQ(fault("{a:1}"), "1 malformed: expected a member name in quotes");
  EXPECT_EQ(fault("{\"a\":1"), "6 malformed: expected ',' or '}' after a member, but the document ends here");
  EXPECT_EQ(fault("[1] x"), "4 malformed: unexpected text after the end of the JSON value");
  EXPECT_EQ(fault("-"), "0 malformed: expected a digit after '-'");
  EXPECT_EQ(fault("1."), "2 malformed: expected a digit after '.'");
  EXPECT_EQ(fault("1e+"), "3 malformed: expected a digit in an exponent");
  EXPECT_EQ(fault("\"abc"), "4 malformed: unterminated string: expected a closing quote");
  EXPECT_EQ(fault("\"a\tb\""), "2 malformed: a control character in a string must be escaped");
  EXPECT_EQ(fault("\"a\\qb\""), "2 malformed: invalid escape in a string");
  EXPECT_EQ(fault("[\"ok\",\"a\xFF\"]"), "8 invalid_utf8: the bytes are not valid UTF-8");
  EXPECT_EQ(fault("[\xC3\xA9]"), "1 malformed: expected a JSON value");
}

TEST(CursorFaults, TheFirstOneWins) {  // CURSOR4
  Buffer buffer = Buffer::copy_of("[1,x,\"\xFF\"]");
  Cursor cursor(buffer, {});
  Slice all;
  EXPECT_FALSE(cursor.skip(all));
  EXPECT_FALSE(cursor.fail(Code::WrongType, cursor.position(), "later"));
  EXPECT_FALSE(cursor.finish());
  EXPECT_FALSE(cursor.ok());
  EXPECT_EQ(cursor.fault().at, 3U);
  EXPECT_EQ(cursor.fault().code, Code::Malformed);
}

TEST(CursorFaults, OfACallerFailTheDocument) {  // CURSOR4
  Buffer buffer = Buffer::copy_of("[1,2]");
  Cursor cursor(buffer, {});
  EXPECT_FALSE(cursor.array([&](std::uint32_t index) {
    Slice ignored;
    return index == 0 ? cursor.skip(ignored) : cursor.fail(Code::WrongType, cursor.position(), "not a two");
  }));
  EXPECT_FALSE(cursor.finish());
  EXPECT_EQ(cursor.fault().at, 3U);
  EXPECT_EQ(cursor.fault().code, Code::WrongType);
}

// Looks ahead at the object `document`, then reads it. Gives what was seen, or the fault.
std::string looked(const std::string& document, Walked& read, std::string_view name = "type",
                   bool strict = false) {
  Buffer buffer = Buffer::copy_of(document);
  Cursor cursor(buffer, {{}, strict});
  cursor.peek();
  const char* const before = cursor.position();
  Slice value;
  read = {};
  if (!cursor.look_ahead(name, value)) {
    EXPECT_FALSE(cursor.ok());
    return "fault at " + std::to_string(cursor.fault().at);
  }
  EXPECT_TRUE(cursor.ok());
  EXPECT_EQ(cursor.position(), before);
  const std::string seen = value.present() ? std::string(cursor.bytes(value)) : "absent";
  read.good = take_value(cursor, read.root) && cursor.finish();
  for (const Oddity& oddity : cursor.oddities()) read.oddities.emplace_back(oddity.at, oddity.code);
  std::sort(read.oddities.begin(), read.oddities.end());
  read.bytes = buffer.view();
  return seen;
}

TEST(CursorLookAhead, SeesAMemberWhereverItStands) {
  Walked read;
  EXPECT_EQ(looked(R"({"type":"text","text":"x"})", read), "\"text\"");
  EXPECT_TRUE(read.good);
  EXPECT_EQ(looked(R"({ "type" : "text" , "text":"x"})", read), "\"text\"");
  EXPECT_EQ(looked(R"({"text":"x","type":"text"})", read), "\"text\"");
  EXPECT_EQ(looked(R"({"text":{"type":"inner"},"n":[{"type":"inner"}],"type":"outer"})", read), "\"outer\"");
  EXPECT_EQ(looked(R"({"\u0074ype":"text"})", read), "\"text\"");
  EXPECT_EQ(looked(R"({"type":7})", read), "7");
  EXPECT_EQ(looked(R"({"type":null,"a":1})", read), "null");
  EXPECT_EQ(looked(R"({"type":{"a":[1]}})", read), R"({"a":[1]})");
  EXPECT_EQ(looked(R"({})", read), "absent");
  EXPECT_EQ(looked(R"({"text":"type"})", read), "absent");
  EXPECT_TRUE(read.good);
}

TEST(CursorLookAhead, LeavesEverythingAsItWas) {
  for (const std::string document :
       {R"({"type":"text","a":1,"a":2})", R"({"a":1,"a":2,"type":"text"})", R"({"a":1,"\u0061":2})",
        R"({"type":"te\ud800xt","x":1})", R"({"x\ud800":1,"type":"text"})",
        R"({"x":"a\ud800b\udfff","type":"text","x":"\udc00"})", R"({"a":{"b":["\ud800"],"b":1},"type":0})",
        R"({"type":0,"a":"\ud800"})", R"({"type\ud800":0,"a":"\ud800"})"}) {
    Walked read;
    looked(document, read);
    const Walked plain = walked(document, true);
    ASSERT_TRUE(plain.good);
    EXPECT_TRUE(read.good);
    EXPECT_EQ(read.oddities, plain.oddities) << document;
    EXPECT_EQ(read.bytes, plain.bytes) << document;
    const judge::Document right(document);
    EXPECT_TRUE(same_places(read.root, right.root)) << document;
  }
}

TEST(CursorLookAhead, NotesEachOddityOnceHoweverOftenItLooks) {
  const std::string document = R"([{"a":{"b":{"c":"\ud800","c":1},"type":"x"},"type":"y","a":2}])";
  Buffer buffer = Buffer::copy_of(document);
  Cursor cursor(buffer, {});
  Slice value;
  ASSERT_TRUE(cursor.array([&](std::uint32_t) {
    return cursor.look_ahead("type", value) && cursor.look_ahead("none", value) &&
           cursor.object([&](std::string_view) {
             Slice ignored;
             return (cursor.peek() != '{' || cursor.look_ahead("type", value)) && cursor.skip(ignored);
           });
  }));
  ASSERT_TRUE(cursor.finish());
  std::vector<std::pair<std::size_t, Code>> found;
  for (const Oddity& oddity : cursor.oddities()) found.emplace_back(oddity.at, oddity.code);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, walked(document, true).oddities);
  EXPECT_EQ(found.size(), 3U);
}

TEST(CursorLookAhead, FindsFaultsToo) {  // CURSOR4
  Walked read;
  EXPECT_EQ(looked(R"({"type":"text)", read), "fault at 13");
  EXPECT_EQ(looked(R"({"a":tru,"type":"text"})", read), "fault at 5");
  EXPECT_EQ(looked(R"({"a" 1,"type":"text"})", read), "fault at 5");
  EXPECT_EQ(looked(R"({"a":"\ud800","type":"text"})", read, "type", true), "fault at 6");
  EXPECT_EQ(looked(R"({"a":1,"a":2,"type":"text"})", read, "type", true), "fault at 8");
  // Seen at once, so that the fault after it is left to the reading.
  EXPECT_EQ(looked(R"({"type":"text","a":tru})", read), "\"text\"");
  EXPECT_FALSE(read.good);
}

// Frozen: what the cursor does where simdjson's DOM does something else.
TEST(CursorPolicy, DiffersFromTheDomOnPurpose) {
  struct Row {
    std::string document;
    bool lenient, strict, dom;
  };
  const std::vector<Row> rows = {
      {"1e400", true, true, false},
      {"-1e400", true, true, false},
      {"18446744073709551616", true, true, false},
      {"-9223372036854775809", true, true, false},
      {"123456789012345678901234567890", true, true, false},
      {"1e-400", true, true, true},
      {"18446744073709551615", true, true, true},
      {"\xEF\xBB\xBF[]", true, true, false},
      {R"({"a":1,"a":2})", true, false, true},
      {R"("\ud800")", true, false, false},
      {R"("\udc00\ud800")", true, false, false},
      {nested(512, '['), true, true, true},
      {nested(513, '['), false, false, true},
      {nested(1024, '['), false, false, true},
      {nested(1025, '['), false, false, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(skipped(row.document).good, row.lenient) << row.document.substr(0, 40);
    EXPECT_EQ(skipped(row.document, {{}, true}).good, row.strict) << row.document.substr(0, 40);
    EXPECT_EQ(dom_accepts(row.document), row.dom) << row.document.substr(0, 40);
  }
}

TEST(Cursor, ReadsAnEmptyBuffer) {  // BUFFER1
  Buffer none;
  Cursor cursor(none, {});
  Slice all;
  EXPECT_FALSE(cursor.skip(all));
  EXPECT_EQ(cursor.fault().code, Code::Malformed);
  EXPECT_EQ(cursor.fault().at, 0U);
}

// Whatever was read before, a cursor that begins again reads as a new one does.
TEST(CursorRestart, IsAsIfNew) {
  const CursorOptions options = {{.bytes = 64, .string = 16, .depth = 4}, false};
  const std::string documents[] = {R"({"a":1,"a":2})",
                                   R"("\ud800")",
                                   R"([[[[[0]]]]])",
                                   R"([[[[0]]]])",
                                   R"({"a":{"b":[)",
                                   "\xEF\xBB\xBF[1]",
                                   "[1]x",
                                   std::string(70, ' '),
                                   R"("0123456789abcdefg")",
                                   R"({"a":1,"b":2})",
                                   "",
                                   "null"};
  const auto verdict = [](Cursor& cursor) {
    Slice all;
    const bool good = cursor.ok() && cursor.skip(all) && cursor.finish();
    std::string out = good ? "good" : std::string(to_string(cursor.fault().code)) + cursor.fault().message;
    for (const Oddity& oddity : cursor.oddities()) out += " " + std::to_string(oddity.at);
    return out;
  };
  Buffer none;
  Cursor reused(none, options);
  for (const std::string& before : documents) {
    for (const std::string& document : documents) {
      Buffer first = Buffer::copy_of(before);
      reused.restart({first.data(), first.size()});
      (void)verdict(reused);
      Buffer again = Buffer::copy_of(document);
      reused.restart({again.data(), again.size()});
      Buffer fresh = Buffer::copy_of(document);
      Cursor cursor(fresh, options);
      EXPECT_EQ(verdict(reused), verdict(cursor)) << document << " after " << before;
    }
  }
}

TEST(CursorRestart, CountsTheDepthItBeginsIn) {
  Buffer buffer = Buffer::copy_of("[[0]]");
  Cursor cursor(buffer, {{.depth = 4}, false});
  Slice all;
  cursor.restart({buffer.data(), buffer.size()}, 2);
  EXPECT_TRUE(cursor.skip(all));
  cursor.restart({buffer.data(), buffer.size()}, 3);
  EXPECT_FALSE(cursor.skip(all));
  EXPECT_EQ(cursor.fault().code, Code::LimitExceeded);
}

}  // namespace
}  // namespace parley::json
