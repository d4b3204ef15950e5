// The byte loops of base64, one set per instruction set, chosen once at run time.
//
// Invariants (quoted by tests as BASE64_1..BASE64_3):
//   BASE64_1  Every kernel gives the counts and the bytes of the scalar one.
//   BASE64_2  decode() and check() take every group of four digits before the first invalid group, and
//             nothing else.
//   BASE64_3  A kernel reads nothing outside of in[0 .. size) and writes nothing outside of the room it is
//             given.
//
// Immutable tables; safe from any thread. use_kernel() is for tests and benches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace parley::base64 {

inline constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct Kernel {
  std::string_view name;
  bool (*supported)();

  // Decodes groups of four digits to three bytes each. Returns how many characters were taken, a multiple
  // of four. REQUIRES: room for size / 4 * 3 bytes at `out`, of which those after the result may be
  // written too.
  std::size_t (*decode)(const char* in, std::size_t size, char* out);

  // What decode() returns, without the bytes.
  std::size_t (*check)(const char* in, std::size_t size);

  // Writes four digits for every three bytes. Returns how many bytes were taken, a multiple of three; one or
  // two may be left. REQUIRES: room for size / 3 * 4 characters at `out`.
  std::size_t (*encode)(const char* in, std::size_t size, char* out);
};

// The kernels compiled in, slowest first; the scalar one is always there and always first.
std::span<const Kernel* const> kernels();

// The kernel in use: the fastest this machine supports, or the one a test forced.
const Kernel& kernel();
void use_kernel(const Kernel& kernel);

// kDigits[k][c] is the value of the character c as digit k of a group, shifted to its place among the
// group's 24 bits; characters that are no digits have kForeign, which no digit has.
inline constexpr std::uint32_t kForeign = 0x8000'0000;
using DigitTables = std::array<std::array<std::uint32_t, 256>, 4>;
extern const DigitTables kDigits;

inline std::uint32_t digit(std::size_t place, char c) {
  return kDigits[place][static_cast<unsigned char>(c)];
}

extern const Kernel kScalarKernel;
#if defined(__x86_64__)
extern const Kernel kSsse3Kernel;
extern const Kernel kAvx2Kernel;
#endif

}  // namespace parley::base64
