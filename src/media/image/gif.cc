// GIF, by hand: giflib takes codes that are not in the table yet, which Pillow and others refuse.
//
//   file       "GIF87a" or "GIF89a", u16 width, height, u8 flags (80: palette of 2^(low three bits + 1)
//              colours), u8 background, u8 aspect; the palette; blocks
//   block      '!' u8 label, sub-blocks        an extension
//              ',' 4 x u16 frame, u8 flags, palette, u8 bits, sub-blocks
//              ';'                             the end
//   sub-blocks {u8 size, bytes}, up to a size of 0
//
// The pixels are LZW. To see whether they decode, only the lengths of the codes' strings are needed.
#include <algorithm>
#include <array>
#include <optional>

#include "media/image/format.h"
#include "media/reader.h"

namespace parley::media {
namespace {

std::string_view sub_block(Reader& reader) {
  const auto size = reader.u8();
  return size ? reader.some(*size) : std::string_view();
}
void skip_sub_blocks(Reader& reader) {
  while (!sub_block(reader).empty()) {
  }
}

// Pillow compares a palette with the greys in order, colour by colour, and stumbles over a colour that is cut
// off if all before it were greys.
bool is_cut_grey_ramp(std::string_view palette) {
  for (std::size_t at = 0; at < palette.size(); at += 3) {
    const auto grey = static_cast<std::uint32_t>(at / 3);
    for (std::size_t i = at; i < at + 3; ++i) {
      if (i >= palette.size()) return true;
      if (u8_at(palette, i) != grey) return false;
    }
  }
  return false;
}

struct Gif {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t left = 0;
  std::uint32_t top = 0;
  std::uint32_t frame_width = 0;
  std::uint32_t frame_height = 0;
  std::uint32_t bits = 0;  // of a pixel, as LZW starts
  std::size_t data_at = 0;
};

Found<void> read_palette(Reader& reader, std::uint32_t flags) {
  if ((flags & 0x80) == 0) return {};
  if (is_cut_grey_ramp(reader.some(std::size_t{6} << (flags & 7)))) {
    return not_identified("the GIF ends inside a palette of greys");
  }
  return {};
}

Found<void> read_extension(Reader& reader) {
  const auto label = reader.u8();
  const std::string_view block = sub_block(reader);
  if (!label) return not_identified("the GIF ends inside an extension");
  if (*label == 249 && !block.empty()) {
    const std::size_t needed = (u8_at(block, 0) & 1) != 0 ? 4 : 3;
    if (block.size() < needed) return not_identified("the graphic control extension of the GIF is too short");
  } else if (*label == 254 && block.empty()) {
    return {};  // a comment of nothing: what follows is the next block
  } else if (*label == 255 && block.substr(0, 11) == "NETSCAPE2.0") {
    (void)sub_block(reader);
  }
  skip_sub_blocks(reader);
  return {};
}

// Up to the pixels of the first frame.
Found<Gif> read_gif(std::string_view bytes, std::uint64_t max_pixels) {
  Reader reader(bytes);
  const std::string_view screen = reader.some(13);
  Gif gif;
  if (screen.size() < 11) return not_identified("the GIF ends inside its screen descriptor");
  gif.width = little16_at(screen, 6);
  gif.height = little16_at(screen, 8);
  const std::uint32_t flags = u8_at(screen, 10);
  if ((flags & 0x80) != 0 && screen.size() < 12) {
    return not_identified("the GIF ends inside its screen descriptor");
  }
  if (auto read = read_palette(reader, flags); !read) return std::unexpected(read.error());

  for (;;) {
    const auto kind = reader.u8();
    if (!kind || *kind == ';') return not_identified("the GIF has no image");
    if (*kind == '!') {
      if (auto read = read_extension(reader); !read) return std::unexpected(read.error());
      continue;
    }
    if (*kind != ',') continue;
    const std::string_view frame = reader.some(9);
    if (frame.size() < 8) return not_identified("the GIF ends inside an image descriptor");
    gif.frame_width = little16_at(frame, 4);
    gif.frame_height = little16_at(frame, 6);
    gif.left = little16_at(frame, 0);
    gif.top = little16_at(frame, 2);
    const std::uint32_t right = gif.left + gif.frame_width;
    const std::uint32_t bottom = gif.top + gif.frame_height;
    if (right > gif.width || bottom > gif.height) {
      gif.width = std::max(gif.width, right);
      gif.height = std::max(gif.height, bottom);
      const std::uint64_t pixels = pixels_of(gif.width, gif.height);
      if (pixels > max_pixels) return too_many_pixels(pixels, max_pixels);
    }
    if (frame.size() < 9) return not_identified("the GIF ends inside an image descriptor");
    if (auto read = read_palette(reader, u8_at(frame, 8)); !read) return std::unexpected(read.error());
    const auto bits = reader.u8();
    if (!bits) return not_identified("the GIF ends before its first pixels");
    gif.bits = *bits;
    gif.data_at = reader.at();
    break;
  }
  if (gif.width == 0 || gif.height == 0) return not_identified("the GIF has no pixels");
  return gif;
}

// Counts the frames and the bytes after the end.
void read_rest(std::string_view bytes, const Gif& gif, Header& header) {
  Reader reader(bytes, gif.data_at);
  skip_sub_blocks(reader);
  while (const auto kind = reader.u8()) {
    if (*kind == ';') {
      header.trailing = reader.left();
      return;
    }
    if (*kind == '!') {
      reader.skip(1);
      skip_sub_blocks(reader);
    } else if (*kind == ',') {
      const std::string_view frame = reader.some(9);
      if (frame.size() < 9) return;
      if ((u8_at(frame, 8) & 0x80) != 0) reader.skip(std::size_t{6} << (u8_at(frame, 8) & 7));
      reader.skip(1);
      skip_sub_blocks(reader);
      ++header.frames;
    }
  }
}

// The codes of sub-blocks; none after the end.
class Codes {
 public:
  Codes(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  std::optional<std::uint32_t> next(std::uint32_t size) {
    while (count_ < size) {
      if (block_ == 0) {
        // A block that is cut off is not begun: that is how far Pillow decodes.
        if (at_ >= bytes_.size()) return std::nullopt;
        block_ = u8_at(bytes_, at_);
        if (bytes_.size() - at_ < block_ + 1) return std::nullopt;
        ++at_;
        continue;
      }
      held_ |= u8_at(bytes_, at_++) << count_;
      count_ += 8;
      --block_;
    }
    const std::uint32_t code = held_ & ((1U << size) - 1);
    held_ >>= size;
    count_ -= size;
    return code;
  }

 private:
  std::string_view bytes_;
  std::size_t at_;
  std::size_t block_ = 0;
  std::uint32_t held_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace

Found<Header> read_gif_header(std::string_view bytes, std::uint64_t max_pixels) {
  const Found<Gif> gif = read_gif(bytes, max_pixels);
  if (!gif) return std::unexpected(gif.error());
  Header header{.format = ImageFormat::Gif, .width = gif->width, .height = gif->height};
  read_rest(bytes, *gif, header);
  return header;
}

Found<void> decode_gif(std::string_view bytes, const Deadline& deadline) {
  constexpr std::uint32_t kMaxCodes = 4096;
  constexpr std::uint32_t kMaxBits = 12;
  Found<Gif> gif = read_gif(bytes, UINT64_MAX);
  if (!gif) return std::unexpected(gif.error());
  // Pillow takes a frame without a width at the left edge for one of the size of the canvas.
  if (gif->left == 0 && gif->frame_width == 0 && gif->top == 0) {
    gif->frame_width = gif->width;
    gif->frame_height = gif->height;
  }
  if (gif->frame_width == 0 || gif->frame_height == 0)
    return undecodable("the frame of the GIF has no pixels");
  if (gif->bits > kMaxBits) return undecodable("the pixels of the GIF have too many bits");

  const std::uint32_t clear = 1U << gif->bits;
  const std::uint32_t end = clear + 1;
  std::array<std::uint32_t, kMaxCodes> lengths{};  // of the strings of the codes above `end`
  std::uint32_t next = clear + 2;
  std::uint32_t size = gif->bits + 1;
  std::uint32_t last_length = 0;  // of the last code's string; 0 right after a clear
  const auto length_of = [&](std::uint32_t code) { return code <= clear ? 1 : lengths[code]; };
  const std::uint64_t wanted = std::uint64_t{gif->frame_width} * gif->frame_height;
  std::uint64_t made = 0;
  Codes codes(bytes, gif->data_at);
  for (std::uint32_t turns = 0; made < wanted; ++turns) {
    if (turns % 65536 == 0 && deadline.passed()) return out_of_time();
    const auto code = codes.next(size);
    if (!code || *code == end) return undecodable("the pixels of the GIF end before the image does");
    if (*code == clear) {
      next = clear + 2;
      size = gif->bits + 1;
      last_length = 0;
      continue;
    }
    if (last_length == 0) {
      if (*code > clear) return undecodable("the pixels of the GIF start with an undefined code");
      last_length = 1;
      ++made;
      continue;
    }
    // The code that is made by this very step stands for the last string and its first pixel again.
    if (*code > next || *code >= kMaxCodes) {
      return undecodable("the pixels of the GIF have an undefined code");
    }
    const std::uint32_t length = *code == next ? last_length + 1 : length_of(*code);
    if (next < kMaxCodes) {
      lengths[next] = last_length + 1;
      if (next == (1U << size) - 1 && size < kMaxBits) ++size;
      ++next;
    }
    last_length = length;
    made += length;
  }
  return {};
}

}  // namespace parley::media
