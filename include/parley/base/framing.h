// Framers cut the bytes of a stream into frames, however the network has cut them: server-sent events, lines,
// and the binary event stream of AWS. They know nothing of what the frames say. In `base`, because both `net`
// (which receives streams) and `dialect` (which reads them) use them.
//
// Invariants (quoted by tests as F1..F4):
//   F1  The same bytes give the same frames, wherever they are cut.
//   F2  The work is linear in the bytes, also if they come one by one: no byte is looked at again because its
//       frame is not whole.
//   F3  A frame that lies whole within the bytes of one feed() is not copied.
//   F4  A frame larger than the limit is LimitExceeded; no more than twice the limit is ever held.
//
// Everything a frame shows is a view that is valid during the callback. After an error a framer gives no more
// frames and returns the same error. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"

namespace parley {

inline constexpr std::size_t kFrameLimit = std::size_t{32} * 1024 * 1024;

// One server-sent event. Its data are the values of all its data lines, joined by LF.
struct SseEvent {
  std::string_view event;  // "" if none was named, which means "message"
  std::string_view data;
  std::string_view id;  // the last one that was said, by this event or before
  // Lines that are no field of the standard, which browsers pass over, joined by LF: servers that fail put
  // bare JSON into a stream.
  std::string_view stray;
};

// Server-sent events (WHATWG HTML, 9.2.6). Lines end in LF, CRLF or CR; a leading byte order mark is passed
// over. An event ends at an empty line; one without data or stray lines is none. Bytes need not be UTF-8.
class SseFramer {
 public:
  using OnEvent = std::function<void(const SseEvent& event)>;

  // `limit`: the bytes of one line, and of all data, or all stray lines, of one event.
  explicit SseFramer(std::size_t limit = kFrameLimit) : limit_(limit) {}

  Result<void> feed(std::string_view bytes, const OnEvent& on_event);

  // The end of the stream. An event that no empty line has ended is not whole and not given, except for its
  // stray lines. Returns how many bytes of lines were left that way.
  std::size_t finish(const OnEvent& on_event);

  // The delay before connecting again, in milliseconds, if the stream named one.
  std::optional<std::uint64_t> retry() const { return retry_; }

 private:
  // A part of an event that its lines fill: a view of the one line there is, or held.
  struct Part {
    std::string_view seen;
    std::string held;
    bool is_held = false, is_there = false;
    void add(std::string_view line);
    void hold();
    void clear();
    std::string_view view() const { return is_held ? std::string_view(held) : seen; }
  };

  bool whole_line(std::string_view piece, bool is_first, const OnEvent& on_event);
  bool keep(std::string_view piece, bool is_first);
  bool line(std::string_view text, const OnEvent& on_event);
  void dispatch(const OnEvent& on_event);

  std::size_t limit_;
  std::string line_;  // the beginning of a line whose end has not come
  Part data_, stray_, event_;
  std::string id_;
  std::optional<std::uint64_t> retry_;
  std::size_t pending_ = 0;  // bytes of lines since the last empty one
  bool after_cr_ = false;    // an LF that comes now belongs to the CR before it
  bool first_line_ = true;
  bool failed_ = false;
};

// Lines that end in LF (a CR before it is cut), as of NDJSON. Empty lines are passed over.
class LineFramer {
 public:
  using OnLine = std::function<void(std::string_view line)>;

  explicit LineFramer(std::size_t limit = kFrameLimit) : limit_(limit) {}

  Result<void> feed(std::string_view bytes, const OnLine& on_line);
  // The end of the stream: a last line without an end is a line, too.
  void finish(const OnLine& on_line);

 private:
  Result<void> too_large() const;

  std::size_t limit_;
  std::string line_;  // the beginning of a line whose end has not come
  bool failed_ = false;
};

// One message of the binary event stream. Headers that are no strings are passed over.
struct EventStreamFrame {
  struct Header {
    std::string_view name, value;
  };
  std::span<const Header> headers;
  std::string_view payload;

  std::string_view header(std::string_view name) const;  // "" if there is none
};

// application/vnd.amazon.eventstream:
//
//   message = total:u32 headers-length:u32 crc32-of-these:u32 header* payload crc32-of-all-before:u32
//   header  = name-length:u8 name type:u8 value
//
// Numbers are big-endian. Wrong checksums and lengths are Malformed.
class EventStreamFramer {
 public:
  using OnFrame = std::function<void(const EventStreamFrame& frame)>;

  explicit EventStreamFramer(std::size_t limit = kFrameLimit) : limit_(limit) {}

  Result<void> feed(std::string_view bytes, const OnFrame& on_frame);
  // The end of the stream. Returns how many bytes were left of a message that is not whole.
  std::size_t finish() const { return held_.size(); }

  // A message as its bytes: strings only in the headers. REQUIRES: lengths that fit their fields.
  static std::string encode(std::span<const EventStreamFrame::Header> headers, std::string_view payload);

 private:
  Result<void> prelude(std::string_view bytes);
  Result<void> message(std::string_view bytes, const OnFrame& on_frame);
  Result<void> headers(std::string_view bytes);

  std::size_t limit_;
  std::size_t total_ = 0;  // of the message at hand; 0 until its prelude is whole
  std::string held_;       // the beginning of a message that is not whole
  std::vector<EventStreamFrame::Header> headers_;
  std::optional<Error> error_;
};

}  // namespace parley
