// SHA-256 by the instructions that processors have for it, or by libsodium.
// Pure functions; safe from any thread.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace parley {

using Sha256Digest = std::array<unsigned char, 32>;

// Of the pieces as if they were one; in hex as sha256_hex() of hash.h.
Sha256Digest sha256_of(std::span<const std::string_view> pieces);
std::string sha256_hex_of(std::span<const std::string_view> pieces);

// The same by libsodium.
Sha256Digest sha256_portable(std::span<const std::string_view> pieces);

}  // namespace parley
