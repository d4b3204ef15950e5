// Cursor reads a document front to back, once, validating every byte: the way readers of known shapes
// get slices, and the walker that skips over everything else.
//
// Invariants (quoted by tests as CURSOR1..CURSOR5):
//   CURSOR1  A document is accepted only if every byte of it is strict JSON and UTF-8.
//   CURSOR2  Slices are the exact bytes: strings without their quotes, other values whole.
//   CURSOR3  Nothing recurses on input depth: unknown values go through one loop with an explicit stack.
//   CURSOR4  The first fault wins: later ones are not recorded, and finish() fails.
//   CURSOR5  Faults and notes are byte offsets; pointer_at() turns them into JSON Pointers afterwards, so
//            that reading keeps no path.
//
// Every function that returns bool returns false at a fault, and a caller stops at the first false. One
// thread at a time.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/kernel.h"
#include "json/slice.h"
#include "parley/base/error.h"
#include "parley/json/json.h"

namespace parley::json {

// A fault: what is wrong, and the byte it is about.
struct Fault {
  Code code = Code::Malformed;
  std::size_t at = 0;
  std::string message;
};

// Something a lenient reader let pass: a lone surrogate it replaced, a member name met twice.
struct Oddity {
  Code code = Code::DuplicateKey;
  std::uint32_t at = 0;
};

struct CursorOptions {
  Limits limits;
  bool strict = false;  // lone surrogates and duplicate keys are faults
};

class Cursor {
 public:
  // Reads `buffer`, which must outlive the cursor. A leading byte order mark is skipped; a lone
  // surrogate escape is overwritten in place by \ufffd unless options.strict.
  Cursor(Buffer& buffer, const CursorOptions& options)
      : Cursor(std::span(buffer.data(), buffer.size()), options) {}
  // The same for bytes elsewhere. REQUIRES: what BUFFER1 of Buffer says holds for them.
  Cursor(std::span<char> bytes, const CursorOptions& options);

  // Begins again with other bytes and the same options, as if new, but allocates nothing again: for many
  // small documents. `depth`: how many arrays and objects the bytes stand in, if they are part of a document.
  void restart(std::span<char> bytes, std::size_t depth = 0);

  bool ok() const { return !failed_; }
  const Fault& fault() const { return fault_; }
  const std::vector<Oddity>& oddities() const { return oddities_; }
  bool fail(Code code, const char* at, std::string message);

  const char* position() const { return p_; }
  std::uint32_t offset(const char* at) const { return static_cast<std::uint32_t>(at - base_); }
  std::uint32_t offset() const { return offset(p_); }
  std::string_view bytes(Slice slice) const { return {base_ + slice.offset, slice.length}; }

  // The first byte of the next token; NUL at the end.
  char peek() {
    while (static_cast<unsigned char>(*p_) <= ' ') {
      if (*p_ != ' ' && *p_ != '\n' && *p_ != '\r' && *p_ != '\t') break;
      ++p_;
    }
    return *p_;
  }

  // Takes a string; `out` is what stands between the quotes. REQUIRES: peek() == '"'.
  bool string(Slice& out) {
    const char* first = p_ + 1;
    const std::size_t length = short_plain_length(first);
    if (length > short_limit_) return long_string(first, out);
    out = {offset(first), static_cast<std::uint32_t>(length)};
    p_ = first + length + 1;
    return true;
  }

  // Takes any value; `out` is all of it.
  bool skip(Slice& out);

  // Takes an object and calls on_member(key) for each member with the cursor at its value, which the
  // callback must take. `key` is unescaped and valid until the callback reads on. REQUIRES: peek() == '{'.
  template <typename OnMember>
  bool object(OnMember&& on_member) {
    if (!open()) return false;
    const std::size_t first_key = keys_.size();
    std::uint64_t seen = 0;
    bool repeated = false;
    if (peek() == '}') {
      close();
      return true;
    }
    for (;;) {
      std::string_view key;
      if (!member_name(key, seen, repeated) || !on_member(key)) return false;
      const char c = peek();
      if (c == ',') {
        ++p_;
        continue;
      }
      if (c != '}') return unexpected("expected ',' or '}' after a member");
      break;
    }
    if (repeated && !find_duplicates(first_key)) return false;
    keys_.resize(first_key);
    close();
    return true;
  }

  // Takes an array and calls on_element(index) with the cursor at each element. REQUIRES: peek() == '['.
  template <typename OnElement>
  bool array(OnElement&& on_element) {
    if (!open()) return false;
    if (peek() == ']') {
      close();
      return true;
    }
    for (std::uint32_t index = 0;; ++index) {
      peek();
      if (!on_element(index)) return false;
      const char c = peek();
      if (c == ',') {
        ++p_;
        continue;
      }
      if (c != ']') return unexpected("expected ',' or ']' after an element");
      break;
    }
    close();
    return true;
  }

