// Errors are values: a code a program can switch on, a sentence a person can act on, and a place.
//
// Every function of Parley that can fail returns Result<T>; nothing throws across the public API
// (std::bad_alloc excepted). Immutable once made; safe to read from any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace parley {

// What went wrong, grouped by what the caller should do about it.
enum class Code : std::uint8_t {
  Malformed,      // The bytes are not strict JSON: fix the producer.
  InvalidUtf8,    // The bytes are not UTF-8: fix the producer or repair them first.
  LoneSurrogate,  // Strict reading met half of a surrogate pair.
  DuplicateKey,   // Strict reading met a member name twice in one object.
  WrongType,      // A known member has a JSON type its dialect does not allow.
  Missing,        // A member the dialect requires is not there.
  UnknownRole,    // The role is not one of the dialect's.
  WrongDialect,   // The document belongs to another dialect, named in the message.
  LimitExceeded,  // A size, depth or count limit; the message names the limit.
  Invalid,        // A value breaks the rules of its field (an id, a base64 text, an option).
  BrokenHistory,  // Calls and results do not match; converting needs a repair first.
  Lossy,          // Strict writing would lose or change content.
  Unsupported,    // The target cannot express this at all.
  NotFound,       // There is nothing with this name.
  Unavailable,    // The environment (file, network, store) failed; trying again may help.
  Timeout,        // A deadline passed.
  Cancelled,      // The caller asked to stop.
  Conflict,       // Another caller changed or holds it: read it again, then decide.
  Unresolved,     // It is not known whether it happened: query it, or repeat the same call.
  Damaged,        // Stored bytes are not what was stored: restore them from a copy.
};

// The code's name as it appears in machine output, e.g. "wrong_type".
std::string_view to_string(Code code);

// Prints every enumeration of Parley that has a to_string(), by its name.
template <typename Enum>
  requires(std::is_enum_v<Enum> && requires(Enum value) { std::string_view(to_string(value)); })
std::ostream& operator<<(std::ostream& out, Enum value) {
  return out << to_string(value);
}

struct Error {
  Code code;
  std::string message;  // One sentence, lower case, no secrets, no input dumps.
  std::string path;     // JSON Pointer into the input, e.g. "/3/tool_calls/0"; "" is the document itself.

  bool retryable() const { return code == Code::Unavailable || code == Code::Timeout; }
  bool operator==(const Error&) const = default;
};

std::string to_line(const Error& error);  // "/3/role: the role 'robot' is not known"
std::ostream& operator<<(std::ostream& out, const Error& error);

template <typename T>
using Result = std::expected<T, Error>;

// Makes every error of the library: what looks like a secret (parley/base/secret.h) is redacted from the
// message and the path.
std::unexpected<Error> fail(Code code, std::string message, std::string path = {});

}  // namespace parley

// PARLEY_TRY(lhs, expr): assigns the value of expr to lhs, or returns its error to the caller.
#define PARLEY_CAT_(a, b) a##b
#define PARLEY_CAT(a, b) PARLEY_CAT_(a, b)
#define PARLEY_TRY_(tmp, lhs, expr)                         \
  auto tmp = (expr);                                        \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  lhs = *std::move(tmp)
#define PARLEY_TRY(lhs, expr) PARLEY_TRY_(PARLEY_CAT(parley_try_, __LINE__), lhs, expr)

// PARLEY_CHECK(expr): returns the error of a Result<void> to the caller.
#define PARLEY_CHECK_(tmp, expr) \
  if (auto tmp = (expr); !tmp) return std::unexpected(std::move(tmp).error())
#define PARLEY_CHECK(expr) PARLEY_CHECK_(PARLEY_CAT(parley_check_, __LINE__), expr)
