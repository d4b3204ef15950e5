// The AVX2 kernel: 32 characters to 24 bytes at a time.
#include "media/base64_kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/target.h"

PARLEY_TARGET_BEGIN("avx2,bmi")
#include "media/base64_simd.h"

namespace parley::base64 {
namespace {

__m256i table(const Nibbles& entries) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entries.data())));
}

struct Vector {
  static constexpr std::size_t kSize = 32;
  static constexpr std::size_t kEncodeReads = 28;

  explicit Vector(__m256i bytes) : v(bytes) {}
  explicit Vector(const char* p) : v(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))) {}

  Vector classes() const {
    return Vector(_mm256_and_si256(_mm256_shuffle_epi8(table(kLowerClasses), v),
                                   _mm256_shuffle_epi8(table(kUpperClass), upper_halves())));
  }

  Vector smaller(Vector other) const { return Vector(_mm256_min_epu8(v, other.v)); }

  std::uint32_t zeros() const {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_setzero_si256())));
  }

  void decode_to(char* out) const {
    const __m256i slash = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('/'));  // -1, as a number
    const __m256i difference = _mm256_shuffle_epi8(table(kToValue), _mm256_add_epi8(upper_halves(), slash));
    const __m256i values = _mm256_add_epi8(v, difference);
    // Four values of 6 bits to two of 12, to one of 24, whose bytes are then turned round and moved together.
    const __m256i pairs = _mm256_maddubs_epi16(values, _mm256_set1_epi16(0x0140));
    const __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001'1000));
    constexpr Nibbles kTurn = {2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1};
    const __m256i bytes = _mm256_shuffle_epi8(groups, table(kTurn));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7)));
  }

  static void encode(const char* in, char* out) {
    // Twelve bytes to each half. The bytes a b c of a group become b a c b: two numbers of 16 bits, of which
    // one holds the first two digits and the other the last two.
    const __m256i bytes =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in))),
                                _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 12)), 1);
    constexpr Nibbles kSpread = {1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10};
    const __m256i spread = _mm256_shuffle_epi8(bytes, table(kSpread));
    const __m256i even = _mm256_mulhi_epu16(_mm256_and_si256(spread, _mm256_set1_epi32(0x0FC0'FC00)),
                                            _mm256_set1_epi32(0x0400'0040));
    const __m256i odd = _mm256_mullo_epi16(_mm256_and_si256(spread, _mm256_set1_epi32(0x003F'03F0)),
                                           _mm256_set1_epi32(0x0100'0010));
    const __m256i values = _mm256_or_si256(even, odd);
    const __m256i capital =
        _mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(26), values), _mm256_set1_epi8(13));
    const __m256i index = _mm256_or_si256(_mm256_subs_epu8(values, _mm256_set1_epi8(51)), capital);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                        _mm256_add_epi8(values, _mm256_shuffle_epi8(table(kToDigit), index)));
  }

  __m256i v;

 private:
  __m256i upper_halves() const { return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15)); }
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
bool supported() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"); }

}  // namespace

constinit const Kernel kAvx2Kernel = {"avx2", supported, decode, check, encode};

}  // namespace parley::base64

#endif
