// Base64 (RFC 4648, standard alphabet) in three modes. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley {

enum class Base64Mode : std::uint8_t {
  Canonical,  // Padded, no spare bits set, no whitespace: exactly one spelling per byte string.
  OpenManus,  // The verdict of OpenManus' image check: at least 10 characters; "data:...," cut at the
              // first comma whatever it says; alphabet with up to two '='; length a multiple of four;
              // spare bits ignored; at most 10 MiB decoded.
  Forgiving,  // The WHATWG rules for data URLs: ASCII whitespace stripped, padding optional, spare
              // bits ignored.
};

inline constexpr std::size_t kOpenManusImageBytes = std::size_t{10} * 1024 * 1024;

// Decodes `text`. Fails with Invalid, naming the offset of the first bad character, or with
// LimitExceeded, before decoding anything, if the result would be larger than `max_bytes`.
Result<std::string> base64_decode(std::string_view text, Base64Mode mode = Base64Mode::Canonical,
                                  std::size_t max_bytes = SIZE_MAX);

// The verdict of base64_decode without its result; nothing is allocated on success.
Result<void> base64_check(std::string_view text, Base64Mode mode = Base64Mode::Canonical,
                          std::size_t max_bytes = SIZE_MAX);

// The canonical spelling.
std::string base64_encode(std::string_view bytes);

}  // namespace parley
