// A Secret is a key, a token or a password: it can be used and compared, and it cannot be printed.
//
// Invariants (quoted by tests as SECRET1..SECRET4):
//   SECRET1  Nothing converts a Secret to text; reveal() is the only access, and easy to search for.
//   SECRET2  The bytes are wiped when the last copy is destroyed, and so is the string passed to take().
//   SECRET3  == takes the same time wherever the two differ.
//   SECRET4  The bytes are in memory that is kept out of swap and core dumps, where the system allows it.
//
// Immutable; copies share the bytes; safe to read and copy from any thread.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace parley {

class Secret {
 public:
  Secret() = default;  // empty

  // Copies the bytes. For bytes in a string, prefer take(), which wipes it.
  explicit Secret(std::string_view bytes);
  // Copies the bytes and wipes `source`, which is then empty.
  static Secret take(std::string& source);
  static Secret take(std::string&& source) { return take(source); }

  // The bytes, valid while a copy of this Secret lives. For the code that sends them.
  std::string_view reveal() const {
    return empty() ? std::string_view() : std::string_view(bytes_.get(), size_);
  }

  bool empty() const { return bytes_ == nullptr; }  // also after it was moved away

  friend bool operator==(const Secret& a, const Secret& b);

 private:
  std::shared_ptr<const char> bytes_;
  std::size_t size_ = 0;
};

// Printing one is a mistake that does not compile.
std::ostream& operator<<(std::ostream&, const Secret&) = delete;

// Redaction: removes what looks like a secret from texts for people and files.
//
// Known are the keys of the well-known providers by their prefixes, bearer and basic authorization, private
// key blocks, JSON web tokens, and passwords in URLs, query strings and connection strings. A secret without
// any such form (a bare password, a hexadecimal key) is not found: see docs/guard.md.
//
// Pure functions in linear time; safe from any thread.

// The text with "[redacted: <kind>]" in place of each secret; any bytes are accepted.
std::string redacted(std::string_view text);

// The same in place. True if there was a secret; without one nothing is allocated.
bool redact(std::string& text);

}  // namespace parley
