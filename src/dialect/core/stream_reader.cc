// StreamReader: bytes through a framing into the decoder of the dialect's row.
#include <string>
#include <utility>

#include "dialect/core/stream_decoder.h"
#include "dialect/format.h"
#include "parley/base/framing.h"

namespace parley {
namespace dialect {

using OnChunk = std::function<void(const Chunk& chunk)>;

// What all framings look like from here.
class Framing {
 public:
  virtual ~Framing() = default;
  virtual Result<void> feed(std::string_view bytes, const OnChunk& on_chunk) = 0;
  virtual void finish(const OnChunk& on_chunk) = 0;
};

namespace {

class SseFraming : public Framing {
 public:
  explicit SseFraming(std::size_t limit) : framer_(limit) {}
  Result<void> feed(std::string_view bytes, const OnChunk& on_chunk) override {
    return framer_.feed(bytes,
                        [&](const SseEvent& event) { on_chunk({event.event, event.data, event.stray}); });
  }
  void finish(const OnChunk& on_chunk) override {
    framer_.finish([&](const SseEvent& event) { on_chunk({event.event, event.data, event.stray}); });
  }

 private:
  SseFramer framer_;
};

class LineFraming : public Framing {
 public:
  explicit LineFraming(std::size_t limit) : framer_(limit) {}
  Result<void> feed(std::string_view bytes, const OnChunk& on_chunk) override {
    return framer_.feed(bytes, [&](std::string_view line) { on_chunk({{}, line}); });
  }
  void finish(const OnChunk& on_chunk) override {
    framer_.finish([&](std::string_view line) { on_chunk({.name = {}, .data = line, .is_last = true}); });
  }

 private:
  LineFramer framer_;
};

class EventStreamFraming : public Framing {
 public:
  explicit EventStreamFraming(std::size_t limit) : framer_(limit) {}
  Result<void> feed(std::string_view bytes, const OnChunk& on_chunk) override {
    return framer_.feed(bytes, [&](const EventStreamFrame& frame) {
      const bool is_event = frame.header(":message-type") == "event";
      const std::string_view name = frame.header(is_event ? ":event-type" : ":exception-type");
      // An "error" has no payload, only headers.
      on_chunk({name.empty() ? frame.header(":error-code") : name, frame.payload, {}, !is_event});
    });
  }
  void finish(const OnChunk&) override {}

 private:
  EventStreamFramer framer_;
};

std::unique_ptr<Framing> framing_of(FramingKind kind, std::size_t limit) {
  switch (kind) {
    case FramingKind::Sse:
      return std::make_unique<SseFraming>(limit);
    case FramingKind::Lines:
      return std::make_unique<LineFraming>(limit);
    case FramingKind::EventStream:
      return std::make_unique<EventStreamFraming>(limit);
  }
  return nullptr;
}

}  // namespace
}  // namespace dialect

Result<StreamReader> StreamReader::of(Dialect dialect, const StreamLimits& limits) {
  const dialect::StreamFormat* row = dialect::stream_of(dialect);
  if (row == nullptr) {
    return fail(Code::Unsupported, "the dialect '" + std::string(to_string(dialect)) + "' has no streams");
  }
  return StreamReader(row->decoder(dialect, limits.json), dialect::framing_of(row->framing, limits.frame),
                      limits.bytes);
}

StreamReader::StreamReader(std::unique_ptr<dialect::Decoder> decoder,
                           std::unique_ptr<dialect::Framing> framing, std::size_t bytes)
    : decoder_(std::move(decoder)), framing_(std::move(framing)), bytes_left_(bytes) {}
StreamReader::StreamReader(StreamReader&&) noexcept = default;
StreamReader& StreamReader::operator=(StreamReader&&) noexcept = default;
StreamReader::~StreamReader() = default;

void StreamReader::feed(std::string_view bytes, const OnStreamEvent& on_event) {
  if (decoder_->has_ended()) return;
  const bool is_too_much = bytes.size() > bytes_left_;
  bytes = bytes.substr(0, bytes_left_);  // so that the events before the limit are the same however it is cut
  bytes_left_ -= bytes.size();
  const auto fed =
      framing_->feed(bytes, [&](const dialect::Chunk& chunk) { decoder_->take(chunk, on_event); });
  if (!fed) return decoder_->fail(fed.error(), on_event);
  if (is_too_much) {
    decoder_->fail(fail(Code::LimitExceeded, "the stream is larger than its limit").error(), on_event);
  }
}

void StreamReader::finish(const OnStreamEvent& on_event) {
  if (decoder_->has_ended()) return;
  framing_->finish([&](const dialect::Chunk& chunk) { decoder_->take(chunk, on_event); });
  decoder_->end(on_event);
}

}  // namespace parley
