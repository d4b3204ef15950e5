// The AVX-512 kernel (BW, VBMI, VBMI2): 64-byte blocks as one register, escapes by expand and compress. Where
// it looks like kernel_avx2.cc, the intrinsics differ, and each kernel is compiled for its own processors.
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

#include "base/target.h"
#include "json/byte_classes.h"
#include "json/escapes.h"

PARLEY_TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi,bmi2,lzcnt,popcnt")
#include "json/string_scan.h"

namespace parley::json {
namespace {

__m512i splat(char c) { return _mm512_load_si512(kSplats[as_byte(c)].bytes.data()); }

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
  explicit Simd(__m512i block) : bytes(block) {}

  u64 equal(char c) const { return _mm512_cmpeq_epi8_mask(bytes, splat(c)); }
  u64 at_least(char c) const { return _mm512_cmpge_epi8_mask(bytes, splat(c)); }
  u64 folded_equal(char c) const { return _mm512_cmpeq_epi8_mask(folded(), splat(c)); }
  u64 folded_at_least(char c) const { return _mm512_cmpge_epi8_mask(folded(), splat(c)); }
  u64 high() const { return _mm512_movepi8_mask(bytes); }
  u64 ends() const { return _mm512_cmplt_epu8_mask(bytes, splat(0x20)) | equal('"'); }
  u64 common_escapes() const {
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(table(kCommonEscapes), bytes));
  }
  u64 hex() const {
    return _mm512_test_epi8_mask(_mm512_shuffle_epi8(table(kHexLow), low_nibbles(bytes)),
                                 _mm512_shuffle_epi8(table(kHexHigh), high_nibbles(bytes)));
  }
  u64 utf8_errors(const char* before) const {
    const __m512i front = before != nullptr ? _mm512_loadu_si512(before) : _mm512_setzero_si512();
    const __m512i first = moved_back<1>(bytes, front);
    const __m512i special = _mm512_and_si512(
        _mm512_and_si512(_mm512_shuffle_epi8(table(utf8_error::kFirstHigh), high_nibbles(first)),
                         _mm512_shuffle_epi8(table(utf8_error::kFirstLow), low_nibbles(first))),
        _mm512_shuffle_epi8(table(utf8_error::kSecondHigh), high_nibbles(bytes)));
    // Two continuations in a row are right exactly where a lead byte stands two or three bytes before.
    const __m512i third =
        _mm512_subs_epu8(moved_back<2>(bytes, front), splat(static_cast<char>(0xE0 - 0x80)));
    const __m512i fourth =
        _mm512_subs_epu8(moved_back<3>(bytes, front), splat(static_cast<char>(0xF0 - 0x80)));
    const __m512i must_continue =
        _mm512_and_si512(_mm512_or_si512(third, fourth), splat(static_cast<char>(0x80)));
    return _mm512_cmpneq_epi8_mask(must_continue, special);
  }

  static const char* skip_plain(const char* p) {
    for (;; p += 64) {
      const Simd block(p);
      // As signed bytes, controls and bytes >= 0x80 are what is below a space.
      const u64 special =
          _mm512_cmplt_epi8_mask(block.bytes, splat(0x20)) | block.equal('"') | block.equal('\\');
      if (special != 0) return p;
    }
  }

 private:
  __m512i folded() const { return _mm512_or_si512(bytes, splat(0x20)); }
};

