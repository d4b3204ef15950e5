// The AVX2 kernel: 64-byte blocks as two registers, escapes by byte shuffles.
#include "json/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/target.h"
#include "json/byte_classes.h"
#include "json/escapes.h"

PARLEY_TARGET_BEGIN("avx2,bmi,bmi2,lzcnt,popcnt")
#include "json/string_scan.h"

namespace parley::json {
namespace {

__m256i splat(char c) {
  return _mm256_load_si256(reinterpret_cast<const __m256i*>(kSplats[as_byte(c)].bytes.data()));
}

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

__m256i utf8_error_bytes(__m256i now, __m256i before) {
  const __m256i first = moved_back<1>(now, before);
  const __m256i special = _mm256_and_si256(
      _mm256_and_si256(_mm256_shuffle_epi8(table(utf8_error::kFirstHigh), high_nibbles(first)),
                       _mm256_shuffle_epi8(table(utf8_error::kFirstLow), low_nibbles(first))),
      _mm256_shuffle_epi8(table(utf8_error::kSecondHigh), high_nibbles(now)));
  // Two continuations in a row are right exactly where a lead byte stands two or three bytes before.
  const __m256i third = _mm256_subs_epu8(moved_back<2>(now, before), splat(static_cast<char>(0xE0 - 0x80)));
  const __m256i fourth = _mm256_subs_epu8(moved_back<3>(now, before), splat(static_cast<char>(0xF0 - 0x80)));
  const __m256i must_continue =
      _mm256_and_si256(_mm256_or_si256(third, fourth), splat(static_cast<char>(0x80)));
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
  u64 ends() const { return bits(is_end(low), is_end(up)); }
  u64 common_escapes() const { return bits(is_common_escape(low), is_common_escape(up)); }
  u64 hex() const { return ~bits(is_no_hex(low), is_no_hex(up)); }
  u64 utf8_errors(const char* before) const {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i front =
        before != nullptr ? _mm256_loadu_si256(reinterpret_cast<const __m256i*>(before + 32)) : zero;
    return ~bits(_mm256_cmpeq_epi8(utf8_error_bytes(low, front), zero),
                 _mm256_cmpeq_epi8(utf8_error_bytes(up, low), zero));
  }

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
  static __m256i is_end(__m256i v) {
    return _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(0x1F)), v),
                           _mm256_cmpeq_epi8(v, splat('"')));
  }
  static __m256i is_common_escape(__m256i v) {
    return _mm256_cmpeq_epi8(v, _mm256_shuffle_epi8(table(kCommonEscapes), v));
  }
  static __m256i is_no_hex(__m256i v) {
    const __m256i classes = _mm256_and_si256(_mm256_shuffle_epi8(table(kHexLow), low_nibbles(v)),
                                             _mm256_shuffle_epi8(table(kHexHigh), high_nibbles(v)));
    return _mm256_cmpeq_epi8(classes, _mm256_setzero_si256());
  }
  // Quote, backslash, control or >= 0x80: as signed bytes the last two are what is below a space.
  static __m256i is_special(__m256i v) {
    return _mm256_or_si256(
        _mm256_cmpgt_epi8(splat(0x20), v),
        _mm256_or_si256(_mm256_cmpeq_epi8(v, splat('"')), _mm256_cmpeq_epi8(v, splat('\\'))));
  }
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
  const __m256i letters = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 'b', 't', 'n', 0, 'f', 'r', 0, 0, 0, 0, 0,
                                           0, 0, 0, 0, 0, 'b', 't', 'n', 0, 'f', 'r', 0, 0);
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(0x1F)), v);
  // Adding 0x70 sets the top bit of all but 0x00 to 0x0F, so that 0x18 does not find the letter of 0x08.
  const __m256i index = _mm256_adds_epu8(v, splat(0x70));
  return _mm256_blendv_epi8(v, _mm256_shuffle_epi8(letters, index), control);
}

char* spread_eight(__m128i eight, unsigned mask, char* out) {
  const __m128i plan = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSpread[mask].data()));
  const __m128i backslashes =
      _mm_and_si128(_mm_cmpeq_epi8(plan, _mm_set1_epi8(static_cast<char>(0x80))), _mm_set1_epi8('\\'));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_or_si128(_mm_shuffle_epi8(eight, plan), backslashes));
  return out + 8 + std::popcount(mask);
}

char* spread(__m256i v, std::uint32_t mask, char* out) {
  const __m128i first = _mm256_castsi256_si128(v);
  const __m128i second = _mm256_extracti128_si256(v, 1);
  out = spread_eight(first, mask & 255, out);
  out = spread_eight(_mm_srli_si128(first, 8), mask >> 8 & 255, out);
  out = spread_eight(second, mask >> 16 & 255, out);
  return spread_eight(_mm_srli_si128(second, 8), mask >> 24, out);
}

