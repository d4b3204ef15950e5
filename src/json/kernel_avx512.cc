// The AVX-512 kernel (BW, VBMI, VBMI2): 64-byte blocks as one register, escapes by expand and compress.
#include "json/kernel.h"

#if defined(__x86_64__)

// GCC 12's own AVX-512 header trips these warnings through its "undefined" values.
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <bit>
#include <cstdint>

#include "json/byte_classes.h"
#include "json/escapes.h"
#include "json/target.h"

PARLEY_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,lzcnt,popcnt")
#include "json/string_scan.h"

namespace parley::json {
namespace {

__m512i splat(char c) { return _mm512_set1_epi8(c); }

__m512i table(const NibbleTable& entries) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entries.data())));
}

__m512i low_nibbles(__m512i v) { return _mm512_and_si512(v, splat(15)); }
__m512i high_nibbles(__m512i v) { return _mm512_and_si512(_mm512_srli_epi16(v, 4), splat(15)); }

// The 64 bytes that end N bytes before the end of `now`, where `before` came before it.
template <int N>
__m512i moved_back(__m512i now, __m512i before) {
  return _mm512_alignr_epi8(now, _mm512_alignr_epi32(now, before, 12), 16 - N);
}

struct Simd {
  __m512i bytes;

  explicit Simd(const char* p) : bytes(_mm512_loadu_si512(p)) {}

  u64 equal(char c) const { return _mm512_cmpeq_epi8_mask(bytes, splat(c)); }
  u64 at_least(char c) const { return _mm512_cmpge_epi8_mask(bytes, splat(c)); }
  u64 folded_equal(char c) const { return _mm512_cmpeq_epi8_mask(folded(), splat(c)); }
  u64 folded_at_least(char c) const { return _mm512_cmpge_epi8_mask(folded(), splat(c)); }
  u64 high() const { return _mm512_movepi8_mask(bytes); }
  u64 control() const { return _mm512_cmplt_epu8_mask(bytes, splat(0x20)); }
  u64 escapable() const { return of_class(kEscapeClass); }
  u64 hex() const { return of_class(kHexClass); }

  struct Utf8 {
    __m512i before = _mm512_setzero_si512();
    Utf8() {}  // NOLINT: a defaulted constructor would not be in the target region
    u64 errors(const Simd& block) {
      const __m512i now = block.bytes;
      const __m512i first = moved_back<1>(now, before);
      const __m512i special = _mm512_and_si512(
          _mm512_and_si512(_mm512_shuffle_epi8(table(utf8_error::kFirstHigh), high_nibbles(first)),
                           _mm512_shuffle_epi8(table(utf8_error::kFirstLow), low_nibbles(first))),
          _mm512_shuffle_epi8(table(utf8_error::kSecondHigh), high_nibbles(now)));
      // Two continuations in a row are right exactly where a lead byte stands two or three bytes before.
      const __m512i third = _mm512_subs_epu8(moved_back<2>(now, before), splat(static_cast<char>(0xE0 - 0x80)));
      const __m512i fourth = _mm512_subs_epu8(moved_back<3>(now, before), splat(static_cast<char>(0xF0 - 0x80)));
      const __m512i must_continue =
          _mm512_and_si512(_mm512_or_si512(third, fourth), splat(static_cast<char>(0x80)));
      before = now;
      return _mm512_cmpneq_epi8_mask(must_continue, special);
    }
    void skip(const Simd& now) { before = now.bytes; }
  };

  static const char* skip_plain(const char* p) {
    for (;; p += 64) {
      const Simd block(p);
      // As signed bytes, controls and bytes >= 0x80 are what is below a space.
      const u64 special = _mm512_cmplt_epi8_mask(block.bytes, splat(0x20)) | block.equal('"') | block.equal('\\');
      if (special != 0) return p;
    }
  }

