// Framers split the bytes of a stream into frames, however the network has split them: server-sent events,
// lines, and the binary event stream of AWS. They do not interpret the frames. They are in `base`, because
// both `dialect` and `mcp` use them.
//
// Invariants (quoted by tests as FRAMING1..FRAMING4):
//   FRAMING1  The same bytes give the same frames, whatever the chunks they arrive in.
//   FRAMING2  The work is linear in the bytes, even if they arrive one by one: no byte of an incomplete frame
//             is read twice.
//   FRAMING3  A frame that is complete within the bytes of one feed() is not copied.
//   FRAMING4  A frame larger than the limit is LimitExceeded; at most twice the limit is buffered.
//
// The views in a frame are valid during the callback. After an error a framer gives no more frames and
// returns the same error. One thread at a time.
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
  std::string_view event;  // "" if the stream names none, which means "message"
  std::string_view data;
  std::string_view id;  // the last id so far, of this event or an earlier one
  // Lines that are not a field of the standard, joined by LF. Browsers ignore them, but failing servers put
  // bare JSON into a stream.
  std::string_view stray;
};

// Server-sent events (WHATWG HTML, 9.2.6). Lines end in LF, CRLF or CR; a leading byte order mark is skipped.
// An event ends at an empty line; without data and stray lines there is no event. Bytes need not be UTF-8.
class SseFramer {
 public:
  using OnEvent = std::function<void(const SseEvent& event)>;

  // `limit`: the bytes of one line, and of all data, or all stray lines, of one event.
  explicit SseFramer(std::size_t limit = kFrameLimit) : limit_(limit) {}

  Result<void> feed(std::string_view bytes, const OnEvent& on_event);

  // The end of the stream. An event without its final empty line is incomplete: only its stray lines are
  // given. Returns the number of bytes of its lines.
  std::size_t finish(const OnEvent& on_event);

  // The delay before reconnecting, in milliseconds, if the stream sets one.
  std::optional<std::uint64_t> retry() const { return retry_; }

 private:
  // A part of an event: a view of its only line, or a copy of its lines.
  struct Part {
    std::string_view seen;
    std::string held;
    bool is_held = false, is_there = false;
    void add(std::string_view line);
    void hold();
    void clear();
    std::string_view view() const { return is_held ? std::string_view(held) : seen; }
  };

  bool whole_line(std::string_view chunk, bool is_first, const OnEvent& on_event);
  bool keep(std::string_view chunk, bool is_first);
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

// Lines that end in LF (a CR before it is removed), as in NDJSON. Empty lines are skipped.
class LineFramer {
 public:
  using OnLine = std::function<void(std::string_view line)>;

  explicit LineFramer(std::size_t limit = kFrameLimit) : limit_(limit) {}

  Result<void> feed(std::string_view bytes, const OnLine& on_line);
  // The end of the stream: gives a last line that has no LF.
  void finish(const OnLine& on_line);

 private:
  Result<void> too_large() const;

  std::size_t limit_;
  std::string line_;  // the beginning of a line whose end has not come
  bool failed_ = false;
};

// One message of the binary event stream. Headers that are not strings are skipped.
struct EventStreamFrame {
  struct Header {
    std::string_view name, value;
  };
  std::span<const Header> headers;
  std::string_view payload;

  std::string_view header(std::string_view name) const;  // "" if absent
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
  // The end of the stream. Returns the number of bytes of an incomplete message.
  std::size_t finish() const { return held_.size(); }

  // The bytes of a message whose headers are strings. REQUIRES: lengths that fit their fields.
  static std::string encode(std::span<const EventStreamFrame::Header> headers, std::string_view payload);

 private:
  Result<void> prelude(std::string_view bytes);
  Result<void> message(std::string_view bytes, const OnFrame& on_frame);
  Result<void> headers(std::string_view bytes);

  std::size_t limit_;
  std::size_t total_ = 0;  // size of the current message; 0 until its prelude is complete
  std::string held_;       // the beginning of an incomplete message
  std::vector<EventStreamFrame::Header> headers_;
  std::optional<Error> error_;
};

}  // namespace parley
