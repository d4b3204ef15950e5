#include "parley/base/ids.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

namespace parley {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr std::uint64_t kBase = 57;
static_assert(kShortIdAlphabet.size() == kBase);

consteval std::uint64_t power_of_base(int exponent) {
  std::uint64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= kBase;
  return power;
}

// A number of 22 digits is taken apart into 2, 10 and 10 digits, because 57^10 is the largest power of 57
// in 64 bits, and those into pairs, which a table spells in half the time that single digits take.
constexpr std::uint64_t kTenDigits = power_of_base(10);
constexpr std::uint64_t kFiveDigits = power_of_base(5);
constexpr std::uint32_t kTwoDigits = power_of_base(2);
static_assert(kFiveDigits <= UINT32_MAX);

using Pair = std::array<char, 2>;

consteval std::array<Pair, kTwoDigits> make_pairs() {
  std::array<Pair, kTwoDigits> pairs;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {kShortIdAlphabet[i / kBase], kShortIdAlphabet[i % kBase]};
  }
  return pairs;
}

constexpr std::array<Pair, kTwoDigits> kPairs = make_pairs();

void put_two_digits(std::uint32_t value, char* out) { std::memcpy(out, kPairs[value].data(), 2); }

void put_five_digits(std::uint32_t value, char* out) {
  const std::uint32_t upper = value / kTwoDigits;
  out[0] = kShortIdAlphabet[upper / kTwoDigits];
  put_two_digits(upper % kTwoDigits, out + 1);
  put_two_digits(value % kTwoDigits, out + 3);
}

void put_ten_digits(std::uint64_t value, char* out) {
  put_five_digits(static_cast<std::uint32_t>(value / kFiveDigits), out);
  put_five_digits(static_cast<std::uint32_t>(value % kFiveDigits), out + 5);
}

constexpr unsigned char kNoDigit = 255;

consteval std::array<unsigned char, 256> make_digit_values() {
  std::array<unsigned char, 256> values;
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kShortIdAlphabet.size(); ++i) {
    values[static_cast<unsigned char>(kShortIdAlphabet[i])] = static_cast<unsigned char>(i);
  }
  return values;
}

constexpr std::array<unsigned char, 256> kDigitValues = make_digit_values();

// How many forks lie between the first process and this one. Thread-local state that was made under
// another count is a copy of the parent's and must not be used.
constinit std::atomic<std::uint32_t> fork_count{0};

void count_fork() { fork_count.fetch_add(1, std::memory_order_relaxed); }

// Throws std::system_error, because a caller that needs unpredictable bits cannot use any other value.
void read_urandom(char* out, std::size_t size) {
  const int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  std::size_t done = 0;
  int error = file < 0 ? errno : 0;
  while (error == 0 && done < size) {
    const ssize_t count = read(file, out + done, size - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      error = count == 0 ? EIO : errno;
    }
  }
  if (file >= 0) close(file);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), "cannot get random bytes from the system");
}

void read_system_random(char* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = getrandom(out + done, size - done, 0);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      return read_urandom(out + done, size - done);  // An old kernel, or a filter on system calls.
    }
  }
}

// What one thread keeps between calls.
struct ThreadState {
  std::array<char, 4096> random;
  std::size_t unused;   // So many bytes at the start of `random` were not handed out yet.
  std::uint32_t forks;  // The fork_count under which all of this was made.
  bool has_ulid;
  std::uint64_t ulid_milliseconds;  // What the caller gave for the last ULID.
  Uint128 ulid;                     // The last ULID.
};

constinit thread_local ThreadState thread_state{};

void refill(ThreadState& state) {
  // If fork() cannot be watched, which only happens for want of memory, there must be no state at all.
  static const bool watching = [] {
    if (pthread_atfork(nullptr, nullptr, count_fork) != 0) throw std::bad_alloc();
    return true;
  }();
  static_cast<void>(watching);
  const std::uint32_t forks = fork_count.load(std::memory_order_relaxed);
  if (state.forks != forks) state.has_ulid = false;  // The parent counts up from the same ULID.
  state.forks = forks;
  state.unused = 0;  // Stays so if the system fails to fill the block.
  read_system_random(state.random.data(), state.random.size());
  state.unused = state.random.size();
}

