// The pixels of a PNG, row by row. libpng is included here only; it leaves by longjmp, so nothing with a
// destructor lives between its setjmp and its calls.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>

#include "guard/format.h"

namespace parley::guard {
namespace {

struct Source {
  std::string_view bytes;
  std::size_t at = 0;
};

void read_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(png));
  if (source.bytes.size() - source.at < count) png_error(png, "cut off");
  std::memcpy(out, source.bytes.data() + source.at, count);
  source.at += count;
}

[[noreturn]] void leave(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void ignore(png_structp, png_const_charp) {}

// Rows of all passes. Passes are read as they are stored, so that no whole image is needed to merge them.
std::uint64_t rows_of(std::uint32_t width, std::uint32_t height, bool is_interlaced) {
  if (!is_interlaced) return height;
  std::uint64_t rows = 0;
  for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
    if (PNG_PASS_COLS(width, pass) > 0) rows += PNG_PASS_ROWS(height, pass);
  }
  return rows;
}

struct Session {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Session() {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, leave, ignore);
    if (png != nullptr) info = png_create_info_struct(png);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { png_destroy_read_struct(&png, &info, nullptr); }
};

enum class Outcome { Good, Bad, Late };

Outcome begin(Session& session, Source& source) {
  if (setjmp(png_jmpbuf(session.png)) != 0) return Outcome::Bad;
  png_set_read_fn(session.png, &source, read_bytes);
  // Sums were checked before; what is said beside the pixels was read there as far as it counts.
  png_set_crc_action(session.png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
  png_set_benign_errors(session.png, 1);
  png_set_user_limits(session.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_keep_unknown_chunks(session.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(session.png, session.info);
  png_start_read_image(session.png);
  return Outcome::Good;
}

bool read_row(Session& session, png_bytep row) {
  if (setjmp(png_jmpbuf(session.png)) != 0) return false;
  png_read_row(session.png, row, nullptr);
  return true;
}

Outcome read_rows(Session& session, png_bytep row, std::uint64_t rows, const Deadline& deadline) {
  for (; rows > 0; --rows) {
    if (deadline.passed()) return Outcome::Late;
    if (!read_row(session, row)) return Outcome::Bad;
  }
  return Outcome::Good;
}

}  // namespace

Found<void> decode_png(std::string_view bytes, const Deadline& deadline) {
  Session session;
  if (session.info == nullptr) return undecodable("there is no memory for libpng");
  Source source{bytes};
  if (begin(session, source) != Outcome::Good) return undecodable("the headers of the PNG do not decode");
  const std::uint32_t width = png_get_image_width(session.png, session.info);
  const std::uint32_t height = png_get_image_height(session.png, session.info);
  const bool is_interlaced = png_get_interlace_type(session.png, session.info) != PNG_INTERLACE_NONE;
  std::vector<png_byte> row(png_get_rowbytes(session.png, session.info));
  switch (read_rows(session, row.data(), rows_of(width, height, is_interlaced), deadline)) {
    case Outcome::Late:
      return out_of_time();
    case Outcome::Bad:
      return undecodable("the pixels of the PNG are cut off or damaged");
    case Outcome::Good:
      break;
  }
  return {};
}

}  // namespace parley::guard
