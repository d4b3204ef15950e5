// The headers that are read here, with their offsets in bytes:
//
//   PNG   89 "PNG" 0D 0A 1A 0A, length, "IHDR", width u32, height u32 (big endian)
//   GIF   "GIF87a" or "GIF89a", width u16, height u16 (little endian)
//   BMP   "BM", 12 bytes, header size u32; size 12: width u16, height u16; else: width i32, height i32, which
//         is negative if the rows run downwards
//   WebP  "RIFF", size, "WEBP", then one chunk {name, size}:
//           "VP8 "  3 bytes of frame tag, 9D 01 2A, width and height in the low 14 bits of two u16
//           "VP8L"  2F, then 14 bits width - 1 and 14 bits height - 1
//           "VP8X"  4 bytes of flags, u24 width - 1, u24 height - 1
//   JPEG  FF D8, then segments {FF, marker, length u16, ...}; a frame header (C0..CF but C4, C8, CC) holds
//         precision u8, height u16, width u16 (big endian)
//   WAV   "RIFF" or "RF64", size, "WAVE", chunks {name, size u32, ...} of even length: "fmt " has the bytes a
//         second at 8, "data" is the sound
//
// All of them are read forwards, so that one Reader serves bytes and base64 alike. The readers in image/ are
// separate, because they must agree with Pillow: they need the whole file as bytes, seek in it, and allocate
// the sentence of a refusal. Counting tokens must do none of that (HEADER1, HEADER4).
#include <algorithm>
#include <array>
#include <limits>

#include "media/base64_kernel.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::uint8_t kNoDigit = 0xFF;
constexpr std::uint8_t kSpace = 0xFE;

constexpr std::array<std::uint8_t, 256> digit_table() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kNoDigit);
  std::uint8_t value = 0;
  for (const char c : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"sv) {
    table[static_cast<unsigned char>(c)] = value++;
  }
  for (const char c : " \t\n\f\r"sv) table[static_cast<unsigned char>(c)] = kSpace;
  return table;
}
constexpr std::array<std::uint8_t, 256> kDigits = digit_table();

