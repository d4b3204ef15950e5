#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/allocations_testing.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

std::string big16(std::uint32_t value) {
  return {static_cast<char>(value >> 8), static_cast<char>(value & 0xFF)};
}
std::string big32(std::uint32_t value) { return big16(value >> 16) + big16(value & 0xFFFF); }
std::string little16(std::uint32_t value) {
  return {static_cast<char>(value & 0xFF), static_cast<char>(value >> 8)};
}
std::string little24(std::uint32_t value) {
  return little16(value & 0xFFFF) + std::string(1, static_cast<char>(value >> 16));
}
std::string little32(std::uint32_t value) { return little16(value & 0xFFFF) + little16(value >> 16); }

std::string png(std::uint32_t width, std::uint32_t height) {
  return "\x89PNG\r\n\x1A\n" + big32(13) + "IHDR" + big32(width) + big32(height) +
         std::string("\x08\x02\0\0\0", 5);
}
std::string gif(std::uint32_t width, std::uint32_t height) {
  return "GIF89a" + little16(width) + little16(height) + std::string(3, '\0');
}
std::string bmp(std::uint32_t width, std::uint32_t height, std::uint32_t header = 40) {
  std::string out = "BM" + std::string(12, '\0') + little32(header);
  out += header == 12 ? little16(width) + little16(height) : little32(width) + little32(height);
  return out + std::string(8, '\0');
}
std::string webp(const std::string& chunk) { return "RIFF" + little32(100) + "WEBP" + chunk; }
std::string webp_lossy(std::uint32_t width, std::uint32_t height) {
  return webp("VP8 " + little32(30) + std::string("\x10\0\0\x9D\x01\x2A", 6) + little16(width) +
              little16(height));
}
std::string webp_lossless(std::uint32_t width, std::uint32_t height) {
  return webp("VP8L" + little32(30) + "\x2F" + little32((width - 1) | (height - 1) << 14));
}
std::string webp_extended(std::uint32_t width, std::uint32_t height) {
  return webp("VP8X" + little32(10) + little32(0x10) + little24(width - 1) + little24(height - 1));
}
std::string jpeg_segment(unsigned char marker, const std::string& payload) {
  return std::string("\xFF") + static_cast<char>(marker) +
         big16(static_cast<std::uint32_t>(payload.size() + 2)) + payload;
}
std::string jpeg_frame(unsigned char marker, std::uint32_t width, std::uint32_t height) {
  return jpeg_segment(marker, "\x08" + big16(height) + big16(width) + std::string(10, '\x01'));
}
std::string jpeg(std::uint32_t width, std::uint32_t height, unsigned char marker = 0xC0) {
  return "\xFF\xD8" + jpeg_segment(0xE0, "JFIF") + jpeg_segment(0xDB, std::string(65, 'q')) +
         jpeg_frame(marker, width, height);
}

struct Picture {
  const char* name;
  std::string bytes;
  ImageSize size;
};
std::vector<Picture> pictures() {
  return {
      {"png", png(1, 2), {1, 2}},
      {"png, the largest", png(0x7FFFFFFF, 0x7FFFFFFF), {0x7FFFFFFF, 0x7FFFFFFF}},
      {"gif", gif(65535, 3), {65535, 3}},
      {"bmp", bmp(640, 480), {640, 480}},
      {"bmp, rows downwards", bmp(640, 0xFFFFFFFF), {640, 1}},
      {"bmp of OS/2", bmp(640, 480, 12), {640, 480}},
      {"bmp, version 5", bmp(640, 480, 124), {640, 480}},
      {"webp, lossy", webp_lossy(16383, 1), {16383, 1}},
      {"webp, lossless", webp_lossless(16384, 1), {16384, 1}},
      {"webp, extended", webp_extended(1 << 24, 7), {1 << 24, 7}},
      {"jpeg", jpeg(1920, 1080), {1920, 1080}},
      {"jpeg, progressive", jpeg(5, 6, 0xC2), {5, 6}},
      {"jpeg, fill bytes and a marker alone", "\xFF\xD8\xFF\xFF\xFF\x01" + jpeg_frame(0xC1, 7, 8), {7, 8}},
      {"jpeg, tables before the frame",
       "\xFF\xD8" + jpeg_segment(0xC4, "huffman") + jpeg_segment(0xCC, "arith") + jpeg_frame(0xC3, 9, 10),
       {9, 10}},
  };
}

TEST(MediaHeader, ReadsTheSizeOfEveryFormat) {
  for (const Picture& picture : pictures())
    EXPECT_EQ(image_size(picture.bytes), picture.size) << picture.name;
}

