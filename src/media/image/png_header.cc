// PNG as Pillow opens and verifies it.
//
//   file   89 "PNG" 0D 0A 1A 0A, chunks
//   chunk  u32 length, 4 letters, digits or _, the data, u32 CRC-32 of name and data (numbers big endian)
//
// Opening reads the chunks up to the pixels (IDAT, or fdAT of an animation) or to IEND; verifying checks the
// sums of all from there to IEND. What a chunk says is looked at only where Pillow looks.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "media/image/format.h"
#include "media/image/inflate.h"
#include "media/reader.h"
#include "parley/base/text.h"

namespace parley::media {
namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kMaxText = std::size_t{1} << 20;  // of one chunk, unpacked
constexpr std::size_t kMaxTexts = 64 * kMaxText;        // of all of them

struct Chunk {
  std::string_view name;
  std::size_t length = 0;
  std::size_t at = 0;  // of the data
};

bool is_name(std::string_view name) {
  return name.size() == 4 && std::ranges::all_of(name, [](char c) {
           return c == '_' ||
                  (static_cast<unsigned char>(c) < 0x80 && std::isalnum(static_cast<unsigned char>(c)));
         });
}

// The bytes as Python shows them: b'IDAT'.
std::string python_bytes(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool doubles = bytes.contains('\'') && !bytes.contains('"');
  const char quote = doubles ? '"' : '\'';
  std::string out = {'b', quote};
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += {'\\', c};
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte >= 0x7F) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out += quote;
}

std::uint32_t crc_of(std::string_view name, std::string_view data) { return crc32_of(data, crc32_of(name)); }

std::unexpected<Refusal> too_large_text() {
  return broken("a compressed text or profile of the PNG is too large",
                "Decompressed data too large for PngImagePlugin.MAX_TEXT_CHUNK");
}

// The two parts around the first NUL; all of it and nothing without one.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view s) {
  const std::size_t nul = s.find('\0');
  if (nul == std::string_view::npos) return std::nullopt;
  return std::pair(s.substr(0, nul), s.substr(nul + 1));
}

class Walk {
 public:
  Walk(std::string_view bytes, std::size_t at, const Deadline& deadline)
      : reader_(bytes, at), deadline_(deadline) {}

  // The chunks up to the pixels or to IEND, with their sums.
  Found<PngHeader> open() {
    for (;;) {
      if (deadline_.passed()) return out_of_time();
      const Found<Chunk> chunk = next();
      if (!chunk) return std::unexpected(chunk.error());
      // Pixels before any colour type are a chunk like any other: Pillow has nothing to unpack them by.
      if (chunk->name == "IEND") break;
      if (chunk->name == "IDAT" && has_mode_) {
        header_.data_at = chunk->at;
        break;
      }
      if (chunk->name == "fdAT") {
        if (auto read = frame_data(*chunk); !read) return std::unexpected(read.error());
        if (has_mode_) {
          header_.data_at = chunk->at + 4;
          break;
        }
      }
      if (auto read = read_data(*chunk); !read) return std::unexpected(read.error());
      const auto crc = reader_.big32();
      if (!crc || *crc != crc_of(chunk->name, data_)) {
        return not_identified("a checksum of the PNG is wrong or cut off");
      }
    }
    if (!has_mode_) return not_identified("the PNG has an unknown colour type");
    if (header_.width == 0 || header_.height == 0) return not_identified("the PNG has no pixels");
    if (!has_frame_) {
      header_.frame_width = header_.width;
      header_.frame_height = header_.height;
    }
    header_.format = ImageFormat::Png;
    header_.frames = frames_.value_or(1);
    return header_;
  }

  // What load() reads after the pixels; no sums.
  Found<void> read_tail(bool is_animated) {
    for (;;) {
      if (deadline_.passed()) return out_of_time();
      const Found<Chunk> chunk = next();
      if (!chunk || chunk->name == "IEND") return {};
      if (chunk->name == "fcTL" && is_animated) return {};
      if (chunk->name == "IDAT") {
        if (!reader_.all(chunk->length)) return cut_off("the PNG ends inside a chunk");
      } else if (chunk->name == "fdAT") {
        if (auto read = frame_data(*chunk); !read) return read;
        if (!reader_.all(chunk->length - 4)) return cut_off("the PNG ends inside a chunk");
      } else if (auto read = read_data(*chunk); !read) {
        return read;
      }
      reader_.skip(4);
    }
  }

  // As after open(): an animation and its sequence continue after the pixels.
  void begin_behind(std::size_t at) { reader_.seek(at); }
  bool is_animated() const { return frames_.value_or(1) > 1; }

 private:
  Found<Chunk> next() {
    const std::string_view start = reader_.some(8);
    if (start.size() < 4) return not_identified("the PNG ends before IEND");
    const Chunk chunk = {start.substr(4), big32_at(start, 0), reader_.at()};
    if (!is_name(chunk.name)) return not_identified("a chunk of the PNG has an invalid name");
    return chunk;
  }

