#include "parley/base/media_type.h"

#include <cstddef>
#include <string>

#include "parley/base/base64.h"

namespace parley {
namespace {

using std::string_view_literals::operator""sv;

// Nothing behind this many bytes is looked at.
constexpr std::size_t kWindow = 48;

// `bytes` stand at `offset`, or, if `anywhere`, at any place from `offset` on within the window.
struct Part {
  std::size_t offset = 0;
  std::string_view bytes;
  bool anywhere = false;
};

// A type is shown if both parts are there; an empty part always is.
struct Magic {
  std::string_view type;
  Part first;
  Part second;
};

// The first row that fits wins. A short mark is backed by a second part where the format has one, so
// that a text that begins with "BM" stays a text.
constexpr Magic kMagics[] = {
    {"image/png", {0, "\x89PNG\r\n\x1A\n"sv}, {}},
    {"image/jpeg", {0, "\xFF\xD8\xFF"sv}, {}},
    {"image/gif", {0, "GIF87a"sv}, {}},
    {"image/gif", {0, "GIF89a"sv}, {}},
    {"image/webp", {0, "RIFF"sv}, {8, "WEBP"sv}},
    // BMP: the size of the second header is the format's version.
    {"image/bmp", {0, "BM"sv}, {14, "\x0C\0\0\0"sv}},
    {"image/bmp", {0, "BM"sv}, {14, "\x28\0\0\0"sv}},
    {"image/bmp", {0, "BM"sv}, {14, "\x34\0\0\0"sv}},
    {"image/bmp", {0, "BM"sv}, {14, "\x38\0\0\0"sv}},
    {"image/bmp", {0, "BM"sv}, {14, "\x40\0\0\0"sv}},
    {"image/bmp", {0, "BM"sv}, {14, "\x6C\0\0\0"sv}},
    {"image/bmp", {0, "BM"sv}, {14, "\x7C\0\0\0"sv}},
    // TIFF and BigTIFF in both byte orders, and the two swapped spellings that Pillow reads.
    {"image/tiff", {0, "II*\0"sv}, {}},
    {"image/tiff", {0, "MM\0*"sv}, {}},
    {"image/tiff", {0, "II+\0"sv}, {}},
    {"image/tiff", {0, "MM\0+"sv}, {}},
    {"image/tiff", {0, "II\0*"sv}, {}},
    {"image/tiff", {0, "MM*\0"sv}, {}},

    {"audio/wav", {0, "RIFF"sv}, {8, "WAVE"sv}},
    {"audio/wav", {0, "RF64"sv}, {8, "WAVE"sv}},
    {"audio/flac", {0, "fLaC"sv}, {}},
    {"audio/ogg", {0, "OggS"sv}, {}},
    // MP3: a tag, or the sync bits of a layer III frame of MPEG 1, 2 or 2.5, with or without checksum.
    {"audio/mpeg", {0, "ID3"sv}, {}},
    {"audio/mpeg", {0, "\xFF\xFB"sv}, {}},
    {"audio/mpeg", {0, "\xFF\xFA"sv}, {}},
    {"audio/mpeg", {0, "\xFF\xF3"sv}, {}},
    {"audio/mpeg", {0, "\xFF\xF2"sv}, {}},
    {"audio/mpeg", {0, "\xFF\xE3"sv}, {}},
    {"audio/mpeg", {0, "\xFF\xE2"sv}, {}},
    // AAC: the sync bits of an ADTS frame (layer 0), or the older container.
    {"audio/aac", {0, "\xFF\xF1"sv}, {}},
    {"audio/aac", {0, "\xFF\xF0"sv}, {}},
    {"audio/aac", {0, "\xFF\xF9"sv}, {}},
    {"audio/aac", {0, "\xFF\xF8"sv}, {}},
    {"audio/aac", {0, "ADIF"sv}, {}},

    // The ISO container serves many formats, HEIF and AVIF pictures among them: the brand decides.
    {"audio/mp4", {4, "ftypM4A "sv}, {}},
    {"audio/mp4", {4, "ftypM4B "sv}, {}},
    {"audio/mp4", {4, "ftypM4P "sv}, {}},
    {"video/mp4", {4, "ftypiso"sv}, {}},
    {"video/mp4", {4, "ftypmp4"sv}, {}},
    {"video/mp4", {4, "ftypM4V"sv}, {}},
    {"video/mp4", {4, "ftypavc1"sv}, {}},
    {"video/mp4", {4, "ftypdash"sv}, {}},
    {"video/mp4", {4, "ftypMSNV"sv}, {}},
    {"video/mp4", {4, "ftypmmp4"sv}, {}},
    {"video/mp4", {4, "ftypf4v "sv}, {}},
    {"video/quicktime", {4, "ftypqt  "sv}, {}},
    // QuickTime before brands: the first atom, whose length has a zero in front.
    {"video/quicktime", {0, "\0"sv}, {4, "moov"sv}},
    {"video/quicktime", {0, "\0"sv}, {4, "mdat"sv}},
    {"video/quicktime", {0, "\0"sv}, {4, "wide"sv}},
    // EBML: the document type is an early element of the header.
    {"video/webm", {0, "\x1A\x45\xDF\xA3"sv}, {4, "webm"sv, true}},
    {"video/matroska", {0, "\x1A\x45\xDF\xA3"sv}, {4, "matroska"sv, true}},

    {"application/pdf", {0, "%PDF-"sv}, {}},
};

bool holds(std::string_view bytes, const Part& part) {
  if (bytes.size() < part.offset) return part.bytes.empty();
  const std::string_view rest = bytes.substr(part.offset);
  return part.anywhere ? rest.find(part.bytes) != std::string_view::npos : rest.starts_with(part.bytes);
}

}  // namespace

std::string_view sniff_media_type(std::string_view bytes) {
  bytes = bytes.substr(0, kWindow);
  for (const Magic& magic : kMagics) {
    if (holds(bytes, magic.first) && holds(bytes, magic.second)) return magic.type;
  }
  return {};
}

std::string_view sniff_base64_media_type(std::string_view base64) {
  // Whitespace is left out here, so that the cut falls between two groups of four digits.
  constexpr std::size_t kDigits = kWindow / 3 * 4;
  std::string digits;
  digits.reserve(kDigits);
  for (const char c : base64) {
    if (digits.size() == kDigits) break;
    if (" \t\n\f\r"sv.find(c) == std::string_view::npos) digits += c;
  }
  const Result<std::string> bytes = base64_decode(digits, Base64Mode::Forgiving);
  return bytes ? sniff_media_type(*bytes) : std::string_view();
}

}  // namespace parley
