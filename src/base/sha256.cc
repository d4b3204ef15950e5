#include "base/sha256.h"

#include <sodium/crypto_hash_sha256.h>

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#include "base/target.h"
#endif

namespace parley {

Sha256Digest sha256_portable(std::span<const std::string_view> pieces) {
  static_assert(crypto_hash_sha256_BYTES == std::tuple_size_v<Sha256Digest>);
  Sha256Digest digest;
  // Needs no sodium_init(): these functions are portable code, and they always succeed.
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  for (const std::string_view piece : pieces) {
    crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(piece.data()), piece.size());
  }
  crypto_hash_sha256_final(&state, digest.data());
  return digest;
}

#if defined(__x86_64__)
namespace {

constexpr std::size_t kBlock = 64;

// FIPS 180-4, 4.2.2 and 5.3.3.
alignas(16) constexpr std::uint32_t kConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constexpr std::uint32_t kInitial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

bool has_instructions() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kSha = 1U << 29;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kSha) != 0 &&
           __builtin_cpu_supports("sse4.1") != 0;
  }();
  return has;
}

PARLEY_TARGET_BEGIN("sha,sse4.1")

// The eight words of the state, in the order that the instructions want: a, b, e, f and c, d, g, h, the first
// one highest.
struct State {
  __m128i abef, cdgh;
};

State first_state() {
  const auto word = [](int i) { return static_cast<int>(kInitial[i]); };
  return {_mm_set_epi32(word(0), word(1), word(4), word(5)),
          _mm_set_epi32(word(2), word(3), word(6), word(7))};
}

void take_block(State& state, const unsigned char* block) {
  const __m128i swap =
      _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);  // to the order of this machine
  const State before = state;
  __m128i words[4];  // of the schedule: the newest sixteen
  for (int i = 0; i < 4; ++i) {
    words[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i), swap);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {  // four rounds each
    __m128i& now = words[i % 4];
    if (i >= 4) {
      const __m128i last = words[(i + 3) % 4];
      const __m128i old = _mm_sha256msg1_epu32(now, words[(i + 1) % 4]);
      now = _mm_sha256msg2_epu32(_mm_add_epi32(old, _mm_alignr_epi8(last, words[(i + 2) % 4], 4)), last);
    }
    const __m128i sum = _mm_add_epi32(now, _mm_load_si128(reinterpret_cast<const __m128i*>(kConstants) + i));
    state.cdgh = _mm_sha256rnds2_epu32(state.cdgh, state.abef, sum);
    state.abef = _mm_sha256rnds2_epu32(state.abef, state.cdgh, _mm_shuffle_epi32(sum, 0x0E));
  }
  state.abef = _mm_add_epi32(state.abef, before.abef);
  state.cdgh = _mm_add_epi32(state.cdgh, before.cdgh);
}

void put_word(unsigned char* to, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<unsigned char>(word >> (24 - 8 * i));
}

Sha256Digest digest_of(const State& state) {
  alignas(16) std::uint32_t abef[4];
  alignas(16) std::uint32_t cdgh[4];
  _mm_store_si128(reinterpret_cast<__m128i*>(abef), state.abef);
  _mm_store_si128(reinterpret_cast<__m128i*>(cdgh), state.cdgh);
  const std::uint32_t words[8] = {abef[3], abef[2], cdgh[3], cdgh[2], abef[1], abef[0], cdgh[1], cdgh[0]};
  Sha256Digest out;
  for (std::size_t i = 0; i < 8; ++i) put_word(out.data() + 4 * i, words[i]);
  return out;
}

Sha256Digest sha256_by_instructions(std::span<const std::string_view> pieces) {
  State state = first_state();
  unsigned char block[kBlock];  // what does not fill one yet
  std::size_t held = 0;
  std::uint64_t bits = 0;
  for (const std::string_view piece : pieces) {
    const auto* at = reinterpret_cast<const unsigned char*>(piece.data());
    std::size_t left = piece.size();
    bits += std::uint64_t{left} * 8;
    if (held > 0) {
      const std::size_t taken = left < kBlock - held ? left : kBlock - held;
      std::memcpy(block + held, at, taken);
      held += taken;
      at += taken;
      left -= taken;
      if (held < kBlock) continue;
      take_block(state, block);
      held = 0;
    }
    for (; left >= kBlock; left -= kBlock, at += kBlock) take_block(state, at);
    if (left > 0) std::memcpy(block, at, left);
    held = left;
  }
  // A one, zeros, and the length.
  block[held++] = 0x80;
  if (held > kBlock - 8) {
    std::memset(block + held, 0, kBlock - held);
    take_block(state, block);
    held = 0;
  }
  std::memset(block + held, 0, kBlock - 8 - held);
  put_word(block + kBlock - 8, static_cast<std::uint32_t>(bits >> 32));
  put_word(block + kBlock - 4, static_cast<std::uint32_t>(bits));
  take_block(state, block);
  return digest_of(state);
}

PARLEY_TARGET_END

}  // namespace

Sha256Digest sha256_of(std::span<const std::string_view> pieces) {
  return has_instructions() ? sha256_by_instructions(pieces) : sha256_portable(pieces);
}

#else

Sha256Digest sha256_of(std::span<const std::string_view> pieces) { return sha256_portable(pieces); }

#endif

}  // namespace parley
