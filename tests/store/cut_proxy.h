// A proxy before a server's socket that cuts a connection at the worst moment, once for every time it is
// asked to.
//
// Safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace parley::store {

enum class Cut : std::uint8_t {
  None,
  Before,  // what the client sends next is lost
  Half,    // the server gets half of it
  After,   // the server gets it, and the response is lost
  Answer,  // the server has answered, and the answer is lost
  Late,    // the client sees the cut at once, the server gets everything a moment later
};

class CutProxy {
 public:
  explicit CutProxy(std::string socket);  // of the server
  ~CutProxy();                            // waits for what is late
  CutProxy(const CutProxy&) = delete;
  CutProxy& operator=(const CutProxy&) = delete;

  int port() const { return port_; }  // on 127.0.0.1
  // Cuts at the next send of either side.
  void cut_next(Cut cut) { next_ = cut; }

 private:
  void accept_all();
  void pump(int client);

  const std::string socket_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<Cut> next_ = Cut::None;
  std::atomic<bool> is_over_ = false;
  std::vector<std::thread> pumps_;
  std::thread acceptor_;
};

}  // namespace parley::store
