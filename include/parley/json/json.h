// Json is one JSON value that keeps its text: key order, number spelling, escapes and whitespace are
// exactly what was read or written. Navigation scans the text; values are converted on demand.
//
// Invariants (quoted by tests as JSON1..JSON3):
//   JSON1  text() is one strict JSON value in UTF-8, without whitespace around it.
//   JSON2  Two Json are == exactly if their texts are; equal() compares values.
//   JSON3  Members and elements share the text of their parent; nothing is copied.
//
// Immutable; safe to read and copy from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/json/buffer.h"
#include "parley/json/limits.h"

namespace parley {

class Json {
 public:
  enum class Type : std::uint8_t { Null, Bool, Number, String, Array, Object };

  Json() : text_(Text("null")) {}

  // Parses one strict JSON value; whitespace around it is cut. Lone surrogate escapes are refused,
  // duplicate keys kept. Fails with Malformed, InvalidUtf8, LoneSurrogate or LimitExceeded.
  // The second form takes ownership of the buffer, without a copy.
  static Result<Json> parse(std::string_view text, const json::Limits& limits = {});
  static Result<Json> parse(json::Buffer text, const json::Limits& limits = {});

  // REQUIRES: `text` satisfies JSON1 (it was validated by a reader or written by a Writer).
  static Json trusted(Text text) { return Json(std::move(text)); }

  static Json string(std::string_view utf8);
  static Json number(std::int64_t value);
  static Json boolean(bool value);

  const Text& text() const { return text_; }
  Type type() const;
  bool is_null() const { return type() == Type::Null; }
  bool is_object() const { return type() == Type::Object; }
  bool is_array() const { return type() == Type::Array; }
  bool is_string() const { return type() == Type::String; }

  // The unescaped string, or nothing if this is not a string.
  std::optional<Text> as_string() const;
  std::optional<bool> as_bool() const;
  // Nothing if this is not a number, or not exactly of this type: 1.0, 1e2 and 2^63 are not an int64; 1e400
  // and 1e-400 are not a double.
  std::optional<std::int64_t> as_int64() const;
  std::optional<double> as_double() const;

  struct Member;
  std::vector<Member> members() const;  // In order, duplicates included; empty if not an object.
  std::vector<Json> elements() const;   // Empty if not an array.

  // The last member of this name (as every reader of duplicate keys agrees), or nothing.
  std::optional<Json> get(std::string_view key) const;
  // The value a JSON Pointer (RFC 6901) names, or nothing.
  std::optional<Json> at(std::string_view pointer) const;

  // The same value without insignificant whitespace.
  Json compact() const;
  // The same value over several lines, two spaces a level up to 40 levels.
  std::string pretty() const;

  friend bool operator==(const Json& a, const Json& b) { return a.text_ == b.text_; }
  // Equal as values: the same members in the same order, duplicates included, and the same spelling of
  // numbers, whatever the whitespace and the escapes.
  static bool equal(const Json& a, const Json& b);

 private:
  explicit Json(Text text) : text_(std::move(text)) {}
  Text text_;
};

struct Json::Member {
  Text key;  // unescaped
  Json value;
};

}  // namespace parley
