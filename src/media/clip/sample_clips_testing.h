// For tests: small clips, built byte by byte, so that a test can break what it wants. The sound is not sound:
// only headers are looked at.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "media/image/sample_images_testing.h"

namespace parley::samples {

using std::string_literals::operator""s;

inline std::string big64(std::uint64_t value) {
  return big(static_cast<std::uint32_t>(value >> 32)) + big(static_cast<std::uint32_t>(value));
}

// ---- WAV

inline std::string riff_chunk(const std::string& name, const std::string& data) {
  return name + little(data.size(), 4) + data + std::string(data.size() % 2, '\0');
}
inline std::string wav_format(std::uint32_t rate = 16000, std::uint32_t channels = 1, std::uint32_t bits = 16,
                              std::uint32_t codec = 1) {
  const std::uint32_t frame = channels * ((bits + 7) / 8);
  return riff_chunk("fmt ", little(codec, 2) + little(channels, 2) + little(rate, 4) +
                                little(rate * frame, 4) + little(frame, 2) + little(bits, 2));
}
inline std::string wav_of(const std::string& chunks) {
  return "RIFF" + little(4 + chunks.size(), 4) + "WAVE" + chunks;
}
// 16-bit mono at 16 kHz: 32 bytes a millisecond.
inline std::string wav(std::size_t data = 320) {
  return wav_of(wav_format() + riff_chunk("data", std::string(data, 'w')));
}

// ---- MP3: 128 kbit/s, 44.1 kHz, stereo; a frame has 417 bytes and 1152 samples

inline std::string mp3_frame(const std::string& inside = "") {
  std::string frame = "\xFF\xFB\x90\x64" + inside;
  frame.resize(417, 'm');
  return frame;
}
inline std::string xing(std::uint32_t frames, std::uint32_t bytes) {
  return mp3_frame(std::string(32, '\0') + "Xing" + big(3) + big(frames) + big(bytes));
}
inline std::string vbri(std::uint32_t frames, std::uint32_t bytes) {
  return mp3_frame(std::string(32, '\0') + "VBRI" + std::string(6, '\0') + big(bytes) + big(frames));
}
inline std::string mp3(int frames = 3) {
  std::string out;
  for (int i = 0; i < frames; ++i) out += mp3_frame();
  return out;
}
inline std::string id3(std::size_t size) {
  return "ID3\4\0\0"s + static_cast<char>(size >> 21 & 127) + static_cast<char>(size >> 14 & 127) +
         static_cast<char>(size >> 7 & 127) + static_cast<char>(size & 127) + std::string(size, '\0');
}

// ---- AAC: 44.1 kHz, stereo

inline std::string aac_frame(std::size_t size = 100) {
  std::string frame = "\xFF\xF1\x50"s;
  frame += static_cast<char>(0x80 | size >> 11);
  frame += static_cast<char>(size >> 3);
  frame += static_cast<char>(size << 5 | 0x1F);
  frame += '\xFC';
  frame.resize(size, 'a');
  return frame;
}
inline std::string aac(int frames = 4) {
  std::string out;
  for (int i = 0; i < frames; ++i) out += aac_frame();
  return out;
}

// ---- FLAC

inline std::string flac_stream(std::uint32_t rate = 44100, std::uint32_t channels = 2,
                               std::uint64_t count = 22050) {
  return big(4096, 2) + big(4096, 2) + std::string(6, '\0') +
         big(rate << 12 | (channels - 1) << 9 | 15U << 4 | static_cast<std::uint32_t>(count >> 32)) +
         big(static_cast<std::uint32_t>(count)) + std::string(16, '5');
}
inline std::string flac_block(std::uint32_t type, const std::string& body, bool is_last = false) {
  return big(type << 24 | (is_last ? 1U << 31 : 0) | static_cast<std::uint32_t>(body.size())) + body;
}
inline std::string flac(const std::string& stream = flac_stream()) {
  return "fLaC" + flac_block(0, stream) + flac_block(4, "comments", true) + "\xFF\xF8" + std::string(60, 'f');
}

// ---- Ogg

inline std::uint32_t ogg_sum(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) {
    value ^= std::uint32_t{static_cast<unsigned char>(c)} << 24;
    for (int i = 0; i < 8; ++i) value = (value << 1) ^ (value >> 31 != 0 ? 0x04C11DB7 : 0);
  }
  return value;
}
inline std::string ogg_page(const std::string& body, std::uint64_t granule, int flags = 0, int stream = 7) {
  std::string lengths(body.size() / 255, '\xFF');
  lengths += static_cast<char>(body.size() % 255);
  std::string page = "OggS\0"s + static_cast<char>(flags) + little(granule, 8) +
                     little(static_cast<unsigned>(stream), 4) + little(0, 8) +
                     static_cast<char>(lengths.size()) + lengths + body;
  return page.replace(22, 4, little(ogg_sum(page), 4));
}
inline std::string vorbis_head(std::uint32_t rate = 44100, int channels = 2) {
  return "\1vorbis"s + little(0, 4) + static_cast<char>(channels) + little(rate, 4) + std::string(12, '\0') +
         "\xB8\1"s;
}
inline std::string opus_head(int channels = 1, std::uint32_t skipped = 312) {
  return "OpusHead\1"s + static_cast<char>(channels) + little(skipped, 2) + little(16000, 4) +
         std::string(3, '\0');
}
inline std::string ogg(const std::string& head = vorbis_head(), std::uint64_t granule = 88200) {
  return ogg_page(head, 0, 2) + ogg_page("comments", 0) + ogg_page(std::string(300, 'o'), granule, 4);
}

