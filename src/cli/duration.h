// Lengths of time as people type them. Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace parley::cli {

inline constexpr std::int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute, kDay = 24 * kHour;

// "30m", "12h", "7d", "4w" in milliseconds; nullopt for anything else and for more than a hundred years.
std::optional<std::int64_t> duration_of(std::string_view typed);

}  // namespace parley::cli
