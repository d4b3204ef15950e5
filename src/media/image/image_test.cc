#include "parley/media/image.h"

#include <gtest/gtest.h>

#include <vector>

#include "media/image/inflate.h"
#include "media/image/sample_images_testing.h"

namespace parley {
namespace {

using namespace samples;
using std::string_literals::operator""s;

ImageCheck header(std::string_view bytes) { return check_image(bytes, {.level = ImageLevel::Header}); }
ImageCheck decode(std::string_view bytes) { return check_image(bytes); }

struct Sample {
  ImageFormat format;
  std::string_view media_type;
  std::uint32_t width, height;
  std::string bytes;
};
std::vector<Sample> all_samples() {
  return {
      {ImageFormat::Png, "image/png", 4, 3, png()},
      {ImageFormat::Jpeg, "image/jpeg", 9, 7, jpeg()},
      {ImageFormat::Jpeg, "image/jpeg", 9, 7, progressive_jpeg()},
      {ImageFormat::Gif, "image/gif", 2, 2, gif()},
      {ImageFormat::Bmp, "image/bmp", 3, 2, bmp()},
      {ImageFormat::Webp, "image/webp", 9, 7, webp()},
      {ImageFormat::Webp, "image/webp", 9, 7, lossless_webp()},
      {ImageFormat::Tiff, "image/tiff", 4, 3, tiff()},
      {ImageFormat::Tiff, "image/tiff", 9, 7, lzw_tiff()},
  };
}

TEST(Image, ChecksumsAreThoseOfTheDefinition) {
  std::string bytes;
  for (std::size_t size = 0; size <= 1'000; ++size) {
    ASSERT_EQ(media::crc32_of(bytes), crc(bytes)) << size;
    const std::string_view all = bytes;
    const std::size_t cut = size * 7 % (size + 1);
    ASSERT_EQ(media::crc32_of(all.substr(cut), media::crc32_of(all.substr(0, cut))), crc(bytes)) << size;
    bytes += static_cast<char>(size * size + size / 3);
  }
}

TEST(Image, GoodImagesAreGoodAtBothLevels) {
  for (const Sample& sample : all_samples()) {
    for (const ImageLevel level : {ImageLevel::Header, ImageLevel::Decode}) {
      const ImageCheck check = check_image(sample.bytes, {.level = level});
      EXPECT_TRUE(check.valid()) << sample.media_type << ": " << check.sentence;
      EXPECT_EQ(check.format, sample.format);
      EXPECT_EQ(media_type(check.format), sample.media_type);
      EXPECT_EQ(check.width, sample.width);
      EXPECT_EQ(check.height, sample.height);
      EXPECT_EQ(check.bytes, sample.bytes.size());
      EXPECT_EQ(check.frames, 1U);
      EXPECT_EQ(check.trailing, 0U) << sample.media_type;
      EXPECT_TRUE(check.sentence.empty());
    }
  }
}

// IMAGE2, IMAGE3: an image that is cut off anywhere is refused with a reason, and what decodes has good
// headers.
TEST(Image, CutOffAtEveryByte) {
  for (const Sample& sample : all_samples()) {
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      // A buffer of its own, so that a sanitizer sees a read after the end.
      const std::vector<char> bytes(sample.bytes.begin(),
                                    sample.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string_view view(bytes.data(), bytes.size());
      const ImageCheck at_header = header(view);
      const ImageCheck at_decode = decode(view);
      for (const ImageCheck& check : {at_header, at_decode}) {
        EXPECT_EQ(check.valid(), check.sentence.empty());
        EXPECT_EQ(check.valid(), to_string(check.reason).empty());
      }
      EXPECT_TRUE(at_header.valid() || !at_decode.valid()) << sample.media_type << " " << size;
    }
  }
}

TEST(Image, WithoutItsLastPixelsItDoesNotDecode) {
  const auto undecodable = [](std::string bytes, std::size_t less) {
    bytes.resize(bytes.size() - less);
    EXPECT_TRUE(header(bytes).valid());
    EXPECT_EQ(decode(bytes).reason, ImageReason::Undecodable) << decode(bytes).sentence;
  };
  undecodable(jpeg(), 4);
  undecodable(progressive_jpeg(), 60);
  undecodable(gif(), 4);
  undecodable(bmp(), 4);
}

TEST(Image, SurvivesAChangeOfEveryByte) {
  for (const Sample& sample : all_samples()) {
    for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xFF}) {
        std::string bytes = sample.bytes;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        EXPECT_TRUE(header(bytes).valid() || !decode(bytes).valid()) << sample.media_type << " " << at;
      }
    }
  }
}

