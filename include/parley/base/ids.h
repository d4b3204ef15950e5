// Identifiers: AgentScope's short ids for messages, ULIDs for what Parley itself names.
//
// Random bits come from the operating system, in blocks per thread; a forked child never repeats
// its parent's ids. Safe from any thread.
//
// The functions that need random bits throw std::system_error if the system fails to provide them, because
// a predictable value would be worse. It does not happen on a Linux that has getrandom(2) or /dev/urandom.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley {

using Id128 = std::array<std::uint64_t, 2>;  // most significant half first

inline constexpr std::size_t kShortIdLength = 22;
inline constexpr std::string_view kShortIdAlphabet =
    "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

// 128 bits in base 57, most significant digit first, padded with '2' to 22 characters: what
// AgentScope's shortuuid writes. `out` receives exactly kShortIdLength characters.
void encode_short_id(Id128 value, char* out);
std::string encode_short_id(Id128 value);

// The inverse. Fails with Invalid on a wrong length, an invalid character or a value over 128 bits.
Result<Id128> decode_short_id(std::string_view text);

// A random UUID version 4 as a number, and its short form.
Id128 random_uuid();
std::string new_short_id();

// A ULID: 48 bits of milliseconds since the epoch, 80 random bits, 26 characters of Crockford's
// base 32. Ids that one thread makes one after the other in the same millisecond ascend. Times of
// 2^48 ms and more (the year 10889) count as 2^48 - 1.
std::string new_ulid(std::uint64_t unix_milliseconds);

}  // namespace parley
