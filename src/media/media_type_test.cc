#include "parley/media/media_type.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "parley/media/data_url.h"

namespace parley {
namespace {

using std::string_view_literals::operator""sv;

struct Sample {
  std::string_view type;
  std::string_view bytes;
};

constexpr Sample kSamples[] = {
    {"image/png", "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"sv},
    {"image/jpeg", "\xFF\xD8\xFF\xE0\0\x10JFIF\0"sv},
    {"image/jpeg", "\xFF\xD8\xFF\xDB"sv},
    {"image/gif", "GIF87a\1\0\1\0"sv},
    {"image/gif", "GIF89a\1\0\1\0"sv},
    {"image/bmp", "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\2\0\0\0"sv},
    {"image/bmp", "BM\x1A\0\0\0\0\0\0\0\x1A\0\0\0\x0C\0\0\0\2\0\2\0"sv},
    {"image/webp", "RIFF\x24\0\0\0WEBPVP8L"sv},
    {"image/tiff", "II*\0\x08\0\0\0"sv},
    {"image/tiff", "MM\0*\0\0\0\x08"sv},
    {"image/tiff", "II+\0\x08\0\0\0"sv},
    {"audio/wav", "RIFF\x24\x08\0\0WAVEfmt "sv},
    {"audio/mpeg", "ID3\x04\0\0"sv},
    {"audio/mpeg", "\xFF\xFB\x90\x64\0"sv},
    {"audio/flac", "fLaC\0\0\0\x22"sv},
    {"audio/ogg", "OggS\0\2\0\0"sv},
    {"audio/aac", "\xFF\xF1\x50\x80"sv},
    {"audio/mp4",
     "\0\0\0\x20"
     "ftypM4A \0\0\0\0"sv},
    {"video/mp4",
     "\0\0\0\x20"
     "ftypisom\0\0\2\0isomiso2avc1mp41"sv},
    {"video/mp4",
     "\0\0\0\x18"
     "ftypmp42\0\0\0\0"sv},
    {"video/quicktime",
     "\0\0\0\x14"
     "ftypqt  \0\0\0\0qt  "sv},
    {"video/quicktime", "\0\0\0\x08wide\0\0\x10\0mdat"sv},
    {"video/webm",
     "\x1A\x45\xDF\xA3\x9F\x42\x86\x81\1\x42\xF7\x81\1\x42\xF2\x81\4\x42\xF3\x81\x08\x42\x82\x84webm"sv},
    {"video/x-matroska",
     "\x1A\x45\xDF\xA3\xA3\x42\x86\x81\1\x42\xF7\x81\1\x42\xF2\x81\4\x42\xF3\x81\x08\x42\x82\x88matroska"sv},
    {"application/pdf", "%PDF-1.7\n%\xE2\xE3"sv},
};

TEST(MediaType, IsShownByTheFirstBytes) {
  for (const auto& [type, bytes] : kSamples) {
    EXPECT_EQ(sniff_media_type(bytes), type);
    EXPECT_EQ(sniff_media_type(std::string(bytes) + std::string(1'000, '\x55')), type);
  }
}

TEST(MediaType, IsShownByTheFirstCharactersOfBase64) {
  for (const auto& [type, bytes] : kSamples) {
    std::string text = base64_encode(bytes);
    EXPECT_EQ(sniff_base64_media_type(text), type);
    while (text.ends_with('=')) text.pop_back();
    EXPECT_EQ(sniff_base64_media_type(text), type) << "without padding";
    EXPECT_EQ(sniff_base64_media_type(base64_encode(std::string(bytes) + std::string(1'000, '\x55'))), type);
  }
}

TEST(MediaType, IsShownByBase64InLines) {
  const std::string text = base64_encode(std::string("%PDF-1.7") + std::string(200, 'x'));
  std::string lines = "\r\n";
  for (std::size_t i = 0; i < text.size(); i += 19) lines += text.substr(i, 19) + "\r\n";
  EXPECT_EQ(sniff_base64_media_type(lines), "application/pdf");
  // Only the first characters matter.
  EXPECT_EQ(sniff_base64_media_type(text + "!!!"), "application/pdf");
}

TEST(MediaType, IsEmptyForEverythingElse) {
  for (const std::string_view bytes :
       {""sv, "B"sv, "BM"sv, "BMW builds cars, and this is a text"sv, "RIFF\0\0\0\0AVI "sv, "RIFFWEBP"sv,
        "GIF88a"sv, "{\"type\":\"text\"}"sv, "PK\3\4"sv,
        "\0\0\0\x1C"
        "ftypavif\0\0\0\0"sv,
        "\0\0\0\x18"
        "ftypheic\0\0\0\0"sv,
        "The wide road"sv, "\xFF\xFEh\0i\0"sv, "\xEF\xBB\xBFtext"sv, "\x1A\x45\xDF\xA3\x84\x42\x86\x81\1"sv,
        "\0"sv}) {
    EXPECT_EQ(sniff_media_type(bytes), "") << bytes;
    EXPECT_EQ(sniff_base64_media_type(base64_encode(bytes)), "") << bytes;
  }
  EXPECT_EQ(sniff_base64_media_type("not base64, at all"), "");
  EXPECT_EQ(sniff_base64_media_type("A"), "");
}

// No start of a sample may be taken for another type while the rest is still to come.
TEST(MediaType, NeverChangesWhileBytesArrive) {
  for (const auto& [type, bytes] : kSamples) {
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      const std::string_view early = sniff_media_type(bytes.substr(0, length));
      EXPECT_TRUE(early.empty() || early == type) << early << " for " << type;
    }
  }
}

TEST(CanonicalMediaType, IsOneNameForEveryKind) {
  EXPECT_EQ(canonical_media_type("image/jpg"), "image/jpeg");
  EXPECT_EQ(canonical_media_type("audio/mp3"), "audio/mpeg");
  EXPECT_EQ(canonical_media_type("audio/x-wav"), "audio/wav");
  EXPECT_EQ(canonical_media_type("audio/wave"), "audio/wav");
  EXPECT_EQ(canonical_media_type("audio/x-m4a"), "audio/mp4");
  EXPECT_EQ(canonical_media_type("video/mov"), "video/quicktime");
  EXPECT_EQ(canonical_media_type("video/matroska"), "video/x-matroska");
}

TEST(CanonicalMediaType, HasSmallLettersAndNoParameters) {
  EXPECT_EQ(canonical_media_type(" Audio/X-WAV\t; codecs=1"), "audio/wav");
  EXPECT_EQ(canonical_media_type("audio/webm;codecs=opus"), "audio/webm");
  EXPECT_EQ(canonical_media_type("Text/Plain; charset=UTF-8"), "text/plain");
}

TEST(CanonicalMediaType, KeepsWhatItDoesNotKnow) {
  EXPECT_EQ(canonical_media_type("application/x-of-tomorrow"), "application/x-of-tomorrow");
  EXPECT_EQ(canonical_media_type(""), "");
  EXPECT_EQ(canonical_media_type(" ; "), "");
  EXPECT_EQ(canonical_media_type("mp3"), "mp3");
}

TEST(CanonicalMediaType, LeavesWhatIsSniffedAsItIs) {
  for (const auto& [type, bytes] : kSamples) EXPECT_EQ(canonical_media_type(type), type);
}

TEST(MediaType, IsShownByContainersOfEitherKind) {
  EXPECT_TRUE(is_shown_as("image/png", "image/png"));
  EXPECT_TRUE(is_shown_as("audio/webm", "video/webm"));
  EXPECT_TRUE(is_shown_as("video/mp4", "audio/mp4"));
  EXPECT_FALSE(is_shown_as("audio/mpeg", "video/mp4"));
  EXPECT_FALSE(is_shown_as("image/webp", "video/webm"));
  EXPECT_FALSE(is_shown_as("image/jpg", "image/jpeg"));
  EXPECT_FALSE(is_shown_as("", "image/jpeg"));
}

}  // namespace
}  // namespace parley
