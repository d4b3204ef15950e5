// The two split patterns, by hand: a regular expression engine would be most of the cost of counting.
//
//   Cl100k  '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]*
//           | \s+$ | \s*[\r\n] | \s+(?!\S) | \s
//   O200k   P?A*B+C? | P?A+B*C? | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//           with P = [^\r\n\p{L}\p{N}], A = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], B = [\p{Ll}\p{Lm}\p{Lo}\p{M}],
//           C = (?i:'s|'t|'re|'ve|'m|'ll|'d)
//
// The first alternative that matches counts, as far as it goes. Where the patterns backtrack, the comments
// say what that comes to. Letters of either case are Unicode's: the long s, U+017F, is an s.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "parley/token/encoding.h"
#include "token/unicode_class.h"

namespace parley::token {

template <SplitPattern kPattern>
class Splitter {
 public:
  Splitter(const char* end, const ClassTable& classes) : end_(end), classes_(classes) {}

  // The end of the piece that starts at `p`. REQUIRES: p < end.
  const char* next(const char* p) const {
    if (const char* word = ascii_word(p); word != nullptr) return with_contraction(word);
    return any(p);
  }

 private:
  static constexpr bool kIsO200k = kPattern == SplitPattern::O200k;
  static constexpr CharClass kSymbols = kSymbol | kMark;              // [^\s\p{L}\p{N}]
  static constexpr CharClass kStart = kUpper | kOtherLetter | kMark;  // A
  static constexpr CharClass kRest = kLower | kOtherLetter | kMark;   // B
  static constexpr CharClass kBoth = kOtherLetter | kMark;            // A and B

  Char at(const char* p) const { return char_at(classes_, p, end_); }
  CharClass kind_at(const char* p) const { return p < end_ ? at(p).kind : CharClass{0}; }

