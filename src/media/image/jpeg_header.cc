// JPEG as Pillow opens it: segments up to the first scan. The scans are not looked at but for their end.
//
//   file     FF D8, segments; FF xx without a payload (D0..D9, C8, F0..FD), or FF xx u16 length, payload
//   frame    C0..CF but C4, C8, CC, and DE: u8 precision, u16 height, width, u8 components, {3 bytes} each
//   MPF      E2 "MPF\0", then a TIFF directory: B001 how many images, B002 16 bytes for each
//
// Models do not accept a file of several images (MPO); one with a gain map for HDR screens (Ultra HDR) is an
// ordinary JPEG with more data after it.
#include <string>

#include "media/image/format.h"
#include "media/image/tiff_directory.h"
#include "media/reader.h"

namespace parley::media {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::uint16_t kResolutionUnit = 0x128;
constexpr std::uint16_t kXResolution = 0x11A;
constexpr std::uint16_t kImageCount = 0xB001;
constexpr std::uint16_t kImageEntries = 0xB002;

enum class Mpf { Jpeg, Mpo, Broken };

struct Jpeg {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool has_frame = false;
  bool has_density = false;  // from JFIF, so that EXIF is not asked for it
  std::string exif;
  bool has_exif = false;
  std::string_view mpf;
  bool has_mpf = false;
  bool is_ultra_hdr = false;
  std::size_t scan_at = 0;
};

Found<void> read_application(std::uint32_t marker, std::string_view data, Jpeg& jpeg) {
  if (marker == 0xE1 && data.contains(" hdrgm:Version=\"")) jpeg.is_ultra_hdr = true;
  if (marker == 0xE0 && data.starts_with("JFIF")) {
    if (data.size() < 7) return not_identified("the JFIF segment of the JPEG is too short");
    if (data.size() >= 12 && (data[7] == 1 || data[7] == 2)) jpeg.has_density = true;
  } else if (marker == 0xE1 && data.starts_with("Exif\0\0"sv)) {
    jpeg.exif += jpeg.has_exif ? data.substr(6) : data;
    jpeg.has_exif = true;
  } else if (marker == 0xEE && data.starts_with("Adobe")) {
    if (data.size() < 7) return not_identified("the Adobe segment of the JPEG is too short");
  } else if (marker == 0xE2 && data.starts_with("MPF\0"sv)) {
    jpeg.mpf = data.substr(4);
    jpeg.has_mpf = true;
  }
  return {};
}

// `profiles` are the ICC segments since the last frame header; the smallest is asked for its 14th byte.
Found<void> read_frame(std::string_view data, Jpeg& jpeg, std::string& smallest_profile, bool& has_profile) {
  if (data.size() < 6) return not_identified("the frame header of the JPEG is too short");
  jpeg.height = big16_at(data, 1);
  jpeg.width = big16_at(data, 3);
  if (u8_at(data, 0) != 8) return not_identified("the JPEG does not have 8 bits per sample");
  const std::uint32_t components = u8_at(data, 5);
  if (components != 1 && components != 3 && components != 4) {
    return not_identified("the JPEG does not have 1, 3 or 4 components");
  }
  jpeg.has_frame = true;
  if (has_profile && smallest_profile.size() < 14) {
    return not_identified("the colour profile of the JPEG is too short");
  }
  has_profile = false;
  if (data.size() % 3 != 0) return not_identified("the components of the JPEG are cut off");
  return {};
}

Found<void> read_tables(std::string_view data) {
  while (!data.empty()) {
    const std::size_t size = u8_at(data, 0) < 16 ? 65 : 129;
    if (data.size() < size) return not_identified("a quantisation table of the JPEG is cut off");
    data.remove_prefix(size);
  }
  return {};
}

// Pillow takes the density from EXIF and forgives everything it meets there but a text or bytes of one.
bool fails_on_density(const Jpeg& jpeg) {
  if (jpeg.has_density || !jpeg.has_exif) return false;
  std::string_view exif = jpeg.exif;
  while (exif.starts_with("Exif\0\0"sv)) exif.remove_prefix(6);
  const auto directory = TiffDirectory::read(exif, 8);
  if (!directory || directory->find(kResolutionUnit) == nullptr) return false;
  const TiffEntry* density = directory->find(kXResolution);
  if (density == nullptr) return false;
  if (density->type == TiffType::Byte || density->type == TiffType::Undefined)
    return density->data.size() == 1;
  if (density->type != TiffType::Ascii) return false;
  std::string_view text = density->data;
  if (text.ends_with('\0')) text.remove_suffix(1);
  return text.empty() || (text.size() == 1 && text[0] >= '0' && text[0] <= '9');
}

Mpf kind_of(const Jpeg& jpeg) {
  if (!jpeg.has_mpf) return Mpf::Jpeg;
  const auto directory = TiffDirectory::read(jpeg.mpf, 8);
  if (!directory) return Mpf::Jpeg;
  const TiffEntry* count = directory->find(kImageCount);
  const TiffEntry* entries = directory->find(kImageEntries);
  if (count == nullptr || entries == nullptr) return Mpf::Jpeg;
  const auto images = directory->numbers(*count);
  if (!count->is_integer() || images.empty()) return Mpf::Jpeg;
  if (entries->type != TiffType::Byte && entries->type != TiffType::Undefined) {
    return Mpf::Jpeg;
  }
  const bool is_big = jpeg.mpf.starts_with("MM\0*"sv);
  for (double i = 0; i < images[0]; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * 16;
    if (at + 16 > entries->data.size()) return Mpf::Broken;
    const std::uint32_t attribute = is_big ? big32_at(entries->data, at) : little32_at(entries->data, at);
    if ((attribute >> 24 & 7) != 0) return Mpf::Jpeg;
  }
  if (images[0] <= 1 || jpeg.is_ultra_hdr) return Mpf::Jpeg;
  return Mpf::Mpo;
}

// Up to and with the header of the first scan.
Found<Jpeg> read_jpeg(std::string_view bytes) {
  Jpeg jpeg;
  std::string smallest_profile;
  bool has_profile = false;
  Reader reader(bytes, 3);
  bool after_ff = true;
  for (;;) {
    if (!after_ff) {
      const auto byte = reader.u8();
      if (!byte) return not_identified("the JPEG ends before its first scan");
      after_ff = *byte == 0xFF;
      continue;
    }
    const auto marker = reader.u8();
    if (!marker) return not_identified("the JPEG ends before its first scan");
    if (*marker == 0xFF) continue;  // padding
    after_ff = false;
    if (*marker == 0x00) continue;  // an FF of data that is not there
    if (*marker < 0xC0) return not_identified("the JPEG has an unknown marker");
    const bool stands_alone =
        *marker == 0xC8 || (*marker >= 0xD0 && *marker <= 0xD9) || (*marker >= 0xF0 && *marker <= 0xFD);
    if (stands_alone) continue;

    const auto length = reader.big16();
    if (!length) return not_identified("the JPEG ends inside a segment");
    const auto data = reader.all(*length < 2 ? 0 : *length - 2);
    if (!data) return cut_off("the JPEG ends inside a segment");
    Found<void> read;
    if (*marker == 0xDB) {
      read = read_tables(*data);
    } else if (*marker >= 0xE0 && *marker <= 0xEF) {
      read = read_application(*marker, *data, jpeg);
      if (*marker == 0xE2 && data->starts_with("ICC_PROFILE\0"sv) &&
          (!has_profile || *data < smallest_profile)) {
        smallest_profile = *data;
        has_profile = true;
      }
    } else if (*marker == 0xDE || (*marker <= 0xCF && *marker != 0xC4 && *marker != 0xCC)) {
      read = read_frame(*data, jpeg, smallest_profile, has_profile);
    }
    if (!read) return std::unexpected(read.error());
    if (*marker == 0xDA) break;
  }
  jpeg.scan_at = reader.at();
  if (fails_on_density(jpeg)) return not_identified("the density of the JPEG is not a number");
  if (!jpeg.has_frame || jpeg.width == 0 || jpeg.height == 0) return not_identified("the JPEG has no pixels");
  return jpeg;
}

// Bytes after the end of the image. In scans, FF precedes 00, a restart or a segment.
std::size_t trailing_of(std::string_view bytes, std::size_t at) {
  while ((at = bytes.find('\xFF', at)) != std::string_view::npos && at + 1 < bytes.size()) {
    const std::uint32_t marker = u8_at(bytes, at + 1);
    if (marker == 0xD9) return bytes.size() - at - 2;
    if (marker >= 0xC0 && marker != 0xFF && (marker < 0xD0 || marker > 0xD8)) {
      if (at + 4 > bytes.size()) return 0;
      at += 2 + big16_at(bytes, at + 2);
    } else {
      at += marker == 0xFF ? 1 : 2;
    }
  }
  return 0;
}

}  // namespace

Found<Header> read_jpeg_header(std::string_view bytes, bool counts_trailing) {
  const Found<Jpeg> jpeg = read_jpeg(bytes);
  if (!jpeg) return std::unexpected(jpeg.error());
  Header header{.format = ImageFormat::Jpeg, .width = jpeg->width, .height = jpeg->height};
  switch (kind_of(*jpeg)) {
    case Mpf::Broken:
      return not_identified("the index of images in the JPEG is cut off");
    case Mpf::Mpo:
      header.format = ImageFormat::Mpo;
      break;
    case Mpf::Jpeg:
      break;
  }
  if (counts_trailing) header.trailing = trailing_of(bytes, jpeg->scan_at);
  return header;
}

}  // namespace parley::media
