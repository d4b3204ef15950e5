// The kernels decode runs of whole groups; what stands between such runs and at the end is read here. Reading
// only says yes or no; explain() then reads the text again, slowly, to say where it went wrong.
//
//   text       := group* last?
//   group      := digit digit digit digit
//   last       := digit digit "==" | digit digit digit "="     Forgiving: the padding may be absent
//
// The last digit of `last` holds 4 or 2 spare bits, which Canonical wants to be zero. Forgiving allows
// ASCII whitespace anywhere, between the two padding characters too.

#include <algorithm>
#include <string>

#include "media/base64_kernel.h"
#include "parley/base/text.h"
#include "parley/media/data_url.h"

namespace parley {
namespace {

using base64::digit;

bool is_digit(char c) { return digit(0, c) != base64::kForeign; }

// Infra's definition, which is WHATWG's: the vertical tab is not among them.
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

// How many bytes so many digits spell; of one digit more than a multiple of four, the last spells none.
std::size_t bytes_of(std::size_t digits) { return digits / 4 * 3 + digits % 4 * 3 / 4; }

// What was read of a text.
struct Read {
  std::size_t end = 0;     // the first character that was not taken
  std::size_t digits = 0;  // without whitespace
  std::uint32_t last = 0;  // the bits of the digits after the last whole group
};

// Reads the digits of `text` up to the first other character; whitespace may be skipped.
// REQUIRES, if kWrite: room for bytes_of(text.size()) at `out`; those after the result may be written too.
template <bool kWrite>
Read read_digits(std::string_view text, bool skip_spaces, char* out) {
  const base64::Kernel& kernel = base64::kernel();
  Read read;
  for (;;) {
    const char* const from = text.data() + read.end;
    const std::size_t left = text.size() - read.end;
    std::size_t taken;
    if constexpr (kWrite) {
      taken = kernel.decode(from, left, out);
      out += taken / 4 * 3;
    } else {
      taken = kernel.check(from, left);
    }
    read.end += taken;
    read.digits += taken;
    if (skip_spaces && read.end < text.size() && is_space(text[read.end])) {
      while (read.end < text.size() && is_space(text[read.end])) ++read.end;
      continue;
    }
    // The next group is cut off, or whitespace stands in it.
    std::size_t count = 0;
    read.last = 0;
    for (; read.end < text.size() && count < 4; ++read.end) {
      const char c = text[read.end];
      if (is_digit(c)) {
        read.last |= digit(count++, c);
      } else if (!skip_spaces || !is_space(c)) {
        break;
      }
    }
    read.digits += count;
    if constexpr (kWrite) {
      for (std::size_t i = 0; i < bytes_of(count); ++i) *out++ = static_cast<char>(read.last >> (16 - 8 * i));
    }
    if (count < 4) return read;
  }
}

std::unexpected<Error> invalid_at(const char* what, std::size_t offset) {
  return fail(Code::Invalid, std::string(what) + " at offset " + std::to_string(offset));
}

// Explains why text[start..] is refused: the first character that no continuation makes valid, or the end if
// the text stops too early. Otherwise the spare bits are the reason.
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
      return invalid_at("base64 has an invalid character", i);
    } else if (padding > 0) {
      return invalid_at("base64 continues after its padding", i);
    } else {
      ++digits;
      last_digit = i;
    }
  }
  const bool whole = (digits + padding) % 4 == 0 || (forgiving && padding == 0 && digits % 4 != 1);
  if (!whole) return invalid_at("base64 ends inside a group of four", text.size());
  return invalid_at("base64 has unused bits that are not zero", last_digit);
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
  if (comma == std::string_view::npos) return fail(Code::Invalid, "invalid data URL: it has no comma");
  return comma + 1;
}

// The digits of text[start..] if it must be padded. Fails with Invalid if its length is wrong.
Result<std::string_view> padded_digits(std::string_view text, std::size_t start) {
  std::string_view digits = text.substr(start);
  if (digits.size() % 4 != 0) return explain(text, start, false);
  for (int i = 0; i < 2 && digits.ends_with('='); ++i) digits.remove_suffix(1);
  return digits;
}

