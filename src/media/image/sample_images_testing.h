// For tests: small images, built byte by byte where that is short, so that a test can break what it wants.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "parley/media/data_url.h"

namespace parley::samples {

inline std::string little(std::uint64_t value, int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
inline std::string big(std::uint32_t value, int size = 4) {
  std::string out;
  for (int i = size - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// ---- PNG

inline std::uint32_t crc(std::string_view bytes) {
  std::uint32_t value = 0xFFFFFFFF;
  for (const char c : bytes) {
    value ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) value = (value >> 1) ^ (value & 1 ? 0xEDB88320 : 0);
  }
  return ~value;
}
inline std::string chunk(const std::string& name, const std::string& data) {
  return big(static_cast<std::uint32_t>(data.size())) + name + data + big(crc(name + data));
}
// A zlib stream that is not compressed.
inline std::string stored(std::string_view data) {
  std::string out = "\x78\x01";
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : data) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  do {
    const std::string_view part = data.substr(0, 65535);
    data.remove_prefix(part.size());
    out += data.empty() ? '\1' : '\0';
    out += little(part.size(), 2) + little(~part.size(), 2);
    out += part;
  } while (!data.empty());
  return out + big(b << 16 | a);
}
inline const std::string kPngSignature = "\x89PNG\r\n\x1A\n";
inline std::string png_header(std::uint32_t width, std::uint32_t height, int depth = 8, int colour = 0) {
  return chunk("IHDR",
               big(width) + big(height) +
                   std::string{static_cast<char>(depth), static_cast<char>(colour), '\0', '\0', '\0'});
}
inline std::string png(std::uint32_t width = 4, std::uint32_t height = 3, const std::string& before = "",
                       const std::string& after = "") {
  std::string rows;
  for (std::uint32_t y = 0; y < height; ++y) rows += '\0' + std::string(width, 'x');
  return kPngSignature + png_header(width, height) + before + chunk("IDAT", stored(rows)) + after +
         chunk("IEND", "");
}

// ---- Others

// 2 x 2, four pixels of two bits.
inline std::string gif() {
  using std::string_literals::operator""s;
  return "GIF89a\2\0\2\0\x80\0\0\0\0\0\xFF\xFF\xFF"s + ",\0\0\0\0\2\0\2\0\0"s + "\2\3\x44\x34\5\0;"s;
}
inline std::string bmp(std::uint32_t width = 3, std::uint32_t height = 2) {
  const std::size_t stride = (width * 3 + 3) / 4 * 4;
  return "BM" + little(54 + stride * height, 4) + little(0, 4) + little(54, 4) + little(40, 4) +
         little(width, 4) + little(height, 4) + little(1, 2) + little(24, 2) + little(0, 4) +
         std::string(20, '\0') + std::string(stride * height, 'x');
}
inline std::string tiff_entry(int tag, int type, std::uint32_t count, std::uint32_t value) {
  return little(static_cast<unsigned>(tag), 2) + little(static_cast<unsigned>(type), 2) + little(count, 4) +
         little(value, 4);
}
// 4 x 3, grey, not compressed.
inline std::string tiff(const std::string& more = "", int more_count = 0) {
  const std::string entries = tiff_entry(256, 3, 1, 4) + tiff_entry(257, 3, 1, 3) + tiff_entry(258, 3, 1, 8) +
                              tiff_entry(259, 3, 1, 1) + tiff_entry(262, 3, 1, 1) + tiff_entry(273, 4, 1, 8) +
                              more;
  return "II*" + std::string(1, '\0') + little(20, 4) + std::string(12, 'x') +
         little(static_cast<unsigned>(6 + more_count), 2) + entries + little(0, 4);
}
inline std::string from_base64(std::string_view text) { return base64_decode(text).value_or(""); }
// 9 x 7, made with Pillow.
// Red, green and blue in a strip each, packed: strips of side * side bytes in a few thousand.
inline std::string planar_tiff(std::uint32_t side) {
  std::string strip;
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t left = side; left > 0;) {
      const std::uint32_t run = left < 128 ? left : 128;
      strip += run == 1 ? std::string("\0\0", 2) : std::string{static_cast<char>(257 - run), '\0'};
      left -= run;
    }
  }
  const auto size = static_cast<std::uint32_t>(strip.size());
  const std::uint32_t lists = 8 + 3 * size;
  std::string entries = tiff_entry(256, 4, 1, side) + tiff_entry(257, 4, 1, side) +
                        tiff_entry(258, 3, 3, lists) + tiff_entry(259, 3, 1, 32773) +
                        tiff_entry(262, 3, 1, 2) + tiff_entry(273, 4, 3, lists + 6) +
                        tiff_entry(277, 3, 1, 3) + tiff_entry(278, 4, 1, side) +
                        tiff_entry(279, 4, 3, lists + 18) + tiff_entry(284, 3, 1, 2);
  std::string out = std::string("II*\0", 4) + little(lists + 30, 4) + strip + strip + strip;
  for (int i = 0; i < 3; ++i) out += little(8, 2);
  for (std::uint32_t i = 0; i < 3; ++i) out += little(8 + i * size, 4);
  for (int i = 0; i < 3; ++i) out += little(size, 4);
  return out + little(10, 2) + entries + little(0, 4);
}

