// The pixels of a TIFF: as they are, or by libtiff, which is included here only. Strips of more than
// kMaxStrip bytes are read row by row; a tile has to be held whole.
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

#include "media/image/format.h"
#include "media/image/tiff.h"

namespace parley::media {
namespace {

constexpr tmsize_t kMaxStrip = tmsize_t{4} << 20;
constexpr tmsize_t kMaxMemory = tmsize_t{512} << 20;

// Bits of a pixel in one of Pillow's raw modes: "RGB;16L" has three letters of 16 bits.
std::uint32_t bits_of(std::string_view raw_mode) {
  const std::size_t semicolon = raw_mode.find(';');
  const std::string_view letters = raw_mode.substr(0, semicolon);
  std::uint32_t bits = letters == "1" ? 1 : 8;
  if (semicolon != std::string_view::npos) {
    std::uint32_t number = 0;
    for (const char c : raw_mode.substr(semicolon + 1)) {
      if (c < '0' || c > '9') break;
      number = number * 10 + static_cast<std::uint32_t>(c - '0');
    }
    if (number != 0) bits = number;
  }
  return bits * static_cast<std::uint32_t>(letters.size());
}

// ---- Pixels as they are

Found<void> find_rows(std::string_view bytes, Tiff tiff, const Deadline& deadline) {
  if (tiff.has_odd_offset) return undecodable("an offset or a height in the TIFF is not an integer");
  if (tiff.has_too_many_tiles) return undecodable("the TIFF lists more strips or tiles than any image has");
  std::vector<Tiff::Tile>& tiles = tiff.tiles;
  // In the order of the file; those at one place, which say the same bytes, in the order of the directory.
  std::ranges::sort(tiles, {}, [](const Tiff::Tile& tile) {
    return std::tuple(tile.offset, tile.layer, tile.top, tile.left);
  });
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Tiff::Tile& tile = tiles[i];
    if (i % 4096 == 0 && deadline.passed()) return out_of_time();
    // Of neighbours that differ in their place in the file alone, the last is read.
    if (i + 1 < tiles.size()) {
      const Tiff::Tile& next = tiles[i + 1];
      if (tile.left == next.left && tile.top == next.top && tile.right == next.right &&
          tile.bottom == next.bottom && tile.layer == next.layer && tile.stride == next.stride) {
        continue;
      }
    }
    const bool is_inside = tile.left >= 0 && tile.top >= 0 && tile.right > tile.left &&
                           tile.bottom > tile.top && tile.right <= tiff.width && tile.bottom <= tiff.height;
    if (!is_inside || tile.offset < 0) return undecodable("a strip or tile of the TIFF is outside the image");
    std::uint32_t bits = bits_of(tiff.layout->raw_mode);
    if (tiff.is_planar) {
      if (tiff.layout->mode.starts_with("I;16"))
        return undecodable("the TIFF has an unknown arrangement of planes");
      bits = tiff.layout->mode == "1" ? 1 : tiff.layout->mode == "I" || tiff.layout->mode == "F" ? 32 : 8;
    }
    const double row = std::floor(((tile.right - tile.left) * bits + 7) / 8);
    const double stride = std::floor(tile.stride);
    if (stride != 0 && stride < row) return undecodable("the rows of the TIFF are shorter than their pixels");
    const double rows = tile.bottom - tile.top;
    const double end = tile.offset + (rows - 1) * (stride != 0 ? stride : row) + row;
    if (end > static_cast<double>(bytes.size())) return undecodable("the TIFF ends before its pixels");
  }
  return {};
}

// ---- libtiff

struct Source {
  std::string_view bytes;
  std::uint64_t at = 0;
};

Source& source_of(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t read_some(thandle_t handle, void* out, tmsize_t count) {
  Source& source = source_of(handle);
  const std::uint64_t size = source.bytes.size();
  const std::uint64_t left = source.at < size ? size - source.at : 0;
  const std::uint64_t there = std::min<std::uint64_t>(left, static_cast<std::uint64_t>(count));
  if (there > 0) std::memcpy(out, source.bytes.data() + source.at, there);
  source.at += there;
  return static_cast<tmsize_t>(there);
}
tmsize_t write_none(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  Source& source = source_of(handle);
  source.at = whence == SEEK_SET   ? offset
              : whence == SEEK_CUR ? source.at + offset
                                   : source.bytes.size() + offset;
  return source.at;
}
int close(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return source_of(handle).bytes.size(); }

int say_nothing(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};
struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using File = std::unique_ptr<TIFF, Close>;

File open(Source& source) {
  const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
  if (!options) return nullptr;
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), say_nothing, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), say_nothing, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMaxMemory);
  // Neither mapped into memory nor with strips cut up: what is read is what the file says.
  return File(TIFFClientOpenExt("image", "rmC", &source, read_some, write_none, seek, close, size_of, nullptr,
                                nullptr, options.get()));
}