// ---- IMAGE1: what Pillow looks at, and what not

TEST(Image, PngChecksEverySum) {
  const std::string good = png(4, 3, chunk("gAMA", big(45455)), chunk("tIME", "1234567"));
  EXPECT_TRUE(header(good).valid());
  for (const std::string_view name : {"IHDR", "gAMA", "IDAT", "tIME"}) {
    std::string bytes = good;
    bytes[bytes.find(name) + 5] ^= 1;
    EXPECT_EQ(header(bytes).reason, ImageReason::Broken) << name;
  }
  std::string bytes = good;
  bytes[bytes.size() - 1] ^= 1;  // that of IEND is not looked at
  EXPECT_TRUE(header(bytes).valid());
}

TEST(Image, PngChunksHaveTheirSizes) {
  const auto good = [](const std::string& name, const std::string& data) {
    return header(png(4, 3, chunk(name, data))).valid();
  };
  EXPECT_TRUE(good("gAMA", "1234"));
  EXPECT_FALSE(good("gAMA", "123"));
  EXPECT_TRUE(good("cHRM", std::string(32, '\0')));
  EXPECT_FALSE(good("cHRM", std::string(31, '\0')));
  EXPECT_TRUE(good("sRGB", "1"));
  EXPECT_FALSE(good("sRGB", ""));
  EXPECT_TRUE(good("pHYs", "123456789"));
  EXPECT_FALSE(good("pHYs", "12345678"));
  EXPECT_TRUE(good("tRNS", "12"));
  EXPECT_FALSE(good("tRNS", "1"));
  EXPECT_TRUE(good("acTL", big(1) + big(0)));
  EXPECT_FALSE(good("acTL", big(1)));
  EXPECT_TRUE(good("zTXt", "key\0\0"s + stored("text")));
  EXPECT_FALSE(good("zTXt", "key\0\1"s + stored("text")));
  EXPECT_TRUE(good("prVt", "anything"));
  EXPECT_FALSE(good("pr t", "anything"));
}

TEST(Image, PngTextIsUnpackedUpToALimit) {
  const std::string limit(std::size_t{1} << 20, 'x');
  const auto with = [](std::string_view text) {
    return header(png(4, 3, chunk("zTXt", "k\0\0"s + stored(text))));
  };
  EXPECT_TRUE(with(std::string_view(limit).substr(1)).valid());
  EXPECT_FALSE(with(limit + "x").valid());
}

TEST(Image, AnImageWithoutPixelsIsRefused) {
  EXPECT_EQ(header(png(0, 3)).reason, ImageReason::Broken);
  EXPECT_EQ(header(png(4, 0)).reason, ImageReason::Broken);
  EXPECT_EQ(header(bmp(0, 2)).reason, ImageReason::Broken);
  EXPECT_EQ(header(bmp(3, 0)).reason, ImageReason::Broken);
  EXPECT_EQ(header(kPngSignature + png_header(4, 3) + chunk("IEND", "")).reason, ImageReason::Broken);
}

TEST(Image, SeveralJpegsInOneFileAreRefused) {
  const ImageCheck check = header(mpo());
  EXPECT_EQ(check.reason, ImageReason::Unsupported);
  EXPECT_EQ(check.format, ImageFormat::Mpo);
  EXPECT_EQ(check.width, 9U);
}