  Found<void> read_data(const Chunk& chunk) {
    const auto data = reader_.all(chunk.length);
    if (!data) return cut_off("the PNG ends inside a chunk");
    data_ = *data;
    using Reading = Found<void> (Walk::*)();
    struct Row {
      std::string_view name;
      Reading read;
    };
    static constexpr Row kRows[] = {
        {"IHDR", &Walk::image_header}, {"iCCP", &Walk::profile},      {"tRNS", &Walk::transparency},
        {"gAMA", &Walk::gamma},        {"cHRM", &Walk::chromaticity}, {"sRGB", &Walk::srgb},
        {"pHYs", &Walk::density},      {"tEXt", &Walk::text},         {"zTXt", &Walk::packed_text},
        {"iTXt", &Walk::unicode_text}, {"acTL", &Walk::animation},    {"fcTL", &Walk::frame},
    };
    const auto* row = std::ranges::find(kRows, chunk.name, &Row::name);
    return row == std::end(kRows) ? Found<void>() : (this->*row->read)();
  }

  Found<void> image_header() {
    if (data_.size() < 13) return broken("the IHDR of the PNG is too short", "Truncated IHDR chunk");
    header_.width = big32_at(data_, 0);
    header_.height = big32_at(data_, 4);
    // Bit depths as bits of a set, by colour type: 0 grey, 2 colours, 3 palette, 4 grey + alpha, 6 colours +
    // alpha.
    constexpr std::array<std::uint32_t, 7> kDepths = {0x10116, 0, 0x10100, 0x116, 0x10100, 0, 0x10100};
    const std::uint32_t depth = u8_at(data_, 8);
    const std::uint32_t colour = u8_at(data_, 9);
    if (colour < kDepths.size() && depth <= 16 && (kDepths[colour] >> depth & 1) != 0) {
      has_mode_ = true;
      colour_ = colour;
      constexpr std::array<std::uint32_t, 7> kSamples = {1, 0, 3, 1, 2, 0, 4};
      header_.pixel_bits = depth * kSamples[colour];
    }
    header_.is_interlaced = header_.is_interlaced || u8_at(data_, 12) != 0;
    if (u8_at(data_, 11) != 0) return not_identified("the PNG has an unknown filter method");
    return {};
  }

  Found<void> profile() {
    const std::size_t nul = data_.find('\0');
    // Without a NUL, Pillow takes the first byte for the method.
    const std::size_t method = nul == std::string_view::npos ? 0 : nul + 1;
    if (method >= data_.size() || data_[method] != '\0') {
      return not_identified("the colour profile of the PNG has an unknown compression");
    }
    if (unpack(data_.substr(method + 1), kMaxText).outcome == Unpacked::TooLarge) return too_large_text();
    return {};
  }

  Found<void> transparency() {
    const bool is_grey = has_mode_ && colour_ == 0;
    const bool is_rgb = has_mode_ && colour_ == 2;
    if ((is_grey && data_.size() < 2) || (is_rgb && data_.size() < 6)) {
      return not_identified("the transparency of the PNG is too short");
    }
    return {};
  }

  Found<void> gamma() {
    if (data_.size() < 4) return not_identified("the gamma of the PNG is too short");
    return {};
  }
  Found<void> chromaticity() {
    if (data_.size() % 4 != 0) return not_identified("the chromaticities of the PNG are cut off");
    return {};
  }
  Found<void> srgb() {
    if (data_.empty()) return broken("the rendering intent of the PNG is missing", "Truncated sRGB chunk");
    return {};
  }
  Found<void> density() {
    if (data_.size() < 9) return broken("the density of the PNG is too short", "Truncated pHYs chunk");
    return {};
  }

  Found<void> add_text(std::size_t size) {
    texts_ += size;
    if (texts_ <= kMaxTexts) return {};
    return broken("the texts of the PNG are too large",
                  "Too much memory used in text chunks: " + std::to_string(texts_) + ">MAX_TEXT_MEMORY");
  }

  Found<void> text() {
    const auto parts = split(data_);
    if (!parts || parts->first.empty()) return {};
    return add_text(parts->second.size());
  }

  Found<void> packed_text() {
    const auto [key, value] = split(data_).value_or(std::pair(data_, std::string_view()));
    if (!value.empty() && value[0] != '\0') {
      return not_identified("a text of the PNG has an unknown compression");
    }
    const auto [outcome, plain] = unpack(value.empty() ? value : value.substr(1), kMaxText);
    if (outcome == Unpacked::TooLarge) return too_large_text();
    return key.empty() ? Found<void>() : add_text(plain.size());
  }

