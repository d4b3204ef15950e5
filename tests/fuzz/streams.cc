// The readers of all streams: the first byte chooses a dialect, the second where the stream is cut, the rest
// is what a server sends. Cutting changes neither frames (FRAMING1) nor events nor the message (S1 of
// stream.h), under limits too; events are in order and there is one end (S2 to S4, S6); and whatever was said
// can be written in every dialect and read again. Lines of Converse are put into binary messages, "name
// payload" each, as checksums cannot be guessed; with the highest bit of the first byte they are taken as
// they are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../streams/transcript.h"
#include "parley/base/framing.h"
#include "parley/base/text.h"
#include "parley/dialect/stream.h"
#include "require.h"

namespace {

using namespace parley;
using Pieces = std::vector<std::string_view>;

constexpr Dialect kRead[] = {Dialect::OpenAI,    Dialect::DeepSeek,  Dialect::Moonshot,
                             Dialect::DashScope, Dialect::Responses, Dialect::Anthropic,
                             Dialect::Gemini,    Dialect::Ollama,    Dialect::Converse};
constexpr Dialect kWritten[] = {Dialect::OpenAI,    Dialect::DeepSeek, Dialect::Responses,
                                Dialect::Anthropic, Dialect::Gemini,   Dialect::Ollama};

std::string binary(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const bool is_exception = line.starts_with('!');
    if (is_exception) line.remove_prefix(1);
    const std::size_t space = std::min({line.find(' '), line.size(), std::size_t{255}});
    const EventStreamFrame::Header headers[] = {
        {is_exception ? ":exception-type" : ":event-type", line.substr(0, space)},
        {":message-type", is_exception ? "exception" : "event"}};
    out += EventStreamFramer::encode(headers, line.substr(std::min(space + 1, line.size())));
  }
  return out;
}

