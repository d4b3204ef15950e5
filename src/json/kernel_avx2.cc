// The AVX2 kernel: 64-byte blocks as two registers, escapes by byte shuffles.
#include "json/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "json/byte_classes.h"
#include "json/escapes.h"
#include "json/target.h"

PARLEY_TARGET_BEGIN("avx2,bmi,bmi2,lzcnt,popcnt")
#include "json/string_scan.h"

namespace parley::json {
namespace {

__m256i splat(char c) { return _mm256_set1_epi8(c); }

__m256i table(const NibbleTable& entries) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entries.data())));
}

__m256i low_nibbles(__m256i v) { return _mm256_and_si256(v, splat(15)); }
__m256i high_nibbles(__m256i v) { return _mm256_and_si256(_mm256_srli_epi16(v, 4), splat(15)); }

// The 32 bytes that end N bytes before the end of `now`, where `before` came before it.
template <int N>
__m256i moved_back(__m256i now, __m256i before) {
  return _mm256_alignr_epi8(now, _mm256_permute2x128_si256(before, now, 0x21), 16 - N);
}

__m256i utf8_errors(__m256i now, __m256i before) {
  const __m256i first = moved_back<1>(now, before);
  const __m256i special =
      _mm256_and_si256(_mm256_and_si256(_mm256_shuffle_epi8(table(utf8_error::kFirstHigh), high_nibbles(first)),
                                        _mm256_shuffle_epi8(table(utf8_error::kFirstLow), low_nibbles(first))),
                       _mm256_shuffle_epi8(table(utf8_error::kSecondHigh), high_nibbles(now)));
  // Two continuations in a row are right exactly where a lead byte stands two or three bytes before.
  const __m256i third = _mm256_subs_epu8(moved_back<2>(now, before), splat(static_cast<char>(0xE0 - 0x80)));
  const __m256i fourth = _mm256_subs_epu8(moved_back<3>(now, before), splat(static_cast<char>(0xF0 - 0x80)));
  const __m256i must_continue = _mm256_and_si256(_mm256_or_si256(third, fourth), splat(static_cast<char>(0x80)));
  return _mm256_xor_si256(must_continue, special);
}

struct Simd {
  __m256i low, up;

  explicit Simd(const char* p)
      : low(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))),
        up(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32))) {}

  static u64 bits(__m256i a, __m256i b) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(a)) |
           static_cast<u64>(static_cast<std::uint32_t>(_mm256_movemask_epi8(b))) << 32;
  }

  u64 equal(char c) const { return bits(_mm256_cmpeq_epi8(low, splat(c)), _mm256_cmpeq_epi8(up, splat(c))); }
  u64 at_least(char c) const { return above(low, up, static_cast<char>(c - 1)); }
  u64 folded_equal(char c) const {
    return bits(_mm256_cmpeq_epi8(folded(low), splat(c)), _mm256_cmpeq_epi8(folded(up), splat(c)));
  }
  u64 folded_at_least(char c) const { return above(folded(low), folded(up), static_cast<char>(c - 1)); }
  u64 high() const { return bits(low, up); }
  u64 control() const { return bits(is_control(low), is_control(up)); }
  u64 escapable() const { return of_class(kEscapeClass); }
  u64 hex() const { return of_class(kHexClass); }

  struct Utf8 {
    __m256i before = _mm256_setzero_si256();
    Utf8() {}  // NOLINT: a defaulted constructor would not be in the target region
    u64 errors(const Simd& now) {
      const __m256i zero = _mm256_setzero_si256();
      const u64 right = bits(_mm256_cmpeq_epi8(utf8_errors(now.low, before), zero),
                             _mm256_cmpeq_epi8(utf8_errors(now.up, now.low), zero));
      before = now.up;
      return ~right;
    }
    void skip(const Simd& now) { before = now.up; }
  };

  static const char* skip_plain(const char* p) {
    for (;; p += 64) {
      const Simd block(p);
      const __m256i special = _mm256_or_si256(is_special(block.low), is_special(block.up));
      if (_mm256_testz_si256(special, special) == 0) return p;
    }
  }

 private:
  static __m256i folded(__m256i v) { return _mm256_or_si256(v, splat(0x20)); }
  static u64 above(__m256i a, __m256i b, char c) {
    return bits(_mm256_cmpgt_epi8(a, splat(c)), _mm256_cmpgt_epi8(b, splat(c)));
  }
  static __m256i is_control(__m256i v) { return _mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(0x1F)), v); }
  // Quote, backslash, control or >= 0x80: as signed bytes the last two are what is below a space.
  static __m256i is_special(__m256i v) {
    return _mm256_or_si256(_mm256_cmpgt_epi8(splat(0x20), v),
                           _mm256_or_si256(_mm256_cmpeq_epi8(v, splat('"')), _mm256_cmpeq_epi8(v, splat('\\'))));
  }
  static __m256i in_class(__m256i v, std::uint8_t mask) {
    const __m256i classes = _mm256_and_si256(_mm256_shuffle_epi8(table(kLowNibble), low_nibbles(v)),
                                             _mm256_shuffle_epi8(table(kHighNibble), high_nibbles(v)));
    const __m256i chosen = _mm256_and_si256(classes, splat(static_cast<char>(mask)));
    return _mm256_cmpeq_epi8(chosen, _mm256_setzero_si256());
  }
  u64 of_class(std::uint8_t mask) const { return ~bits(in_class(low, mask), in_class(up, mask)); }
};