// The calling thread's state in this process, with at least 16 unused random bytes.
ThreadState& ready_state() {
  ThreadState& state = thread_state;
  if (state.unused < sizeof(Uint128) || state.forks != fork_count.load(std::memory_order_relaxed))
      [[unlikely]] {
    refill(state);
  }
  return state;
}

Uint128 take_random(ThreadState& state) {
  Uint128 bits;
  state.unused -= sizeof bits;
  std::memcpy(&bits, state.random.data() + state.unused, sizeof bits);
  return bits;
}

}  // namespace

void encode_short_id(Id128 value, char* out) {
  const Uint128 number = (Uint128{value[0]} << 64) | value[1];
  const Uint128 upper = number / kTenDigits;
  const auto top = static_cast<std::uint32_t>(upper / kTenDigits);
  put_two_digits(top, out);
  put_ten_digits(static_cast<std::uint64_t>(upper - Uint128{top} * kTenDigits), out + 2);
  put_ten_digits(static_cast<std::uint64_t>(number - upper * kTenDigits), out + 12);
}

std::string encode_short_id(Id128 value) {
  std::string out(kShortIdLength, '\0');
  encode_short_id(value, out.data());
  return out;
}

Result<Id128> decode_short_id(std::string_view text) {
  if (text.size() != kShortIdLength) {
    return fail(Code::Invalid,
                "invalid short id: expected 22 characters, got " + std::to_string(text.size()));
  }
  constexpr Uint128 kMax = ~Uint128{0};
  Uint128 number = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char digit = kDigitValues[static_cast<unsigned char>(text[i])];
    if (digit == kNoDigit) {
      return fail(Code::Invalid, "invalid short id: unexpected character at offset " + std::to_string(i));
    }
    if (number > (kMax - digit) / kBase)
      return fail(Code::Invalid, "invalid short id: the value does not fit in 128 bits");
    number = number * kBase + digit;
  }
  return Id128{static_cast<std::uint64_t>(number >> 64), static_cast<std::uint64_t>(number)};
}

Id128 random_uuid() {
  const Uint128 bits = take_random(ready_state());
  const auto high = static_cast<std::uint64_t>(bits >> 64);
  const auto low = static_cast<std::uint64_t>(bits);
  // RFC 9562: version 4 in bits 48 to 51, variant 0b10 in bits 64 and 65.
  return {(high & 0xFFFF'FFFF'FFFF'0FFF) | 0x4000, (low & 0x3FFF'FFFF'FFFF'FFFF) | 0x8000'0000'0000'0000};
}

std::string new_short_id() { return encode_short_id(random_uuid()); }

std::string new_ulid(std::uint64_t unix_milliseconds) {
  constexpr std::string_view kCrockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  constexpr std::uint64_t kLastMillisecond = (std::uint64_t{1} << 48) - 1;
  const std::uint64_t milliseconds = std::min(unix_milliseconds, kLastMillisecond);

  ThreadState& state = ready_state();
  if (state.has_ulid && state.ulid_milliseconds == milliseconds) {
    ++state.ulid;  // After 2^80 of them the carry borrows from the next millisecond; they still ascend.
  } else {
    state.ulid = (Uint128{milliseconds} << 80) | (take_random(state) >> 48);
    state.ulid_milliseconds = milliseconds;
    state.has_ulid = true;
  }

  std::string out(26, '\0');
  Uint128 rest = state.ulid;
  for (std::size_t i = out.size(); i-- > 0;) {
    out[i] = kCrockford[static_cast<std::size_t>(rest & 31)];
    rest >>= 5;
  }
  return out;
}

}  // namespace parley
