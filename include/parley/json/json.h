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

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"

namespace parley::json {

// A Buffer owns the bytes of one document, with padding after them so that readers need no bounds checks.
//
// Invariants (quoted by tests as BUFFER1..BUFFER2):
//   BUFFER1  data()[size()] is NUL and the kPadding bytes from there on are readable.
//   BUFFER2  The bytes are read into their final place; moving a Buffer copies nothing.
//
// One thread at a time while it is filled; a reader takes ownership of it.
inline constexpr std::size_t kPadding = 64;

class Buffer {
 public:
  Buffer() = default;                 // Empty, as a Buffer that was moved from is.
  explicit Buffer(std::size_t size);  // `size` bytes, not initialised, and the padding.
  Buffer(Buffer&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  static Buffer copy_of(std::string_view bytes);

  // Takes ownership of memory from malloc. REQUIRES: `size` bytes in use and kPadding more after them.
  static Buffer adopt(char* bytes, std::size_t size);

  // The whole file, or standard input for "-". Fails with Unavailable if it cannot be read and with
  // LimitExceeded if it holds more than `max_bytes`. Reads until the end of the file, whatever size
  // the file claims to have.
  static Result<Buffer> from_file(const char* path, std::size_t max_bytes);

  char* data() { return bytes_ ? bytes_.get() : const_cast<char*>(kNothing); }
  const char* data() const { return bytes_ ? bytes_.get() : kNothing; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data(), size_}; }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  static constexpr char kNothing[kPadding] = {};  // the data of an empty Buffer (BUFFER1)

  std::unique_ptr<char[], Free> bytes_;
  std::size_t size_ = 0;
};

// The limits every reader of JSON obeys. A plain value.
struct Limits {
  std::size_t bytes = std::size_t{64} * 1024 * 1024;   // a document; never more than 4 GiB - 1
  std::size_t string = std::size_t{32} * 1024 * 1024;  // one string, as spelled between its quotes
  std::size_t depth = 512;                             // nested arrays and objects
};

}  // namespace parley::json

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
  OptionalText as_string() const;
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

std::ostream& operator<<(std::ostream& out, const Json& json);  // its text

}  // namespace parley
