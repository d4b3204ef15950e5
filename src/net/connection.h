// One client of an AsyncServer, from its first byte to its last, on one loop. async_server.h has the
// contract.
//
//            begin()                whole request           end of response
//   Idle ------------> Reading ----------------> Handling -----------------> Reading, or Closing
//                         |  refused, timed out      |  gone, cut             upgrade()
//                         +------------------------> Closing ------> Closed    Handling ---> Upgraded
//
// Every function runs on the loop, but loop().
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/byte_budget.h"
#include "net/listener.h"
#include "net/loop.h"
#include "net/request_reader.h"
#include "net/tls.h"
#include "parley/net/async_server.h"

namespace parley::net {

inline constexpr Refusal kTooSlow{408, "the request took too long"};

// What a connection belongs to after an upgrade, until it has ended.
class Upgrade {
 public:
  virtual ~Upgrade() = default;
  virtual void received(std::string_view bytes) = 0;  // asks for more with Connection::watch()
  virtual void written(std::size_t payload) = 0;      // the system has taken everything
  virtual void timed_out() = 0;                       // the deadline has passed
  virtual void drain() = 0;                           // the server takes no new work
  virtual void close() = 0;                           // a last word, and the end when the client agrees
  virtual void stop() = 0;                            // the server stops: a last word
  virtual void ended() = 0;                           // nothing follows
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Clock = std::chrono::steady_clock;
  using Backlog = std::shared_ptr<std::atomic<std::size_t>>;  // of one response: what the system did not take
  using Closed = std::function<void(const std::shared_ptr<Connection>& connection)>;

  // What the connections of a server share, which outlives their time on the loop.
  struct Shared {
    const ServerOptions& options;
    const AsyncServer::Handler& handler;
    const std::shared_ptr<ByteBudget>& bodies;
  };

  // With `tls`, what is sent and received is encrypted.
  Connection(std::shared_ptr<Loop> loop, Socket socket, const TlsContext* tls, Peer peer,
             const Shared& shared, Closed closed);

  void begin();
  void refuse(const Refusal& refusal, std::chrono::milliseconds patience);
  void drain();           // closes after the present request, at once if there is none; tells an Upgrade
  void close_upgraded();  // asks an Upgrade to close; nothing happens if there is none
  void stop();            // the server stops: closes at once

  // The response to the request `serial`; ignored if that is not the present one.
  void whole(std::uint64_t serial, int status, const std::vector<Header>& headers, std::string_view body);
  void start(std::uint64_t serial, int status, const std::vector<Header>& headers);
  void send(std::uint64_t serial, std::string_view chunk, const Backlog& backlog);
  void end(std::uint64_t serial);
  void cut(std::uint64_t serial);
  void drop(std::uint64_t serial);  // its Responder is gone
  void on_gone(std::uint64_t serial, std::function<void()> call);
  void on_drained(std::uint64_t serial, std::function<void()> call);

  // Gives the connection to `upgrade`; false if the request is not the present one or its response has begun.
  bool upgrade(std::uint64_t serial, std::shared_ptr<Upgrade> upgrade,
               std::chrono::milliseconds idle_timeout);
  // For the Upgrade:
  void watch();
  // Writes, at the end of the loop's turn. False if earlier bytes wait for the client to read.
  bool put_frame(std::string_view bytes, std::size_t payload, const Backlog& backlog);
  void set_deadline(Clock::time_point deadline);
  // Keeps `bytes` more of what arrives, until release(); false if the server has no memory for it
  // (ASYNC_SERVER13).
  bool charge(std::size_t bytes);
  void release();
  void end_upgrade();  // writes what the system takes, and closes; calls nothing

  bool is_draining() const { return is_draining_; }
  const std::shared_ptr<Loop>& loop() const { return loop_; }

 private:
  enum class State { Reading, Handling, Upgraded, Closing, Closed };
  enum class Response { None, Started, Ended };

  bool is_idle() const;
  std::size_t read_some(std::span<char> buffer, boost::system::error_code& error);
  std::size_t write_some(std::string_view bytes, boost::system::error_code& error);
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

  void set_write_deadline(Clock::time_point deadline);
  void arm_timer();
  void timed_out();
  void begin_window();
  bool keeps_body_rate(std::size_t bytes);
  bool has_body_rate() const;

  const std::shared_ptr<Loop> loop_;
  Socket socket_;
  std::unique_ptr<TlsStream> tls_;  // null if the connection is not encrypted
  bool is_handshaking_ = false;
  Peer peer_;
  const ServerOptions& options_;
  const AsyncServer::Handler& handler_;
  const std::shared_ptr<ByteBudget>& bodies_;
  Closed closed_;

  State state_ = State::Reading;
  std::unique_ptr<RequestReader> reader_;  // while a request is read (ASYNC_SERVER2)
  std::string pending_;                    // what came and is not used yet
  bool is_watching_ = false;
  bool has_continued_ = false;
  bool is_half_closed_ = false;  // the client sends nothing more
  bool is_draining_ = false;

  std::uint64_t serial_ = 0;  // of the request that is handled
  Response response_ = Response::None;
  bool keeps_alive_ = true;
  bool is_chunked_ = true;
  bool is_bare_ = false;  // no body is sent, whatever the handler says
  std::function<void()> on_gone_, on_drained_;
  std::shared_ptr<Upgrade> upgrade_;
  std::string out_;  // what is to be written, from out_at_ on
  std::size_t out_at_ = 0;
  std::size_t out_payload_ = 0;  // bytes of chunks in out_
  Backlog backlog_;              // that these are part of
  bool is_flush_posted_ = false;
  bool waits_to_write_ = false;

  boost::asio::steady_timer timer_;
  std::chrono::milliseconds idle_timeout_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point write_deadline_ = Clock::time_point::max();  // while the client does not read
  Clock::time_point armed_for_ = Clock::time_point::max();
  Clock::time_point window_end_ = {};  // of the time in which the rate of a body is measured
  std::size_t window_bytes_ = 0;       // in it, with the frames of chunks
  std::size_t kept_ = 0;               // bytes of a body or a message
  std::size_t charged_ = 0;            // of them, to bodies_
};

}  // namespace parley::net