  // The end of [^\r\n\p{L}\p{N}]?[A-Za-z]+ at `p`, or of its O200k form, if all that decides is ASCII and
  // within reach. Null means to look closer.
  const char* ascii_word([[maybe_unused]] const char* p) const {
#if defined(__SSE2__)
    if (end_ - p < 17 || static_cast<signed char>(*p) < 0) return nullptr;
    if (!kIsO200k && *p == '\'') return nullptr;  // this may be a contraction
    const CharClass first = classes_[static_cast<unsigned char>(*p)];
    const char* const word = p + ((first & (kSpace | kSymbol)) != 0 ? 1 : 0);
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(word));
    const auto letters_from = [](__m128i text, char a) {  // which of the 16 bytes are in a .. a + 25
      const __m128i shifted = _mm_add_epi8(text, _mm_set1_epi8(static_cast<char>(-128 - a)));
      return static_cast<unsigned>(
          _mm_movemask_epi8(_mm_cmplt_epi8(shifted, _mm_set1_epi8(static_cast<char>(-128 + 26)))));
    };
    int length;
    if constexpr (kIsO200k) {
      const unsigned upper = letters_from(bytes, 'A');
      const unsigned lower = letters_from(bytes, 'a');
      const int capitals = std::countr_one(upper);
      length = capitals + std::countr_one(lower >> capitals);
    } else {
      length = std::countr_one(letters_from(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a'));
    }
    if (length == 0 || length == 16 || static_cast<signed char>(word[length]) < 0) return nullptr;
    return word + length;
#else
    return nullptr;
#endif
  }

  const char* any(const char* p) const {
    if constexpr (!kIsO200k) {
      if (*p == '\'') {
        if (const std::size_t size = contraction(p); size > 0) return p + size;
      }
    }
    const Char first = at(p);
    const char* const second = p + first.size;
    if ((first.kind & kLetter) != 0) return with_contraction(word_at(p).end);
    if ((first.kind & kNumber) != 0) return numbers(second);
    if ((first.kind & kNewline) == 0) {
      const Word word = word_at(second);
      if (kIsO200k && first.kind == kMark && !word.has_rest) {
        // A mark is in B, too, and A*B+ without P goes before P?A+B*: it stands alone before capitals.
        return with_contraction(second);
      }
      if (word.end != nullptr) return with_contraction(word.end);
      if ((first.kind & kSymbols) != 0 || (*p == ' ' && (kind_at(second) & kSymbols) != 0)) {
        return symbols(second);
      }
    }
    return spaces(p);
  }

  struct Word {
    const char* end = nullptr;  // null: there is no word
    bool has_rest = false;      // B+ matched
  };

  Word word_at(const char* p) const {
    if constexpr (kIsO200k) return cased_word_at(p);
    const char* i = p;
    while (i < end_) {
      const Char c = letter_at(i);
      if ((c.kind & kLetter) == 0) break;
      i += c.size;
    }
    return i > p ? Word{i, true} : Word{};
  }

  // A*B+ or else A+B*. A* takes all it can. If B+ finds nothing after it, A* gives back up to its last
  // character that is in B too, and B+ takes that one; only without such a character does the second form
  // match, and then its B* is empty.
  Word cased_word_at(const char* p) const {
    const char* i = p;
    const char* last_both = nullptr;
    Char c{0, 0};
    for (; i < end_; i += c.size) {
      c = letter_at(i);
      if ((c.kind & kStart) == 0) break;
      if ((c.kind & kBoth) != 0) last_both = i + c.size;
    }
    if (i < end_ && c.kind == kLower) {
      do {
        i += c.size;
        if (i == end_) break;
        c = letter_at(i);
      } while ((c.kind & kRest) != 0);
      return {i, true};
    }
    if (last_both != nullptr) return {last_both, true};
    return i > p ? Word{i, false} : Word{};
  }

  // at(), but quick for most of Chinese: all of U+5000 .. U+8FFF are letters without case.
  Char letter_at(const char* p) const {
    const auto b0 = static_cast<unsigned char>(*p);
    if (b0 < 0x80) return {classes_[b0], 1};
    if (b0 >= 0xE5 && b0 <= 0xE8 && end_ - p >= 3 && is_continuation(p[1]) && is_continuation(p[2])) {
      return {kOtherLetter, 3};
    }
    return at(p);
  }

  static bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

  // The rest of \p{N}{1,3}, after the first.
  const char* numbers(const char* p) const {
    for (int i = 0; i < 2 && p < end_; ++i) {
      const Char c = at(p);
      if (c.kind != kNumber) break;
      p += c.size;
    }
    return p;
  }

  // The rest of [^\s\p{L}\p{N}]+[\r\n]*, where O200k has [\r\n/]*.
  const char* symbols(const char* p) const {
    while (p < end_) {
      const Char c = at(p);
      if ((c.kind & kSymbols) == 0) break;
      p += c.size;
    }
    while (p < end_ && (*p == '\r' || *p == '\n' || (kIsO200k && *p == '/'))) ++p;
    return p;
  }

  // White space up to its last line end; or all of it at the end of the text (which Cl100k asks first); or
  // all but its last character, which may belong to a word; or that one.
  const char* spaces(const char* p) const {
    const char* i = p;
    const char* last = p;
    const char* after_newline = nullptr;
    while (i < end_) {
      const Char c = at(i);
      if ((c.kind & kAnySpace) == 0) break;
      last = i;
      i += c.size;
      if (c.kind == kNewline) after_newline = i;
    }
    if (!kIsO200k && i == end_) return i;
    if (after_newline != nullptr) return after_newline;
    return i == end_ || last == p ? i : last;
  }

  const char* with_contraction(const char* p) const {
    if constexpr (kIsO200k) {
      if (p < end_ && *p == '\'') return p + contraction(p);
    }
    return p;
  }

  // The size of the contraction at `p`, an apostrophe; 0 without one.
  std::size_t contraction(const char* p) const {
    const auto lower = [&](std::ptrdiff_t i) { return i < end_ - p ? static_cast<char>(p[i] | 0x20) : '\0'; };
    switch (lower(1)) {
      case 's':
      case 'd':
      case 'm':
      case 't':
        return 2;
      case 'l':
        return lower(2) == 'l' ? 3 : 0;
      case 'v':
      case 'r':
        return lower(2) == 'e' ? 3 : 0;
      default:
        return end_ - p >= 3 && std::memcmp(p + 1, "\xC5\xBF", 2) == 0 ? 3 : 0;  // U+017F
    }
  }

  const char* end_;
  const ClassTable& classes_;
};

}  // namespace parley::token
