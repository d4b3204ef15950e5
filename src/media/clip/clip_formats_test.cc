// What each format says and when it contradicts itself.
#include <gtest/gtest.h>

#include "media/clip/sample_clips_testing.h"
#include "parley/media/clip.h"
#include "parley/media/media_type.h"

namespace parley {
namespace {

using namespace samples;

ClipReason reason(const std::string& bytes) { return check_clip(bytes).reason; }
double seconds(const std::string& bytes) {
  const ClipCheck check = check_clip(bytes);
  EXPECT_TRUE(check.valid()) << check.sentence;
  return check.seconds.value_or(-1);
}

// ---- WAV

TEST(ClipWav, ASizeThatAStreamCouldNotKnowIsTheRest) {
  for (const std::uint32_t size : {0U, 0xFFFFFFFFU}) {
    const std::string bytes = wav_of(wav_format() + "data" + little(size, 4) + std::string(3200, 's'));
    EXPECT_EQ(seconds(bytes), 0.1);
    EXPECT_FALSE(check_clip(bytes).is_cut_off);
  }
}

TEST(ClipWav, AgreesWithTheLengthThatTokensAreCountedBy) {
  for (const std::string& bytes :
       {wav(), wav(1), wav().substr(0, 300),
        wav_of(riff_chunk("LIST", "odd") + wav_format(8000, 2) + riff_chunk("data", wav())),
        wav_of(wav_format() + "data" + little(0, 4) + "sound")}) {
    EXPECT_EQ(check_clip(bytes).seconds, wav_seconds(bytes));
  }
}

TEST(ClipWav, OfMoreThanFourGigabytesHasItsSizeElsewhere) {
  const std::string sizes =
      riff_chunk("ds64", little(1000, 8) + little(1600, 8) + little(0, 8) + little(0, 4));
  const std::string bytes = "RF64\xFF\xFF\xFF\xFFWAVE" + sizes + wav_format() + "data\xFF\xFF\xFF\xFF" +
                            std::string(1600, 's') + riff_chunk("LIST", "more");
  EXPECT_EQ(seconds(bytes), 0.05);
}

TEST(ClipWav, NumbersThatDoNotFitTogetherAreBroken) {
  const auto with = [](const std::string& format) {
    return reason(wav_of(format + riff_chunk("data", "12")));
  };
  EXPECT_EQ(with(wav_format(44100, 2, 24)), ClipReason::None);
  EXPECT_EQ(with(wav_format(44100, 2, 32, 3)), ClipReason::None);
  EXPECT_EQ(with(wav_format(0)), ClipReason::Broken);
  EXPECT_EQ(with(wav_format(8000, 0)), ClipReason::Broken);
  EXPECT_EQ(with(wav_format(8000, 1, 0)), ClipReason::Broken);
  std::string format = wav_format();
  format[8 + 12] = 4;  // bytes a frame
  EXPECT_EQ(with(format), ClipReason::Broken);
  format[8] = 2;  // ADPCM, whose frames are blocks
  EXPECT_EQ(with(format), ClipReason::None);
  EXPECT_EQ(with(wav_format(8000, 1, 16, 0xFFFE)), ClipReason::Broken) << "too short to say which";
}

TEST(ClipWav, NeedsOneFormatAndSound) {
  EXPECT_EQ(reason(wav_of("")), ClipReason::Broken);
  EXPECT_EQ(reason(wav_of(wav_format())), ClipReason::Broken);
  EXPECT_EQ(reason(wav(0)), ClipReason::Broken);
  EXPECT_EQ(reason(wav_of(riff_chunk("data", "12") + wav_format())), ClipReason::Broken);
  EXPECT_EQ(reason(wav_of(wav_format() + wav_format() + riff_chunk("data", "12"))), ClipReason::Broken);
}

// ---- MP3 and AAC

TEST(ClipMp3, TagsAreSkipped) {
  EXPECT_EQ(seconds(id3(100) + mp3()), seconds(mp3()));
  EXPECT_EQ(seconds(id3(100) + id3(20'000) + mp3()), seconds(mp3()));
  EXPECT_EQ(seconds(mp3() + "TAG" + std::string(125, ' ')), seconds(mp3()));
  std::string footed = id3(10) + std::string(10, 'f') + mp3();
  footed[5] = 0x10;
  EXPECT_EQ(seconds(footed), seconds(mp3()));
  EXPECT_EQ(reason(id3(100).substr(0, 50)), ClipReason::Broken);
  EXPECT_EQ(reason(id3(100)), ClipReason::Broken);
  EXPECT_EQ(reason("ID3\4\0\0\0\0\0\xFF"s + mp3()), ClipReason::Broken);
}

TEST(ClipMp3, ATagMayPrecedeOtherFormats) {
  EXPECT_EQ(check_clip(id3(10) + flac()).format, ClipFormat::Flac);
  EXPECT_EQ(check_clip(id3(10) + aac()).format, ClipFormat::Aac);
  EXPECT_EQ(check_clip(id3(10) + aac()).media_type, "audio/aac");
}

TEST(ClipMp3, TheFirstFrameCountsTheOthers) {
  EXPECT_EQ(seconds(xing(100, 41'700) + mp3(2)), 100 * 1152 / 44100.0);
  EXPECT_EQ(seconds(vbri(100, 41'700) + mp3(2)), 100 * 1152 / 44100.0);
  EXPECT_FALSE(check_clip(xing(100, 41'700) + mp3(2)).is_estimate);
  EXPECT_TRUE(check_clip(xing(0, 0) + mp3(2)).is_estimate);
  EXPECT_TRUE(check_clip(mp3()).is_estimate);
  EXPECT_EQ(reason(xing(1'000'000, 1251) + mp3(2)), ClipReason::Broken);
}

TEST(ClipMp3, WhatAnEncoderAddedIsNotHeard) {
  const auto with = [](const std::string& encoder) {
    const std::string tag = "Info" + big(15) + big(10) + big(4170) + std::string(104, '\0') + encoder +
                            std::string(12, '\0') + "\x24\x04\xB0"s;  // 576 and 1200
    return seconds(mp3_frame(std::string(32, '\0') + tag) + mp3(2));
  };
  EXPECT_EQ(with("LAME3.100"), (11520 - 1776) / 44100.0);
  EXPECT_EQ(with("Lavc60.31"), (11520 - 1776) / 44100.0);
  EXPECT_EQ(with("Unknown 1"), 11520 / 44100.0);
}

TEST(ClipMp3, AFrameStandsNotAlone) {
  EXPECT_EQ(reason(mp3(1)), ClipReason::None);
  EXPECT_EQ(reason(mp3_frame().substr(0, 416)), ClipReason::Broken);
  EXPECT_EQ(reason(mp3_frame() + std::string(100, 'x')), ClipReason::Broken);
  EXPECT_EQ(reason(id3(10) + std::string(1000, '\0') + mp3()), ClipReason::None);
  EXPECT_EQ(reason(id3(10) + std::string(64 * 1024 - 1, '\0') + mp3()), ClipReason::None);
  EXPECT_EQ(reason(id3(10) + std::string(64 * 1024, '\0') + mp3()), ClipReason::Broken);
}

TEST(ClipAac, FramesAreCountedOrEstimated) {
  EXPECT_FALSE(check_clip(aac(999)).is_estimate);
  EXPECT_FALSE(check_clip(aac(1000)).is_estimate);
  EXPECT_TRUE(check_clip(aac(1001)).is_estimate);
  EXPECT_NEAR(seconds(aac(5000)), 5000 * 1024 / 44100.0, 1e-6);
  EXPECT_EQ(reason(aac(1)), ClipReason::None);
  EXPECT_EQ(reason(aac(1) + std::string(100, 'x')), ClipReason::Broken);
  EXPECT_EQ(reason("\xFF\xF1\x50\x80\0\xDF\xFC"s), ClipReason::Broken) << "a frame of six bytes";
  EXPECT_EQ(reason("ADIF" + std::string(100, 'x')), ClipReason::Unsupported);
}

// ---- FLAC and Ogg

TEST(ClipFlac, TheStreamComesFirstAndOnce) {
  const std::string stream = flac_block(0, flac_stream());
  const std::string end = "\xFF\xF8";
  const std::string comments = flac_block(4, "comments", true);
  EXPECT_EQ(reason("fLaC" + stream + comments + end), ClipReason::None);
  EXPECT_EQ(reason("fLaC" + comments + end), ClipReason::Broken);
  EXPECT_EQ(reason("fLaC" + stream + stream + comments + end), ClipReason::Broken);
  EXPECT_EQ(reason("fLaC" + stream + flac_block(127, "") + comments + end), ClipReason::Broken);
  EXPECT_EQ(reason("fLaC" + flac_block(0, flac_stream() + "x") + comments + end), ClipReason::Broken);
  EXPECT_EQ(reason("fLaC" + stream + comments), ClipReason::Broken) << "no sound";
  EXPECT_EQ(reason("fLaC" + stream + comments + "no frame"), ClipReason::Broken);
  EXPECT_EQ(reason(flac(flac_stream(0))), ClipReason::Broken);
  EXPECT_EQ(check_clip(flac(flac_stream(48000, 8, 0))).seconds, std::nullopt);
  EXPECT_EQ(seconds(flac(flac_stream(1000, 1, 0x200000000))), 8589934.592);
}

TEST(ClipOgg, OtherCodecs) {
  const ClipCheck flac =
      check_clip(ogg("\x7F"s + "FLAC\1\0\0\1fLaC"s + flac_block(0, flac_stream(96000, 1)), 48000));
  EXPECT_TRUE(flac.valid()) << flac.sentence;
  EXPECT_EQ(flac.sample_rate, 96000U);
  EXPECT_EQ(flac.seconds, 0.5);
  const ClipCheck speex = check_clip(
      ogg("Speex   " + std::string(28, ' ') + little(8000, 4) + little(0, 8) + little(1, 4), 4000));
  EXPECT_EQ(speex.seconds, 0.5) << speex.sentence;
  EXPECT_EQ(reason(ogg("\x80theora")), ClipReason::Unsupported);
  const std::string pictures = ogg_page("\x80theora", 0, 2, 8);
  EXPECT_EQ(reason(ogg_page(vorbis_head(), 0, 2) + pictures + ogg_page("sound", 100)),
            ClipReason::Unsupported);
}

TEST(ClipOgg, TheLastPageOfTheStreamGivesTheDuration) {
  const std::string head = ogg_page(vorbis_head(), 0, 2);
  const std::string sound(60'000, 'o');
  EXPECT_EQ(seconds(head + ogg_page(sound, 44100) + ogg_page(sound, 88200)), 2);
  EXPECT_EQ(seconds(head + ogg_page(sound, 44100) + ogg_page(sound, ~std::uint64_t{0})), 1);
  EXPECT_EQ(seconds(head + ogg_page(sound, 44100) + ogg_page(sound, 88200, 0, 8)), 1) << "of another stream";
  // What looks like a page inside of one has no right sum.
  EXPECT_EQ(seconds(head + ogg_page("OggS\0"s + std::string(50, '\0'), 44100)), 1);
}

TEST(ClipOgg, TheFirstPageHasToBeRight) {
  std::string bytes = ogg();
  bytes[40] ^= 1;
  EXPECT_EQ(reason(bytes), ClipReason::Broken);
  EXPECT_EQ(reason(ogg_page(vorbis_head(), 0, 0) + ogg_page("sound", 1)), ClipReason::Broken);
  EXPECT_EQ(reason(ogg(vorbis_head(0))), ClipReason::Broken);
  EXPECT_EQ(reason(ogg(vorbis_head(44100, 0))), ClipReason::Broken);
  EXPECT_EQ(reason(ogg(opus_head(0))), ClipReason::Broken);
  EXPECT_EQ(reason(ogg_page(vorbis_head(), 0, 2)), ClipReason::Broken) << "no sound";
}

// ---- MP4

TEST(ClipMp4, TheIndexMayBeAnywhereButOnce) {
  const std::string index = moov(picture_track());
  EXPECT_EQ(reason(ftyp("mp42") + index + mdat()), ClipReason::None);
  EXPECT_EQ(reason(ftyp("mp42") + box("free", "") + mdat() + index), ClipReason::None);
  EXPECT_EQ(reason(ftyp("mp42") + mdat()), ClipReason::Broken);
  EXPECT_EQ(reason(ftyp("mp42") + index + index), ClipReason::Broken);
  EXPECT_EQ(reason(ftyp("mp42") + mdat() + index.substr(0, index.size() - 1)), ClipReason::Broken);
}

TEST(ClipMp4, SizesOfBoxes) {
  const std::string start = ftyp("isom");
  const std::string index = moov(picture_track());
  EXPECT_EQ(reason(start + big(1) + "mdat" + big64(20) + "data" + index), ClipReason::None);
  EXPECT_EQ(reason(start + index + big(0) + "mdat" + "to the end"), ClipReason::None);
  EXPECT_EQ(reason(start + big(7) + "free" + index), ClipReason::Broken);
  EXPECT_EQ(reason(start + big(1) + "mdat" + big64(15) + index), ClipReason::Broken);
  EXPECT_EQ(reason(start + index + big(1) + "mdat" + big64(~std::uint64_t{0})), ClipReason::None)
      << "cut off";
  std::string outside = index;
  EXPECT_EQ(reason(start + outside.replace(8, 4, big(0x7FFFFFFF))), ClipReason::Broken);
  EXPECT_EQ(reason(start + box("moov", box("mvhd", mp4_times(1000, 1)) + picture_track() + big(0))),
            ClipReason::None)
      << "padding";
}

TEST(ClipMp4, DurationsOfAllKinds) {
  const auto with = [](const std::string& boxes) { return check_clip(ftyp("isom") + box("moov", boxes)); };
  const std::string tracks = picture_track();
  EXPECT_EQ(with(box("mvhd", mp4_times64(90'000, 180'000)) + tracks).seconds, 2);
  const std::string fragments = box("mvex", box("mehd", big(0) + big(3000)));
  EXPECT_EQ(with(box("mvhd", mp4_times(1000, 0)) + tracks + fragments).seconds, 3);
  EXPECT_EQ(with(box("mvhd", mp4_times(1000, 0)) + tracks).seconds, 1) << "of the track";
  EXPECT_EQ(with(box("mvhd", mp4_times(1000, 0xFFFFFFFF)) + tracks).seconds, 1);
  EXPECT_EQ(with(box("mvhd", mp4_times(0, 1000)) + tracks).reason, ClipReason::Broken);
  EXPECT_EQ(with(tracks).reason, ClipReason::Broken);
  EXPECT_EQ(with(box("mvhd", mp4_times(1000, 1))).reason, ClipReason::Broken) << "no track";
  EXPECT_EQ(with(box("mvhd", mp4_times64(1, UINT64_MAX - 1)) + tracks).reason, ClipReason::Broken);
}

TEST(ClipMp4, PicturesAreAsTheyAreShown) {
  const ClipCheck turned = check_clip(ftyp("isom") + moov(picture_track(1920, 1080, kTurned)));
  EXPECT_EQ(turned.width, 1080U);
  EXPECT_EQ(turned.height, 1920U);
}

TEST(ClipMp4, SoundOfManyKinds) {
  EXPECT_EQ(check_clip(ftyp("M4A ") + moov(sound_track(96000))).sample_rate, 96000U) << "by the unit of time";
  EXPECT_EQ(reason(ftyp("M4P ") + moov(sound_track(44100, 2, "drms"))), ClipReason::Unsupported);
  const std::string second = "lpcm" + std::string(8, '\0') + big(2, 2) + std::string(14, '\0') +
                             big(0x10000) + big(72) + real(192000) + big(6) + std::string(20, '\0');
  const ClipCheck check =
      check_clip(ftyp("qt  ") + moov(track("soun", std::string(84, '\0'), second, 192000)));
  EXPECT_EQ(check.sample_rate, 192000U) << check.sentence;
  EXPECT_EQ(check.channels, 6U);
}

// CLIP2
TEST(ClipMp4, BoxesAreNotEnteredDeeperThanTheyMayBe) {
  std::string nested = picture_track();
  for (int i = 0; i < 1000; ++i) nested = box("trak", nested);
  EXPECT_EQ(reason(ftyp("isom") + moov(nested)), ClipReason::Broken);
  nested = moov(picture_track());
  for (int i = 0; i < 1000; ++i) nested = box("moov", nested);
  EXPECT_EQ(reason(ftyp("isom") + nested), ClipReason::Broken);
}

// ---- Matroska

TEST(ClipMatroska, LiveStreamsHaveNoSizesAndNoDuration) {
  const std::string live = ebml("webm") + "\x18\x53\x80\x67\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF" +
                           element(0x1549A966, "") + element(0x1654AE6B, webm_sound()) +
                           "\x1F\x43\xB6\x75\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF" + std::string(50, 'c');
  const ClipCheck check = check_clip(live);
  EXPECT_TRUE(check.valid()) << check.sentence;
  EXPECT_EQ(check.seconds, std::nullopt);
  EXPECT_EQ(check.media_type, "audio/webm");
  EXPECT_FALSE(check.is_cut_off);
}

TEST(ClipMatroska, TracksMayFollowTheAudio) {
  EXPECT_EQ(reason(ebml("webm") + segment(webm_info() + cluster() + element(0x1654AE6B, webm_sound()))),
            ClipReason::None);
  EXPECT_EQ(reason(ebml("webm") + segment(webm_info() + cluster())), ClipReason::Broken);
  EXPECT_EQ(reason(ebml("webm") + segment(element(0x1654AE6B, ""))), ClipReason::Broken);
}

TEST(ClipMatroska, WhatContradictsItselfIsBroken) {
  EXPECT_EQ(reason(webm(webm_pictures(0, 240))), ClipReason::Broken);
  EXPECT_EQ(reason(webm(webm_sound(0))), ClipReason::Broken);
  EXPECT_EQ(reason(webm(webm_sound(48000, 0))), ClipReason::Broken);
  EXPECT_EQ(reason(webm(element(0xAE, element(0x83, "123456789")))), ClipReason::Broken);
  const std::string no_unit = element(0x1549A966, element(0x2AD7B1, big(0)) + element(0x4489, real(1)));
  EXPECT_EQ(reason(ebml("webm") + segment(no_unit + element(0x1654AE6B, webm_sound()))), ClipReason::Broken);
  std::string outside = webm_sound();
  outside[4] = '\x7F';  // the size of the track
  EXPECT_EQ(reason(webm(outside)), ClipReason::Broken);
  EXPECT_EQ(reason(webm(webm_sound(), "webmaster")), ClipReason::Unsupported);
}

TEST(ClipMatroska, OpusIsHeardAtOneRate) {
  const std::string opus = element(
      0xAE, element(0x83, "\2") + element(0x86, "A_OPUS") + element(0xE1, element(0xB5, real(16000))));
  EXPECT_EQ(check_clip(webm(opus)).sample_rate, 48000U);
}

TEST(ClipMatroska, DefaultsAreTheFormats) {
  const ClipCheck check = check_clip(webm(element(0xAE, element(0x83, "\2")), "matroska"));
  EXPECT_EQ(check.sample_rate, 8000U) << check.sentence;
  EXPECT_EQ(check.channels, 1U);
  EXPECT_EQ(check.media_type, "audio/x-matroska");
}

}  // namespace
}  // namespace parley
