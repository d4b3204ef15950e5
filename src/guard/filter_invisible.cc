// Invisible characters: Unicode's Default_Ignorable_Code_Point and the interlinear annotation marks.
// A model reads them, so they can carry orders that no reviewer finds; but writing needs some of them.
//
// The text is a row of visible characters with runs of invisible ones between them. What is kept of a run
// depends on the visible characters on either side and on what was kept of the run before, never on what was
// removed: so a second pass finds the same neighbours and keeps the same (FILTER2).
//
//   selector      one, directly after a character that has such a form (emoji, keycap, symbol, ideograph)
//   tags          directly after U+1F3F4, a region and a subdivision, and the end tag: a flag
//   ZWJ           between emoji; or as ZWNJ
//   ZWNJ          beside a character of a script that joins letters (Arabic, Indic and others)
//   ZWSP          beside a character of a script that writes words without spaces (Thai, Lao, Khmer, Myanmar)
//   marks         U+200E, U+200F, U+061C beside a character of a right-to-left script
//   the rest      what has its place in one script, there; everything else nowhere
#include <utf8proc.h>

#include "base/prefilter.h"
#include "guard/edits.h"
#include "guard/filter_rows.h"

namespace parley::guard {
namespace {

enum class Kind : std::uint8_t {
  Visible,
  Selector,
  Tag,
  Joiner,
  NonJoiner,
  ZeroWidth,  // ZWSP
  Mark,       // of direction
  Bidi,       // embeddings, overrides, isolates
  Filler,     // Hangul
  Script,     // of one script
  Other,
};

std::string_view what(Kind kind) {
  switch (kind) {
    case Kind::Selector:
      return "variation selector";
    case Kind::Tag:
      return "tag character";
    case Kind::Joiner:
    case Kind::NonJoiner:
      return "joiner";
    case Kind::Mark:
    case Kind::Bidi:
      return "bidi control";
    case Kind::Filler:
      return "filler";
    default:
      return "zero-width character";
  }
}

Kind kind_of(char32_t c) {
  const auto in = [c](char32_t low, char32_t high) { return c >= low && c <= high; };
  if (c < 0x2000) {
    if (in(0x180B, 0x180D) || c == 0x180F) return Kind::Selector;
    if (c == 0x61C) return Kind::Mark;
    if (in(0x115F, 0x1160)) return Kind::Filler;
    if (c == 0x34F || c == 0x180E) return Kind::Script;
    return c == 0xAD || in(0x17B4, 0x17B5) ? Kind::Other : Kind::Visible;
  }
  if (c < 0x3000) {
    if (c == 0x200B) return Kind::ZeroWidth;
    if (c == 0x200C) return Kind::NonJoiner;
    if (c == 0x200D) return Kind::Joiner;
    if (in(0x200E, 0x200F)) return Kind::Mark;
    if (in(0x202A, 0x202E) || in(0x2066, 0x2069)) return Kind::Bidi;
    return in(0x2060, 0x206F) ? Kind::Other : Kind::Visible;
  }
  if (in(0xFE00, 0xFE0F) || in(0xE0100, 0xE01EF)) return Kind::Selector;
  if (in(0xE0000, 0xE007F)) return Kind::Tag;
  if (c == 0x3164 || c == 0xFFA0) return Kind::Filler;
  if (in(0x1BCA0, 0x1BCA3) || in(0x1D173, 0x1D17A)) return Kind::Script;
  if (c == 0xFEFF || in(0xFFF0, 0xFFFB) || in(0xE0080, 0xE0FFF)) return Kind::Other;
  return Kind::Visible;
}

struct Range {
  char32_t first, last;
};
template <std::size_t N>
bool is_in(char32_t c, const Range (&ranges)[N]) {
  for (const Range& range : ranges) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

// Blocks whose letters change their form beside a joiner.
constexpr Range kJoining[] = {
    {0x0600, 0x07FF},    // Arabic, Syriac, Thaana, NKo
    {0x0840, 0x0DFF},    // Mandaic, Arabic, the Indic scripts from Devanagari to Sinhala
    {0x0F00, 0x109F},    // Tibetan, Myanmar
    {0x1700, 0x18AF},    // Philippine scripts, Khmer, Mongolian
    {0x1900, 0x1C4F},    // Limbu to Lepcha
    {0xA800, 0xA82F},    // Syloti Nagri
    {0xA840, 0xA8FF},    // Phags-pa, Saurashtra, Devanagari
    {0xA980, 0xA9FF},    // Javanese, Myanmar
    {0xAA60, 0xAA7F},    // Myanmar
    {0xAAE0, 0xAAFF},    // Meetei Mayek
    {0xABC0, 0xABFF},    // Meetei Mayek
    {0xFB50, 0xFDFF},    // Arabic forms
    {0xFE70, 0xFEFC},    // Arabic forms
    {0x10A00, 0x10A5F},  // Kharoshthi
    {0x10AC0, 0x10AFF},  // Manichaean
    {0x10B80, 0x10BAF},  // Psalter Pahlavi
    {0x10D00, 0x10D3F},  // Hanifi Rohingya
    {0x10F30, 0x10FDF},  // Sogdian, Chorasmian
    {0x11000, 0x11FFF},  // Brahmi to Tamil
    {0x1E900, 0x1E95F},  // Adlam
};
constexpr Range kWithoutSpaces[] = {{0x0E00, 0x0EFF},   // Thai, Lao
                                    {0x0F00, 0x109F},   // Tibetan, Myanmar
                                    {0x1780, 0x17FF},   // Khmer
                                    {0x1950, 0x19FF},   // Tai Le, New Tai Lue, Khmer symbols
                                    {0x1A20, 0x1AAF},   // Tai Tham
                                    {0x1B00, 0x1B7F},   // Balinese
                                    {0xA980, 0xA9FF},   // Javanese, Myanmar
                                    {0xAA60, 0xAADF}};  // Myanmar, Tai Viet
constexpr Range kRightToLeft[] = {
    {0x0590, 0x08FF}, {0xFB1D, 0xFDFF}, {0xFE70, 0xFEFC}, {0x10800, 0x10FFF}, {0x1E800, 0x1EFFF}};
constexpr Range kHan[] = {{0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFD}};
constexpr Range kJamo[] = {{0x1100, 0x11FF}, {0xA960, 0xA97F}, {0xD7B0, 0xD7FF}};
constexpr Range kMongolian[] = {{0x1800, 0x18AF}, {0x11660, 0x1167F}};
constexpr Range kModifiers[] = {{0x1F3FB, 0x1F3FF}};

bool is_emoji(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->boundclass ==
         UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}
bool is_combining(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_MN;
}

// The character whose first byte is at `at`. REQUIRES: valid UTF-8.
struct Point {
  char32_t value = 0;
  std::size_t size = 0;
};
Point point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> char32_t { return static_cast<unsigned char>(text[at + i]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}
// Where the character before `at` begins. REQUIRES: at > 0.
std::size_t before(std::string_view text, std::size_t at) {
  do --at;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

// How invisible characters begin: their first three bytes, or two of two.
constexpr Triple kBeginnings[] = {
    {"\xC2", "\xAD"},                                                                      // U+00AD
    {"\xCD", "\x8F"},                                                                      // U+034F
    {"\xD8", "\x9C"},                                                                      // U+061C
    {"\xE1", "\x85", "\x9F\xA0"},                                                          // U+115F, U+1160
    {"\xE1", "\x9E", "\xB4\xB5"},                                                          // U+17B4, U+17B5
    {"\xE1", "\xA0", "\x8B\x8C\x8D\x8E\x8F"},                                              // U+180B to U+180F
    {"\xE2", "\x80", "\x8B\x8C\x8D\x8E\x8F"},                                              // U+200B to U+200F
    {"\xE2", "\x80", "\xAA\xAB\xAC\xAD\xAE"},                                              // U+202A to U+202E
    {"\xE2", "\x81", "\xA0\xA1\xA2\xA3\xA4\xA5\xA6\xA7\xA8\xA9\xAA\xAB\xAC\xAD\xAE\xAF"},  // U+206x
    {"\xE3", "\x85", "\xA4"},                                                              // U+3164
    {"\xEF", "\xB8", "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8A\x8B\x8C\x8D\x8E\x8F"},  // U+FE0x
    {"\xEF", "\xBB", "\xBF"},                                                              // U+FEFF
    {"\xEF", "\xBE", "\xA0"},                                                              // U+FFA0
    {"\xEF", "\xBF", "\xB0\xB1\xB2\xB3\xB4\xB5\xB6\xB7\xB8\xB9\xBA\xBB"},                  // U+FFF0 to U+FFFB
    {"\xF0", "\x9B", "\xB2"},                                                              // U+1BCAx
    {"\xF0", "\x9D", "\x85"},                                                              // U+1D17x
    {"\xF3", "\xA0"},                                                                      // U+E0xxx
};

// The first invisible character from `at` on, or the end.
std::size_t next_invisible(std::string_view text, std::size_t at, std::uint64_t& steps) {
  static const Prefilter prefilter(kBeginnings);
  const std::size_t begin = at;
  for (; at < text.size(); ++at) {
    at = prefilter.next(text, at);
    if (at == text.size() || kind_of(point_at(text, at).value) != Kind::Visible) break;
  }
  steps += at - begin;
  return at;
}

class Runs {
 public:
  Runs(std::string_view text, Edits& edits, std::uint64_t& steps)
      : text_(text), edits_(edits), steps_(steps) {}

  void filter() {
    for (std::size_t at = next_invisible(text_, 0, steps_); at < text_.size();) {
      at = next_invisible(text_, run(at), steps_);
    }
  }

 private:
  // Filters the run that begins at `begin`; returns its end.
  std::size_t run(std::size_t begin) {
    std::size_t end = begin;
    after_ = 0;
    while (end < text_.size()) {
      ++steps_;
      const Point point = point_at(text_, end);
      if (kind_of(point.value) == Kind::Visible) {
        after_ = point.value;
        break;
      }
      end += point.size;
    }
    look_before(begin);
    kept_ = Kind::Visible;
    for (std::size_t at = begin; at < end;) {
      const std::size_t flag = kept_ == Kind::Visible && at == begin ? flag_end(at, end) : at;
      if (flag > at) {
        kept_ = Kind::Tag;
        at = flag;
        continue;
      }
      ++steps_;
      const Point point = point_at(text_, at);
      const Kind kind = kind_of(point.value);
      if (stays(point.value, kind)) {
        kept_ = kind;
      } else {
        edits_.remove(at, at + point.size, what(kind));
      }
      at += point.size;
    }
    return end;
  }

  void look_before(std::size_t begin) {
    before_ = 0;
    is_emoji_before_ = false;
    if (begin == 0) return;
    const std::size_t last = before(text_, begin);
    before_ = point_at(text_, last).value;
    is_emoji_before_ = is_emoji(before_);
    if (is_in(before_, kModifiers) && last > 0) {
      is_emoji_before_ = is_emoji(point_at(text_, before(text_, last)).value);
    }
  }

  bool stays(char32_t c, Kind kind) const {
    const bool is_first = kept_ == Kind::Visible;
    const auto beside = [&](const auto& ranges) { return is_in(before_, ranges) || is_in(after_, ranges); };
    switch (kind) {
      case Kind::Selector:
        return is_first && has_form(before_, c);
      case Kind::Joiner:
        if (!is_first && kept_ != Kind::Selector && kept_ != Kind::Tag) return false;
        return (is_emoji_before_ && is_emoji(after_)) || beside(kJoining);
      case Kind::NonJoiner:
        return (is_first || kept_ == Kind::Selector) && beside(kJoining);
      case Kind::ZeroWidth:
        return is_first && beside(kWithoutSpaces);
      case Kind::Mark:
        return is_first && beside(kRightToLeft);
      case Kind::Filler:
        return is_first && c < 0x2000 && beside(kJamo);
      case Kind::Script:
        return is_first && has_place(c);
      default:
        return false;
    }
  }

  // True if the character may be followed by this variation selector.
  static bool has_form(char32_t base, char32_t selector) {
    if (selector < 0x2000) return is_in(base, kMongolian);
    if (selector >= 0xE0100) return is_in(base, kHan);
    if (selector >= 0xFE0E) {
      return is_emoji(base) || (base >= '0' && base <= '9') || base == '#' || base == '*';
    }
    // Standardized variants: ideographs, mathematical operators, Myanmar, Phags-pa, hieroglyphs and others.
    return base > 0xFF && !is_emoji(base);
  }

  bool has_place(char32_t c) const {
    const auto beside = [&](char32_t low, char32_t high) {
      return (before_ >= low && before_ <= high) || (after_ >= low && after_ <= high);
    };
    if (c == 0x34F) return before_ > 0x7F && (is_combining(before_) || is_combining(after_));
    if (c == 0x180E) return is_in(before_, kMongolian) || is_in(after_, kMongolian);
    return c < 0x1C000 ? beside(0x1BC00, 0x1BC9F) : beside(0x1D100, 0x1D1FF);
  }

  // The end of the tags of a flag that begin at `at`, or `at`: two letters or three digits for the region,
  // one to four letters or digits for the subdivision, the end tag.
  std::size_t flag_end(std::size_t at, std::size_t end) const {
    constexpr char32_t kBlackFlag = 0x1F3F4;
    constexpr char32_t kEndTag = 0xE007F;
    if (before_ != kBlackFlag) return at;
    std::size_t letters = 0;
    std::size_t digits = 0;
    const std::size_t longest = 7;
    std::size_t i = at;
    for (std::size_t count = 0; i < end && count <= longest; ++count) {
      const Point point = point_at(text_, i);
      const char32_t c = point.value;
      i += point.size;
      const bool is_letter = c >= 0xE0061 && c <= 0xE007A;
      const bool is_digit = c >= 0xE0030 && c <= 0xE0039;
      if (c == kEndTag) {
        const std::size_t region = letters >= 2 ? 2 : 3;
        const bool has_region = letters >= 2 || digits >= 3;
        return has_region && count > region && count <= region + 4 ? i : at;
      }
      if (!is_letter && !is_digit) return at;
      // Only what begins the sequence counts: two letters, or three digits.
      if (is_letter && count == letters) ++letters;
      if (is_digit && count == digits) ++digits;
    }
    return at;
  }

  std::string_view text_;
  Edits& edits_;
  std::uint64_t& steps_;
  // Of the run at hand:
  char32_t before_ = 0, after_ = 0;  // the visible characters on either side; 0: none
  bool is_emoji_before_ = false;
  Kind kept_ = Kind::Visible;  // what was kept last; Visible: nothing yet
};

}  // namespace

void invisible(std::string_view text, Edits& edits, std::uint64_t& steps) {
  Runs(text, edits, steps).filter();
}

}  // namespace parley::guard
