// The byte loops of the JSON room, one set per instruction set, chosen once at run time.
//
// Invariants (quoted by tests as KERNEL1..KERNEL3):
//   KERNEL1  Every kernel gives the verdict and the bytes of the scalar one.
//   KERNEL2  scan() accepts only what is wholly valid: escapes, surrogate pairs, UTF-8, no control
//            characters.
//   KERNEL3  A kernel reads at most kPadding bytes after the text it is given.
//
// Immutable tables; safe from any thread. use_kernel() is for tests and benches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace parley::json {

struct Kernel {
  std::string_view name;
  bool (*supported)();

  // Scans a string from `p`, just after its opening quote. Returns the closing quote, or nullptr if the
  // string is not plainly valid; examine_string() then says why. REQUIRES: a NUL ends the text.
  const char* (*scan)(const char* p);

  // Writes `in` as the inside of a JSON string. Returns the end of what was written.
  // REQUIRES: room for 6 * size + 64 bytes at `out`.
  char* (*escape)(const char* in, std::size_t size, char* out);

  // Writes the text that the inside of a valid JSON string spells. Returns the end of what was written.
  // REQUIRES: room for size + 64 bytes at `out`.
  char* (*unescape)(const char* in, std::size_t size, char* out);
};

// The kernels compiled in, slowest first; the scalar one is always there and always first.
std::span<const Kernel* const> kernels();

// The kernel in use: the fastest this machine supports, or the one a test forced.
const Kernel& kernel();
void use_kernel(const Kernel& kernel);

// What is wrong with a string, and where. `at` is the backslash of a bad or lone escape, or the bad byte.
enum class StringFault : std::uint8_t { None, Unterminated, Control, BadEscape, LoneSurrogate, BadUtf8 };
struct StringReport {
  StringFault fault = StringFault::None;
  const char* at = nullptr;  // the closing quote if there is no fault
};

// The first fault of the string text from `p` on (see Kernel::scan). `end` is the end of the document.
StringReport examine_string(const char* p, const char* end);

extern const Kernel kScalarKernel;
#if defined(__x86_64__)
extern const Kernel kAvx2Kernel;
extern const Kernel kAvx512Kernel;
#endif

}  // namespace parley::json
