// TIFF as Pillow opens it: the first directory has to describe pixels that Pillow has a mode for.
#include <algorithm>
#include <array>
#include <cmath>

#include "media/image/format.h"
#include "media/image/tiff.h"

namespace parley::media {
namespace {

constexpr TiffLayout kLayouts[] = {
#include "media/image/tiff_layouts.inc"
};

// The compressions that Pillow 11.1.0 names (COMPRESSION_INFO of TiffImagePlugin.py, MIT-CMU).
constexpr std::uint32_t kCompressions[] = {1,     2,     3,     4,     5,     6,     7,     8,    32771,
                                           32773, 32809, 32946, 34676, 34677, 34925, 50000, 50001};

constexpr std::size_t kMaxSamples = 6;
constexpr std::uint16_t kWindowsMediaPhoto = 0xBC01;

// A single number, or the default if absent. Texts and bytes are not numbers.
double number_or(const TiffDirectory& directory, TiffTag tag, double otherwise) {
  const TiffEntry* entry = directory.find(static_cast<std::uint16_t>(tag));
  if (entry == nullptr) return otherwise;
  const auto numbers = directory.numbers(*entry);
  return numbers.empty() ? std::nan("") : numbers.front();
}

bool is_integer(const TiffDirectory& directory, TiffTag tag) {
  const TiffEntry* entry = directory.find(static_cast<std::uint16_t>(tag));
  return entry != nullptr && entry->is_integer();
}

const TiffEntry* find(const TiffDirectory& directory, TiffTag tag) {
  return directory.find(static_cast<std::uint16_t>(tag));
}

// Every layout has one sample format for all samples; a file may say it for each.
double sample_format(const TiffDirectory& directory) {
  const TiffEntry* entry = find(directory, TiffTag::SampleFormat);
  if (entry == nullptr) return 1;
  if (entry->type == TiffType::Byte) {
    const bool all_ones = std::ranges::all_of(entry->data, [](char c) { return c == 1; });
    return entry->data.size() > 1 && all_ones ? 1 : std::nan("");
  }
  const auto formats = directory.numbers(*entry);
  if (formats.size() == 1) return formats.front();
  const bool all_ones = std::ranges::all_of(formats, [](double each) { return each == 1; });
  return !formats.empty() && all_ones ? 1 : std::nan("");
}

// Pillow multiplies the resolution if it is said for a centimetre, and stumbles if it is a text.
bool fails_on_resolution(const TiffDirectory& directory) {
  if (number_or(directory, TiffTag::ResolutionUnit, 0) != 3) return false;
  bool is_text = false;
  for (const TiffTag tag : {TiffTag::XResolution, TiffTag::YResolution}) {
    const TiffEntry* entry = find(directory, tag);
    if (entry == nullptr) continue;
    if (entry->is_number()) {
      if (directory.numbers(*entry).front() == 0) return false;
    } else {
      if (entry->type == TiffType::Ascii && entry->data == std::string_view("\0", 1)) return false;
      is_text = true;
    }
  }
  return is_text;
}

bool has_colour_map(const TiffDirectory& directory) {
  const TiffEntry* entry = find(directory, TiffTag::ColorMap);
  if (entry == nullptr) return false;
  if (entry->type == TiffType::Byte || entry->is_integer()) return true;
  if (entry->type != TiffType::Rational && entry->type != TiffType::SignedRational) return false;
  return std::ranges::none_of(directory.numbers(*entry), [](double each) { return std::isnan(each); });
}

// How many values an entry has.
std::size_t count_of(const TiffEntry& entry) {
  switch (entry.type) {
    case TiffType::Short:
    case TiffType::SignedShort:
      return entry.data.size() / 2;
    case TiffType::Long:
    case TiffType::SignedLong:
    case TiffType::Float:
    case TiffType::Ifd:
      return entry.data.size() / 4;
    case TiffType::Rational:
    case TiffType::SignedRational:
    case TiffType::Double:
    case TiffType::Long8:
      return entry.data.size() / 8;
    default:
      return entry.data.size();
  }
}

std::vector<double> offsets_of(const TiffDirectory& directory, const TiffEntry& entry) {
  if (entry.type != TiffType::Byte) return directory.numbers(entry);
  std::vector<double> out;
  for (const char c : entry.data) out.push_back(static_cast<unsigned char>(c));
  return out;
}

// The places of the pixels as Pillow lists them when they are not compressed.
Found<void> list_tiles(const TiffDirectory& directory, Tiff& tiff) {
  const TiffEntry* strips = find(directory, TiffTag::StripOffsets);
  const TiffEntry* tiles = find(directory, TiffTag::TileOffsets);
  if (strips == nullptr && tiles == nullptr)
    return not_identified("the TIFF has no offsets of strips or tiles");
  const auto width = static_cast<double>(tiff.width);
  const auto height = static_cast<double>(tiff.height);
  double tile_width = width;
  double tile_height = height;
  if (strips != nullptr) {
    tile_height = number_or(directory, TiffTag::RowsPerStrip, height);
    if (std::isnan(tile_height)) return not_identified("the strips of the TIFF have no height");
    tiff.has_odd_offset =
        find(directory, TiffTag::RowsPerStrip) != nullptr && !is_integer(directory, TiffTag::RowsPerStrip);
  } else {
    if (!is_integer(directory, TiffTag::TileWidth) || !is_integer(directory, TiffTag::TileLength)) {
      return broken("the tiles of the TIFF have no size", "Invalid tile dimensions");
    }
    tile_width = number_or(directory, TiffTag::TileWidth, 0);
    tile_height = number_or(directory, TiffTag::TileLength, 0);
  }
  const TiffEntry& entry = strips != nullptr ? *strips : *tiles;
  // A text or a fraction as an offset: listed, and not to be decoded.
  if (entry.type != TiffType::Byte && !entry.is_integer()) tiff.has_odd_offset = true;
  if (const std::size_t count = count_of(entry); count > kMaxTiles) {
    const double in_layer = std::ceil(width / tile_width) * std::ceil(height / tile_height);
    const auto layers = static_cast<double>(tiff.layout->raw_mode.size());
    if (tiff.is_planar && static_cast<double>(count) > in_layer * layers) {
      return not_identified("the TIFF has more planes than samples");
    }
    tiff.has_too_many_tiles = true;
    return {};
  }
  double x = 0;
  double y = 0;
  std::size_t layer = 0;
  for (const double offset : offsets_of(directory, entry)) {
    if (tiff.is_planar && layer >= tiff.layout->raw_mode.size()) {
      return not_identified("the TIFF has more planes than samples");
    }
    const double stride = x + tile_width > width ? tile_width * tiff.bits_of_pixel() / 8 : 0;
    tiff.tiles.push_back({x, y, std::min(x + tile_width, width), std::min(y + tile_height, height), offset,
                          tiff.is_planar ? stride / tiff.plane_count : stride, layer});
    x += tile_width;
    if (x >= width) {
      x = 0;
      y += tile_height;
      if (y >= height) {
        y = 0;
        ++layer;
      }
    }
  }
  return {};
}

}  // namespace

double Tiff::bits_of_pixel() const { return static_cast<double>(layout->bits) * layout->samples; }

Found<Tiff> read_tiff(std::string_view bytes) {
  const auto directory = TiffDirectory::read(bytes);
  if (!directory || directory->offset() == 0) return not_identified("the TIFF has no directory");
  if (directory->has_wild_offset()) {
    return broken("an offset of the TIFF is larger than any file",
                  "Python int too large to convert to C ssize_t");
  }
  if (directory->find(kWindowsMediaPhoto) != nullptr) {
    return broken("the TIFF is a Windows Media Photo", "Windows Media Photo files not yet supported");
  }
  Tiff tiff;
  const double compression = number_or(*directory, TiffTag::Compression, 1);
  const auto* known =
      std::ranges::find_if(kCompressions, [&](std::uint32_t each) { return each == compression; });
  if (known == std::end(kCompressions)) return not_identified("the TIFF has an unknown compression");
  tiff.compression = *known;
  tiff.is_planar = number_or(*directory, TiffTag::PlanarConfiguration, 1) == 2;
  const bool is_old_jpeg = tiff.compression == 6;
  const double photometric = is_old_jpeg ? 6 : number_or(*directory, TiffTag::PhotometricInterpretation, 0);
  const double fill_order = number_or(*directory, TiffTag::FillOrder, 1);

  if (find(*directory, TiffTag::ImageWidth) == nullptr || find(*directory, TiffTag::ImageLength) == nullptr) {
    return not_identified("the TIFF has no width or no height");
  }
  if (!is_integer(*directory, TiffTag::ImageWidth) || !is_integer(*directory, TiffTag::ImageLength)) {
    return broken("the size of the TIFF is not a number", "Invalid dimensions");
  }
  const double width = number_or(*directory, TiffTag::ImageWidth, 0);
  const double height = number_or(*directory, TiffTag::ImageLength, 0);

  const double format = sample_format(*directory);
  std::vector<double> bits = {1};
  if (const TiffEntry* entry = find(*directory, TiffTag::BitsPerSample)) bits = directory->numbers(*entry);
  std::vector<double> extra;
  if (const TiffEntry* entry = find(*directory, TiffTag::ExtraSamples)) {
    extra = directory->numbers(*entry);
    if (extra.empty()) return not_identified("the TIFF has extra samples of an unknown kind");
  }
  const double default_samples = is_old_jpeg && (photometric == 2 || photometric == 6) ? 3 : 1;
  const double samples = number_or(*directory, TiffTag::SamplesPerPixel, default_samples);
  if (bits.empty() || std::isnan(samples) || samples > kMaxSamples || samples < 1) {
    return not_identified("the TIFF has an impossible number of samples");
  }
  if (samples != static_cast<double>(bits.size())) {
    const bool is_whole = find(*directory, TiffTag::SamplesPerPixel) == nullptr ||
                          is_integer(*directory, TiffTag::SamplesPerPixel);
    const bool fits = samples < static_cast<double>(bits.size()) || bits.size() == 1;
    if (!is_whole || !fits) return not_identified("the samples of the TIFF have no bits");
    bits.resize(static_cast<std::size_t>(samples), bits.front());
  }
  if (std::ranges::any_of(bits, [&](double each) { return each != bits.front(); })) {
    return not_identified("the samples of the TIFF differ in their bits");
  }
  const char order = directory->is_big_endian() ? 'M' : 'I';
  const auto* layout = std::ranges::find_if(kLayouts, [&](const TiffLayout& each) {
    if (each.order != order || each.photometric != photometric || each.sample_format != format ||
        each.fill_order != fill_order || each.bits != bits.front() || each.samples != bits.size() ||
        each.extra_count != extra.size()) {
      return false;
    }
    return std::equal(extra.begin(), extra.end(), each.extra.begin());
  });
  if (layout == std::end(kLayouts)) return not_identified("the TIFF has an unknown pixel layout");
  tiff.layout = layout;
  if (fails_on_resolution(*directory)) return not_identified("the resolution of the TIFF is not a number");

  if (width >= 4294967296.0 || height >= 4294967296.0) {
    return std::unexpected(Refusal{ImageReason::Pixels, "the TIFF has more pixels than allowed", {}});
  }
  tiff.plane_count = (photometric == 2 || photometric == 6 || photometric == 8 ? 3
                      : photometric == 5                                       ? 4
                                                                               : 1) +
                     static_cast<double>(extra.size());
  tiff.width = width > 0 ? static_cast<std::uint32_t>(width) : 0;
  tiff.height = height > 0 ? static_cast<std::uint32_t>(height) : 0;
  if (tiff.compression == 1) {
    if (auto listed = list_tiles(*directory, tiff); !listed) return std::unexpected(listed.error());
  }
  if (layout->mode.starts_with('P') && !has_colour_map(*directory)) {
    return not_identified("the palette of the TIFF is missing");
  }
  if (layout->mode.starts_with('P')) {
    const TiffEntry& map = *find(*directory, TiffTag::ColorMap);
    tiff.colours = (map.type == TiffType::Byte ? map.data.size() : directory->numbers(map).size()) / 3;
  }
  if (tiff.width == 0 || tiff.height == 0) return not_identified("the TIFF has no pixels");
  const double orientation = number_or(*directory, TiffTag::Orientation, 1);
  tiff.is_turned = orientation >= 5 && orientation <= 8 && orientation == std::floor(orientation);
  tiff.directory_at = directory->offset();
  tiff.next = directory->next();
  return tiff;
}

Found<Header> read_tiff_header(std::string_view bytes) {
  const Found<Tiff> tiff = read_tiff(bytes);
  if (!tiff) return std::unexpected(tiff.error());
  return Header{.format = ImageFormat::Tiff,
                .width = tiff->is_turned ? tiff->height : tiff->width,
                .height = tiff->is_turned ? tiff->width : tiff->height,
                .frames = tiff->next == 0 ? 1U : 0U};
}

}  // namespace parley::media
