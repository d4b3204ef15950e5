#include "parley/json/writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "json/judge_testing.h"
#include "json/kernel.h"
#include "json/out.h"

namespace parley::json {
namespace {

TEST(Writer, PutsCommasWhereTheyBelong) {
  Writer w;
  w.begin_object().key("role").string("user").key("n").number(3).key("list").begin_array().end_array();
  w.key("more")
      .begin_array()
      .null()
      .boolean(true)
      .boolean(false)
      .begin_object()
      .end_object()
      .raw("1e400")
      .end_array();
  w.key("o").begin_object().key("").value(Json::string("x")).end_object().end_object();
  EXPECT_EQ(w.view(), R"({"role":"user","n":3,"list":[],"more":[null,true,false,{},1e400],"o":{"":"x"}})");
  EXPECT_EQ(w.take().text().view(),
            R"({"role":"user","n":3,"list":[],"more":[null,true,false,{},1e400],"o":{"":"x"}})");
}

TEST(Writer, CanBeUsedAgainOnceItsTextIsTaken) {
  Writer w;
  EXPECT_EQ(w.begin_array().number(1).end_array().take_string(), "[1]");
  EXPECT_EQ(w.view(), "");
  EXPECT_EQ(w.begin_array().number(2).end_array().take().text().view(), "[2]");
  EXPECT_EQ(w.string("x").take().text().view(), "\"x\"");
}

TEST(Writer, WritesTheWholeRangeOfIntegers) {
  Writer w;
  w.begin_array().number(INT64_MIN).number(-1).number(0).number(INT64_MAX).end_array();
  EXPECT_EQ(w.view(), "[-9223372036854775808,-1,0,9223372036854775807]");
}

// Quotes, backslashes and controls are escaped, all else stands as it is, in values and in names.
TEST(Writer, EscapesEveryByteThatNeedsIt) {
  const Kernel& chosen = kernel();
  for (const Kernel* each : kernels()) {
    if (!each->supported()) continue;
    use_kernel(*each);
    for (unsigned code = 0; code < 0x3000; ++code) {
      if (!judge::is_scalar_value(code)) continue;
      const std::string text =
          "before " + judge::encoded(code) + " after, with enough bytes to fill a whole block of 64";
      const std::string expected = "\"" + judge::escaped(text) + "\"";
      Writer w;
      w.begin_object().key(text).string(text).end_object();
      ASSERT_EQ(w.view(), "{" + expected + ":" + expected + "}") << each->name << " " << code;
      ASSERT_EQ(Json::string(text).as_string()->view(), text);
      std::string appended = "x";
      append_string(appended, text);
      ASSERT_EQ(appended, "x" + expected);
    }
  }
  use_kernel(chosen);
  EXPECT_EQ(Json::string("\b\f\n\r\t\"\\/\x01\x1F\x7F").text().view(),
            "\"\\b\\f\\n\\r\\t\\\"\\\\/\\u0001\\u001f\x7F\"");
  EXPECT_EQ(Json::string(std::string_view("\0", 1)).text().view(), "\"\\u0000\"");
  EXPECT_EQ(Json::string("").text().view(), "\"\"");
}

// Texts are escaped in pieces; no piece may lose or double a byte.
TEST(Writer, EscapesTextsOfAnySize) {
  for (const std::size_t size : {16'383U, 16'384U, 16'385U, 32'768U, 100'001U}) {
    for (const std::string_view unit : {"a", "\"", "\x01", "\xE2\x82\xAC", "ab\n"}) {
      std::string text;
      while (text.size() < size) text += unit;
      const std::string expected = "\"" + judge::escaped(text) + "\"";
      Writer w;
      ASSERT_EQ(w.string(text).view(), expected);
      Out out;
      out.raw('"').escaped(text).raw('"');
      ASSERT_EQ(out.view(), expected);
      ASSERT_EQ(Json::string(text).text().view(), expected);
    }
  }
}

TEST(Writer, TakesDocumentsLargerThanAReaderWould) {
  Writer w;
  for (int i = 0; i < 2000; ++i) w.begin_array();
  for (int i = 0; i < 2000; ++i) w.end_array();
  EXPECT_EQ(w.take().text().size(), 4000U);
}

TEST(Out, UnescapesOnTheWay) {
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 1000U}) {
    std::string spelled;
    std::string plain;
    for (std::size_t i = 0; i < count; ++i) {
      spelled += "a\\n\\u00e9\\ud83d\\ude00";
      plain += "a\n\xC3\xA9\xF0\x9F\x98\x80";
    }
    Out out;
    EXPECT_EQ(out.raw('<').unescaped(spelled).raw('>').take().view(), "<" + plain + ">");
  }
}

TEST(Out, GrowsAndMovesItsBytesOut) {
  Out out(3);
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    out.raw(std::to_string(i)).raw(',').quoted("q\\n").escaped("\n");
    expected += std::to_string(i) + ",\"q\\n\"\\n";
  }
  EXPECT_EQ(out.size(), expected.size());
  EXPECT_EQ(out.view(), expected);
  Out moved = std::move(out);
  EXPECT_EQ(out.size(), 0U);  // NOLINT(bugprone-use-after-move): this is what is tested
  const Buffer buffer = moved.take_buffer();
  EXPECT_EQ(buffer.view(), expected);
  for (std::size_t i = 0; i < kPadding; ++i) ASSERT_EQ(buffer.data()[buffer.size() + i], '\0');
  EXPECT_EQ(moved.size(), 0U);
  EXPECT_EQ(moved.raw("again").take().view(), "again");
  EXPECT_EQ(Out().take().view(), "");
  EXPECT_EQ(Out().take_buffer().view(), "");
  Out shorter;
  shorter.raw("abcdef").shrink_to(2);
  EXPECT_EQ(shorter.raw("z").take().view(), "abz");
  Out assigned;
  assigned.raw("old");
  assigned = Out();
  EXPECT_EQ(assigned.view(), "");
}

}  // namespace
}  // namespace parley::json