TEST(Image, TheOrientationOfATiffIsApplied) {
  const ImageCheck check = header(tiff(tiff_entry(274, 3, 1, 6), 1));
  EXPECT_TRUE(check.valid()) << check.sentence;
  EXPECT_EQ(check.width, 3U);
  EXPECT_EQ(check.height, 4U);
}

TEST(Image, AValueOutsideOfATiffEndsItsDirectory) {
  EXPECT_TRUE(header(tiff(tiff_entry(270, 2, 100, 0xFFFFFF), 1)).valid());
  std::string bytes = tiff();
  bytes.replace(bytes.find(tiff_entry(256, 3, 1, 4)), 12, tiff_entry(256, 3, 100, 0xFFFFFF));
  EXPECT_FALSE(header(bytes).valid());
}

// ---- IMAGE4

TEST(Image, LimitsHoldAtTheLimit) {
  const std::string bytes = png(4, 3);
  const auto with = [&](ImageOptions options) { return check_image(bytes, options).reason; };
  EXPECT_EQ(with({.bytes = bytes.size()}), ImageReason::None);
  EXPECT_EQ(with({.bytes = bytes.size() - 1}), ImageReason::Bytes);
  EXPECT_EQ(with({.side = 4}), ImageReason::None);
  EXPECT_EQ(with({.side = 3}), ImageReason::Sides);
  EXPECT_EQ(with({.pixels = 12}), ImageReason::None);
  EXPECT_EQ(with({.pixels = 11}), ImageReason::Pixels);
  EXPECT_EQ(with({.time = std::chrono::milliseconds(0)}), ImageReason::Time);
}

TEST(Image, TheDefaultsAreOpenManus) {
  EXPECT_EQ(header(bmp(8192, 1)).reason, ImageReason::None);
  EXPECT_EQ(header(bmp(8193, 1)).reason, ImageReason::Sides);
  EXPECT_EQ(header(kPngSignature + png_header(13377, 13377) + chunk("IDAT", "") + chunk("IEND", "")).reason,
            ImageReason::Sides);
  EXPECT_EQ(header(kPngSignature + png_header(13378, 13378) + chunk("IDAT", "") + chunk("IEND", "")).reason,
            ImageReason::Pixels);
  EXPECT_EQ(header(kPngSignature + png_header(0xFFFFFFFF, 0xFFFFFFFF) + chunk("IEND", "")).reason,
            ImageReason::Pixels);
}

TEST(Image, Base64OverTheLimitIsNotDecoded) {
  const std::string text = base64_encode(png());
  EXPECT_TRUE(check_base64_image(text).valid());
  EXPECT_TRUE(check_base64_image("data:text/plain;base64," + text).valid());
  EXPECT_EQ(check_base64_image(text, {.bytes = png().size()}).reason, ImageReason::None);
  EXPECT_EQ(check_base64_image(text, {.bytes = png().size() - 1}).reason, ImageReason::Bytes);
  EXPECT_EQ(check_base64_image("@@@@").reason, ImageReason::Base64);
  EXPECT_EQ(check_base64_image("").reason, ImageReason::Unidentified);
}

// ---- IMAGE6, IMAGE7, IMAGE8

TEST(Image, OtherBytesAreNotIdentified) {
  for (const std::string_view text : {"", "x", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<html></html>",
                                      "%PDF-1.7", "RIFF\4\0\0\0WAVEfmt "}) {
    EXPECT_EQ(header(text).reason, ImageReason::Unidentified) << text;
    EXPECT_EQ(header(text).format, ImageFormat::Unknown);
  }
}

TEST(Image, BytesAfterTheEndAreCounted) {
  const std::string more = "<script>alert(1)</script>";
  for (const Sample& sample : all_samples()) {
    if (sample.format == ImageFormat::Tiff) continue;  // has no end
    const ImageCheck check = decode(sample.bytes + more);
    EXPECT_TRUE(check.valid()) << sample.media_type << ": " << check.sentence;
    EXPECT_EQ(check.trailing, more.size()) << sample.media_type;
  }
}