// 32 bytes in, of which `size` count, up to 64 out. A control character without a letter of its own ends the
// block. Gives how many bytes were taken.
[[gnu::always_inline]] inline unsigned escape_block(const char* in, unsigned size, char*& out) {
  const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  const __m256i control = _mm256_cmpeq_epi8(_mm256_min_epu8(v, splat(0x1F)), v);
  const __m256i special = _mm256_or_si256(
      control, _mm256_or_si256(_mm256_cmpeq_epi8(v, splat('"')), _mm256_cmpeq_epi8(v, splat('\\'))));
  const auto mask = _bzhi_u32(static_cast<std::uint32_t>(_mm256_movemask_epi8(special)), size);
  if (mask == 0) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), v);
    out += size;
    return size;
  }
  const __m256i mapped = lettered(v);  // to zero, if there is no letter
  const __m256i zero = _mm256_cmpeq_epi8(mapped, _mm256_setzero_si256());
  const std::uint32_t nameless = mask & static_cast<std::uint32_t>(_mm256_movemask_epi8(zero));
  if (nameless == 0) {
    spread(mapped, mask, out);
    out += size + static_cast<unsigned>(std::popcount(mask));
    return size;
  }
  const auto taken = static_cast<unsigned>(std::countr_zero(nameless));
  const std::uint32_t before = _bzhi_u32(mask, taken);
  spread(mapped, before, out);
  out += taken + static_cast<unsigned>(std::popcount(before));
  escape_one(in[taken], out);
  return taken + 1;
}

char* escape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  while (end - in >= 32) in += escape_block(in, 32, out);
  while (in != end) {
    const auto left = static_cast<unsigned>(end - in);
    char copy[32] = {};  // the bytes after the end may not be readable
    std::memcpy(copy, in, left);
    in += escape_block(copy, left, out);
  }
  return out;
}

// For each set of the eight bytes that are kept: where they come from.
constexpr std::array<std::array<std::uint8_t, 8>, 256> kSqueeze = [] {
  std::array<std::array<std::uint8_t, 8>, 256> squeeze{};
  for (unsigned kept = 0; kept < 256; ++kept) {
    std::size_t at = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((kept >> i & 1) != 0) squeeze[kept][at++] = static_cast<std::uint8_t>(i);
    }
  }
  return squeeze;
}();

char* squeeze_eight(__m128i eight, unsigned kept, char* out) {
  const __m128i plan = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kSqueeze[kept].data()));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_shuffle_epi8(eight, plan));
  return out + std::popcount(kept);
}

// Like spread(): the four calls stand twice so that the compiler can inline each.
char* squeeze(__m256i v, std::uint32_t kept, char* out) {
  const __m128i first = _mm256_castsi256_si128(v);
  const __m128i second = _mm256_extracti128_si256(v, 1);
  out = squeeze_eight(first, kept & 255, out);
  out = squeeze_eight(_mm_srli_si128(first, 8), kept >> 8 & 255, out);
  out = squeeze_eight(second, kept >> 16 & 255, out);
  return squeeze_eight(_mm_srli_si128(second, 8), kept >> 24, out);
}

// A byte of ones for each bit that is set.
__m256i to_bytes(std::uint32_t mask) {
  const __m256i eighths = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bit = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201U));
  const __m256i spread = _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int>(mask)), eighths);
  return _mm256_cmpeq_epi8(_mm256_and_si256(spread, bit), bit);
}

// Replaces the letters b f n r t by what they spell, where `letters` has a bit.
__m256i spelled(__m256i v, std::uint32_t letters) {
  // The two nibbles of a letter, one upon the other, tell the five apart.
  const __m256i table = _mm256_setr_epi8('\f', 0, 0, '\t', '\b', '\r', 0, 0, '\n', 0, 0, 0, 0, 0, 0, 0, '\f',
                                         0, 0, '\t', '\b', '\r', 0, 0, '\n', 0, 0, 0, 0, 0, 0, 0);
  const __m256i index = low_nibbles(_mm256_xor_si256(v, _mm256_srli_epi16(v, 4)));
  return _mm256_blendv_epi8(v, _mm256_shuffle_epi8(table, index), to_bytes(letters));
}

// 64 bytes in, of which `size` count, up to 64 out: the letters after backslashes are mapped, the
// backslashes squeezed out eight bytes at a time. An escape by number, or a backslash at the very end, stops
// the block before it. Gives how many bytes were taken.
[[gnu::always_inline]] inline unsigned unescape_block(const char* in, unsigned size, char*& out) {
  const Simd block(in);
  const u64 backslash = block.equal('\\');
  if (backslash == 0) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), block.low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 32), block.up);
    out += size;
    return size;
  }
  u64 carry = 0;
  const u64 escaped = escaped_bytes(backslash, carry);
  const u64 letters = escaped & block.at_least('a');
  const u64 stops = (escaped & block.equal('u')) >> 1 | carry << 63;
  const unsigned taken = std::min(size, static_cast<unsigned>(std::countr_zero(stops)));
  const u64 kept = _bzhi_u64(~(backslash & ~escaped), taken);
  out =
      squeeze(spelled(block.low, static_cast<std::uint32_t>(letters)), static_cast<std::uint32_t>(kept), out);
  out = squeeze(spelled(block.up, static_cast<std::uint32_t>(letters >> 32)),
                static_cast<std::uint32_t>(kept >> 32), out);
  return taken;
}

char* unescape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  while (end - in >= 64) {
    in += unescape_block(in, 64, out);
    take_numbers(in, end, out);
  }
  while (in != end) {
    const auto left = static_cast<unsigned>(end - in);
    char copy[64] = {};  // the bytes after the end may not be readable
    std::memcpy(copy, in, left);
    in += unescape_block(copy, left, out);
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
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("popcnt");
}

}  // namespace

const Kernel kAvx2Kernel = {"avx2", supported, scan, escape, unescape};
}  // namespace parley::json

#endif
