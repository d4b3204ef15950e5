#include "base/hash.h"

#include <sodium/crypto_hash_sha256.h>
#include <xxhash.h>
#if defined(__x86_64__)
#include <xxh_x86dispatch.h>  // the same functions, with the widest registers there are
#endif

namespace parley {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Id128 hash128(std::string_view bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.high64, hash.low64};
}

std::array<unsigned char, 32> sha256(std::string_view bytes) {
  static_assert(crypto_hash_sha256_BYTES == 32);
  std::array<unsigned char, 32> digest;
  // Needs no sodium_init(): this function is portable code without state, and it always succeeds.
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return digest;
}

std::string sha256_hex(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(64);
  for (const unsigned char byte : sha256(bytes)) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

}  // namespace parley