 private:
  __m512i folded() const { return _mm512_or_si512(bytes, splat(0x20)); }
  u64 of_class(std::uint8_t mask) const {
    const __m512i classes = _mm512_and_si512(_mm512_shuffle_epi8(table(kLowNibble), low_nibbles(bytes)),
                                             _mm512_shuffle_epi8(table(kHighNibble), high_nibbles(bytes)));
    return _mm512_test_epi8_mask(classes, splat(static_cast<char>(mask)));
  }
};

// 32 bytes in, up to 64 out: each byte that needs an escape takes two places, the first a backslash.
char* escape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  const __m256i letters = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 'b', 't', 'n', 0, 'f', 'r', 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                           0, 'b', 't', 'n', 0, 'f', 'r', 0, 0);
  while (end - in >= 32) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    const __mmask32 control = _mm256_cmplt_epu8_mask(v, _mm256_set1_epi8(0x20));
    const __mmask32 special = control | _mm256_cmpeq_epi8_mask(v, _mm256_set1_epi8('"')) |
                              _mm256_cmpeq_epi8_mask(v, _mm256_set1_epi8('\\'));
    const __m256i mapped = _mm256_mask_shuffle_epi8(v, control, letters, v);
    // A control character without a letter of its own maps to zero; it takes six bytes.
    if ((control & _mm256_testn_epi8_mask(mapped, mapped)) != 0) {
      for (int i = 0; i < 32; ++i) escape_one(in[i], out);
      in += 32;
      continue;
    }
    // Two output places per input byte, the first of them only where an escape is due. Of the places kept
    // in order, the ones that hold the byte itself receive the input; the others stay backslashes.
    constexpr u64 kOdd = 0xAAAAAAAAAAAAAAAAU;
    const u64 kept = kOdd | _pdep_u64(special, kOdd >> 1);
    const u64 holds_byte = _pext_u64(kOdd, kept);
    const __m512i spread =
        _mm512_mask_expand_epi8(splat('\\'), holds_byte, _mm512_castsi256_si512(mapped));
    _mm512_storeu_si512(out, spread);
    in += 32;
    out += 32 + std::popcount(special);
  }
  for (; in != end; ++in) escape_one(*in, out);
  return out;
}

// 64 bytes in, up to 64 out: the backslashes are squeezed out, the letters behind them mapped. An escape
// by number, or a backslash at the very end of the block, stops the block before it.
char* unescape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  const __m512i spelled_low = table({0, 0, 0, 0, '\t', 0, '\f', 0, 0, 0, 0, 0, 0, 0, '\n', 0});
  while (end - in >= 64) {
    const Simd block(in);
    const u64 backslash = block.equal('\\');
    u64 carry = 0;
    const u64 escaped = escaped_bytes(backslash, carry);
    const u64 starts = backslash & ~escaped;
    // b 62, f 66, n 6E, r 72, t 74: by low nibble, with b and r (both 2) told apart by compares.
    const u64 letters = escaped & block.at_least('a');
    __m512i mapped = _mm512_mask_shuffle_epi8(block.bytes, letters, spelled_low, low_nibbles(block.bytes));
    mapped = _mm512_mask_mov_epi8(mapped, letters & block.equal('b'), splat('\b'));
    mapped = _mm512_mask_mov_epi8(mapped, letters & block.equal('r'), splat('\r'));
    const u64 stops = (escaped & block.equal('u')) >> 1 | (carry != 0 ? u64{1} << 63 : 0);
    const u64 taken = ~stops & (stops - 1);
    const u64 kept = ~starts & taken;
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, mapped));
    out += std::popcount(kept);
    in += std::popcount(taken);
    // Escapes by number come in runs (text spelled in ASCII), so the ones that follow at once go here.
    while (end - in >= 64 && in[0] == '\\' && in[1] == 'u') unescape_one(in, out);
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
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi2");
}

}  // namespace
}  // namespace parley::json
PARLEY_TARGET_END

namespace parley::json {
const Kernel kAvx512Kernel = {"avx512", supported, scan, escape, unescape};
}  // namespace parley::json

#endif
