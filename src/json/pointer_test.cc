#include "json/pointer.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "parley/base/text.h"

namespace parley::json {
namespace {

// The pointer to the place marked by '^' in `document`, with the mark taken out.
std::string marked(std::string document) {
  const std::size_t at = document.find('^');
  document.erase(at, 1);
  return pointer_at(document, at);
}

TEST(Pointer, NamesTheInnermostValueThatHoldsAByte) {
  EXPECT_EQ(marked(R"(^{"a":[1,{"b":2}]})"), "");
  EXPECT_EQ(marked(R"({"a":^[1,{"b":2}]})"), "/a");
  EXPECT_EQ(marked(R"({"a":[^1,{"b":2}]})"), "/a/0");
  EXPECT_EQ(marked(R"({"a":[1,^{"b":2}]})"), "/a/1");
  EXPECT_EQ(marked(R"({"a":[1,{"b":^2}]})"), "/a/1/b");
  EXPECT_EQ(marked(R"({"a":[1,{"b":"x^yz"}],"c":3})"), "/a/1/b");
  EXPECT_EQ(marked(R"({"a":[1,{"b":2}],"c":^3})"), "/c");
  EXPECT_EQ(marked(R"([[],[[]],^0])"), "/2");
  EXPECT_EQ(marked(R"([[],[^[]],0])"), "/1/0");
}

TEST(Pointer, GivesAMemberTheBytesOfItsName) {
  EXPECT_EQ(marked(R"({"a":1,^"b":2})"), "/b");
  EXPECT_EQ(marked(R"({"a":1,"^b":2})"), "/b");
  EXPECT_EQ(marked(R"({"a":1,"b^":2})"), "/b");
  EXPECT_EQ(marked(R"({"a":1,"b"^:2})"), "/b");
  EXPECT_EQ(marked(R"({"x":{"a":1,"lo^ng":[]}})"), "/x/long");
  EXPECT_EQ(marked(R"({"":{"":^1}})"), "//");
}

TEST(Pointer, CountsWhatSeparatesValuesWithTheValueBefore) {
  EXPECT_EQ(marked("[1^,2]"), "/0");
  EXPECT_EQ(marked("[1 ^ ,2]"), "/0");
  EXPECT_EQ(marked("[1,2^]"), "/1");
  EXPECT_EQ(marked(R"({"a":1^})"), "/a");
  EXPECT_EQ(marked(R"({"a":1}^ )"), "");
  EXPECT_EQ(marked(R"([{"a":1}^,2])"), "/0");
}

TEST(Pointer, NamesThePlaceWhereAValueIsMissing) {
  EXPECT_EQ(marked("[^"), "/0");
  EXPECT_EQ(marked("[1,^"), "/1");
  EXPECT_EQ(marked("[1,^]"), "/1");
  EXPECT_EQ(marked(R"({"a":^)"), "/a");
  EXPECT_EQ(marked(R"({"a":1,^)"), "");
  EXPECT_EQ(marked(R"({^)"), "");
  EXPECT_EQ(marked("^"), "");
}

TEST(Pointer, NeedsNothingAfterThePlace) {
  EXPECT_EQ(marked(R"({"a":{"b":[true,^tru)"), "/a/b/1");
  EXPECT_EQ(marked(R"({"a":"never closed^)"), "/a");
  EXPECT_EQ(marked(R"({"a":"ne^ver closed)"), "/a");
  EXPECT_EQ(marked(R"([0,1,"x\^)"), "/2");
  EXPECT_EQ(marked("[0,^\xFF\xFF]]]}}}"), "/1");
  EXPECT_EQ(marked("]^"), "");
  EXPECT_EQ(marked("}}]]^[[["), "");
  EXPECT_EQ(pointer_at("[1]", 1000), "");
}

// It would be the rest of the document, and errors are no place for that.
TEST(Pointer, LeavesOutANameThatIsNotClosed) {
  EXPECT_EQ(marked(R"({"nam^e)"), "");
  EXPECT_EQ(marked(R"({^"name)"), "");
  EXPECT_EQ(marked(R"({^")"), "");
  EXPECT_EQ(marked(R"({"x":[0,{^"a\")"), "/x/1");
}

TEST(Pointer, SpellsNamesPlainlyAndEscapesThem) {
  EXPECT_EQ(marked(R"({"a/b":^1})"), "/a~1b");
  EXPECT_EQ(marked(R"({"m~n":^1})"), "/m~0n");
  EXPECT_EQ(marked(R"({"~1":^1})"), "/~01");
  EXPECT_EQ(marked(R"({"\u0061\/\"\\\n":^1})"), "/a~1\"\\\n");
  EXPECT_EQ(marked(R"({"\ud83d\ude00":^1})"), "/\xF0\x9F\x98\x80");
  EXPECT_EQ(marked("{\"caf\xC3\xA9\":^1}"), "/caf\xC3\xA9");
  EXPECT_EQ(escape_pointer("~/a~1/"), "~0~1a~01~1");
  EXPECT_EQ(escape_pointer(""), "");
}

// A name may be where the fault is. The pointer goes into errors, which are text.
TEST(Pointer, IsUtf8WhateverANameHolds) {
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(marked(R"({^"\ud800":1})"), "/" + replaced);
  EXPECT_EQ(marked(R"({^"\udc00x":1})"), "/" + replaced + "x");
  EXPECT_EQ(marked(R"({^"\ud800\u0041":1})"), "/" + replaced + "A");
  EXPECT_EQ(marked(R"({^"\udc00\u0041":1})"), "/" + replaced + "A");
  EXPECT_EQ(marked(R"({^"\udc00\ud800":1})"), "/" + replaced + replaced);
  EXPECT_EQ(marked(R"({^"\ud800\ud83d\ude00":1})"), "/" + replaced + "\xF0\x9F\x98\x80");
  EXPECT_EQ(marked(R"({^"\ud800\u00zz":1})"), "/" + replaced + "\\u00zz");
  EXPECT_EQ(marked(R"({^"\q\u12":1})"), "/\\q\\u12");
  EXPECT_EQ(marked("{^\"a\xFF\xC3\":1}"), "/a" + replaced + replaced);
  EXPECT_EQ(marked("{^\"a\xED\xA0\x80\":1}"), "/a" + replaced + replaced + replaced);
  // All short names made of pieces that go wrong together.
  const std::vector<std::string> pieces = {"\\ud800", "\\udc00", "\\u0041", "\\u",  "\\",
                                           "\xC3",    "\xA9",    "a",       "\\ud8"};
  for (const auto& a : pieces) {
    for (const auto& b : pieces) {
      for (const auto& c : pieces) {
        const std::string document = "{\"" + a + b + c + "\":1}";
        for (std::size_t at = 0; at <= document.size(); ++at) {
          ASSERT_TRUE(is_utf8(pointer_at(document, at))) << testing::PrintToString(document) << " at " << at;
        }
      }
    }
  }
}

TEST(Pointer, FindsManyPlacesInOneWalk) {
  const std::string document = R"({"a":[1,{"b":"text"}],"c":{},"d":[[],[[3]]]})";
  std::vector<std::size_t> offsets;
  std::vector<std::string> one_by_one;
  for (std::size_t at = 0; at <= document.size(); ++at) {
    if (document[at] == ':' || document[at] == ',') continue;
    offsets.push_back(at);
    one_by_one.push_back(pointer_at(document, at));
  }
  EXPECT_EQ(pointers_at(document, offsets), one_by_one);
  EXPECT_TRUE(pointers_at(document, {}).empty());
  const std::size_t same[] = {8, 8, 8};
  EXPECT_EQ(pointers_at(document, same), std::vector<std::string>(3, pointer_at(document, 8)));
}

TEST(Pointer, DoesNotRecurse) {
  const std::string deep(1'000'000, '[');
  std::string expected;
  for (int i = 0; i < 999'999; ++i) expected += "/0";
  EXPECT_EQ(pointer_at(deep, 999'999), expected);
}

}  // namespace
}  // namespace parley::json
