// The string scan of the vector kernels, written once over 64-byte blocks.
//
// A kernel includes this header inside its target region (see target.h) and passes a `Simd` type:
//   struct Simd {
//     explicit Simd(const char* p);                      loads 64 bytes; masks have one bit per byte
//     u64 equal(char) const, at_least(char) const;       ASCII comparisons
//     u64 folded_equal(char) const, folded_at_least(char) const;   the same with bit 0x20 set
//     u64 high() const;                                  >= 0x80
//     u64 ends() const;                                  a quote or a control character
//     u64 common_escapes() const;                        one of " \ / f n t
//     u64 hex() const;                                   a hex digit
//     u64 utf8_errors(const char* before) const;         `before`: the bytes in front, null at the start
//     static const char* skip_plain(const char* p);      past blocks without quote, backslash, control, high
//   };
//
// How it works, per block: find the escaped bytes (a carry of odd backslash runs crosses blocks), then the
// first quote or control character that is not escaped ends the string. Below that stop:
//   - an escaped byte must be the letter of an escape; one lookup recognises the most common ones;
//   - four hex digits must follow an escaped `u`, checked by shifting masks with carries;
//   - the mask of high surrogates shifted by six must be the mask of low ones;
//   - blocks with bytes >= 0x80 run the UTF-8 check.
// There is no branch on "holds a backslash": real text has too many of them, and guessing costs more than
// computing (bench/read shows it). After four blocks of plain ASCII a tight loop takes over: base64.
#pragma once

#include <bit>
#include <cstdint>

namespace parley::json {
namespace {  // each kernel has its own copy, compiled for its own instruction set

using u64 = std::uint64_t;

// The bits of `mask` shifted up by `by`, with the top bits of the previous block shifted in.
inline u64 shift_in(u64 mask, u64 previous, int by) { return mask << by | previous >> (64 - by); }

// Marks the bytes that a backslash escapes. `carry` says whether the first byte is escaped, in and out.
inline u64 escaped_bytes(u64 backslash, u64& carry) {
  constexpr u64 kEven = 0x5555555555555555U;
  backslash &= ~carry;
  const u64 follows = backslash << 1 | carry;
  const u64 odd_starts = backslash & ~kEven & ~follows;
  u64 even_runs = 0;
  carry = static_cast<u64>(__builtin_add_overflow(odd_starts, backslash, &even_runs));
  return (kEven ^ even_runs << 1) & follows;
}

// Checks \uXXXX escapes across blocks. Bits beyond the stop must be masked away by the caller.
struct UnicodeEscapes {
  u64 u = 0, d = 0, high = 0;  // of the block before: escaped u, digit d, third byte of a high surrogate

  bool pending() const { return (u >> 60 | high >> 58) != 0; }

  template <typename Simd>
  u64 errors(const Simd& block, u64 escaped_u, u64 body, u64 body_and_stop) {
    const u64 hex = block.hex();
    const u64 needs_hex = shift_in(escaped_u, u, 1) | shift_in(escaped_u, u, 2) | shift_in(escaped_u, u, 3) |
                          shift_in(escaped_u, u, 4);
    u64 bad = needs_hex & ~hex & body_and_stop;
    const u64 digit_d = block.folded_equal('d') & body;
    const u64 surrogate = shift_in(escaped_u, u, 2) & shift_in(digit_d, d, 1) & hex & body;
    const u64 c_to_f = block.folded_at_least('c');
    const u64 high_now = surrogate & ~c_to_f & block.at_least('8');
    const u64 low_now = surrogate & c_to_f;
    bad |= shift_in(high_now, high, 6) ^ low_now;
    u = escaped_u;
    d = digit_d;
    high = high_now;
    return bad;
  }
};

template <typename Simd>
const char* scan_string(const char* p) {
  u64 carry = 0;
  u64 high_before = 0;
  UnicodeEscapes unicode;
  const char* before = nullptr;
  int quiet_blocks = 0;
  for (;; before = p, p += 64) {
    const Simd block(p);
    __builtin_prefetch(p + 1024);
    const u64 backslash = block.equal('\\');
    const u64 high = block.high();
    const u64 escaped = escaped_bytes(backslash, carry);
    const u64 stop = block.ends() & ~escaped;
    const u64 body = ~stop & (stop - 1);  // below the first stop; all bits if there is no stop
    const u64 body_and_stop = body | (stop & -stop);
    u64 bad = 0;
    const u64 rare = escaped & body & ~block.common_escapes();
    if ((rare != 0) | unicode.pending()) {
      const u64 escaped_u = rare & block.equal('u');
      bad = rare & ~(escaped_u | block.equal('b') | block.equal('r'));
      bad |= unicode.errors(block, escaped_u, body, body_and_stop);
    }
    if (((high & body) | high_before >> 61) != 0) bad |= block.utf8_errors(before) & body_and_stop;
    if (bad != 0) return nullptr;
    if (stop != 0) {
      const char* at = p + std::countr_zero(stop);
      return *at == '"' && unicode.high >> 58 == 0 ? at : nullptr;
    }
    high_before = high;
    quiet_blocks = (backslash | high) == 0 ? quiet_blocks + 1 : 0;
    if (quiet_blocks == 4) {
      quiet_blocks = 0;
      if (carry == 0 && !unicode.pending()) p = Simd::skip_plain(p + 64) - 64;
    }
  }
}

}  // namespace
}  // namespace parley::json
