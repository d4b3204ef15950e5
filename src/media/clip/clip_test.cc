#include "parley/media/clip.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/allocations_testing.h"
#include "media/clip/sample_clips_testing.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

using namespace samples;

struct Sample {
  ClipFormat format;
  ClipKind kind;
  std::string_view name, media_type;
  std::uint32_t rate, channels, width, height;
  double seconds;
  std::string bytes;
};
std::vector<Sample> all_samples() {
  using enum ClipFormat;
  constexpr auto kAudio = ClipKind::Audio;
  constexpr auto kVideo = ClipKind::Video;
  return {
      {Wav, kAudio, "WAV", "audio/wav", 16000, 1, 0, 0, 0.01, wav()},
      {Mp3, kAudio, "MP3", "audio/mpeg", 44100, 2, 0, 0, 3 * 417 / 16000.0, mp3()},
      {Mp3, kAudio, "MP3", "audio/mpeg", 44100, 2, 0, 0, 2 * 1152 / 44100.0, xing(2, 1251) + mp3(2)},
      {Flac, kAudio, "FLAC", "audio/flac", 44100, 2, 0, 0, 0.5, flac()},
      {Ogg, kAudio, "OGG", "audio/ogg", 44100, 2, 0, 0, 2, ogg()},
      {Ogg, kAudio, "OGG", "audio/ogg", 48000, 1, 0, 0, 1, ogg(opus_head(), 48312)},
      {Aac, kAudio, "AAC", "audio/aac", 44100, 2, 0, 0, 4 * 1024 / 44100.0, aac()},
      {M4a, kAudio, "M4A", "audio/mp4", 44100, 2, 0, 0, 2.5, m4a()},
      {Mp4, kVideo, "MP4", "video/mp4", 44100, 2, 640, 480, 2.5, mp4()},
      {Mov, kVideo, "MOV", "video/quicktime", 0, 0, 640, 480, 2.5, mov()},
      {Webm, kVideo, "WEBM", "video/webm", 48000, 2, 320, 240, 2.5, webm()},
      {Webm, kAudio, "WEBM", "audio/webm", 48000, 2, 0, 0, 2.5, webm(webm_sound())},
      {Mkv, kVideo, "MKV", "video/x-matroska", 0, 0, 320, 240, 2.5, mkv()},
  };
}

TEST(Clip, GoodClipsAreGood) {
  for (const Sample& sample : all_samples()) {
    const ClipCheck check = check_clip(sample.bytes);
    EXPECT_TRUE(check.valid()) << sample.name << ": " << check.sentence;
    EXPECT_EQ(check.format, sample.format);
    EXPECT_EQ(to_string(check.format), sample.name);
    EXPECT_EQ(check.kind, sample.kind) << sample.name;
    EXPECT_EQ(check.media_type, sample.media_type);
    EXPECT_EQ(check.sample_rate, sample.rate) << sample.name;
    EXPECT_EQ(check.channels, sample.channels) << sample.name;
    EXPECT_EQ(check.width, sample.width) << sample.name;
    EXPECT_EQ(check.height, sample.height) << sample.name;
    EXPECT_EQ(check.bytes, sample.bytes.size());
    EXPECT_FALSE(check.is_cut_off) << sample.name;
    ASSERT_TRUE(check.seconds) << sample.name;
    EXPECT_NEAR(*check.seconds, sample.seconds, 1e-9) << sample.name;
    EXPECT_TRUE(check.sentence.empty());
  }
}

// CLIP1, CLIP5: whatever a check says of damaged bytes is possible.
void expect_possible(const ClipCheck& check) {
  EXPECT_EQ(check.valid(), check.sentence.empty());
  EXPECT_EQ(check.valid(), to_string(check.reason).empty());
  EXPECT_LE(check.sample_rate, kMaxSampleRate);
  EXPECT_LE(check.channels, 255U);
  EXPECT_LE(check.width, 65535U);
  EXPECT_LE(check.height, 65535U);
  EXPECT_TRUE(!check.seconds || (*check.seconds >= 0 && *check.seconds <= kMaxSeconds));
  EXPECT_EQ(canonical_media_type(check.media_type), check.media_type);
}