// Bytes, one after another; nothing after the end.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::uint8_t> next() {
    if (bytes_.empty()) return std::nullopt;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }
  // Skips `count` bytes, or what is left. Returns how many.
  std::size_t skip(std::size_t count) {
    count = std::min(count, bytes_.size());
    bytes_.remove_prefix(count);
    return count;
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

// The bytes of base64, up to the first character that is not a digit.
class Base64Bytes {
 public:
  explicit Base64Bytes(std::string_view text) : text_(text) {}

  std::optional<std::uint8_t> next() {
    while (count_ < 8) {
      if (text_.empty()) return std::nullopt;
      const std::uint8_t digit = kDigits[static_cast<unsigned char>(text_.front())];
      if (digit == kNoDigit) return std::nullopt;
      text_.remove_prefix(1);
      if (digit == kSpace) continue;
      bits_ = (bits_ << 6) | digit;
      count_ += 6;
    }
    count_ -= 8;
    return static_cast<std::uint8_t>(bits_ >> count_);
  }
  // Whole groups need only be checked; next() takes the rest.
  std::size_t skip(std::size_t count) {
    std::size_t skipped = 0;
    while (skipped < count) {
      if (count_ == 0) {
        const std::size_t digits = std::min((count - skipped) / 3 * 4, text_.size());
        const std::size_t taken = base64::kernel().check(text_.data(), digits);
        text_.remove_prefix(taken);
        skipped += taken / 4 * 3;
        if (skipped == count) break;
      }
      if (!next()) break;
      ++skipped;
    }
    return skipped;
  }
  // Whitespace between the digits counts as digits: to find it would take reading all of them.
  std::size_t left() const {
    std::size_t digits = text_.size();
    while (digits > 0 && kDigits[static_cast<unsigned char>(text_[digits - 1])] >= kSpace) --digits;
    return (digits * 6 + static_cast<std::size_t>(count_)) / 8;
  }

 private:
  std::string_view text_;
  std::uint32_t bits_ = 0;
  int count_ = 0;
};

// Reads numbers forwards. After the end, or after kMaxHeaderBytes, every number is 0 and ok() is false.
template <typename Source>
class Reader {
 public:
  explicit Reader(std::string_view input) : source_(input) {}

  bool ok() const { return ok_; }
  std::size_t left() const { return source_.left(); }

  std::uint32_t u8() {
    if (!ok_ || read_ == kMaxHeaderBytes) return stop();
    const auto byte = source_.next();
    if (!byte) return stop();
    ++read_;
    return *byte;
  }
  std::uint32_t big16() {
    const std::uint32_t high = u8();
    return high << 8 | u8();
  }
  std::uint32_t big32() {
    const std::uint32_t high = big16();
    return high << 16 | big16();
  }
  std::uint32_t little16() {
    const std::uint32_t low = u8();
    return low | u8() << 8;
  }
  std::uint32_t little24() {
    const std::uint32_t low = little16();
    return low | u8() << 16;
  }
  std::uint32_t little32() {
    const std::uint32_t low = little16();
    return low | little16() << 16;
  }

  void skip(std::uint64_t count) {
    if (count > kMaxHeaderBytes - read_) {
      stop();
      return;
    }
    if (!ok_) return;
    const std::size_t skipped = source_.skip(count);
    read_ += skipped;
    if (skipped < count) stop();
  }

  // Whether these bytes come next; they are read as far as they agree.
  bool reads(std::string_view expected) {
    return std::ranges::all_of(expected,
                               [&](char c) { return u8() == static_cast<unsigned char>(c) && ok_; });
  }

 private:
  std::uint32_t stop() {
    ok_ = false;
    return 0;
  }

  Source source_;
  std::size_t read_ = 0;
  bool ok_ = true;
};

std::optional<ImageSize> sized(bool ok, std::uint32_t width, std::uint32_t height) {
  if (!ok || width == 0 || height == 0) return std::nullopt;
  return ImageSize{width, height};
}

template <typename R>
std::optional<ImageSize> png_size(R r) {
  r.skip(12);  // the signature and the length of the first chunk
  if (!r.reads("IHDR")) return std::nullopt;
  const std::uint32_t width = r.big32();
  const std::uint32_t height = r.big32();
  // The format stops at 2^31 - 1.
  if (width > INT32_MAX || height > INT32_MAX) return std::nullopt;
  return sized(r.ok(), width, height);
}

template <typename R>
std::optional<ImageSize> gif_size(R r) {
  r.skip(6);
  const std::uint32_t width = r.little16();
  const std::uint32_t height = r.little16();
  return sized(r.ok(), width, height);
}

template <typename R>
std::optional<ImageSize> bmp_size(R r) {
  r.skip(14);
  const std::uint32_t header = r.little32();
  if (header == 12) {
    const std::uint32_t width = r.little16();
    const std::uint32_t height = r.little16();
    return sized(r.ok(), width, height);
  }
  // The size of the header is the format's version; without this check a text that begins with "BM" passes.
  constexpr std::uint32_t kVersions[] = {40, 52, 56, 64, 108, 124};
  if (std::ranges::find(kVersions, header) == std::end(kVersions)) return std::nullopt;
  const std::uint32_t width = r.little32();
  const std::uint32_t height = r.little32();
  if (width > INT32_MAX) return std::nullopt;
  return sized(r.ok(), width, height > INT32_MAX ? ~height + 1 : height);
}

template <typename R>
std::optional<ImageSize> webp_size(R r) {
  r.skip(12);
  if (!r.reads("VP8")) return std::nullopt;
  const std::uint32_t kind = r.u8();
  r.skip(4);
  switch (kind) {
    case ' ': {
      const bool is_key_frame = (r.u8() & 1) == 0;
      r.skip(2);
      if (!is_key_frame || !r.reads("\x9D\x01\x2A"sv)) return std::nullopt;
      const std::uint32_t width = r.little16() & 0x3FFF;
      const std::uint32_t height = r.little16() & 0x3FFF;
      return sized(r.ok(), width, height);
    }
    case 'L': {
      if (!r.reads("\x2F"sv)) return std::nullopt;
      const std::uint32_t bits = r.little32();
      return sized(r.ok(), (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1);
    }
    case 'X': {
      r.skip(4);
      const std::uint32_t width = r.little24() + 1;
      const std::uint32_t height = r.little24() + 1;
      return sized(r.ok(), width, height);
    }
    default:
      return std::nullopt;
  }
}

template <typename R>
std::optional<ImageSize> jpeg_size(R r) {
  r.skip(2);
  while (r.ok()) {
    if (r.u8() != 0xFF) return std::nullopt;
    std::uint32_t marker = r.u8();
    while (marker == 0xFF && r.ok()) marker = r.u8();  // fill bytes
    const bool stands_alone = marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7);
    if (stands_alone) continue;
    // The image data begins or ends without a frame header.
    if (marker == 0x00 || (marker >= 0xD8 && marker <= 0xDA)) return std::nullopt;
    const std::uint32_t length = r.big16();
    if (length < 2) return std::nullopt;
    if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
      r.skip(1);
      const std::uint32_t height = r.big16();  // 0: given after the first scan, which is not read
      const std::uint32_t width = r.big16();
      return sized(r.ok(), width, height);
    }
    r.skip(length - 2);
  }
  return std::nullopt;
}

