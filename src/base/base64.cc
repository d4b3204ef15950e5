// The fast path decodes groups of four digits by table and only says yes or no; explain() then reads the
// text again, slowly, to say where it went wrong.
//
//   text       := group* last?
//   group      := digit digit digit digit
//   last       := digit digit "==" | digit digit digit "="     Forgiving: the padding may be absent
//
// The last digit of `last` holds 4 or 2 spare bits, which Canonical wants to be zero. Forgiving allows
// ASCII whitespace anywhere, between the two padding characters too.

#include "parley/base/base64.h"

#include <algorithm>
#include <array>
#include <string>

#include "parley/base/utf8.h"

namespace parley {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// kDigits[k][c] is the value of the character c as digit k of a group, shifted to its place among the
// group's 24 bits; characters that are no digits have kForeign, which no digit has.
constexpr std::uint32_t kForeign = 0x8000'0000;
using DigitTable = std::array<std::uint32_t, 256>;

consteval std::array<DigitTable, 4> make_digit_tables() {
  std::array<DigitTable, 4> tables{};
  for (unsigned k = 0; k < 4; ++k) {
    tables[k].fill(kForeign);
    for (unsigned value = 0; value < kAlphabet.size(); ++value) {
      tables[k][static_cast<unsigned char>(kAlphabet[value])] = value << (18 - 6 * k);
    }
  }
  return tables;
}

constexpr std::array<DigitTable, 4> kDigits = make_digit_tables();

std::uint32_t digit(std::size_t place, char c) { return kDigits[place][static_cast<unsigned char>(c)]; }

bool is_digit(char c) { return digit(0, c) != kForeign; }

// Infra's definition, which is WHATWG's: the vertical tab is not among them.
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

// The part of a text that holds digits, once its padding is understood.
struct Body {
  std::string_view digits;  // Holds whitespace too, if skip_spaces.
  std::size_t count;        // Its characters without whitespace; never 1 more than a multiple of 4.
  bool skip_spaces;
  bool refuse_spare_bits;

  std::size_t bytes() const { return count / 4 * 3 + count % 4 * 3 / 4; }
};

// Reads the next `count` digits from `p` on into the upper bits of a group. Returns false at a foreign
// character. REQUIRES: `count` characters other than whitespace remain.
bool gather(const char*& p, std::size_t count, bool skip_spaces, std::uint32_t& group) {
  group = 0;
  for (std::size_t k = 0; k < count; ++p) {
    if (skip_spaces && is_space(*p)) continue;
    group |= digit(k, *p);
    ++k;
  }
  return (group & kForeign) == 0;
}

// Decodes `body` into out[0 .. body.bytes()), or only checks it. Returns whether it is well-formed.
template <bool kWrite>
bool decode(const Body& body, [[maybe_unused]] char* out) {
  const char* p = body.digits.data();
  const char* const end = p + body.digits.size();
  const auto put = [&](std::uint32_t group, unsigned shift) {
    if constexpr (kWrite) *out++ = static_cast<char>(group >> shift);
  };
  for (std::size_t groups = body.count / 4; groups > 0; --groups) {
    std::uint32_t group = kForeign;
    if (end - p >= 4) group = digit(0, p[0]) | digit(1, p[1]) | digit(2, p[2]) | digit(3, p[3]);
    if ((group & kForeign) == 0) [[likely]] {
      p += 4;
    } else if (!body.skip_spaces || !gather(p, 4, true, group)) {
      return false;
    }
    put(group, 16);
    put(group, 8);
    put(group, 0);
  }
  const std::size_t rest = body.count % 4;
  if (rest == 0) return true;
  std::uint32_t group;
  if (!gather(p, rest, body.skip_spaces, group)) return false;
  if (body.refuse_spare_bits && (group & (rest == 2 ? 0xFFFFU : 0xFFU)) != 0) return false;
  put(group, 16);
  if (rest == 3) put(group, 8);
  return true;
}

std::unexpected<Error> invalid_at(const char* what, std::size_t offset) {
  return fail(Code::Invalid, std::string(what) + " at offset " + std::to_string(offset));
}

// Says why text[start..] was refused: the first character after which nothing could make it good again,
// or the end if the text stops too early. If neither, the spare bits are to blame.
std::unexpected<Error> explain(std::string_view text, std::size_t start, bool forgiving) {
  std::size_t digits = 0;
  std::size_t padding = 0;
  std::size_t last_digit = start;
  for (std::size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    if (forgiving && is_space(c)) continue;
    if (c == '=') {
      ++padding;
      if (digits % 4 < 2 || digits % 4 + padding > 4) return invalid_at("base64 has misplaced padding", i);
    } else if (!is_digit(c)) {
      return invalid_at("base64 has a foreign character", i);
    } else if (padding > 0) {
      return invalid_at("base64 goes on after its padding", i);
    } else {
      ++digits;
      last_digit = i;
    }
  }
  const bool whole = (digits + padding) % 4 == 0 || (forgiving && padding == 0 && digits % 4 != 1);
  if (!whole) return invalid_at("base64 ends inside a group of four", text.size());
  return invalid_at("base64 sets bits that belong to no byte", last_digit);
}

std::unexpected<Error> too_large(std::size_t max_bytes) {
  return fail(Code::LimitExceeded, "base64 decodes to more than " + std::to_string(max_bytes) + " bytes");
}

// The steps 1 and 2 of OpenManus' check: a minimal length, counted in code points as Python does, and
// the removal of everything up to the first comma of a data URL. Returns the offset of the payload.
Result<std::size_t> openmanus_payload(std::string_view text) {
  constexpr std::size_t kMinLength = 10;
  constexpr std::size_t kMaxBytesPerCharacter = 4;
  if (text.size() < kMinLength * kMaxBytesPerCharacter && utf8_length(text) < kMinLength) {
    return fail(Code::Invalid, "base64 is empty or shorter than 10 characters");
  }
  if (!text.starts_with("data:")) return 0;
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return fail(Code::Invalid, "a data URL has no comma");
  return comma + 1;
}

// The body of text[start..] if it must be padded. Fails with Invalid if its length is wrong.
Result<Body> padded_body(std::string_view text, std::size_t start, bool refuse_spare_bits) {
  std::string_view digits = text.substr(start);
  if (digits.size() % 4 != 0) return explain(text, start, false);
  for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  return Body{digits, digits.size(), false, refuse_spare_bits};
}

// The body of `text` by the WHATWG rules, which look for padding only if, without whitespace, the length
// is a multiple of four. Fails with Invalid if the length is wrong.
Result<Body> forgiving_body(std::string_view text) {
  auto count = text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_space));
  if (count % 4 == 0) {
    std::string_view rest = text;
    for (int i = 0; i < 2; ++i) {
      while (!rest.empty() && is_space(rest.back())) rest.remove_suffix(1);
      if (!rest.ends_with('=')) break;
      rest.remove_suffix(1);
      --count;
    }
    text = rest;
  }
  if (count % 4 == 1) return explain(text, 0, true);
  return Body{text, count, true, false};
}