TEST(Image, LaterFramesAreCountedAndNotJudged) {
  std::string two = gif();
  two.pop_back();
  const std::string broken_frame = ",\0\0\0\0\2\0\2\0\0\2\1\xFF\0"s;
  const ImageCheck check = decode(two + broken_frame + ";");
  EXPECT_TRUE(check.valid()) << check.sentence;
  EXPECT_EQ(check.frames, 2U);
}

// ---- Decoding

TEST(Image, APngMayEndWithARowButNotInside) {
  const auto with = [](const std::string& rows) {
    return decode(kPngSignature + png_header(4, 3) + chunk("IDAT", stored(rows)) + chunk("IEND", ""));
  };
  const std::string row = "\0xxxx"s;
  EXPECT_TRUE(with(row + row + row).valid());
  EXPECT_TRUE(with(row + row + row + row).valid());
  EXPECT_EQ(with(row + row + row.substr(1)).reason, ImageReason::Undecodable);
  EXPECT_EQ(with(row + "\5xxxx" + row).reason, ImageReason::Undecodable);
}

TEST(Image, PngPixelsMayBeInManyChunks) {
  const std::string data = stored("\0xxxx\0xxxx\0xxxx"s);
  std::string bytes = kPngSignature + png_header(4, 3);
  for (const char c : data) bytes += chunk("IDAT", std::string(1, c)) + chunk("IDAT", "");
  EXPECT_TRUE(decode(bytes + chunk("IEND", "")).valid());
}

TEST(Image, GifCodesHaveToBeKnown) {
  std::string bytes = gif();
  const std::size_t data = bytes.size() - 5;  // 44 34 05: clear, then codes of three bits
  bytes[data] = '\x3C';                       // clear, then 7, which no one made yet
  EXPECT_TRUE(header(bytes).valid());
  EXPECT_EQ(decode(bytes).reason, ImageReason::Undecodable);
}

TEST(Image, BmpRowsInRuns) {
  const auto rle = [](const std::string& data) {
    return decode("BM" + little(0, 8) + little(54 + 1024, 4) + little(40, 4) + little(3, 4) + little(2, 4) +
                  little(1, 2) + little(8, 2) + little(1, 4) + std::string(20, '\0') +
                  std::string(1024, 'p') + data);
  };
  EXPECT_TRUE(rle("\3a\0\0\3b\0\0\0\1"s).valid());
  EXPECT_TRUE(rle("\3a\3b\0\0\3c"s).valid());  // what is too long for its row is dropped
  EXPECT_TRUE(rle("\0\3abc\0\0\0\3b"s).valid());
  EXPECT_EQ(rle("\3a\0\1"s).reason, ImageReason::Undecodable);
  EXPECT_EQ(rle("\3a\0\2\1"s).reason, ImageReason::Undecodable);
  EXPECT_EQ(rle("").reason, ImageReason::Undecodable);
}

// Strips of more than 4 MiB are read row by row, in order only.
TEST(CheckImage, DecodesPlanesOfAnySize) {
  for (const std::uint32_t side : {8U, 1000U, 2100U}) {
    const std::string bytes = planar_tiff(side);
    const ImageCheck check = check_image(bytes);
    EXPECT_TRUE(check.valid()) << side << ": " << check.sentence;
    EXPECT_EQ(check.width, side);
    EXPECT_FALSE(check_image(bytes.substr(0, 8) + std::string(bytes.size() - 8, '\x7F')).valid());
  }
}

// IMAGE5: a list of ten million strips is not kept.
TEST(CheckImage, DoesNotListMoreTilesThanAnImageHas) {
  constexpr std::uint32_t kStrips = 9'000'000;
  std::string bytes = tiff();
  const std::size_t at = bytes.find(little(273, 2) + little(4, 2));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 12, tiff_entry(273, 1, kStrips, static_cast<std::uint32_t>(bytes.size())));
  bytes.append(kStrips, '\x08');
  EXPECT_TRUE(check_image(bytes, {.level = ImageLevel::Header}).valid());
  EXPECT_EQ(check_image(bytes).reason, ImageReason::Undecodable);
}

}  // namespace
}  // namespace parley