template <typename R>
using SizeOf = std::optional<ImageSize> (*)(R);

template <typename Source>
std::optional<ImageSize> size_of(std::string_view input) {
  using R = Reader<Source>;
  struct Row {
    std::string_view first;   // at the start
    std::string_view second;  // at offset 8
    SizeOf<R> size;
  };
  static constexpr Row kRows[] = {
      {"\x89PNG\r\n\x1A\n"sv, "", png_size<R>},
      {"\xFF\xD8\xFF"sv, "", jpeg_size<R>},
      {"GIF87a"sv, "", gif_size<R>},
      {"GIF89a"sv, "", gif_size<R>},
      {"RIFF"sv, "WEBP"sv, webp_size<R>},
      {"BM"sv, "", bmp_size<R>},
  };
  for (const Row& row : kRows) {
    R r(input);
    if (!r.reads(row.first)) continue;
    if (!row.second.empty()) {
      r.skip(8 - row.first.size());
      if (!r.reads(row.second)) continue;
    }
    return row.size(R(input));
  }
  return std::nullopt;
}

template <typename Source>
std::optional<double> seconds_of(std::string_view input) {
  Reader<Source> r(input);
  const std::uint32_t magic = r.big32();
  if (magic != 0x52494646 && magic != 0x52463634) return std::nullopt;  // "RIFF", "RF64"
  r.skip(4);
  if (!r.reads("WAVE")) return std::nullopt;
  std::uint32_t rate = 0;
  while (r.ok()) {
    const std::uint32_t name = r.big32();
    const std::uint32_t size = r.little32();
    if (!r.ok()) break;
    if (name == 0x64617461) {  // "data"
      if (rate == 0) return std::nullopt;
      // A recorder that could not write the final size leaves 0 or the largest number.
      const std::size_t said = size == 0 ? std::numeric_limits<std::size_t>::max() : size;
      return static_cast<double>(std::min(said, r.left())) / rate;
    }
    std::uint64_t rest = std::uint64_t{size} + size % 2;
    if (name == 0x666D7420 && size >= 16) {  // "fmt "
      r.skip(8);
      rate = r.little32();
      rest -= 12;
    }
    r.skip(rest);
  }
  return std::nullopt;
}

}  // namespace

std::string_view base64_of_data_url(std::string_view text) {
  if (!is_data_url(text)) return text;
  const std::size_t comma = text.find(',');
  return comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
}

std::optional<ImageSize> image_size(std::string_view bytes) { return size_of<Bytes>(bytes); }
std::optional<ImageSize> base64_image_size(std::string_view base64) {
  return size_of<Base64Bytes>(base64_of_data_url(base64));
}

std::optional<double> wav_seconds(std::string_view bytes) { return seconds_of<Bytes>(bytes); }
std::optional<double> base64_wav_seconds(std::string_view base64) {
  return seconds_of<Base64Bytes>(base64_of_data_url(base64));
}

}  // namespace parley