std::unexpected<Refusal> damaged() { return undecodable("the pixels of the TIFF are cut off or damaged"); }

std::uint32_t bands_of(std::string_view mode) {
  if (mode == "RGBA" || mode == "CMYK") return 4;
  if (mode == "RGB" || mode == "LAB") return 3;
  return mode == "LA" || mode == "PA" ? 2 : 1;
}

Found<void> decode_tiles(TIFF* file, const Tiff& tiff, std::uint32_t bits, std::uint32_t planes,
                         const Deadline& deadline) {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  TIFFGetField(file, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(file, TIFFTAG_TILELENGTH, &height);
  const tmsize_t size = TIFFTileSize(file);
  const tmsize_t row = TIFFTileRowSize(file);
  if (width == 0 || height == 0 || size <= 0 || size > kMaxMemory || row <= 0 || row > size) return damaged();
  const std::uint64_t expected = (std::uint64_t{height} * bits / planes + 7) / 8 * width;
  if (static_cast<std::uint64_t>(size) > expected) return damaged();
  std::vector<std::uint8_t> tile(static_cast<std::size_t>(size));
  for (std::uint64_t y = 0; y < tiff.height; y += height) {
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
      for (std::uint64_t x = 0; x < tiff.width; x += width) {
        if (deadline.passed()) return out_of_time();
        if (TIFFReadTile(file, tile.data(), static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0,
                         static_cast<std::uint16_t>(plane)) == -1) {
          return damaged();
        }
      }
    }
  }
  return {};
}

Found<void> decode_strips(TIFF* file, const Tiff& tiff, std::uint32_t bits, std::uint32_t planes,
                          const Deadline& deadline) {
  std::uint32_t rows = 0;
  if (TIFFGetField(file, TIFFTAG_ROWSPERSTRIP, &rows) != 1 || rows == UINT32_MAX) rows = tiff.height;
  const tmsize_t size = TIFFStripSize(file);
  const tmsize_t row = TIFFScanlineSize(file);
  const std::uint64_t expected = (std::uint64_t{tiff.width} * bits / planes + 7) / 8;
  if (rows == 0 || rows > INT32_MAX || size <= 0 || row <= 0) return damaged();
  if (static_cast<std::uint64_t>(size) > expected * rows || expected > static_cast<std::uint64_t>(row)) {
    return damaged();
  }
  const bool by_rows = size > kMaxStrip;
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(by_rows ? row : size));
  // Plane by plane: rows can be read one after the other only.
  for (std::uint32_t plane = 0; plane < planes; ++plane) {
    for (std::uint64_t y = 0; y < tiff.height; y += by_rows ? 1 : rows) {
      if (deadline.passed()) return out_of_time();
      const auto at = static_cast<std::uint32_t>(y);
      const auto sample = static_cast<std::uint16_t>(plane);
      const bool good =
          by_rows ? TIFFReadScanline(file, buffer.data(), at, sample) != -1
                  : TIFFReadEncodedStrip(file, TIFFComputeStrip(file, at, sample), buffer.data(), size) != -1;
      if (!good) return damaged();
    }
  }
  return {};
}