// For each set of the eight bytes that need an escape: where the output bytes come from. An index of
// 0x80 makes the shuffle leave a zero, which becomes the backslash.
constexpr std::array<std::array<std::uint8_t, 16>, 256> kSpread = [] {
  std::array<std::array<std::uint8_t, 16>, 256> spread{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    std::size_t at = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((mask >> i & 1) != 0) spread[mask][at++] = 0x80;
      spread[mask][at++] = static_cast<std::uint8_t>(i);
    }
    while (at < 16) spread[mask][at++] = 0xFF;  // beyond the output: overwritten by what follows
  }
  return spread;
}();

// Replaces \b \t \n \f \r by their letters; leaves every other byte alone.
__m256i lettered(__m256i v) {
  const __m256i letters =
      _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 'b', 't', 'n', 0, 'f', 'r', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'b', 't', 'n',
                       0, 'f', 'r', 0, 0);
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(0x1F)), v);
  return _mm256_blendv_epi8(v, _mm256_shuffle_epi8(letters, v), control);
}

char* spread_eight(__m128i eight, unsigned mask, char* out) {
  const __m128i plan = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSpread[mask].data()));
  const __m128i backslashes = _mm_and_si128(_mm_cmpeq_epi8(plan, _mm_set1_epi8(static_cast<char>(0x80))),
                                            _mm_set1_epi8('\\'));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_or_si128(_mm_shuffle_epi8(eight, plan), backslashes));
  return out + 8 + std::popcount(mask);
}

char* escape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  while (end - in >= 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(0x1F)), v);
    const __m256i special = _mm256_or_si256(
        control, _mm256_or_si256(_mm256_cmpeq_epi8(v, splat('"')), _mm256_cmpeq_epi8(v, splat('\\'))));
    const auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(special));
    if (mask == 0) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), v);
      in += 32;
      out += 32;
      continue;
    }
    const __m256i mapped = lettered(v);
    // A control character without a letter of its own maps to zero; it takes six bytes.
    const __m256i nameless = _mm256_and_si256(control, _mm256_cmpeq_epi8(mapped, _mm256_setzero_si256()));
    if (_mm256_testz_si256(nameless, nameless) == 0) {
      for (int i = 0; i < 32; ++i) escape_one(in[i], out);
      in += 32;
      continue;
    }
    const __m128i first = _mm256_castsi256_si128(mapped);
    const __m128i second = _mm256_extracti128_si256(mapped, 1);
    out = spread_eight(first, mask & 255, out);
    out = spread_eight(_mm_srli_si128(first, 8), mask >> 8 & 255, out);
    out = spread_eight(second, mask >> 16 & 255, out);
    out = spread_eight(_mm_srli_si128(second, 8), mask >> 24, out);
    in += 32;
  }
  for (; in != end; ++in) escape_one(*in, out);
  return out;
}

char* unescape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  while (end - in >= 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    const auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, splat('\\'))));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), v);
    if (mask == 0) {
      in += 32;
      out += 32;
      continue;
    }
    const int plain = std::countr_zero(mask);
    in += plain;
    out += plain;
    unescape_one(in, out);
  }
  while (in != end) {
    if (*in == '\\') {
      unescape_one(in, out);
    } else {
      *out++ = *in++;
    }
  }
  return out;
}

const char* scan(const char* p) { return scan_string<Simd>(p); }

bool supported() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("popcnt");
}

}  // namespace
}  // namespace parley::json
PARLEY_TARGET_END

namespace parley::json {
const Kernel kAvx2Kernel = {"avx2", supported, scan, escape, unescape};
}  // namespace parley::json

#endif
