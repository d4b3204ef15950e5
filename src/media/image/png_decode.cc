// The pixels of a PNG, row by row, as far as they can be wrong: the zlib stream of all IDAT chunks together
// gives rows of {u8 filter, packed samples}, in seven passes if they are interlaced. Undoing a filter cannot
// fail, so it is not done. libpng is not used: it refuses what Pillow and others show (a stream that ends
// with a row, a palette that is missing), twice as many images as the 0.5 % that may differ.
#include <algorithm>
#include <array>
#include <vector>

#include "media/image/format.h"
#include "media/image/inflate.h"
#include "media/reader.h"

namespace parley::media {
namespace {

struct Pass {
  std::uint32_t column, row, columns, rows;  // where it starts, and its steps
};
constexpr std::array<Pass, 7> kPasses = {
    {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}};
constexpr std::array<Pass, 1> kOnePass = {{{0, 0, 1, 1}}};

constexpr std::size_t kStep = std::size_t{64} * 1024;

// The rows of all passes, one after another.
class Rows {
 public:
  explicit Rows(const PngHeader& header)
      : header_(header),
        passes_(header.is_interlaced ? std::span<const Pass>(kPasses) : std::span<const Pass>(kOnePass)) {
    find();
  }
  bool is_over() const { return pass_ == passes_.size(); }
  // Bytes of the row, its filter included.
  std::size_t size() const {
    const Pass& pass = passes_[pass_];
    const std::uint64_t columns = (header_.frame_width - pass.column + pass.columns - 1) / pass.columns;
    return 1 + (columns * header_.pixel_bits + 7) / 8;
  }
  void next() {
    y_ += passes_[pass_].rows;
    if (y_ >= header_.frame_height) {
      ++pass_;
      find();
    }
  }

 private:
  // The next pass that has pixels.
  void find() {
    while (!is_over()) {
      y_ = passes_[pass_].row;
      if (y_ < header_.frame_height && passes_[pass_].column < header_.frame_width) return;
      ++pass_;
    }
  }

  const PngHeader& header_;
  std::span<const Pass> passes_;
  std::size_t pass_ = 0;
  std::uint64_t y_ = 0;
};

}  // namespace

Found<void> decode_png(std::string_view bytes, const PngHeader& header, const Deadline& deadline) {
  if (header.frame_width == 0 || header.frame_height == 0) {
    return undecodable("the first frame of the PNG has no pixels");
  }
  Inflate inflate;
  Rows rows(header);
  std::vector<std::uint8_t> row(rows.size());
  std::span<std::uint8_t> room = row;
  Reader reader(bytes, header.data_at - 8);
  for (;;) {
    const auto start = reader.all(8);
    if (!start || start->substr(4) != "IDAT") return undecodable("the pixels of the PNG are cut off");
    std::string_view chunk = reader.some(big32_at(*start, 0));
    reader.skip(4);
    while (!chunk.empty()) {
      std::string_view data = chunk.substr(0, kStep);
      chunk.remove_prefix(data.size());
      while (!data.empty()) {
        if (deadline.passed()) return out_of_time();
        const Inflate::Step step = inflate.step(data, room);
        if (step == Inflate::Step::Damaged) return undecodable("the pixels of the PNG are damaged");
        if (!room.empty()) break;
        if (row[0] > 4) return undecodable("a row of the PNG has an unknown filter");
        rows.next();
        if (rows.is_over() || step == Inflate::Step::End) return {};
        row.resize(rows.size());
        room = row;
      }
    }
  }
}

}  // namespace parley::media