// CLIP1, CLIP7
TEST(Clip, CutOffAtEveryByte) {
  for (const Sample& sample : all_samples()) {
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      // A buffer of its own, so that a sanitizer sees a read after the end.
      const std::vector<char> bytes(sample.bytes.begin(),
                                    sample.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const ClipCheck check = check_clip({bytes.data(), bytes.size()});
      expect_possible(check);
      EXPECT_EQ(check.bytes, size);
    }
  }
}

TEST(Clip, SurvivesAChangeOfEveryByte) {
  for (const Sample& sample : all_samples()) {
    for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xFF}) {
        std::string bytes = sample.bytes;
        bytes[at] = static_cast<char>(bytes[at] ^ flip);
        expect_possible(check_clip(bytes));
      }
    }
  }
}

// CLIP7
TEST(Clip, AMissingEndIsReported) {
  for (const std::string& whole : {wav(), xing(2, 1251) + mp3(2), ogg(), aac(), mp4(), webm(), mkv()}) {
    const ClipCheck check = check_clip(std::string_view(whole).substr(0, whole.size() - 9));
    EXPECT_TRUE(check.valid()) << check.media_type << ": " << check.sentence;
    EXPECT_TRUE(check.is_cut_off) << check.media_type;
  }
}

// CLIP2
TEST(Clip, AGoodClipIsCheckedWithoutAllocating) {
  for (const Sample& sample : all_samples()) {
    bool is_valid = false;
    EXPECT_EQ(test::allocations_of([&] { is_valid = check_clip(sample.bytes).valid(); }), 0U) << sample.name;
    EXPECT_TRUE(is_valid);
  }
}

// ---- CLIP3

TEST(Clip, BytesHoldAtTheLimitOfTheKind) {
  for (const Sample& sample : all_samples()) {
    const std::size_t size = sample.bytes.size();
    const bool is_audio = sample.kind == ClipKind::Audio;
    for (const std::size_t other : {std::size_t{1}, size * 2}) {
      const auto with = [&](std::size_t limit) {
        const ClipOptions options{.audio_bytes = is_audio ? limit : other,
                                  .video_bytes = is_audio ? other : limit};
        EXPECT_EQ(check_base64_clip(base64_encode(sample.bytes), options).reason,
                  check_clip(sample.bytes, options).reason);
        return check_clip(sample.bytes, options).reason;
      };
      EXPECT_EQ(with(size + 1), ClipReason::None) << sample.name;
      EXPECT_EQ(with(size), ClipReason::None) << sample.name;
      EXPECT_EQ(with(size - 1), ClipReason::Bytes) << sample.name;
    }
  }
}

TEST(Clip, TheDefaultLimits) {
  const ClipOptions options;
  const auto wav_of_size = [](std::size_t size) { return wav(size - wav(0).size()); };
  EXPECT_EQ(check_clip(wav_of_size(options.audio_bytes)).reason, ClipReason::None);
  EXPECT_EQ(check_clip(wav_of_size(options.audio_bytes + 2)).reason, ClipReason::Bytes);
  const auto mp4_of_size = [](std::size_t size) {
    const std::string head = ftyp("isom") + moov(picture_track());
    return head + box("mdat", std::string(size - head.size() - 8, 'd'));
  };
  EXPECT_EQ(check_clip(mp4_of_size(options.video_bytes)).reason, ClipReason::None);
  EXPECT_EQ(check_clip(mp4_of_size(options.video_bytes + 1)).reason, ClipReason::Bytes);
}

TEST(Clip, SecondsHoldAtTheLimit) {
  const auto with = [](double limit) { return check_clip(mp4(), {.seconds = limit}).reason; };
  EXPECT_EQ(with(2.501), ClipReason::None);
  EXPECT_EQ(with(2.5), ClipReason::None);
  EXPECT_EQ(with(2.499), ClipReason::Duration);
  const ClipCheck check = check_clip(mp4(), {.seconds = 1});
  EXPECT_EQ(check.sentence, "the clip lasts 2.5 s, longer than the 1 s allowed");
  EXPECT_EQ(check.seconds, 2.5);
  const std::string silent = ebml("webm") + segment(element(0x1654AE6B, webm_sound()));
  EXPECT_EQ(check_clip(silent, {.seconds = 0}).reason, ClipReason::None) << "it does not say";
}