// Cut into pieces of 0 to `longest` bytes.
Pieces cut(std::string_view bytes, std::size_t longest, std::mt19937& random) {
  Pieces out;
  while (!bytes.empty()) {
    const std::size_t size = std::min(random() % (longest + 1), bytes.size());
    out.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return out;
}

Pieces single_bytes(std::string_view bytes) {
  Pieces out;
  for (std::size_t i = 0; i < bytes.size(); ++i) out.push_back(bytes.substr(i, 1));
  return out;
}

// ---- Frames, as text

void add(std::string& out, std::string_view part) {
  out.append(std::to_string(part.size())).append(" ").append(part).append("\n");
}

template <typename Framer, typename OnFrame>
bool feed(Framer& framer, const Pieces& pieces, const OnFrame& on_frame, std::string& out) {
  for (const std::string_view piece : pieces) {
    if (const Result<void> fed = framer.feed(piece, on_frame); !fed) {
      add(out, fed.error().message);
      return false;
    }
  }
  return true;
}

std::string events_of(const Pieces& pieces, std::size_t limit) {
  std::string out;
  SseFramer framer(limit);
  const auto on_event = [&](const SseEvent& event) {
    for (const std::string_view part : {event.event, event.data, event.id, event.stray}) add(out, part);
  };
  if (feed(framer, pieces, on_event, out)) out += std::to_string(framer.finish(on_event));
  return out + " " + std::to_string(framer.retry().value_or(0));
}

std::string lines_of(const Pieces& pieces, std::size_t limit) {
  std::string out;
  LineFramer framer(limit);
  const auto on_line = [&](std::string_view line) { add(out, line); };
  if (feed(framer, pieces, on_line, out)) framer.finish(on_line);
  return out;
}

std::string messages_of(const Pieces& pieces, std::size_t limit) {
  std::string out;
  EventStreamFramer framer(limit);
  const auto on_frame = [&](const EventStreamFrame& frame) {
    for (const EventStreamFrame::Header& header : frame.headers) {
      add(out, header.name);
      add(out, header.value);
    }
    add(out, frame.payload);
  };
  if (feed(framer, pieces, on_frame, out)) out += std::to_string(framer.finish());
  return out;
}

void check_frames(std::string_view bytes, const Pieces& pieces) {
  for (const std::size_t limit : {kFrameLimit, std::size_t{100}}) {
    for (const auto& frames_of : {events_of, lines_of, messages_of}) {
      const std::string whole = frames_of({bytes}, limit);
      require(frames_of(pieces, limit) == whole, "cutting changes no frame (FRAMING1)");
      require(frames_of(single_bytes(bytes), limit) == whole, "single bytes change no frame (FRAMING1)");
    }
  }
}

// ---- Events

void check_cuts(Dialect dialect, std::string_view bytes, const Pieces& pieces, const StreamLimits& limits) {
  const test::Transcript whole = test::transcript_of(dialect, {bytes}, limits);
  require(is_utf8(whole.events) && is_utf8(whole.message), "all that is said is text");
  require(test::transcript_of(dialect, pieces, limits) == whole, "cutting changes nothing (S1)");
  require(test::transcript_of(dialect, single_bytes(bytes), limits) == whole,
          "single bytes change nothing (S1)");
}

// S2 to S4 and S6, event by event.
class Order {
 public:
  void add(const StreamEvent& event) {
    require(!has_ended, "the end is the last event (S2)");
    const bool is_done = std::holds_alternative<stream::Done>(event);
    has_ended = is_done || std::holds_alternative<stream::Truncated>(event) ||
                std::holds_alternative<stream::Failed>(event);
    if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
      is_whole_.try_emplace(start->block, false);
    } else if (const auto* delta = std::get_if<stream::Delta>(&event)) {
      require(is_whole_.contains(delta->block), "a delta is of a block that was started (S3)");
      require(!is_whole_[delta->block] || delta->replaces, "a block that has ended is whole (S4)");
      require(is_utf8(delta->text), "a text is UTF-8 (S6)");
    } else if (const auto* end = std::get_if<stream::BlockEnd>(&event)) {
      require(is_whole_.contains(end->block) && !is_whole_[end->block], "a block ends once (S3)");
      is_whole_[end->block] = true;
    }
    const auto is_open = [](const auto& block) { return !block.second; };
    if (is_done) require(std::ranges::none_of(is_whole_, is_open), "Done ends all blocks (S4)");
  }

  bool has_ended = false;

 private:
  std::map<std::uint64_t, bool> is_whole_;
};

void write_and_read(Dialect source, std::string_view bytes, Dialect target) {
  StreamWriter writer = StreamWriter::of(target, source).value();
  StreamReader reader = StreamReader::of(source).value();
  std::string written;
  Order order;
  const OnStreamEvent write = [&](const StreamEvent& event) {
    order.add(event);
    writer.write(event, written);
  };
  reader.feed(bytes, write);
  reader.finish(write);
  require(order.has_ended, "there is an end (S2)");
  require(is_utf8(written), "what is written is text");
  StreamReader again = StreamReader::of(target).value();
  const OnStreamEvent check = [&](const StreamEvent& event) {
    const auto* failed = std::get_if<stream::Failed>(&event);
    require(failed == nullptr || failed->error.code == Code::Unavailable, "what is written can be read");
  };
  again.feed(written, check);
  again.finish(check);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const Dialect dialect = kRead[(data[0] & 0x7F) % std::size(kRead)];
  std::string bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  if (dialect == Dialect::Converse && data[0] < 0x80) bytes = binary(bytes);
  std::mt19937 random(data[1]);
  const Pieces pieces = cut(bytes, std::size_t{1} << (random() % 10), random);
  check_frames(bytes, pieces);
  check_cuts(dialect, bytes, pieces, {});
  check_cuts(dialect, bytes, pieces,
             {.bytes = 400, .frame = 150, .json = {.bytes = 120, .string = 40, .depth = 6}});
  write_and_read(dialect, bytes, kWritten[data[1] % std::size(kWritten)]);
  return 0;
}
