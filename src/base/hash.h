// Hashing: XXH3 for fingerprints and checksums, SHA-256 where an adversary may choose the input.
// Pure functions; safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "parley/base/ids.h"

namespace parley {

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);
Id128 hash128(std::string_view bytes, std::uint64_t seed = 0);

// The digest as 32 raw bytes, and as 64 lower-case hex digits.
std::array<unsigned char, 32> sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);

}  // namespace parley
