#include "base/hash.h"

#include <xxhash.h>
#if defined(__x86_64__)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>  // the same functions, with the widest registers there are
// Debian's archive of libxxhash does not have them, so they are null in a program linked with -static.
#pragma weak XXH3_64bits_withSeed_dispatch
#pragma weak XXH3_128bits_withSeed_dispatch
#define PARLEY_WIDEST(name) (name##_dispatch != nullptr ? name##_dispatch : name)
#else
#define PARLEY_WIDEST(name) name
#endif

#include "base/sha256.h"

namespace parley {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
  return PARLEY_WIDEST(XXH3_64bits_withSeed)(bytes.data(), bytes.size(), seed);
}

Id128 hash128(std::string_view bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = PARLEY_WIDEST(XXH3_128bits_withSeed)(bytes.data(), bytes.size(), seed);
  return {hash.high64, hash.low64};
}

std::array<unsigned char, 32> sha256(std::string_view bytes) { return sha256_of({&bytes, 1}); }

std::string sha256_hex(std::string_view bytes) { return sha256_hex_of({&bytes, 1}); }

std::string sha256_hex_of(std::span<const std::string_view> pieces) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  out.reserve(64);
  for (const unsigned char byte : sha256_of(pieces)) {
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

}  // namespace parley