bool has_spare_bits(const Read& read) {
  const std::size_t rest = read.digits % 4;
  return rest != 0 && (read.last & (rest == 2 ? 0xFFFFU : 0xFFU)) != 0;
}

// The number of digits by the WHATWG rules, which look for padding only if, without whitespace, the length
// is a multiple of four. Anything that is not whitespace counts as a digit.
std::size_t forgiving_count(std::string_view text) {
  auto count = text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_space));
  if (count % 4 != 0) return count;
  for (int i = 0; i < 2; ++i) {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (!text.ends_with('=')) break;
    text.remove_suffix(1);
    --count;
  }
  return count;
}

// Whether the rest after the digits is valid by the same rules: padding that fits, or nothing.
bool forgiving_end(std::string_view rest, std::size_t digits) {
  std::size_t padding = 0;
  for (const char c : rest) {
    if (c != '=' && !is_space(c)) return false;
    if (c == '=') ++padding;
  }
  return padding == 0 ? digits % 4 != 1 : padding <= 2 && (digits + padding) % 4 == 0;
}

// Decodes `text`, or only checks it. Texts of millions of characters pass the caches only once, so nothing
// is counted in advance that is not needed: the room is as large as the text allows, and Forgiving knows how
// much of it is used when it is done.
template <bool kWrite>
Result<std::string> run(std::string_view text, Base64Mode mode, std::size_t max_bytes) {
  const bool forgiving = mode == Base64Mode::Forgiving;
  std::size_t start = 0;
  std::string_view digits = text;
  if (forgiving) {
    if (bytes_of(text.size()) > max_bytes) {
      const std::size_t count = forgiving_count(text);
      if (count % 4 == 1) return explain(text, 0, true);
      if (bytes_of(count) > max_bytes) return too_large(max_bytes);
    }
  } else {
    if (mode == Base64Mode::OpenManus) {
      PARLEY_TRY(start, openmanus_payload(text));
      max_bytes = std::min(max_bytes, kOpenManusImageBytes);
    }
    PARLEY_TRY(digits, padded_digits(text, start));
    if (bytes_of(digits.size()) > max_bytes) {
      // OpenManus looks at the alphabet before it looks at the size, and the first failure counts.
      if (mode == Base64Mode::OpenManus && read_digits<false>(digits, false, nullptr).end < digits.size()) {
        return explain(text, start, false);
      }
      return too_large(max_bytes);
    }
  }

  bool good = false;
  const auto judge = [&](const Read& read) {
    good = forgiving ? forgiving_end(digits.substr(read.end), read.digits)
                     : read.end == digits.size() && (mode == Base64Mode::OpenManus || !has_spare_bits(read));
    return good ? bytes_of(read.digits) : 0;
  };
  std::string out;
  if constexpr (kWrite) {
    // GCC 12 may give more room than was asked for.
    out.resize_and_overwrite(bytes_of(digits.size()), [&](char* p, std::size_t) {
      return judge(read_digits<true>(digits, forgiving, p));
    });
    if (good && out.size() < out.capacity() / 2) out.shrink_to_fit();  // It was mostly whitespace.
  } else {
    judge(read_digits<false>(digits, forgiving, nullptr));
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
    const std::size_t taken = base64::kernel().encode(bytes.data(), bytes.size(), p);
    p += taken / 3 * 4;
    if (const std::string_view rest = bytes.substr(taken); !rest.empty()) {
      const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(rest[i])}; };
      const std::uint32_t group = byte(0) << 16 | (rest.size() == 2 ? byte(1) << 8 : 0);
      *p++ = base64::kAlphabet[group >> 18];
      *p++ = base64::kAlphabet[group >> 12 & 63];
      *p++ = rest.size() == 2 ? base64::kAlphabet[group >> 6 & 63] : '=';
      *p++ = '=';
    }
    return size;
  });
  return out;
}

}  // namespace parley