// Colours in other than the image's own terms, which libtiff turns into red, green and blue.
Found<void> decode_as_rgba(TIFF* file, const Tiff& tiff, const Deadline& deadline) {
  std::uint32_t rows = 0;
  const bool is_tiled = TIFFIsTiled(file) != 0;
  if (TIFFGetFieldDefaulted(file, is_tiled ? TIFFTAG_TILELENGTH : TIFFTAG_ROWSPERSTRIP, &rows) != 1 ||
      rows == UINT32_MAX) {
    rows = tiff.height;
  }
  rows = std::min(rows, tiff.height);
  if (rows == 0 || std::uint64_t{rows} * tiff.width * 4 > kMaxMemory) return damaged();
  char message[1024];
  TIFFRGBAImage image;
  if (TIFFRGBAImageOK(file, message) == 0 || TIFFRGBAImageBegin(&image, file, 1, message) == 0)
    return damaged();
  const std::unique_ptr<TIFFRGBAImage, void (*)(TIFFRGBAImage*)> owner(&image, TIFFRGBAImageEnd);
  image.req_orientation = ORIENTATION_TOPLEFT;
  image.col_offset = 0;
  std::vector<std::uint32_t> raster(std::size_t{rows} * tiff.width);
  for (std::uint64_t y = 0; y < tiff.height; y += rows) {
    if (deadline.passed()) return out_of_time();
    image.row_offset = static_cast<int>(y);
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, tiff.height - y));
    if (TIFFRGBAImageGet(&image, raster.data(), tiff.width, count) == 0) return damaged();
  }
  return {};
}

Found<void> decode_by_libtiff(std::string_view bytes, const Tiff& tiff, const Deadline& deadline) {
  Source source{bytes};
  const File file = open(source);
  if (!file || TIFFSetSubDirectory(file.get(), tiff.directory_at) == 0) return damaged();
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  TIFFGetField(file.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(file.get(), TIFFTAG_IMAGELENGTH, &height);
  if (width != tiff.width || height != tiff.height) return damaged();
  std::uint16_t photometric = 0;
  std::uint16_t compression = 0;
  std::uint16_t planar = 0;
  TIFFGetField(file.get(), TIFFTAG_PHOTOMETRIC, &photometric);
  TIFFGetField(file.get(), TIFFTAG_COMPRESSION, &compression);
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_PLANARCONFIG, &planar);
  const bool is_contiguous_jpeg = compression == COMPRESSION_JPEG && planar == PLANARCONFIG_CONTIG;
  std::uint32_t bits = bits_of(tiff.layout->raw_mode);
  if (photometric == PHOTOMETRIC_YCBCR) {
    if (!is_contiguous_jpeg) return decode_as_rgba(file.get(), tiff, deadline);
    TIFFSetField(file.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  if (tiff.layout->photometric == 6 && tiff.compression == 7 && !tiff.is_planar) {
    if (tiff.layout->mode != "RGB")
      return undecodable("the TIFF has one sample where its colours need three");
    bits = 24;
  }
  // libdeflate looks no further than the pixels need; zlib, which Pillow has, finds damage right after them.
  if (compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE) {
    TIFFSetField(file.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
  }
  std::uint32_t planes = 1;
  if (planar == PLANARCONFIG_SEPARATE && bands_of(tiff.layout->mode) > 1) {
    std::uint16_t sample = 8;
    TIFFGetFieldDefaulted(file.get(), TIFFTAG_BITSPERSAMPLE, &sample);
    if (sample != 8 && sample != 16) return damaged();
    planes = bands_of(tiff.layout->mode);
  }
  return TIFFIsTiled(file.get()) != 0 ? decode_tiles(file.get(), tiff, bits, planes, deadline)
                                      : decode_strips(file.get(), tiff, bits, planes, deadline);
}

}  // namespace

Found<void> decode_tiff(std::string_view bytes, const Deadline& deadline) {
  Found<Tiff> tiff = read_tiff(bytes);
  if (!tiff) return std::unexpected(tiff.error());
  if (tiff->colours > 256) return undecodable("the palette of the TIFF has more than 256 colours");
  return tiff->compression == 1 ? find_rows(bytes, *std::move(tiff), deadline)
                                : decode_by_libtiff(bytes, *tiff, deadline);
}

}  // namespace parley::media
