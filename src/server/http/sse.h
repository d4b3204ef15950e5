// Server-sent events to one client. The events of one turn of the loop leave as one buffer.
//
// Invariants (quoted by tests as EVENT_STREAM1..EVENT_STREAM4):
//   EVENT_STREAM1  An event is one "data:" line: JSON has U+2028, U+2029 and U+0085 escaped, because some
//                  clients take them for line ends.
//   EVENT_STREAM2  What is written leaves in flush() and end(), in one piece.
//   EVENT_STREAM3  A stream that is silent for the time of a ping sends a comment, from start() to end() or
//                  cut().
//   EVENT_STREAM4  on_gone is called at most once; nothing is called after end() or cut().
//
// On the loop of its exchange.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/exchange.h"

namespace parley::server {

// Appends `json` with the characters of EVENT_STREAM1 escaped. REQUIRES: one JSON value without line breaks.
void append_line(std::string& out, std::string_view json);

class EventStream : public std::enable_shared_from_this<EventStream> {
 public:
  struct Hooks {
    std::function<void()> on_gone = {};     // the client is gone, also before start()
    std::function<void()> on_drained = {};  // it has read everything
  };
  // In the handler of the exchange: nothing is sent yet.
  static std::shared_ptr<EventStream> of(std::shared_ptr<Exchange> exchange, std::chrono::milliseconds ping,
                                         Hooks hooks);

  void start();  // answers 200
  bool is_started() const { return is_started_; }

  void data(std::string_view json);                          // "data: JSON"
  void event(std::string_view name, std::string_view json);  // "event: NAME", "data: JSON"
  // The same with "id: ID", which a client sends back as Last-Event-ID.
  void event(std::string_view name, std::int64_t id, std::string_view json);
  void text(std::string_view line);  // "data: LINE" as it is: "[DONE]"
  void flush();
  void end();
  void cut();  // so that half an answer does not look whole

  std::size_t backlog() const;  // bytes that wait for the client

 private:
  EventStream(std::shared_ptr<Exchange> exchange, std::chrono::milliseconds ping);
  void watch_silence();
  void close();

  std::shared_ptr<Exchange> exchange_;
  std::chrono::milliseconds ping_;
  std::shared_ptr<Hooks> hooks_;  // shared with the callbacks of the responder, which outlive a closed stream
  std::string out_ = {};
  bool is_started_ = false, is_closed_ = false;
  bool was_silent_ = true;  // since the last look
};

}  // namespace parley::server