template <bool kWrite>
Result<std::string> run(std::string_view text, Base64Mode mode, std::size_t max_bytes) {
  const bool forgiving = mode == Base64Mode::Forgiving;
  std::size_t start = 0;
  if (mode == Base64Mode::OpenManus) {
    PARLEY_TRY(start, openmanus_payload(text));
    max_bytes = std::min(max_bytes, kOpenManusImageBytes);
  }
  PARLEY_TRY(const Body body,
             forgiving ? forgiving_body(text) : padded_body(text, start, mode == Base64Mode::Canonical));
  if (body.bytes() > max_bytes) {
    // OpenManus looks at the alphabet before it looks at the size, and the first failure counts.
    if (mode == Base64Mode::OpenManus && !decode<false>(body, nullptr)) return explain(text, start, false);
    return too_large(max_bytes);
  }
  std::string out;
  bool good = false;
  if constexpr (kWrite) {
    const std::size_t size = body.bytes();
    out.resize_and_overwrite(size, [&](char* p, std::size_t) {  // GCC 12 may pass more than `size` here.
      good = decode<true>(body, p);
      return good ? size : 0;
    });
  } else {
    good = decode<false>(body, nullptr);
  }
  if (!good) return explain(text, start, forgiving);
  return out;
}

}  // namespace

Result<std::string> base64_decode(std::string_view text, Base64Mode mode, std::size_t max_bytes) {
  return run<true>(text, mode, max_bytes);
}

Result<void> base64_check(std::string_view text, Base64Mode mode, std::size_t max_bytes) {
  PARLEY_CHECK(run<false>(text, mode, max_bytes));
  return {};
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  const std::size_t size = (bytes.size() + 2) / 3 * 4;
  out.resize_and_overwrite(size, [&](char* p, std::size_t) {  // GCC 12 may pass more than `size` here.
    const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(bytes[i])}; };
    std::size_t i = 0;
    for (; bytes.size() - i >= 3; i += 3) {
      const std::uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
      *p++ = kAlphabet[group >> 18];
      *p++ = kAlphabet[group >> 12 & 63];
      *p++ = kAlphabet[group >> 6 & 63];
      *p++ = kAlphabet[group & 63];
    }
    if (const std::size_t rest = bytes.size() - i; rest > 0) {
      const std::uint32_t group = byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0);
      *p++ = kAlphabet[group >> 18];
      *p++ = kAlphabet[group >> 12 & 63];
      *p++ = rest == 2 ? kAlphabet[group >> 6 & 63] : '=';
      *p++ = '=';
    }
    return size;
  });
  return out;
}

}  // namespace parley
