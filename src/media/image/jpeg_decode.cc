// The pixels of a JPEG, row by row. libjpeg is included here only; it leaves by longjmp, so nothing with a
// destructor lives between its setjmp and its calls.
#include <cstdio>  // jpeglib.h needs it
//
#include <jpeglib.h>

#include <csetjmp>
#include <vector>

#include "media/image/format.h"

namespace parley::media {
namespace {

// A progressive JPEG is decoded in passes over its coefficients, which libjpeg holds: 8192 x 8192 in three
// colours need 384 MiB. Everything else takes some rows.
constexpr long kMaxMemory = 512L * 1024 * 1024;

struct Session {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::jmp_buf exit{};
  const Deadline* deadline = nullptr;
  bool is_late = false;

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { jpeg_destroy_decompress(&jpeg); }
};

Session& session_of(j_common_ptr jpeg) { return *static_cast<Session*>(jpeg->client_data); }

[[noreturn]] void leave(j_common_ptr jpeg) { std::longjmp(session_of(jpeg).exit, 1); }
void say_nothing(j_common_ptr) {}
void count_nothing(j_common_ptr, int) {}
void nothing(j_decompress_ptr) {}

// All bytes are there from the start: a request for more means the end.
boolean no_more(j_decompress_ptr) { return FALSE; }

void skip(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t step = wanted < jpeg->src->bytes_in_buffer ? wanted : jpeg->src->bytes_in_buffer;
  jpeg->src->next_input_byte += step;
  jpeg->src->bytes_in_buffer -= step;
}

void look_at_clock(j_common_ptr jpeg) {
  Session& session = session_of(jpeg);
  if (!session.deadline->passed()) return;
  session.is_late = true;
  leave(jpeg);
}

void prepare(Session& session, std::string_view bytes) {
  session.jpeg.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = leave;
  session.errors.output_message = say_nothing;
  session.errors.emit_message = count_nothing;
  session.jpeg.client_data = &session;
  session.source.init_source = nothing;
  session.source.term_source = nothing;
  session.source.fill_input_buffer = no_more;
  session.source.skip_input_data = skip;
  session.source.resync_to_restart = jpeg_resync_to_restart;
  session.source.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  session.source.bytes_in_buffer = bytes.size();
  session.progress.progress_monitor = look_at_clock;
}

bool start(Session& session, const Header& header) {
  if (setjmp(session.exit) != 0) return false;
  jpeg_decompress_struct& jpeg = session.jpeg;
  jpeg_create_decompress(&jpeg);
  jpeg.client_data = &session;
  jpeg.src = &session.source;
  jpeg.progress = &session.progress;
  jpeg.mem->max_memory_to_use = kMaxMemory;
  int found = JPEG_HEADER_TABLES_ONLY;
  while (found == JPEG_HEADER_TABLES_ONLY) found = jpeg_read_header(&jpeg, FALSE);
  if (found != JPEG_HEADER_OK) return false;
  // What Pillow asks for, by the number of components in the header.
  jpeg.out_color_space = jpeg.num_components == 1   ? JCS_GRAYSCALE
                         : jpeg.num_components == 4 ? JCS_CMYK
                                                    : JCS_RGB;
  if (jpeg_start_decompress(&jpeg) == FALSE) return false;
  return jpeg.output_width == header.width && jpeg.output_height >= header.height;
}

bool read_rows(Session& session, JSAMPROW row, const std::uint32_t rows) {
  if (setjmp(session.exit) != 0) return false;
  while (session.jpeg.output_scanline < rows) {
    look_at_clock(reinterpret_cast<j_common_ptr>(&session.jpeg));
    if (jpeg_read_scanlines(&session.jpeg, &row, 1) != 1) return false;
  }
  return true;
}

// Reads on to the end of the image. That it is missing is no reason to refuse; what stands there may be one.
bool finish(Session& session) {
  if (setjmp(session.exit) != 0) return false;
  (void)jpeg_finish_decompress(&session.jpeg);
  return true;
}

}  // namespace

Found<void> decode_jpeg(std::string_view bytes, const Header& header, const Deadline& deadline) {
  Session session;
  session.deadline = &deadline;
  prepare(session, bytes);
  bool good = start(session, header);
  if (good) {
    std::vector<JSAMPLE> row(std::size_t{session.jpeg.output_width} *
                             static_cast<std::size_t>(session.jpeg.output_components));
    good = read_rows(session, row.data(), header.height) && finish(session);
  }
  if (session.is_late) return out_of_time();
  if (!good) return undecodable("the pixels of the JPEG are cut off or damaged");
  return {};
}

}  // namespace parley::media
