// Stands between a store and its server on sockets of this machine, and does what networks do: it keeps
// requests until the client has given up and delivers them later, or takes requests and loses the answers.
//
// Safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace parley::store {

class LateProxy {
 public:
  enum class Mode : std::uint8_t {
    Pass,
    Keep,  // requests are kept, and nothing is answered
    Cut,   // requests go through, and the connection is cut when the answer comes
  };

  // Listens on the socket `path` for the server on the socket `server`.
  LateProxy(std::string server, const std::string& path);
  ~LateProxy();
  LateProxy(const LateProxy&) = delete;
  LateProxy& operator=(const LateProxy&) = delete;

  void set(Mode mode) { mode_ = mode; }
  // Delivers what was kept of clients that are gone, and waits for the answers: their bytes, all together.
  std::string deliver();

 private:
  struct Late {
    int server;
    std::string request;
  };
  void accept_all();
  void serve(int client);

  const std::string server_;
  int listener_ = -1;
  std::atomic<Mode> mode_ = Mode::Pass;
  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;
  std::vector<Late> late_;
  std::vector<std::thread> threads_;  // one per client
  std::thread acceptor_;
};

}  // namespace parley::store
