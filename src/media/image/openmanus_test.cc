// One test a step of OpenManus' validator, with its message to the letter.
#include <gtest/gtest.h>

#include "media/image/sample_images_testing.h"
#include "parley/media/image.h"

namespace parley {
namespace {

using namespace samples;

std::string message(std::string_view text, std::size_t max_size_mb = 10) {
  const OpenManusVerdict verdict = validate_base64_image(text, max_size_mb);
  EXPECT_EQ(verdict.ok, verdict.message == "Valid image");
  return verdict.message;
}
std::string of(std::string_view bytes) { return message(base64_encode(bytes)); }

TEST(OpenManusImage, Step1TooShort) {
  EXPECT_EQ(message(""), "Base64 string is empty or too short");
  EXPECT_EQ(message("AAAAAAAAA"), "Base64 string is empty or too short");
  EXPECT_EQ(message("data:,AAA"), "Base64 string is empty or too short");
  EXPECT_EQ(message("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"), "Base64 string is empty or too short");
}

TEST(OpenManusImage, Step2DataUrlWithoutAComma) {
  EXPECT_EQ(message("data:image/png;base64"), "Invalid data URL format");
}

TEST(OpenManusImage, Step3Characters) {
  for (const std::string_view text : {"AAAA AAAA AAAA", "AAAA-AAAA_AA", "AA==AAAAAAAA", "AAAAAAAAA===",
                                      "DATA:image/png,AAAA", "AAAAAAAAAAAA\n\n", "AAAAAAAAAAAA\xC3\xA9"}) {
    EXPECT_EQ(message(text), "Invalid base64 characters detected") << text;
  }
}

TEST(OpenManusImage, Step4Length) { EXPECT_EQ(message("AAAAAAAAAA"), "Invalid base64 string length"); }

TEST(OpenManusImage, Step5LineFeed) {
  EXPECT_EQ(message("AAAAAAAAAAA\n"), "Base64 decoding failed: Only base64 data is allowed");
}

TEST(OpenManusImage, Step6Bytes) {
  const std::string limit = bmp(1024, 341);  // just below 1 MiB
  const auto padded = [&](std::size_t size) {
    return base64_encode(limit + std::string(size - limit.size(), 'x'));
  };
  EXPECT_EQ(message(padded(1048576), 1), "Valid image");
  EXPECT_EQ(message(padded(1048577), 1), "Image size exceeds limit (1048576 bytes)");
  const std::string larger = base64_encode(bmp(2048, 1707));  // just above 10 MiB
  EXPECT_EQ(message(larger), "Image size exceeds limit (10485760 bytes)");
  EXPECT_EQ(message(larger, 11), "Valid image");
  EXPECT_EQ(message(larger.substr(0, larger.size() - 1) + "!", 11), "Invalid base64 characters detected");
}

TEST(OpenManusImage, Step7NoImage) {
  EXPECT_EQ(message("data:image/png;base64,"), "Invalid image data: cannot identify image file");
  EXPECT_EQ(of("this is no image"), "Invalid image data: cannot identify image file");
  EXPECT_EQ(of(png(0, 0)), "Invalid image data: cannot identify image file");
}

TEST(OpenManusImage, Step7BrokenPng) {
  std::string bytes = png();
  bytes[bytes.find("IDAT") + 8] ^= 1;
  EXPECT_EQ(of(bytes), "Invalid image data: broken PNG file (bad header checksum in b'IDAT')");
  const std::size_t sum = png().size() - 12 - 4;  // that of IDAT, before IEND
  EXPECT_EQ(of(png().substr(0, sum + 2)),
            "Invalid image data: broken PNG file (incomplete checksum in b'IDAT')");
  EXPECT_EQ(of(png().substr(0, sum - 1)), "Invalid image data: Truncated File Read");
  EXPECT_EQ(of(png().substr(0, sum + 4)), "Invalid image data: truncated PNG file");
  EXPECT_EQ(of(png().substr(0, sum + 10)), "Invalid image data: broken PNG file (chunk b'IE')");
  EXPECT_EQ(of(kPngSignature + png_header(4, 3) + chunk("IEND", "")),
            "Invalid image data: list index out of range");
  EXPECT_EQ(of(png(4, 3, chunk("pHYs", ""))), "Invalid image data: Truncated pHYs chunk");
}

TEST(OpenManusImage, Step7OtherFormats) {
  std::string bytes = bmp();
  bytes[14] = 41;
  EXPECT_EQ(of(bytes), "Invalid image data: Unsupported BMP header type (41)");
  bytes = bmp();
  bytes[28] = 7;
  EXPECT_EQ(of(bytes), "Invalid image data: Unsupported BMP pixel depth (7)");
  bytes = bmp();
  bytes[30] = 9;
  EXPECT_EQ(of(bytes), "Invalid image data: Unsupported BMP compression (9)");
  EXPECT_EQ(of(webp().substr(0, 24)), "Invalid image data: could not create decoder object");
  EXPECT_EQ(of(jpeg().substr(0, 40)), "Invalid image data: Truncated File Read");
}

TEST(OpenManusImage, Step7Bomb) {
  EXPECT_EQ(of(kPngSignature + png_header(13378, 13378) + chunk("IDAT", "") + chunk("IEND", "")),
            "Invalid image data: Image size (178970884 pixels) exceeds limit of 178956970 pixels, could be "
            "decompression bomb DOS attack.");
}

TEST(OpenManusImage, Step8Format) { EXPECT_EQ(of(mpo()), "Unsupported image format: MPO"); }

// Of a large JPEG only the start is decoded; no verdict may show it.
TEST(OpenManusImage, LargeJpegsAreJudgedAsSmallOnes) {
  const std::string tail(300'000, 'x');
  std::string text = base64_encode(jpeg() + tail);
  EXPECT_EQ(message(text), "Valid image");
  EXPECT_EQ(message("data:image/png;base64," + text), "Valid image");
  EXPECT_EQ(message(text + "\n"), "Invalid base64 string length");
  EXPECT_EQ(message(text.substr(0, text.size() - 2)), "Invalid base64 string length");
  EXPECT_EQ(message(text, 0), "Image size exceeds limit (0 bytes)");
  EXPECT_EQ(message("data:," + text + ",AAAA"), "Invalid base64 characters detected");
  for (const std::size_t place : {std::size_t{8}, std::size_t{100'000}, text.size() - 8}) {
    std::string bad = text;
    bad[place] = '-';
    EXPECT_EQ(message(bad), "Invalid base64 characters detected") << place;
  }
  EXPECT_EQ(of(mpo() + tail), "Unsupported image format: MPO");
  EXPECT_EQ(of(jpeg().substr(0, 40) + tail), of(jpeg().substr(0, 40) + std::string(60'000, 'x')));
  EXPECT_EQ(of(jpeg() + std::string(std::size_t{11} << 20, 'x')),
            "Image size exceeds limit (10485760 bytes)");
  // Headers of 260 KB.
  const std::string profile = "\xFF\xE3" + big(65'000, 2) + std::string(64'998, 'p');
  EXPECT_EQ(of(jpeg().insert(2, profile + profile + profile + profile) + tail), "Valid image");
}

TEST(OpenManusImage, Step9Sides) {
  EXPECT_EQ(of(bmp(8192, 1)), "Valid image");
  EXPECT_EQ(of(bmp(8193, 1)), "Image dimensions exceed limit (8192x8192)");
}

// Step 10 asks for sides of at least one pixel; every format fails at step 7 without them.
TEST(OpenManusImage, Step10IsNeverReached) {
  for (const std::string& bytes : {png(0, 3), png(3, 0), bmp(0, 1), bmp(1, 0)}) {
    EXPECT_EQ(of(bytes), "Invalid image data: cannot identify image file");
  }
}

TEST(OpenManusImage, GoodOnes) {
  for (const std::string& bytes : {png(), jpeg(), gif(), bmp(), webp(), tiff()})
    EXPECT_EQ(of(bytes), "Valid image");
  EXPECT_EQ(message("data:text/plain," + base64_encode(png())), "Valid image");
  // A JPEG without its last pixels is good enough for it.
  EXPECT_EQ(of(jpeg().substr(0, jpeg().size() - 4)), "Valid image");
}

}  // namespace
}  // namespace parley