  Found<void> unicode_text() {
    const auto key = split(data_);
    if (!key || key->second.size() < 2) return {};
    const bool is_packed = key->second[0] != '\0';
    const bool is_known = key->second[1] == '\0';
    const auto language = split(key->second.substr(2));
    if (!language) return {};
    const auto translated = split(language->second);
    if (!translated) return {};
    std::string plain;
    std::string_view value = translated->second;
    if (is_packed) {
      if (!is_known) return {};
      auto [outcome, unpacked] = unpack(value, kMaxText);
      if (outcome == Unpacked::TooLarge) return too_large_text();
      if (outcome == Unpacked::Damaged) return {};
      plain = std::move(unpacked);
      value = plain;
    }
    if (!is_utf8(language->first) || !is_utf8(translated->first) || !is_utf8(value)) return {};
    return add_text(static_cast<std::size_t>(
        std::ranges::count_if(value, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; })));
  }

  Found<void> animation() {
    if (data_.size() < 8) {
      return broken("the acTL of the PNG is too short", "APNG contains truncated acTL chunk");
    }
    const std::uint32_t count = big32_at(data_, 0);
    if (frames_) {
      frames_.reset();
    } else if (count != 0 && count <= 0x80000000) {
      frames_ = count;
    }
    return {};
  }

  Found<void> frame() {
    if (data_.size() < 26) {
      return broken("the fcTL of the PNG is too short", "APNG contains truncated fcTL chunk");
    }
    const std::uint64_t number = big32_at(data_, 0);
    if (number != next_number_) return not_identified("the frames of the PNG are out of order");
    next_number_ = number + 1;
    const std::uint64_t width = big32_at(data_, 4);
    const std::uint64_t height = big32_at(data_, 8);
    if (big32_at(data_, 12) + width > header_.width || big32_at(data_, 16) + height > header_.height) {
      return not_identified("a frame of the PNG exceeds the canvas");
    }
    has_frame_ = true;
    // A frame without a width at the left edge is taken for all of the canvas.
    const bool is_all = big32_at(data_, 12) == 0 && width == 0;
    header_.frame_width = is_all ? header_.width : static_cast<std::uint32_t>(width);
    header_.frame_height = is_all ? header_.height : static_cast<std::uint32_t>(height);
    return {};
  }

  // The number at the start of an fdAT.
  Found<void> frame_data(const Chunk& chunk) {
    if (chunk.length < 4) {
      return broken("the fdAT of the PNG is too short", "APNG contains truncated fDAT chunk");
    }
    const auto number = reader_.all(4);
    if (!number) return cut_off("the PNG ends inside a chunk");
    // Before any fcTL there is no number to follow.
    if (!has_frame_ || big32_at(*number, 0) != next_number_) {
      return not_identified("the frames of the PNG are out of order");
    }
    ++next_number_;
    return {};
  }

  Reader reader_;
  const Deadline& deadline_;
  std::string_view data_;  // of the chunk at hand
  PngHeader header_;
  bool has_mode_ = false;
  std::uint32_t colour_ = 0;
  std::size_t texts_ = 0;
  std::optional<std::uint32_t> frames_;
  bool has_frame_ = false;
  std::uint64_t next_number_ = 0;
};

// Where the chunk of pixels that starts the image ends; after its sum.
std::size_t behind_pixels(std::string_view bytes, std::size_t data_at) {
  return data_at + big32_at(bytes, data_at - 8) + 4;
}

}  // namespace

Found<PngHeader> read_png_header(std::string_view bytes, const Deadline& deadline) {
  return Walk(bytes, kSignature, deadline).open();
}

Found<void> verify_png(std::string_view bytes, PngHeader& header) {
  if (header.data_at == 0) return broken("the PNG has no IDAT chunk", "list index out of range");
  Reader reader(bytes, header.data_at - 8);
  for (;;) {
    const std::string_view start = reader.some(8);
    if (start.size() < 4) return broken("the PNG ends before IEND", "truncated PNG file");
    const std::string_view name = start.substr(4);
    if (!is_name(name)) {
      return broken("a chunk of the PNG has an invalid name",
                    "broken PNG file (chunk " + python_bytes(name) + ")");
    }
    const std::size_t length = big32_at(start, 0);
    if (name == "IEND") {
      reader.skip(length + 4);
      header.trailing = reader.left();
      return {};
    }
    const auto data = reader.all(length);
    if (!data) return cut_off("the PNG ends inside a chunk");
    const auto crc = reader.big32();
    if (!crc) {
      return broken("the PNG ends inside a checksum",
                    "broken PNG file (incomplete checksum in " + python_bytes(name) + ")");
    }
    if (*crc != crc_of(name, *data)) {
      return broken("a checksum of the PNG is wrong",
                    "broken PNG file (bad header checksum in " + python_bytes(name) + ")");
    }
  }
}

Found<void> read_png_tail(std::string_view bytes, const PngHeader& header, const Deadline& deadline) {
  Walk walk(bytes, kSignature, deadline);
  if (auto opened = walk.open(); !opened) return std::unexpected(opened.error());
  walk.begin_behind(behind_pixels(bytes, header.data_at));
  auto read = walk.read_tail(walk.is_animated());
  if (!read && read.error().reason == ImageReason::Broken) read.error().reason = ImageReason::Undecodable;
  return read;
}

}  // namespace parley::media
