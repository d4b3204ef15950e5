// For tests of any room: an HTTP server on 127.0.0.1 that does what a script says, right or wrong. One
// thread, one connection at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace parley::net {

// What a client asked for.
struct SeenRequest {
  std::string head;  // with its line ends
  std::string body;
  std::string target() const;  // "/x" of "GET /x HTTP/1.1"
};

class LoopbackServer {
 public:
  // The client's connection, while a script runs.
  class Connection {
   public:
    explicit Connection(int socket, const LoopbackServer& server) : socket_(socket), server_(server) {}
    // False once the client is gone or the server stops; a script then returns.
    bool send(std::string_view bytes);
    // True after a moment, false as above.
    bool pause();
    // Waits until the client sends more, and drops the connection once the script returns, as if it had never
    // been: what the client has sent and is still sending is thrown away.
    void reset_at_next_request();

   private:
    friend class LoopbackServer;
    int socket_;
    const LoopbackServer& server_;
    bool is_reset_ = false;
  };
  using Script = std::function<void(Connection& connection, const SeenRequest& request)>;

  explicit LoopbackServer(Script script);
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer();

  std::uint16_t port() const { return port_; }
  std::string url(std::string_view path, std::string_view host = "127.0.0.1") const;
  std::vector<SeenRequest> seen() const;

 private:
  void run();
  bool serve(int socket);  // false if the connection was reset

  Script script_;
  int listener_ = -1;
  int stop_[2] = {-1, -1};  // a pipe: readable once the server stops
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  std::thread thread_;
};

// A whole response: status line, headers, a true Content-Length, body.
std::string answer(std::string_view status, std::string_view headers, std::string_view body);

std::string gzipped(std::string_view bytes);

}  // namespace parley::net
