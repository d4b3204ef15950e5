// The SSSE3 kernel: 16 characters to 12 bytes at a time. The steps are those of base64_avx2.cc, written again
// because the intrinsics of each width have their own names.
#include "media/base64_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/target.h"

PARLEY_TARGET_BEGIN("ssse3")
#include "media/base64_simd.h"

namespace parley::base64 {
namespace {

__m128i table(const Nibbles& entries) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(entries.data()));
}

struct Vector {
  static constexpr std::size_t kSize = 16;
  static constexpr std::size_t kEncodeReads = 16;

  explicit Vector(__m128i bytes) : v(bytes) {}
  explicit Vector(const char* p) : v(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))) {}

  Vector classes() const {
    return Vector(_mm_and_si128(_mm_shuffle_epi8(table(kLowerClasses), v),
                                _mm_shuffle_epi8(table(kUpperClass), upper_halves())));
  }

  Vector smaller(Vector other) const { return Vector(_mm_min_epu8(v, other.v)); }

  std::uint32_t zeros() const {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())));
  }

  void decode_to(char* out) const {
    const __m128i slash = _mm_cmpeq_epi8(v, _mm_set1_epi8('/'));  // -1, as a number
    const __m128i difference = _mm_shuffle_epi8(table(kToValue), _mm_add_epi8(upper_halves(), slash));
    const __m128i values = _mm_add_epi8(v, difference);
    // Four values of 6 bits to two of 12, to one of 24, whose bytes are then turned round and moved together.
    const __m128i pairs = _mm_maddubs_epi16(values, _mm_set1_epi16(0x0140));
    const __m128i groups = _mm_madd_epi16(pairs, _mm_set1_epi32(0x0001'1000));
    constexpr Nibbles kTurn = {2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1};
    const __m128i bytes = _mm_shuffle_epi8(groups, table(kTurn));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
  }

  static void encode(const char* in, char* out) {
    // The bytes a b c of a group become b a c b: two numbers of 16 bits, of which
    // one holds the first two digits and the other the last two.
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    constexpr Nibbles kSpread = {1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10};
    const __m128i spread = _mm_shuffle_epi8(bytes, table(kSpread));
    const __m128i even =
        _mm_mulhi_epu16(_mm_and_si128(spread, _mm_set1_epi32(0x0FC0'FC00)), _mm_set1_epi32(0x0400'0040));
    const __m128i odd =
        _mm_mullo_epi16(_mm_and_si128(spread, _mm_set1_epi32(0x003F'03F0)), _mm_set1_epi32(0x0100'0010));
    const __m128i values = _mm_or_si128(even, odd);
    const __m128i capital = _mm_and_si128(_mm_cmpgt_epi8(_mm_set1_epi8(26), values), _mm_set1_epi8(13));
    const __m128i index = _mm_or_si128(_mm_subs_epu8(values, _mm_set1_epi8(51)), capital);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_add_epi8(values, _mm_shuffle_epi8(table(kToDigit), index)));
  }

  __m128i v;

 private:
  __m128i upper_halves() const { return _mm_and_si128(_mm_srli_epi16(v, 4), _mm_set1_epi8(15)); }
};

std::size_t decode(const char* in, std::size_t size, char* out) {
  return decode_vectors<Vector>(in, size, out);
}
std::size_t check(const char* in, std::size_t size) { return check_vectors<Vector>(in, size); }
std::size_t encode(const char* in, std::size_t size, char* out) {
  return encode_vectors<Vector>(in, size, out);
}

}  // namespace
}  // namespace parley::base64
PARLEY_TARGET_END

namespace parley::base64 {
namespace {

// Outside the region: it must run on the machines it turns away.
bool supported() { return __builtin_cpu_supports("ssse3") != 0; }

}  // namespace

constinit const Kernel kSsse3Kernel = {"ssse3", supported, decode, check, encode};

}  // namespace parley::base64

#endif
