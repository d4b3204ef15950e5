// One client of an AsyncServer, from its first byte to its last, on one loop. async_server.h has the
// contract.
//
//            begin()                whole request           end of response
//   Idle ------------> Reading ----------------> Handling -----------------> Reading, or Closing
//                         |  refused, timed out      |  gone, cut
//                         +------------------------> Closing ------> Closed
//
// Every function runs on the loop, but those of a Reply.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/loop.h"
#include "net/request_reader.h"
#include "parley/net/async_server.h"

namespace parley::net {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Clock = std::chrono::steady_clock;
  using Backlog = std::shared_ptr<std::atomic<std::size_t>>;  // of one response: what the system did not take
  using Closed = std::function<void(const std::shared_ptr<Connection>& connection)>;

  // `options` and `handler` outlive the connection's time on the loop.
  Connection(std::shared_ptr<Loop> loop, Socket socket, const ServerOptions& options,
             const AsyncServer::Handler& handler, Closed closed);

  void begin();
  void refuse(const Refusal& refusal, std::chrono::milliseconds patience);
  void stop();  // the server stops: closes at once

  // The response to the request `serial`; ignored if that is not the present one.
  void whole(std::uint64_t serial, int status, const std::vector<Header>& headers, std::string_view body);
  void start(std::uint64_t serial, int status, const std::vector<Header>& headers);
  void send(std::uint64_t serial, std::string_view chunk, const Backlog& backlog);
  void end(std::uint64_t serial);
  void cut(std::uint64_t serial);
  void drop(std::uint64_t serial);  // its Responder is gone

 private:
  friend class Reply;
  enum class State { Reading, Handling, Closing, Closed };
  enum class Response { None, Started, Ended };

  void watch();
  void readable();
  void take(std::string_view bytes);
  void read_pending();
  void read_request(std::string_view bytes);
  void hand_over();
  void peer_closed();
  bool handles(std::uint64_t serial) const;
  bool responds(std::uint64_t serial, Response expected) const;
  std::string connection_line() const;

  void put(std::string_view bytes);
  void flush();
  void written();
  void finish_response();
  void gone();

  void close(std::chrono::milliseconds patience = std::chrono::milliseconds(1000));
  void reset();
  void end_now();

  void set_deadline(Clock::time_point deadline);
  void arm_timer();
  void timed_out();
  Clock::time_point body_deadline(Clock::time_point now) const;

  std::shared_ptr<Loop> loop_;
  Socket socket_;
  const ServerOptions& options_;
  const AsyncServer::Handler& handler_;
  Closed closed_;

  State state_ = State::Reading;
  std::unique_ptr<RequestReader> reader_;  // while a request is read (ASYNC_SERVER2)
  std::string pending_;                    // what came and is not used yet
  bool is_watching_ = false;
  bool has_continued_ = false;
  bool is_half_closed_ = false;  // the client sends nothing more

  std::uint64_t serial_ = 0;  // of the request that is handled
  Response response_ = Response::None;
  bool keeps_alive_ = true;
  bool is_chunked_ = true;
  bool is_bare_ = false;  // no body is sent, whatever the handler says
  std::function<void()> on_gone_, on_drained_;
  std::string out_;  // what is to be written, from out_at_ on
  std::size_t out_at_ = 0;
  std::size_t out_payload_ = 0;  // bytes of chunks in out_
  Backlog backlog_;              // that these are part of
  bool is_flush_posted_ = false;
  bool waits_to_write_ = false;

  boost::asio::steady_timer timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point armed_for_ = Clock::time_point::max();
  Clock::time_point body_start_ = {};
  std::size_t body_bytes_ = 0;
};

}  // namespace parley::net
