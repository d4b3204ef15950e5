#include "cli/duration.h"

#include <charconv>

namespace parley::cli {
namespace {

struct TimeUnit {
  char letter;
  std::int64_t ms;
};
constexpr TimeUnit kTimeUnits[] = {
    {'s', kSecond}, {'m', kMinute}, {'h', kHour}, {'d', kDay}, {'w', 7 * kDay}};

}  // namespace

std::optional<std::int64_t> duration_of(std::string_view typed) {
  std::int64_t count = 0;
  const char* end = typed.data() + typed.size();
  const auto [rest, error] = std::from_chars(typed.data(), end, count);
  if (error != std::errc() || rest + 1 != end || count < 0) return std::nullopt;
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.letter != *rest) continue;
    constexpr std::int64_t kMost = 100 * 366 * kDay;
    return count > kMost / unit.ms ? std::nullopt : std::optional(count * unit.ms);
  }
  return std::nullopt;
}

}  // namespace parley::cli
