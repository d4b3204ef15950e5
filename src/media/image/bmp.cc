// BMP, by hand: no library in Debian reads it.
//
//   file      "BM", 4 bytes size, 4 bytes, u32 where the pixels are; then the header {u32 its size, ...}
//   size 12   u16 width, height, planes, bits
//   others    i32 width, height (top byte FF: rows run downwards), u16 planes, bits, u32 compression, data
//   size,
//             2 x resolution, colours, important; then, as the header is longer: masks of red, green, blue,
//             alpha
//   then      masks, if the header has 40 bytes and the compression is 3; the palette, up to 8 bits a pixel
//
// Rows are padded to four bytes. RLE has pairs of bytes: {n, colour}; {0, 0} ends a row, {0, 1} the image;
// {0, 2} moves; {0, n} is n pixels as they are, padded to an even place.
#include <algorithm>
#include <array>
#include <string>

#include "media/image/format.h"
#include "media/reader.h"

namespace parley::media {
namespace {

constexpr std::uint32_t kRaw = 0;
constexpr std::uint32_t kRle8 = 1;
constexpr std::uint32_t kRle4 = 2;
constexpr std::uint32_t kMasks = 3;

using Masks = std::array<std::uint32_t, 4>;  // red, green, blue, alpha

// The masks that Pillow 11.1.0 knows (BmpImagePlugin.py, MIT-CMU).
constexpr Masks kMasks32[] = {
    {0xFF0000, 0xFF00, 0xFF, 0},          {0xFF000000, 0xFF0000, 0xFF00, 0},
    {0xFF000000, 0xFF00, 0xFF, 0},        {0xFF000000, 0xFF0000, 0xFF00, 0xFF},
    {0xFF, 0xFF00, 0xFF0000, 0xFF000000}, {0xFF0000, 0xFF00, 0xFF, 0xFF000000},
    {0xFF000000, 0xFF00, 0xFF, 0xFF0000}, {0, 0, 0, 0},
};

bool knows_masks(std::uint32_t bits, const Masks& masks) {
  const auto colours_are = [&](std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
    return masks[0] == red && masks[1] == green && masks[2] == blue;
  };
  switch (bits) {
    case 32:
      return std::ranges::find(kMasks32, masks) != std::end(kMasks32);
    case 24:
      return colours_are(0xFF0000, 0xFF00, 0xFF);
    case 16:
      return colours_are(0xF800, 0x7E0, 0x1F) || colours_are(0x7C00, 0x3E0, 0x1F);
    default:
      return false;
  }
}

struct Bmp {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t bits = 0;        // of a pixel in the file
  std::uint32_t pixel_bits = 0;  // of a pixel as Pillow unpacks it
  std::uint32_t compression = 0;
  std::uint64_t colours = 0;      // in the palette, as far as there is one
  std::size_t palette_read = 0;   // bytes of it that are there
  std::size_t palette_entry = 4;  // bytes of a colour
  bool has_palette = false;       // and it is not a ramp of greys
  bool is_two_greys = false;      // black and white: one bit a pixel, whatever the file says
  std::uint64_t pixels_at = 0;

