#include "parley/media/media_type.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "parley/media/data_url.h"

namespace parley {
namespace {

using std::string_view_literals::operator""sv;

// Only so many bytes are read.
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
    {"video/x-matroska", {0, "\x1A\x45\xDF\xA3"sv}, {4, "matroska"sv, true}},

    {"application/pdf", {0, "%PDF-"sv}, {}},
};

// Names in use beside the canonical ones: of browsers, of Python's mimetypes, of file endings. Matroska's own
// name, which it got only in 2024, is not known to providers yet.
struct Alias {
  std::string_view name, canonical;
};
constexpr Alias kAliases[] = {
    {"image/jpg", "image/jpeg"},
    {"image/pjpeg", "image/jpeg"},
    {"image/x-png", "image/png"},
    {"image/apng", "image/png"},
    {"image/x-bmp", "image/bmp"},
    {"image/x-ms-bmp", "image/bmp"},
    {"image/tif", "image/tiff"},
    {"image/x-tiff", "image/tiff"},
    {"audio/x-wav", "audio/wav"},
    {"audio/wave", "audio/wav"},
    {"audio/vnd.wave", "audio/wav"},
    {"audio/x-pn-wav", "audio/wav"},
    {"audio/mp3", "audio/mpeg"},
    {"audio/x-mp3", "audio/mpeg"},
    {"audio/mpeg3", "audio/mpeg"},
    {"audio/x-mpeg-3", "audio/mpeg"},
    {"audio/x-mpeg", "audio/mpeg"},
    {"audio/mpg", "audio/mpeg"},
    {"audio/x-flac", "audio/flac"},
    {"audio/x-ogg", "audio/ogg"},
    {"audio/opus", "audio/ogg"},
    {"audio/vorbis", "audio/ogg"},
    {"application/ogg", "audio/ogg"},
    {"audio/x-aac", "audio/aac"},
    {"audio/aacp", "audio/aac"},
    {"audio/x-hx-aac-adts", "audio/aac"},
    {"audio/m4a", "audio/mp4"},
    {"audio/x-m4a", "audio/mp4"},
    {"audio/x-m4b", "audio/mp4"},
    {"audio/matroska", "audio/x-matroska"},
    {"audio/mka", "audio/x-matroska"},
    {"video/m4v", "video/mp4"},
    {"video/x-m4v", "video/mp4"},
    {"video/mov", "video/quicktime"},
    {"video/x-quicktime", "video/quicktime"},
    {"video/x-webm", "video/webm"},
    {"video/matroska", "video/x-matroska"},
    {"video/mkv", "video/x-matroska"},
    {"video/x-mkv", "video/x-matroska"},
    {"application/x-pdf", "application/pdf"},
};

constexpr std::string_view kSpaces = " \t\n\f\r";

bool holds(std::string_view bytes, const Part& part) {
  if (bytes.size() < part.offset) return part.bytes.empty();
  const std::string_view rest = bytes.substr(part.offset);
  return part.anywhere ? rest.find(part.bytes) != std::string_view::npos : rest.starts_with(part.bytes);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

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
    if (kSpaces.find(c) == std::string_view::npos) digits += c;
  }
  const Result<std::string> bytes = base64_decode(digits, Base64Mode::Forgiving);
  return bytes ? sniff_media_type(*bytes) : std::string_view();
}

std::string canonical_media_type(std::string_view media_type) {
  media_type = media_type.substr(0, media_type.find(';'));
  const std::size_t first = media_type.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  std::string type(media_type.substr(first, media_type.find_last_not_of(kSpaces) - first + 1));
  std::ranges::transform(type, type.begin(), lower);
  const auto* const alias = std::ranges::find(kAliases, type, &Alias::name);
  return alias == std::end(kAliases) ? type : std::string(alias->canonical);
}

bool is_shown_as(std::string_view named, std::string_view shown) {
  if (named == shown) return true;
  const auto is_clip = [](std::string_view type) {
    return type.starts_with("audio/") || type.starts_with("video/");
  };
  return is_clip(named) && is_clip(shown) && named.substr(6) == shown.substr(6);
}

}  // namespace parley
