// Transfers of one multi handle on an event loop: the sockets and the timer that libcurl asks for.
//
// libcurl calls back into it while it is at work; nothing is added, removed, paused or cancelled then. Such
// wishes are kept, and carried out when libcurl has returned.
//
// For the loop's thread. Shared, because waits on the loop hold it.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/loop.h"
#include "net/transfer.h"

namespace parley::net {

class CurlGroup : public std::enable_shared_from_this<CurlGroup> {
 public:
  // Called when libcurl has ended a transfer, which is still added.
  using Ended = std::function<void(CURL* handle, CURLcode status)>;

  CurlGroup(std::shared_ptr<Loop> loop, Ended ended);
  CurlGroup(const CurlGroup&) = delete;
  CurlGroup& operator=(const CurlGroup&) = delete;
  ~CurlGroup();

  void add(CURL* handle);
  void remove(CURL* handle);
  std::size_t size() const { return size_; }
  std::chrono::steady_clock::time_point last_used() const { return last_used_; }

  // Runs `call` at once, or when libcurl has returned.
  void when_outside(std::function<void()> call);
  // Runs `call`, which calls libcurl, which may call back; then what is due outside.
  void inside(const std::function<void()>& call);
  void close();

 private:
  struct Descriptor;

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void* descriptor);
  static int on_timer(CURLM*, long ms, void* self);
  bool watch(curl_socket_t socket, int what, Descriptor* descriptor);
  void set_timer(long ms);
  void act(curl_socket_t socket, int events);
  void take_messages();

  std::shared_ptr<Loop> loop_;
  Ended ended_;
  boost::asio::steady_timer timer_;
  std::unordered_map<curl_socket_t, std::shared_ptr<Descriptor>> descriptors_;
  std::vector<std::function<void()>> wishes_;
  std::size_t size_ = 0;
  std::chrono::steady_clock::time_point last_used_ = {};
  bool is_in_curl_ = false;
  bool is_closed_ = false;
  Multi multi_;
};

}  // namespace parley::net