// HEADER3
TEST(MediaHeader, ReadsBase64AsItReadsTheBytes) {
  for (const Picture& picture : pictures()) {
    for (std::size_t more = 0; more < 3; ++more) {
      const std::string text = base64_encode(picture.bytes + std::string(more, 'x'));
      EXPECT_EQ(base64_image_size(text), picture.size) << picture.name;
      EXPECT_EQ(base64_image_size("data:image/png;base64," + text), picture.size) << picture.name;
      EXPECT_EQ(base64_image_size(text.substr(0, text.find('='))), picture.size) << picture.name;
      std::string lines;
      for (std::size_t i = 0; i < text.size(); ++i) lines += (i % 5 == 0 ? "\r\n" : "") + text.substr(i, 1);
      EXPECT_EQ(base64_image_size(lines), picture.size) << picture.name;
    }
  }
}

// HEADER2
TEST(MediaHeader, GivesNothingForWhatShowsNoSize) {
  const std::string none[] = {
      "",
      "hello",
      "BMW is a car, and this is a text about it",
      png(0, 5),
      png(5, 0),
      png(0x80000000, 5),
      gif(0, 1),
      bmp(0, 1),
      bmp(0x80000000, 1),
      bmp(1, 1, 39),
      webp_lossy(0, 1),
      webp("VP8 " + little32(30) + std::string("\x11\0\0\x9D\x01\x2A\1\0\1\0", 10)),  // no key frame
      webp("VP8 " + little32(30) + std::string("\x10\0\0\x9D\x01\x2B\1\0\1\0", 10)),
      webp("VP8L" + little32(30) + "\x2E" + little32(0)),
      webp("VP9 " + little32(30) + little32(0)),
      webp("ALPH" + little32(30) + little32(0)),
      jpeg(0, 5),
      jpeg(5, 0),
      std::string("\xFF\xD8\xFF\xD9"),
      "\xFF\xD8" + jpeg_segment(0xDA, "scan") + jpeg_frame(0xC0, 1, 1),
      std::string("\xFF\xD8\xFF\xE0\0\1", 6) + jpeg_frame(0xC0, 1, 1),  // a segment shorter than its length
      "\xFF\xD8\xFF\xE0" + big16(4) + "ab" + "no marker",
      "\x89PNG\r\n\x1A\n" + big32(13) + "IEND" + big32(1) + big32(1),
  };
  for (const std::string& bytes : none) {
    EXPECT_EQ(image_size(bytes), std::nullopt) << testing::PrintToString(bytes);
    EXPECT_EQ(base64_image_size(base64_encode(bytes)), std::nullopt);
  }
  EXPECT_EQ(base64_image_size("data:image/png"), std::nullopt);
  EXPECT_EQ(base64_image_size("iVBOR*"), std::nullopt);
}

// HEADER1: whatever is missing, nothing is made up.
TEST(MediaHeader, GivesNothingForAHeaderThatIsCutOff) {
  for (const Picture& picture : pictures()) {
    std::size_t needed = picture.bytes.size();
    while (image_size(std::string_view(picture.bytes).substr(0, needed - 1))) --needed;
    EXPECT_GT(needed, 9U) << picture.name;
    for (std::size_t size = 0; size < needed; ++size) {
      const std::string part = picture.bytes.substr(0, size);  // its own memory, so that ASan sees the end
      EXPECT_EQ(image_size(part), std::nullopt) << picture.name << " at " << size;
      EXPECT_EQ(base64_image_size(base64_encode(part)), std::nullopt) << picture.name << " at " << size;
    }
  }
}

// HEADER4
TEST(MediaHeader, ReadsAtMostOneMebibyte) {
  std::string before = "\xFF\xD8";
  const std::string frame = jpeg_frame(0xC0, 3, 4);
  const std::string large = jpeg_segment(0xE2, std::string(65533, 'p'));
  while (before.size() + large.size() + 100 < kMaxHeaderBytes) before += large;
  // The size is the last four of the nine bytes of a frame header that are read.
  const std::size_t room = kMaxHeaderBytes - before.size() - 4 - 9;
  for (const auto& [more, seen] :
       {std::pair<std::size_t, bool>{room - 1, true}, {room, true}, {room + 1, false}}) {
    std::string bytes = before;
    bytes += jpeg_segment(0xE3, std::string(more, 'p'));
    bytes += frame;
    EXPECT_EQ(image_size(bytes).has_value(), seen);
    EXPECT_EQ(base64_image_size(base64_encode(bytes)).has_value(), seen);
  }
}

