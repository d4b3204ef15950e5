// The first image of a TIFF, as Pillow 11.1.0 understands it. Read in tiff_header.cc, decoded in
// tiff_decode.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "media/image/format.h"
#include "media/image/tiff_directory.h"

namespace parley::media {

enum class TiffTag : std::uint16_t {
  ImageWidth = 256,
  ImageLength = 257,
  BitsPerSample = 258,
  Compression = 259,
  PhotometricInterpretation = 262,
  FillOrder = 266,
  StripOffsets = 273,
  Orientation = 274,
  SamplesPerPixel = 277,
  RowsPerStrip = 278,
  XResolution = 282,
  YResolution = 283,
  PlanarConfiguration = 284,
  ResolutionUnit = 296,
  ColorMap = 320,
  TileWidth = 322,
  TileLength = 323,
  TileOffsets = 324,
  ExtraSamples = 338,
  SampleFormat = 339,
};

// A row of tiff_layouts.inc.
struct TiffLayout {
  char order;
  std::uint32_t photometric;
  std::uint32_t sample_format;
  std::uint32_t fill_order;
  std::uint32_t bits;
  std::uint32_t samples;
  std::uint32_t extra_count;
  std::array<std::uint32_t, 3> extra;
  std::string_view mode;
  std::string_view raw_mode;
};

// As many as the largest image has tiles of 16 pixels a side, in four planes.
inline constexpr std::size_t kMaxTiles = std::size_t{1} << 20;

struct Tiff {
  // Numbers as the file has them, which need not be whole or inside the image.
  struct Tile {
    double left, top, right, bottom;
    double offset;
    double stride;  // bytes from row to row; 0: as many as the pixels need
    std::size_t layer;
  };

  std::uint32_t width = 0;  // as it is stored
  std::uint32_t height = 0;
  bool is_turned = false;
  std::uint32_t compression = 1;
  bool is_planar = false;
  bool has_odd_offset = false;  // an offset or a height of strips is not an integer
  double plane_count = 1;
  const TiffLayout* layout = nullptr;
  std::size_t colours = 0;          // of the palette, if the mode has one
  std::vector<Tile> tiles;          // if it is not compressed
  bool has_too_many_tiles = false;  // more than kMaxTiles, which are then not listed
  std::uint64_t directory_at = 0;
  std::uint64_t next = 0;

  double bits_of_pixel() const;
};

Found<Tiff> read_tiff(std::string_view bytes);

}  // namespace parley::media
