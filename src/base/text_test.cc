#include "parley/base/text.h"

#include <gtest/gtest.h>

#include <iomanip>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>

#include "base/allocations_testing.h"

namespace parley {
namespace {

using std::string_view_literals::operator""sv;

Text must_copy(std::string_view bytes) { return Text::checked(bytes).value(); }

// Whole range of lengths: one, two, three and four bytes, a joiner and a combining mark.
constexpr std::string_view kMixed =
    "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"
    "e\xCC\x81\xE2\x80\x8D\r\n\0z"sv;

TEST(Text, IsAViewOfStaticBytesWhenMadeFromALiteral) {
  const Text text = "caf\xC3\xA9";
  EXPECT_EQ(text.view(), "caf\xC3\xA9");
  EXPECT_EQ(text.size(), 5U);
  EXPECT_EQ(test::allocations_of([] {
              Text made = "a literal that is longer than any short string";
              const Text copied = made;
            }),
            0U);
}

// A literal reaches an optional text without a copy; any other optional text converts.
TEST(OptionalText, TakesALiteralAsATextDoes) {
  static constexpr char kSame[] = "same";
  struct Fields {
    OptionalText first = {}, second = {};
  };
  const auto size = [](const OptionalText& text) {
    return text ? std::optional(text->size()) : std::nullopt;
  };
  Fields fields = {.first = "na\u00EFve"};
  EXPECT_EQ(fields.first, Text("na\u00EFve"));
  EXPECT_EQ(fields.second, std::nullopt);
  const OptionalText literal = kSame;
  EXPECT_EQ(static_cast<const void*>(literal->data()), static_cast<const void*>(kSame));
  fields.second = "later";
  EXPECT_EQ(fields.second, Text("later"));
  std::optional<Text> plain = fields.second;
  fields.second = std::nullopt;
  EXPECT_FALSE(fields.second);
  fields.second = plain;
  EXPECT_EQ(fields.second, plain);
  EXPECT_EQ(size("four"), 4U);
  EXPECT_EQ(size(std::string("string")), 6U);
  EXPECT_EQ(size(std::string_view("view")), 4U);
  EXPECT_EQ(size(Text("text")), 4U);
  EXPECT_EQ(size(plain), 5U);
  EXPECT_EQ(size({}), std::nullopt);
  EXPECT_EQ(size(std::nullopt), std::nullopt);
  // Two optionals are compared as such, whatever their types.
  const std::optional<Text> none;
  const OptionalText nothing, something = "s";
  EXPECT_TRUE(none == nothing && nothing == none && nothing == OptionalText() && something == something);
  EXPECT_TRUE(none != something && something != none && something == std::optional(Text("s")));
  EXPECT_TRUE(something == "s" && "t" != something && something == Text("s") && nothing != Text());
  EXPECT_TRUE(nothing == std::nullopt && std::nullopt != something && something == std::string("s"));
  EXPECT_EQ(fields.first.value_or(""), Text("na\u00EFve"));
  EXPECT_EQ(OptionalText().value_or("nothing"), Text("nothing"));
  EXPECT_EQ(OptionalText("given").value_or(std::string("nothing")), Text("given"));
}

// TEXT1: view() is valid UTF-8 for the whole life of the Text.
TEST(Text, RefusesBytesThatAreNotUtf8NamingTheByte) {
  for (const auto make : {+[](std::string_view bytes) { return Text::checked(bytes); },
                          +[](std::string_view bytes) { return Text::checked(std::string(bytes)); }}) {
    const Result<Text> text = make("abc\xED\xA0\x80");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, Code::InvalidUtf8);
    EXPECT_NE(text.error().message.find("offset 3 "), std::string::npos) << text.error().message;
    EXPECT_EQ(make(kMixed).value().view(), kMixed);
    EXPECT_TRUE(make("").value().empty());
  }
}

// TEXT5: each maximal ill-formed part becomes one U+FFFD, whatever kind of string the bytes come in.
TEST(Text, RepairsBytesThatAreNotUtf8AndTells) {
  const std::string bytes = "a\xF0\x9F\x98z\xFF";
  char buffer[] = "a\xF0\x9F\x98z\xFF";
  const char* c_string = buffer;
  for (const Text& text :
       {Text(bytes), Text(std::string(bytes)), Text(std::string_view(bytes)), Text(buffer), Text(c_string)}) {
    EXPECT_EQ(text, "a\xEF\xBF\xBDz\xEF\xBF\xBD");
    EXPECT_TRUE(text.was_repaired());
    EXPECT_TRUE(text.slice(0, 1).was_repaired());
  }
}

// TEXT5: bytes that are UTF-8 stay as they are, U+FFFD among them.
TEST(Text, TakesAnyStringThatIsUtf8) {
  const std::string replacement = "a\xEF\xBF\xBD";
  for (const std::string& bytes : {std::string(kMixed), replacement, std::string()}) {
    for (const Text& text : {Text(bytes), Text(std::string(bytes)), Text(std::string_view(bytes))}) {
      EXPECT_EQ(text, bytes);
      EXPECT_FALSE(text.was_repaired());
    }
  }
  EXPECT_FALSE(Text("literal").was_repaired());
}

// A std::string that is moved in is not copied.
TEST(Text, AdoptsAString) {
  std::string bytes(100, 'x');
  const char* data = bytes.data();
  EXPECT_EQ(Text(std::move(bytes)).data(), data);
}

TEST(Text, IsPrintedAndComparedLikeAString) {
  std::ostringstream out;
  out << Text("abc") << std::setw(3) << Code::WrongType;
  EXPECT_EQ(out.str(), "abcwrong_type");
  EXPECT_TRUE(Text("abc") == std::string("abc"));
  EXPECT_TRUE(std::string_view("abc") == Text("abc"));
  EXPECT_FALSE("abd" == Text("abc"));
}

// TEXT1: the bytes live as long as the last Text that shows them.
TEST(Text, KeepsItsBytesAliveThroughASlice) {
  Text slice;
  {
    Text whole = must_copy("the whole text goes, the slice stays");
    slice = whole.slice(21);
    whole = Text();
  }
  EXPECT_EQ(slice.view(), "the slice stays");

  auto owner = std::make_shared<const std::string>("bytes of another owner");
  const std::weak_ptr<const std::string> watch = owner;
  {
    const std::string_view view = *owner;
    const Text trusted = Text::trusted(std::move(owner), view.substr(9));
    EXPECT_EQ(trusted.view(), "another owner"sv.substr(0));
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

// TEXT2: copying and slicing share the bytes; nothing is copied.
TEST(Text, SharesItsBytesWithCopiesAndSlices) {
  const Text text = must_copy("a text that is longer than any short string could be");
  EXPECT_EQ(test::allocations_of([&] {
              const Text copy = text;
              EXPECT_EQ(copy.data(), text.data());
              EXPECT_EQ(text.slice(2, 4).data(), text.data() + 2);
              EXPECT_EQ(text.slice(2, 4).view(), "text");
            }),
            0U);
}

TEST(Text, AdoptsAStringWithoutCopyingItsBytes) {
  std::string bytes(10'000, 'x');
  const char* const data = bytes.data();
  Result<Text> text;
  const std::size_t allocations = test::allocations_of([&] { text = Text::checked(std::move(bytes)); });
  EXPECT_EQ(text->data(), data);
  EXPECT_EQ(text->size(), 10'000U);
  EXPECT_EQ(allocations, test::kCountsAllocations ? 1U : 0U) << "the owner";

  // A short string lives inside its std::string; the view must follow it into the owner.
  const Text small = Text::checked("short").value();
  const Text moved = Text(small);
  EXPECT_EQ(moved.view(), "short");
  EXPECT_EQ(moved.data(), small.data());
}

#ifndef PARLEY_TEST_SANITIZED
TEST(Text, CopiesBytesWithOneAllocation) {
  const std::string bytes(10'000, 'x');
  EXPECT_EQ(test::allocations_of([&] { static_cast<void>(Text::checked(bytes)); }), 1U);
  EXPECT_EQ(test::allocations_of([] { static_cast<void>(Text::checked("")); }), 0U);
}
#endif

// TEXT3: a slice never splits a code point.
TEST(Text, MovesBothEndsOfASliceDownToABoundary) {
  const Text text = must_copy(kMixed);
  for (std::size_t offset = 0; offset <= kMixed.size() + 2; ++offset) {
    for (std::size_t length = 0; length <= kMixed.size() + 2; ++length) {
      const Text slice = text.slice(offset, length);
      const std::size_t begin = utf8_floor(kMixed, offset);
      const std::size_t end = utf8_floor(kMixed, offset + length);
      ASSERT_EQ(slice.view(), kMixed.substr(begin, end - begin)) << offset << " " << length;
      ASSERT_TRUE(is_utf8(slice)) << offset << " " << length;
    }
  }
}

// TEXT3 again: consecutive slices lose nothing and double nothing, wherever the cuts fall.
TEST(Text, FallsApartIntoSlicesThatGiveItBack) {
  const Text text = must_copy(kMixed);
  for (std::size_t cut = 0; cut <= kMixed.size(); ++cut) {
    EXPECT_EQ(text.slice(0, cut).str() + text.slice(cut).str(), kMixed) << cut;
  }
}

TEST(Text, SlicesToNothingPastItsEnd) {
  const Text text = "abc";
  EXPECT_TRUE(text.slice(3).empty());
  EXPECT_TRUE(text.slice(4, 2).empty());
  EXPECT_TRUE(text.slice(std::string_view::npos, std::string_view::npos).empty());
  EXPECT_EQ(text.slice(1, std::string_view::npos).view(), "bc");
  EXPECT_TRUE(Text().slice(0).empty());
}

// TEXT4: NUL is a character like any other.
TEST(Text, TreatsNulAsACharacter) {
  const Text literal = "a\0b";
  EXPECT_EQ(literal.size(), 3U);
  const Text copied = must_copy("a\0b"sv);
  EXPECT_EQ(copied, literal);
  EXPECT_EQ(copied.str(), std::string("a\0b", 3));
  EXPECT_EQ(copied.slice(1).view(), "\0b"sv);
  EXPECT_NE(copied, Text("a"));
  EXPECT_LT(Text("a"), copied);
  EXPECT_EQ(Text("\0\xFF"sv).view(), "\0\xEF\xBF\xBD"sv);
}

TEST(Text, ComparesByItsBytes) {
  EXPECT_EQ(must_copy("same"), Text("same"));
  EXPECT_LT(Text("a"), Text("b"));
  EXPECT_LT(Text("z"), Text("\xC3\xA9"));
  EXPECT_GT(Text("ab"), Text("a"));
  EXPECT_EQ(Text(), Text(""));
}

static_assert(std::is_nothrow_move_constructible_v<Text>);

}  // namespace
}  // namespace parley
