#include "parley/base/clock.h"

#include <time.h>

#include <atomic>
#include <cassert>
#include <limits>
#include <string>

namespace parley {
namespace {

// The time of the living ScopedClock, or kSystem. One word, so that a reader sees either clock whole.
constexpr std::int64_t kSystem = std::numeric_limits<std::int64_t>::min();
constinit std::atomic<std::int64_t> replaced_time{kSystem};

// Appends `separator`, then `value` with at least `width` digits.
void append_number(std::string& out, char separator, int value, std::size_t width) {
  const std::string digits = std::to_string(value);
  out += separator;
  if (digits.size() < width) out.append(width - digits.size(), '0');
  out += digits;
}

// `to_parts` is localtime_r or gmtime_r, `middle` stands between the day and the hour.
std::string spelled(std::int64_t unix_ms, tm* (*to_parts)(const time_t*, tm*), char middle) {
  // Floor, so that the milliseconds count forward before 1970 too.
  std::int64_t seconds = unix_ms / 1000;
  int milliseconds = static_cast<int>(unix_ms % 1000);
  if (milliseconds < 0) {
    milliseconds += 1000;
    --seconds;
  }
  const time_t time = seconds;
  tm parts{};
  [[maybe_unused]] const tm* converted = to_parts(&time, &parts);
  assert(converted != nullptr);  // The year of any 64-bit count of milliseconds fits in an int.

  const int year = 1900 + parts.tm_year;
  std::string out;
  out.reserve(sizeof "2025-06-01 09:30:00.125Z");
  if (year < 0) out += '-';
  const std::string year_digits = std::to_string(year < 0 ? -year : year);
  if (year_digits.size() < 4) out.append(4 - year_digits.size(), '0');
  out += year_digits;
  append_number(out, '-', parts.tm_mon + 1, 2);
  append_number(out, '-', parts.tm_mday, 2);
  append_number(out, middle, parts.tm_hour, 2);
  append_number(out, ':', parts.tm_min, 2);
  append_number(out, ':', parts.tm_sec, 2);
  append_number(out, '.', milliseconds, 3);
  return out;
}

}  // namespace

std::int64_t now_ms() {
  const std::int64_t replaced = replaced_time.load(std::memory_order_relaxed);
  if (replaced != kSystem) return replaced;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);  // Cannot fail: the clock exists and the address is good.
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

std::string local_timestamp(std::int64_t unix_ms) { return spelled(unix_ms, localtime_r, ' '); }

std::string utc_timestamp(std::int64_t unix_ms) { return spelled(unix_ms, gmtime_r, 'T') + "Z"; }

ScopedClock::ScopedClock(std::int64_t unix_ms) {
  assert(unix_ms != kSystem);
  [[maybe_unused]] const std::int64_t before = replaced_time.exchange(unix_ms);
  assert(before == kSystem);  // One ScopedClock at a time.
}

ScopedClock::~ScopedClock() { replaced_time.store(kSystem); }

void ScopedClock::advance(std::int64_t ms) { replaced_time.fetch_add(ms); }

}  // namespace parley