// HEADER3: what precedes the size is skipped, in lines of any width and from any digit of a group on.
TEST(MediaHeader, FindsTheSizeAfterLongSegmentsInBase64) {
  for (std::size_t length = 200; length < 220; ++length) {
    const std::string before = "\xFF\xD8" + jpeg_segment(0xE1, std::string(length, 'e')) +
                               jpeg_segment(0xE2, std::string(3 * length, 'p'));
    const std::string text = base64_encode(before + jpeg_frame(0xC0, 7, 8));
    for (std::size_t width = 1; width < 80; ++width) {
      std::string lines;
      for (std::size_t at = 0; at < text.size(); at += width) lines += text.substr(at, width) + "\r\n";
      ASSERT_EQ(base64_image_size(lines), (ImageSize{7, 8})) << length << ", width " << width;
      lines[lines.size() / 2] = '!';
      ASSERT_EQ(base64_image_size(lines), std::nullopt) << length << ", width " << width;
    }
    ASSERT_EQ(base64_image_size(text.substr(0, before.size() * 4 / 3)), std::nullopt) << length;
  }
}

// HEADER1
TEST(MediaHeader, AllocatesNothing) {
  const std::string text = base64_encode(jpeg(1920, 1080));
  EXPECT_EQ(test::allocations_of([&] {
              EXPECT_TRUE(base64_image_size(text));
              EXPECT_FALSE(base64_wav_seconds(text));
            }),
            0U);
}

std::string wav(std::uint32_t rate, std::uint32_t said, std::size_t there, const std::string& between = "") {
  return "RIFF" + little32(36) + "WAVE" + "fmt " + little32(16) + little16(1) + little16(1) + little32(8000) +
         little32(rate) + little16(2) + little16(16) + between + "data" + little32(said) +
         std::string(there, '\x7F');
}

TEST(MediaHeader, ReadsHowLongAWavLasts) {
  EXPECT_EQ(wav_seconds(wav(16000, 32000, 32000)), 2.0);
  EXPECT_EQ(wav_seconds(wav(16000, 8000, 8000)), 0.5);
  // A chunk of odd length is followed by a byte that belongs to none.
  EXPECT_EQ(wav_seconds(wav(16000, 16000, 16000, "LIST" + little32(3) + "abc" + std::string(1, '\0'))), 1.0);
  // Only what is there can be heard.
  EXPECT_EQ(wav_seconds(wav(16000, 32000, 16000)), 1.0);
  EXPECT_EQ(wav_seconds(wav(16000, 0, 16000)), 1.0);
  EXPECT_EQ(wav_seconds(wav(16000, 0xFFFFFFFF, 16000)), 1.0);
  std::string large = wav(16000, 0xFFFFFFFF, 16000);
  large.replace(0, 4, "RF64");
  EXPECT_EQ(wav_seconds(large), 1.0);
  for (std::size_t there = 15998; there < 16002; ++there) {
    const std::string bytes = wav(16000, 0, there);
    EXPECT_EQ(base64_wav_seconds(base64_encode(bytes)), wav_seconds(bytes));
    EXPECT_EQ(base64_wav_seconds("data:audio/wav;base64," + base64_encode(bytes) + "\n"), wav_seconds(bytes));
  }

  const std::string none[] = {"",
                              "RIFF",
                              wav(0, 5, 5),
                              png(1, 1),
                              webp_lossy(1, 1),
                              "RIFF" + little32(36) + "WAVE" + "data" + little32(4) + "abcd",
                              "RIFF" + little32(36) + "WAVE" + "fmt " + little32(0xFFFFFFFF) + "abcd"};
  for (const std::string& bytes : none) EXPECT_EQ(wav_seconds(bytes), std::nullopt);
}

// HEADER1, HEADER2: headers that were changed at random, which is where sizes and lengths lie.
TEST(MediaHeader, SurvivesMutatedHeaders) {
  std::mt19937 random(20251115);
  std::vector<Picture> all = pictures();
  all.push_back({"wav", wav(16000, 100, 100, "LIST" + little32(4) + "abcd"), {}});
  for (const Picture& picture : all) {
    for (int round = 0; round < 2000; ++round) {
      std::string bytes = picture.bytes;
      for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
        const std::size_t at = random() % bytes.size();
        switch (random() % 4) {
          case 0:
            bytes[at] = static_cast<char>(random());
            break;
          case 1:
            bytes[at] = static_cast<char>(random() % 2 == 0 ? 0 : 0xFF);
            break;
          case 2:
            bytes.erase(at, random() % 5);
            break;
          default:
            bytes.insert(at, random() % 5, static_cast<char>(random()));
        }
        if (bytes.empty()) bytes = "x";
      }
      const std::string exact(bytes.data(), bytes.size());
      const auto size = image_size(exact);
      if (size) {
        EXPECT_GT(size->width, 0U);
        EXPECT_GT(size->height, 0U);
      }
      EXPECT_EQ(base64_image_size(base64_encode(exact)), size);
      EXPECT_EQ(base64_wav_seconds(base64_encode(exact)), wav_seconds(exact));
    }
  }
}

}  // namespace
}  // namespace parley
