// Base64 in its three modes and with each kernel against a decoder that works digit by digit. The input is a
// text to decode, and bytes to encode.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "media/base64_kernel.h"
#include "parley/base/text.h"
#include "parley/media/data_url.h"
#include "require.h"

namespace {

using parley::Base64Mode;

// The bytes that whole digits spell, and the value of the bits left over; nothing at a foreign character.
struct Decoded {
  std::string bytes;
  unsigned spare = 0;
};
std::optional<Decoded> decoded(std::string_view digits) {
  static constexpr std::string_view kRanges[] = {"AZ", "az", "09", "++", "//"};
  Decoded out;
  unsigned long bits = 0;
  int count = 0;
  for (const char c : digits) {
    unsigned long value = 0;
    bool known = false;
    for (const std::string_view range : kRanges) {
      known = c >= range[0] && c <= range[1];
      value += static_cast<unsigned long>((known ? c : range[1]) - range[0] + (known ? 0 : 1));
      if (known) break;
    }
    if (!known) return std::nullopt;
    bits = bits * 64 + value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.bytes += static_cast<char>(bits >> count);
      bits %= 1UL << count;
    }
  }
  out.spare = static_cast<unsigned>(bits);
  return out;
}

std::size_t padding_of(std::string_view text) {
  return text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
}

std::optional<std::string> padded(std::string_view text, bool exact) {
  if (text.size() % 4 != 0) return std::nullopt;
  const auto out = decoded(text.substr(0, text.size() - padding_of(text)));
  if (!out || (exact && out->spare != 0)) return std::nullopt;
  return out->bytes;
}

std::optional<std::string> right(std::string_view text, Base64Mode mode) {
  switch (mode) {
    case Base64Mode::Canonical:
      return padded(text, true);
    case Base64Mode::OpenManus: {
      std::size_t characters = 0;
      for (const char c : text) characters += (static_cast<unsigned char>(c) >> 6) != 2 ? 1 : 0;
      if (characters < 10) return std::nullopt;
      if (text.starts_with("data:")) {
        if (text.find(',') == std::string_view::npos) return std::nullopt;
        text.remove_prefix(text.find(',') + 1);
      }
      return padded(text, false);
    }
    case Base64Mode::Forgiving:
      break;
  }
  std::string stripped;
  for (const char c : text) {
    if (std::string_view(" \t\n\f\r").find(c) == std::string_view::npos) stripped += c;
  }
  if (stripped.size() % 4 == 0) stripped.resize(stripped.size() - padding_of(stripped));
  if (stripped.size() % 4 == 1) return std::nullopt;
  const auto out = decoded(stripped);
  if (!out) return std::nullopt;
  return out->bytes;
}

void check(std::string_view text, Base64Mode mode) {
  // OpenManus counts characters, so its verdict on what is no text is anyone's guess.
  if (mode == Base64Mode::OpenManus && !parley::is_utf8(text)) {
    (void)parley::base64_decode(text, mode);
    (void)parley::base64_check(text, mode);
    return;
  }
  const std::optional<std::string> expected = right(text, mode);
  const auto found = parley::base64_decode(text, mode);
  require(found.has_value() == expected.has_value(), "the verdict");
  if (found) require(*found == *expected, "the bytes");
  require(parley::base64_check(text, mode).has_value() == expected.has_value(), "the check");
  if (!found) return;
  if (!expected->empty()) {
    const auto less = parley::base64_decode(text, mode, expected->size() - 1);
    require(!less && less.error().code == parley::Code::LimitExceeded, "the limit, one less");
  }
  require(parley::base64_decode(text, mode, expected->size()).has_value(), "the limit itself");
  if (mode == Base64Mode::Canonical) require(parley::base64_encode(*found) == text, "one spelling only");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const parley::base64::Kernel* kernel : parley::base64::kernels()) {
    if (!kernel->supported()) continue;
    parley::base64::use_kernel(*kernel);
    const std::string encoded = parley::base64_encode(bytes);
    require(padded(encoded, true) == bytes, "the encoding");
    for (const Base64Mode mode : {Base64Mode::Canonical, Base64Mode::OpenManus, Base64Mode::Forgiving}) {
      check(bytes, mode);
      check(encoded, mode);
    }
  }
  return 0;
}