  std::uint64_t stride() const { return (std::uint64_t{width} * bits + 31) / 32 * 4; }
};

// Whether the palette is the greys in order, which makes it no palette; two of them are black and white.
bool is_grey_ramp(std::string_view palette, std::size_t entry, std::uint64_t colours) {
  for (std::uint64_t i = 0; i < colours; ++i) {
    const auto grey = static_cast<std::uint32_t>(colours == 2 && i == 1 ? 255 : i & 255);
    const std::size_t at = i * entry;
    if (at + 3 > palette.size()) return false;
    if (u8_at(palette, at) != grey || u8_at(palette, at + 1) != grey || u8_at(palette, at + 2) != grey)
      return false;
  }
  return true;
}

Found<void> read_masks(Reader& reader, std::string_view header, Masks& masks) {
  if (header.size() >= 48) {
    const std::size_t count = header.size() >= 52 ? 4 : 3;
    for (std::size_t i = 0; i < count; ++i) masks[i] = little32_at(header, 36 + i * 4);
    return {};
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto mask = reader.little32();
    if (!mask) return not_identified("the BMP header ends inside its colour masks");
    masks[i] = *mask;
  }
  return {};
}

Found<void> read_palette(Reader& reader, Bmp& bmp) {
  if (bmp.colours == 0 || bmp.colours > 65536) {
    return broken("the BMP palette has an impossible number of colours",
                  "Unsupported BMP Palette size (" + std::to_string(bmp.colours) + ")");
  }
  const std::string_view palette = reader.some(bmp.palette_entry * bmp.colours);
  bmp.palette_read = palette.size();
  if (!is_grey_ramp(palette, bmp.palette_entry, bmp.colours)) {
    bmp.has_palette = true;
    return {};
  }
  bmp.is_two_greys = bmp.colours == 2;
  bmp.pixel_bits = bmp.is_two_greys ? 1 : 8;
  return {};
}

Found<Bmp> read_bmp(std::string_view bytes) {
  Reader reader(bytes);
  const std::string_view file = reader.some(14);
  if (file.size() < 14) return not_identified("the BMP ends inside its first header");
  std::uint64_t pixels_at = little32_at(file, 10);

  const auto header_size = reader.little32();
  if (!header_size) return not_identified("the BMP ends before its header");
  std::string_view header;
  if (*header_size > 4) {
    const auto rest = reader.all(*header_size - 4);
    if (!rest) return cut_off("the BMP ends inside its header");
    header = *rest;
  }

  Bmp bmp;
  Masks masks{};
  if (*header_size == 12) {
    bmp.width = little16_at(header, 0);
    bmp.height = little16_at(header, 2);
    bmp.bits = little16_at(header, 6);
    bmp.palette_entry = 3;
  } else {
    constexpr std::uint32_t kSizes[] = {40, 52, 56, 64, 108, 124};
    if (std::ranges::find(kSizes, *header_size) == std::end(kSizes)) {
      return broken("the BMP header has an unknown size",
                    "Unsupported BMP header type (" + std::to_string(*header_size) + ")");
    }
    bmp.width = little32_at(header, 0);
    bmp.height = little32_at(header, 4);
    if (u8_at(header, 7) == 0xFF) bmp.height = ~bmp.height + 1;
    bmp.bits = little16_at(header, 10);
    bmp.compression = little32_at(header, 12);
    bmp.colours = little32_at(header, 28);
    if (bmp.compression == kMasks) {
      if (auto read = read_masks(reader, header, masks); !read) return std::unexpected(read.error());
    }
  }
  if (bmp.colours == 0 && bmp.bits <= 32) bmp.colours = std::uint64_t{1} << bmp.bits;
  if (pixels_at == 14 + *header_size && bmp.bits <= 8) pixels_at += 4 * bmp.colours;

  constexpr std::uint32_t kDepths[] = {1, 4, 8, 16, 24, 32};
  if (std::ranges::find(kDepths, bmp.bits) == std::end(kDepths)) {
    return broken("the BMP has an unknown number of bits per pixel",
                  "Unsupported BMP pixel depth (" + std::to_string(bmp.bits) + ")");
  }
  bmp.pixel_bits = bmp.bits;
  if (bmp.compression == kMasks && !knows_masks(bmp.bits, masks)) {
    return broken("the BMP has unusual colour masks", "Unsupported BMP bitfields layout");
  }
  if (bmp.compression > kMasks) {
    return broken("the BMP has an unknown compression",
                  "Unsupported BMP compression (" + std::to_string(bmp.compression) + ")");
  }
  if (bmp.bits <= 8) {
    if (auto read = read_palette(reader, bmp); !read) return std::unexpected(read.error());
  }
  bmp.pixels_at = pixels_at == 0 ? reader.at() : pixels_at;
  if (bmp.width == 0 || bmp.height == 0) return not_identified("the BMP has no pixels");
  return bmp;
}

// Counts the pixels that RLE makes, in the way Pillow fills them in: what runs over the end of a row as a
// colour is dropped, single pixels past it continue in the next one.
Found<void> decode_rle(std::string_view bytes, const Bmp& bmp, const Deadline& deadline) {
  Reader reader(bytes, bmp.pixels_at > bytes.size() ? bytes.size() : bmp.pixels_at);
  const std::uint64_t wanted = std::uint64_t{bmp.width} * bmp.height;
  const std::uint64_t width = bmp.width;
  std::uint64_t made = 0;
  std::uint64_t x = 0;
  for (std::uint32_t turns = 0; made < wanted; ++turns) {
    if (turns % 65536 == 0 && deadline.passed()) return out_of_time();
    const auto count = reader.u8();
    const auto code = reader.u8();
    if (!count || !code) break;
    if (*count != 0) {
      const std::uint64_t run = x + *count > width ? (x < width ? width - x : 0) : *count;
      made += run;
      x += run;
    } else if (*code == 0) {
      made = (made + width - 1) / width * width;
      x = 0;
    } else if (*code == 1) {
      break;
    } else if (*code == 2) {
      // Pillow reads two bytes, and then the two that it takes for the distances.
      if (!reader.all(2)) break;
      const auto right = reader.u8();
      const auto up = reader.u8();
      if (!right || !up) return undecodable("the BMP ends inside a move");
      made += *right + *up * width;
      x = made % width;
    } else {
      const std::size_t size = bmp.compression == kRle4 ? *code / 2 : *code;
      const std::size_t there = reader.some(size).size();
      made += bmp.compression == kRle4 ? there * 2 : there;
      if (there < size) break;
      x += *code;
      if (reader.at() % 2 != 0) reader.skip(1);
    }
  }
  if (made < wanted) return undecodable("the compressed rows of the BMP end before the image does");
  return {};
}

}  // namespace

Found<Header> read_bmp_header(std::string_view bytes) {
  const Found<Bmp> bmp = read_bmp(bytes);
  if (!bmp) return std::unexpected(bmp.error());
  Header header{.format = ImageFormat::Bmp, .width = bmp->width, .height = bmp->height};
  if (bmp->compression == kRaw || bmp->compression == kMasks) {
    // A product of 32 bits and 34 bits: nothing is lost.
    const auto end = static_cast<unsigned __int128>(bmp->stride()) * bmp->height + bmp->pixels_at;
    if (end < bytes.size()) header.trailing = bytes.size() - static_cast<std::size_t>(end);
  }
  return header;
}

Found<void> decode_bmp(std::string_view bytes, const Deadline& deadline) {
  const Found<Bmp> bmp = read_bmp(bytes);
  if (!bmp) return std::unexpected(bmp.error());
  if (bmp->has_palette && bmp->palette_read / bmp->palette_entry > 256) {
    return undecodable("the palette of the BMP has more than 256 colours");
  }
  if (bmp->compression == kRle8 || bmp->compression == kRle4) {
    if (bmp->bits > 8 || bmp->is_two_greys) {
      return undecodable("the BMP compresses pixels that have no palette");
    }
    return decode_rle(bytes, *bmp, deadline);
  }
  // There is nothing to decode in rows as they are; they have to be there. The padding of the last may miss.
  const std::uint64_t row = (std::uint64_t{bmp->width} * bmp->pixel_bits + 7) / 8;
  if (row > bmp->stride()) return undecodable("the rows of the BMP are shorter than their pixels");
  const auto end = static_cast<unsigned __int128>(bmp->stride()) * (bmp->height - 1) + row + bmp->pixels_at;
  if (end > bytes.size()) return undecodable("the rows of the BMP end before the image does");
  return {};
}

}  // namespace parley::media