// ---- MP4

inline std::string box(const std::string& type, const std::string& body) {
  return big(static_cast<std::uint32_t>(body.size() + 8)) + type + body;
}
inline std::string mp4_times(std::uint32_t unit, std::uint32_t duration) {
  return std::string(12, '\0') + big(unit) + big(duration) + std::string(80, '\0');
}
inline std::string mp4_times64(std::uint32_t unit, std::uint64_t duration) {
  return "\1"s + std::string(19, '\0') + big(unit) + big64(duration) + std::string(80, '\0');
}
inline const std::string kUpright =
    big(0x10000) + big(0) + big(0) + big(0) + big(0x10000) + big(0) + big(0) + big(0) + big(0x40000000);
inline const std::string kTurned =
    big(0) + big(0x10000) + big(0) + big(0xFFFF0000) + big(0) + big(0) + big(0) + big(0) + big(0x40000000);
inline std::string track(const std::string& handler, const std::string& tkhd, const std::string& sample,
                         std::uint32_t unit) {
  const std::string stsd =
      std::string(4, '\0') + big(1) + big(static_cast<std::uint32_t>(sample.size() + 4)) + sample;
  return box("trak", box("tkhd", tkhd) +
                         box("mdia", box("mdhd", mp4_times(unit, unit)) +
                                         box("hdlr", std::string(8, '\0') + handler + std::string(12, '\0')) +
                                         box("minf", box("stbl", box("stsd", stsd)))));
}
inline std::string sound_track(std::uint32_t rate = 44100, std::uint32_t channels = 2,
                               const std::string& codec = "mp4a") {
  return track("soun", std::string(84, '\0'),
               codec + std::string(16, '\0') + big(channels, 2) + big(16, 2) + big(0) +
                   (rate > 65535 ? big(0) : big(rate << 16)),
               rate);
}
inline std::string picture_track(std::uint32_t width = 640, std::uint32_t height = 480,
                                 const std::string& matrix = kUpright) {
  return track("vide", std::string(40, '\0') + matrix + big(width << 16) + big(height << 16),
               "avc1" + std::string(24, '\0') + big(width, 2) + big(height, 2) + std::string(50, '\0'), 600);
}
inline std::string moov(const std::string& tracks, std::uint32_t duration = 2500) {
  return box("moov", box("mvhd", mp4_times(1000, duration)) + tracks);
}
inline std::string ftyp(const std::string& brand) { return box("ftyp", brand + big(512) + brand); }
inline std::string mdat() { return box("mdat", std::string(64, 'd')); }
inline std::string mp4() { return ftyp("isom") + moov(picture_track() + sound_track()) + mdat(); }
inline std::string m4a() { return ftyp("M4A ") + mdat() + moov(sound_track()); }
inline std::string mov() { return ftyp("qt  ") + box("wide", "") + mdat() + moov(picture_track()); }

// ---- Matroska

inline std::string element(std::uint32_t id, const std::string& body) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (id >> shift != 0) out += static_cast<char>(id >> shift);
  }
  return out + big(0x10000000U | static_cast<std::uint32_t>(body.size())) + body;
}
inline std::string real(double value) { return big64(std::bit_cast<std::uint64_t>(value)); }
inline std::string ebml(const std::string& type) {
  return element(0x1A45DFA3, element(0x4286, "\1") + element(0x4282, type));
}
inline std::string webm_info(double duration = 2500) {
  return element(0x1549A966, element(0x2AD7B1, big(1'000'000)) + element(0x4489, real(duration)));
}
inline std::string webm_sound(double rate = 48000, char channels = 2) {
  return element(0xAE, element(0x83, "\2") + element(0xE1, element(0xB5, real(rate)) +
                                                               element(0x9F, std::string(1, channels))));
}
inline std::string webm_pictures(std::uint32_t width = 320, std::uint32_t height = 240) {
  return element(0xAE, element(0x83, "\1") +
                           element(0xE0, element(0xB0, big(width, 2)) + element(0xBA, big(height, 2))));
}
inline std::string cluster() { return element(0x1F43B675, std::string(40, 'c')); }
inline std::string segment(const std::string& body) { return element(0x18538067, body); }
inline std::string webm(const std::string& tracks = webm_pictures() + webm_sound(),
                        const std::string& type = "webm") {
  return ebml(type) + segment(webm_info() + element(0x1654AE6B, tracks) + cluster());
}
inline std::string mkv() { return webm(webm_pictures(), "matroska"); }

}  // namespace parley::samples