inline std::string jpeg() {
  return from_base64(
      "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI//////////////////////////////////"
      "////"
      "//////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////"
      "////"
      "wAARCAAHAAkDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/"
      "8QAFQEBAQAAAAAAAAAAAAAA"
      "AAAAAQT/xAAUEQEAAAAAAAAAAAAAAAAAAAAA/9oADAMBAAIRAxEAPwCYAUP/2Q==");
}
inline std::string progressive_jpeg() {
  return from_base64(
      "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI//////////////////////////////////"
      "////"
      "//////////////wgALCAAHAAkBAREA/8QAFQABAQAAAAAAAAAAAAAAAAAAAAL/2gAIAQEAAAABl//"
      "EABQQAQAAAAAAAAAAAAAAAAAAABD/2gAI"
      "AQEAAQUCP//EABQQAQAAAAAAAAAAAAAAAAAAABD/2gAIAQEABj8CP//EABQQAQAAAAAAAAAAAAAAAAAAABD/2gAIAQEAAT8hP//"
      "aAAgBAQAA"
      "ABA//8QAFBABAAAAAAAAAAAAAAAAAAAAEP/aAAgBAQABPxA//9k=");
}
inline std::string webp() {
  return from_base64("UklGRi4AAABXRUJQVlA4ICIAAABwAQCdASoJAAcAB0CWJaACdAF1AAD+4cC9t/hz4s/U9sAA");
}
inline std::string lossless_webp() {
  return from_base64("UklGRh4AAABXRUJQVlA4TBEAAAAvCIABAAdQjyKXp/+BiOh/AAA=");
}
inline std::string lzw_tiff() {
  return from_base64(
      "SUkqADAAAACAMgPDyBQSBwWEQeFQaGQmGwuHRGIROHxWJRaKReNRmORiPRuPwOAgCgAAAQMAAQAAAAkAAAABAQMAAQAAAAcAAAACAQ"
      "MAAwAA"
      "AK4AAAADAQMAAQAAAAUAAAAGAQMAAQAAAAIAAAARAQQAAQAAAAgAAAAVAQMAAQAAAAMAAAAWAQMAAQAAAAcAAAAXAQQAAQAAACgAAA"
      "AcAQMA"
      "AQAAAAEAAAAAAAAACAAIAAgA");
}
// The JPEG with an index of two images, which makes it an MPO.
inline std::string mpo() {
  const std::string index = "II*" + std::string(1, '\0') + little(8, 4) + little(2, 2) +
                            tiff_entry(0xB001, 4, 1, 2) + tiff_entry(0xB002, 7, 32, 38) + little(0, 4) +
                            std::string(32, '\0');
  const std::string segment = "MPF" + std::string(1, '\0') + index;
  return jpeg().insert(2, "\xFF\xE2" + big(static_cast<std::uint32_t>(segment.size() + 2), 2) + segment);
}

}  // namespace parley::samples