// 32 bytes in, of which `size` count, up to 64 out: each byte that needs an escape takes two places, the
// first a backslash. A control character without a letter of its own ends the block. Gives how many bytes
// were taken.
[[gnu::always_inline]] inline unsigned escape_block(__m256i v, unsigned size, char*& out) {
  const __m256i letters = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 'b', 't', 'n', 0, 'f', 'r', 0, 0, 0, 0, 0,
                                           0, 0, 0, 0, 0, 'b', 't', 'n', 0, 'f', 'r', 0, 0);
  const __mmask32 control = _bzhi_u32(_mm256_cmplt_epu8_mask(v, _mm256_set1_epi8(0x20)), size);
  const __mmask32 special = control | _mm256_cmpeq_epi8_mask(v, _mm256_set1_epi8('"')) |
                            _mm256_cmpeq_epi8_mask(v, _mm256_set1_epi8('\\'));
  // Adding 0x70 sets the top bit of all but 0x00 to 0x0F, so that 0x18 does not find the letter of 0x08.
  const __m256i index = _mm256_adds_epu8(v, _mm256_set1_epi8(0x70));
  const __m256i mapped = _mm256_mask_shuffle_epi8(v, control, letters, index);
  // Two output places per input byte, the first of them only where an escape is due. Of the places kept
  // in order, the ones that hold the byte itself receive the input; the others stay backslashes.
  constexpr u64 kOdd = 0xAAAAAAAAAAAAAAAAU;
  const u64 kept = kOdd | _pdep_u64(special, kOdd >> 1);
  const u64 holds_byte = _pext_u64(kOdd, kept);
  _mm512_storeu_si512(out, _mm512_mask_expand_epi8(splat('\\'), holds_byte, _mm512_castsi256_si512(mapped)));
  const std::uint32_t nameless = control & _mm256_testn_epi8_mask(mapped, mapped);
  if (nameless == 0) {
    out += size + static_cast<unsigned>(std::popcount(special));
    return size;
  }
  const auto taken = static_cast<unsigned>(std::countr_zero(nameless));
  const __m128i at =
      _mm256_castsi256_si128(_mm256_permutexvar_epi8(_mm256_set1_epi8(static_cast<char>(taken)), v));
  out += taken + static_cast<unsigned>(std::popcount(_bzhi_u32(special, taken)));
  escape_one(static_cast<char>(_mm_extract_epi8(at, 0)), out);
  return taken + 1;
}

char* escape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  while (end - in >= 32)
    in += escape_block(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(in)), 32, out);
  while (in != end) {
    const auto left = static_cast<unsigned>(end - in);
    in += escape_block(_mm256_maskz_loadu_epi8(_bzhi_u32(~0U, left), in), left, out);
  }
  return out;
}

// 64 bytes in, of which `size` count, up to 64 out: the backslashes are squeezed out, the letters after them
// mapped. An escape by number, or a backslash at the very end, stops the block before it. Gives how many
// bytes were taken.
[[gnu::always_inline]] inline unsigned unescape_block(const Simd& block, unsigned size, char*& out) {
  // The two nibbles of a letter, one upon the other, tell b f n r t apart.
  const __m512i spelled = table({'\f', 0, 0, '\t', '\b', '\r', 0, 0, '\n', 0, 0, 0, 0, 0, 0, 0});
  const u64 backslash = block.equal('\\');
  u64 carry = 0;
  const u64 escaped = escaped_bytes(backslash, carry);
  const u64 letters = escaped & block.at_least('a');
  const __m512i index = low_nibbles(_mm512_xor_si512(block.bytes, _mm512_srli_epi16(block.bytes, 4)));
  const __m512i mapped = _mm512_mask_shuffle_epi8(block.bytes, letters, spelled, index);
  const u64 stops = (escaped & block.equal('u')) >> 1 | carry << 63;
  const unsigned taken = stops == 0 ? size : static_cast<unsigned>(std::countr_zero(stops));
  const u64 kept = _bzhi_u64(~(backslash & ~escaped), taken);
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, mapped));
  out += std::popcount(kept);
  if (stops == 0) return size;  // a branch, so that the next block need not wait for this one's count
  return taken;
}

char* unescape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  while (end - in >= 64) {
    in += unescape_block(Simd(in), 64, out);
    take_numbers(in, end, out);
  }
  while (in != end) {
    const auto left = static_cast<unsigned>(end - in);
    in += unescape_block(Simd(_mm512_maskz_loadu_epi8(_bzhi_u64(~u64{0}, left), in)), left, out);
    take_numbers(in, end, out);
  }
  return out;
}

const char* scan(const char* p) { return scan_string<Simd>(p); }

}  // namespace
}  // namespace parley::json
PARLEY_TARGET_END

namespace parley::json {
namespace {

// Outside the region: it must run on the machines it turns away.
bool supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("avx512vbmi2") && kAvx2Kernel.supported();
}

}  // namespace

const Kernel kAvx512Kernel = {"avx512", supported, scan, escape, unescape};
}  // namespace parley::json

#endif
