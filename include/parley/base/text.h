// Text is an immutable string of valid UTF-8: cheap to copy, cheap to slice, shared.
//
// Invariants (quoted by tests as TEXT1..TEXT4):
//   TEXT1  view() is valid UTF-8 for the whole life of the Text.
//   TEXT2  Copying and slicing share the bytes; nothing is copied.
//   TEXT3  A slice never splits a code point.
//   TEXT4  NUL is a character like any other.
//
// Immutable; safe to read and copy from any thread.
#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "parley/base/error.h"
#include "parley/base/utf8.h"

namespace parley {

class Text {
 public:
  Text() = default;

  // A string literal, checked when the program is compiled; its bytes are static and never copied.
  template <std::size_t N>
  consteval Text(const char (&literal)[N]) : view_(literal, N - 1) {
    if (!is_utf8_constexpr(view_)) a_text_literal_must_be_utf8();
  }

  // Copies or adopts `bytes`. Fails with InvalidUtf8, naming the byte, if they are not UTF-8.
  static Result<Text> copy(std::string_view bytes);
  static Result<Text> adopt(std::string bytes);

  // Copies `bytes`, each maximal ill-formed part replaced by U+FFFD. `*replaced` counts them.
  static Text repaired(std::string_view bytes, std::size_t* replaced = nullptr);

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

  // The bytes [offset, offset + length), sharing this Text. Both ends move down to a code point
  // boundary (TEXT3); an offset past the end gives an empty Text.
  Text slice(std::size_t offset, std::size_t length = std::string_view::npos) const;

  friend bool operator==(const Text& a, const Text& b) { return a.view_ == b.view_; }
  friend auto operator<=>(const Text& a, const Text& b) { return a.view_ <=> b.view_; }

 private:
  static void a_text_literal_must_be_utf8() {}  // Not constexpr: calling it stops the compiler.

  Text(std::shared_ptr<const void> owner, std::string_view view) : owner_(std::move(owner)), view_(view) {}

  std::shared_ptr<const void> owner_;  // Null for literals and the empty Text.
  std::string_view view_;
};

}  // namespace parley