  // Looks ahead at the member `name` of the object at the cursor, without moving: its value whole, or
  // absent. Fast if it is the first member; else the object is read twice. REQUIRES: peek() == '{'.
  bool look_ahead(std::string_view name, Slice& value);

  // Looks ahead at the members of the object at the cursor, without moving, while wants_more(key) is
  // true; the value is what peek() shows. REQUIRES: peek() == '{'.
  template <typename WantsMore>
  bool look(WantsMore&& wants_more) {
    const Mark mark = marked();
    object([&](std::string_view key) {
      Slice ignored;
      return wants_more(key) && skip(ignored);
    });
    back_to(mark);
    return !failed_;
  }

  // True if nothing but whitespace is left; else a fault.
  bool finish();

 private:
  struct Key {
    std::uint32_t hash;
    Slice name;  // as spelled
  };

  // The length of a string without escapes that begins at `first` and ends within kShort bytes, as most
  // do; more than kShort for any other.
  static constexpr std::size_t kShort = 31;
  static std::size_t short_plain_length(const char* first) {
#if defined(__SSE2__)
    // As signed bytes, controls and bytes >= 0x80 are what is below a space.
    const auto special = [](const char* at) {
      const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
      const __m128i found = _mm_or_si128(
          _mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
          _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
      return static_cast<std::uint32_t>(_mm_movemask_epi8(found));
    };
    std::uint32_t mask = special(first);
    if (mask == 0) mask = special(first + 16) << 16;
    if (mask != 0) {
      const auto length = static_cast<std::size_t>(std::countr_zero(mask));
      if (first[length] == '"') return length;
    }
#else
    (void)first;
#endif
    return kShort + 1;
  }

  // Where looking ahead began.
  struct Mark {
    const char* p;
    std::size_t depth, keys, oddities;
  };
  Mark marked() const { return {p_, depth_, keys_.size(), oddities_.size()}; }
  void back_to(const Mark& mark);

  bool long_string(const char* first, Slice& out);
  bool odd_string(const char* first, Slice& out);
  // Takes a member name and its colon. `seen` has one bit per hash: a name whose bit is clear cannot have
  // been met before in this object.
  [[gnu::always_inline]] bool member_name(std::string_view& key, std::uint64_t& seen, bool& repeated) {
    if (peek() != '"') return unexpected("expected a member name in quotes");
    const char* first = p_ + 1;
    Slice name = {offset(first), static_cast<std::uint32_t>(short_plain_length(first))};
    if (name.length <= short_limit_) {
      p_ = first + name.length + 1;
      key = bytes(name);
    } else {
      if (!long_string(first, name)) return false;
      key = unescaped_key(name, key_);
    }
    const std::uint32_t hash = hash_key(key);
    const std::uint64_t bit = std::uint64_t{1} << (hash & 63);
    repeated |= (seen & bit) != 0;
    seen |= bit;
    keys_.push_back({hash, name});
    if (peek() != ':') return unexpected("expected ':' after a member name");
    ++p_;
    peek();
    return true;
  }
  // Keys are short: the first and last eight bytes and the length tell nearly all of them apart, and a
  // collision costs a comparison, not an answer. REQUIRES: eight readable bytes at key.data().
  static std::uint32_t hash_key(std::string_view key) {
    const auto word_at = [](const char* p) {
      std::uint64_t word;
      std::memcpy(&word, p, sizeof word);
      return word;
    };
    const std::size_t n = std::min<std::size_t>(key.size(), 8);
    const std::size_t beyond = 8 * (8 - std::max<std::size_t>(n, 1));  // bits that are not the key's
    const std::uint64_t first = word_at(key.data()) << beyond;
    const std::uint64_t last = word_at(key.data() + key.size() - n) << beyond;
    const std::uint64_t mixed = (first ^ std::rotl(last, 23) ^ key.size()) * 0x9E3779B97F4A7C15U;
    return static_cast<std::uint32_t>(mixed >> 32);
  }
  std::string_view unescaped_key(Slice name, std::string& scratch) const;
  bool find_duplicates(std::size_t first_key);
  bool scalar(Slice& out);
  bool number();
  bool literal(std::string_view word);
  bool unexpected(std::string_view expected);
  bool open() {
    if (++depth_ > depth_limit_) return too_deep();
    ++p_;
    return true;
  }
  void close() {
    --depth_;
    ++p_;
  }
  bool too_deep();

  char* base_ = nullptr;
  const char* p_ = nullptr;
  const char* end_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t byte_limit_;
  std::size_t depth_limit_;
  std::size_t string_limit_;
  std::size_t short_limit_;
  const Kernel* kernel_;
  bool strict_;
  bool failed_ = false;
  Fault fault_;
  std::vector<Oddity> oddities_;
  std::vector<Key> keys_;  // of the objects that are open, innermost last
  std::string key_;        // the last escaped key, unescaped
  struct Level {
    std::uint32_t first_key;
    bool is_object;
    bool repeated;
    std::uint64_t seen;
  };
  std::vector<Level> levels_;  // the stack of skip()
};

}  // namespace parley::json