TEST(Clip, Base64OverTheLimitIsNotDecoded) {
  const ClipCheck check = check_base64_clip(base64_encode(wav()), {.audio_bytes = 100});
  EXPECT_EQ(check.reason, ClipReason::Bytes);
  EXPECT_EQ(check.sentence, "the clip has more than the 100 bytes allowed");
  EXPECT_EQ(check.bytes, 0U);
}

// ---- CLIP4, CLIP6

TEST(Clip, Base64HasTheVerdictOfTheBytes) {
  for (const Sample& sample : all_samples()) {
    const ClipCheck check = check_clip(sample.bytes);
    std::string text = base64_encode(sample.bytes);
    EXPECT_EQ(check_base64_clip(text), check);
    EXPECT_EQ(check_base64_clip("data:text/plain;base64," + text), check);
    while (text.ends_with('=')) text.pop_back();
    for (std::size_t at = 76; at < text.size(); at += 78) text.insert(at, "\r\n");
    EXPECT_EQ(check_base64_clip(text), check);
  }
  EXPECT_EQ(check_base64_clip("@@@@").reason, ClipReason::Base64);
  EXPECT_EQ(check_base64_clip("").reason, ClipReason::Unidentified);
}

TEST(Clip, OtherBytesAreNotIdentified) {
  for (const std::string& text :
       {""s, "x"s, "<html></html>"s, "%PDF-1.7"s, "RIFF\4\0\0\0AVI "s, png(), gif()}) {
    const ClipCheck check = check_clip(text);
    EXPECT_EQ(check.reason, ClipReason::Unidentified) << text;
    EXPECT_EQ(check.kind, ClipKind::Unknown);
    EXPECT_EQ(to_string(check.kind), "");
    EXPECT_EQ(check.media_type, "");
  }
}

TEST(Clip, TheTracksMakeTheKind) {
  const ClipCheck sound = check_clip(ftyp("isom") + moov(sound_track()) + mdat());
  EXPECT_EQ(sound.kind, ClipKind::Audio);
  EXPECT_EQ(sound.format, ClipFormat::M4a);
  EXPECT_EQ(sound.media_type, "audio/mp4");
  const ClipCheck film = check_clip(ftyp("M4A ") + moov(picture_track()) + mdat());
  EXPECT_EQ(film.kind, ClipKind::Video);
  EXPECT_EQ(film.media_type, "video/mp4");
  const ClipCheck quicktime = check_clip(ftyp("qt  ") + moov(sound_track()) + mdat());
  EXPECT_EQ(quicktime.kind, ClipKind::Audio);
  EXPECT_EQ(quicktime.media_type, "video/quicktime");
}

// CLIP5
TEST(Clip, ImpossibleNumbersAreBroken) {
  const auto reason = [](const std::string& bytes) { return check_clip(bytes).reason; };
  EXPECT_EQ(reason(wav_of(wav_format(kMaxSampleRate) + riff_chunk("data", "12"))), ClipReason::None);
  EXPECT_EQ(reason(wav_of(wav_format(kMaxSampleRate + 1) + riff_chunk("data", "12"))), ClipReason::Broken);
  EXPECT_EQ(reason(wav_of(wav_format(8000, 255) + riff_chunk("data", "12"))), ClipReason::None);
  EXPECT_EQ(reason(wav_of(wav_format(8000, 256) + riff_chunk("data", "12"))), ClipReason::Broken);
  const auto lasting = [](double milliseconds) {
    return check_clip(ebml("webm") + segment(webm_info(milliseconds) + element(0x1654AE6B, webm_sound())))
        .reason;
  };
  EXPECT_EQ(lasting(kMaxSeconds * 1000), ClipReason::None);
  EXPECT_EQ(lasting(kMaxSeconds * 1000 + 1), ClipReason::Broken);
  EXPECT_EQ(lasting(-1), ClipReason::Broken);
  EXPECT_EQ(lasting(std::numeric_limits<double>::quiet_NaN()), ClipReason::Broken);
  EXPECT_EQ(lasting(std::numeric_limits<double>::infinity()), ClipReason::Broken);
}

}  // namespace
}  // namespace parley
