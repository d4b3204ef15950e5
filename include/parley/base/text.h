// Text is an immutable string of valid UTF-8: cheap to copy, cheap to slice, shared.
//
// Invariants (quoted by tests as TEXT1..TEXT5):
//   TEXT1  view() is valid UTF-8 for the whole life of the Text.
//   TEXT2  Copying and slicing share the bytes; nothing is copied.
//   TEXT3  A slice never splits a code point.
//   TEXT4  NUL is a character like any other.
//   TEXT5  Bytes that are not UTF-8 are never in a Text: they are repaired, or refused by checked().
//
// Immutable; safe to read and copy from any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "parley/base/error.h"

namespace parley {

// UTF-8: validation, repair and boundaries, by the Unicode standard's table 3-7 (no surrogates,
// no over-long forms, nothing above U+10FFFF). Pure functions; safe from any thread.

// The length of the longest valid prefix; equal to bytes.size() if all of it is UTF-8.
std::size_t valid_utf8_prefix(std::string_view bytes);

inline bool is_utf8(std::string_view bytes) { return valid_utf8_prefix(bytes) == bytes.size(); }

// Replaces each maximal ill-formed part by U+FFFD (the practice of the WHATWG encoding standard and
// of Python's "replace"). `*replaced`, if given, receives the number of replacements.
std::string repair_utf8(std::string_view bytes, std::size_t* replaced = nullptr);

// The largest code point boundary <= offset. REQUIRES: `utf8` is valid.
std::size_t utf8_floor(std::string_view utf8, std::size_t offset);

// The number of code points. REQUIRES: `utf8` is valid.
std::size_t utf8_length(std::string_view utf8);

// Appends the UTF-8 form of `code_point`. REQUIRES: a scalar value (not a surrogate).
void append_utf8(std::string& out, char32_t code_point);

// The length in bytes (1 to 4) of the well-formed sequence that starts at bytes[i], or 0. One
// definition serves the compile-time check of literals, the validator and the repair.
constexpr std::size_t utf8_sequence_length(std::string_view bytes, std::size_t i) {
  const auto byte = [&](std::size_t k) -> unsigned {
    return k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U;  // 0 is not a continuation
  };
  const unsigned b0 = byte(i);
  if (b0 < 0x80) return 1;
  const auto within = [](unsigned b, unsigned low, unsigned high) { return b >= low && b <= high; };
  const unsigned b1 = byte(i + 1);
  if (within(b0, 0xC2, 0xDF)) return within(b1, 0x80, 0xBF) ? 2 : 0;
  const bool third = within(byte(i + 2), 0x80, 0xBF);
  if (b0 == 0xE0) return within(b1, 0xA0, 0xBF) && third ? 3 : 0;
  if (b0 == 0xED) return within(b1, 0x80, 0x9F) && third ? 3 : 0;  // no surrogates
  if (within(b0, 0xE1, 0xEF)) return within(b1, 0x80, 0xBF) && third ? 3 : 0;
  const bool fourth = third && within(byte(i + 3), 0x80, 0xBF);
  if (b0 == 0xF0) return within(b1, 0x90, 0xBF) && fourth ? 4 : 0;
  if (within(b0, 0xF1, 0xF3)) return within(b1, 0x80, 0xBF) && fourth ? 4 : 0;
  if (b0 == 0xF4) return within(b1, 0x80, 0x8F) && fourth ? 4 : 0;
  return 0;
}

constexpr bool is_utf8_constexpr(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_sequence_length(bytes, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

class Text {
 public:
  Text() = default;

  // A string literal, checked when the program is compiled; its bytes are static and never copied.
  template <std::size_t N>
  consteval Text(const char (&literal)[N]) : Text(Literal(literal)) {}

  // A literal that was checked, for a constructor that cannot be consteval itself.
  class Literal {
   public:
    template <std::size_t N>
    explicit consteval Literal(const char (&literal)[N]) : view_(literal, N - 1) {
      if (!is_utf8_constexpr(view_)) a_text_literal_must_be_utf8();
    }

   private:
    friend class Text;
    std::string_view view_;
  };
  explicit constexpr Text(Literal literal) : view_(literal.view_) {}

  // Any other string. Invalid UTF-8 is repaired by U+FFFD, as repair_utf8() does, and was_repaired() tells.
  Text(std::string_view bytes);
  Text(const std::string& bytes) : Text(std::string_view(bytes)) {}
  Text(std::string&& bytes);  // not copied
  template <typename Pointer>
    requires(std::is_same_v<Pointer, const char*> || std::is_same_v<Pointer, char*>)
  Text(Pointer c_string) : Text(std::string_view(c_string)) {}
  template <std::size_t N>
  Text(char (&c_string)[N]) : Text(std::string_view(c_string)) {}
  Text(std::nullptr_t) = delete;

  // The same for bytes that must be UTF-8. Fails with InvalidUtf8, naming the first byte that is not.
  static Result<Text> checked(std::string_view bytes);
  template <typename String>
    requires std::is_same_v<String, std::string>
  static Result<Text> checked(String&& bytes) {
    return adopted(std::forward<String>(bytes));
  }

  // A view into bytes that `owner` keeps alive. REQUIRES: valid UTF-8, unchanged while owner lives.
  static Text trusted(std::shared_ptr<const void> owner, std::string_view utf8) {
    return Text(std::move(owner), utf8);
  }

  std::string_view view() const { return view_; }
  operator std::string_view() const { return view_; }
  std::string str() const { return std::string(view_); }
  const char* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  // True if this Text, or the Text it is a slice of, was made from bytes that were not UTF-8.
  bool was_repaired() const;

  // The bytes [offset, offset + length), sharing this Text. Both ends move down to a code point
  // boundary (TEXT3); an offset past the end gives an empty Text.
  Text slice(std::size_t offset, std::size_t length = std::string_view::npos) const;

  friend bool operator==(const Text& a, const Text& b) { return a.view_ == b.view_; }
  template <typename String>
    requires(std::is_convertible_v<const String&, std::string_view> && !std::is_same_v<String, Text>)
  friend bool operator==(const Text& a, const String& b) {
    return a.view_ == std::string_view(b);
  }
  friend auto operator<=>(const Text& a, const Text& b) { return a.view_ <=> b.view_; }

 private:
  static Result<Text> adopted(std::string&& bytes);
  static Text copied(std::string_view utf8);  // REQUIRES: valid UTF-8
  static Text repaired(std::string_view bytes);
  static void a_text_literal_must_be_utf8() {}  // Not constexpr: calling it stops the compiler.

  Text(std::shared_ptr<const void> owner, std::string_view view) : owner_(std::move(owner)), view_(view) {}

  std::shared_ptr<const void> owner_;  // Null for literals and the empty Text.
  std::string_view view_;
};

std::ostream& operator<<(std::ostream& out, const Text& text);

// A std::optional<Text> that takes string literals, checked and not copied like those of a Text:
// std::optional cannot pass them on to a consteval constructor. Both convert to each other.
class OptionalText : public std::optional<Text> {
 public:
  using std::optional<Text>::optional;
  OptionalText(std::optional<Text> text) : std::optional<Text>(std::move(text)) {}
  template <std::size_t N>
  consteval OptionalText(const char (&literal)[N])
      : std::optional<Text>(std::in_place, Text::Literal(literal)) {}

  Text value_or(const Text& otherwise) const& { return has_value() ? **this : otherwise; }
  Text value_or(const Text& otherwise) && {
    if (has_value()) return std::move(**this);
    return otherwise;
  }

  // Exact matches for all that an optional text is compared with: std's operators would take an optional of
  // the other type for a value.
  friend bool operator==(const OptionalText& a, const OptionalText& b) { return a.plain() == b.plain(); }
  friend bool operator==(const OptionalText& a, const std::optional<Text>& b) { return a.plain() == b; }
  friend bool operator==(const OptionalText& a, std::nullopt_t) { return !a.has_value(); }
  template <typename String>
    requires std::is_convertible_v<const String&, std::string_view>
  friend bool operator==(const OptionalText& a, const String& b) {
    return a.has_value() && a->view() == std::string_view(b);
  }

 private:
  const std::optional<Text>& plain() const { return *this; }
};

}  // namespace parley
