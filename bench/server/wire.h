// Sockets on the loopback interface and as much of HTTP/1.1 as the benchmarks need, by hand, so that the
// client and the upstream cost little beside the server that is measured.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bench::server_task {

using Clock = std::chrono::steady_clock;

// Ends the program with a sentence unless all is well.
void check(bool good, const char* what);

// A descriptor of its own.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

// Listens on 127.0.0.1, on a port that is free; does not block.
Socket listen_anywhere(std::uint16_t& port);
// A port that is free now.
std::uint16_t free_port();
// Connects to 127.0.0.1. Not open: nobody listens.
Socket try_connect(std::uint16_t port);
Socket connect_to(std::uint16_t port);
// As many descriptors as the system allows.
void raise_descriptor_limit();

// Sends all of it, waiting if it must; false if the other side is gone.
bool send_all(int socket, std::string_view bytes);
// What there is to read, without waiting, valid until the next call; nullopt: the other side is gone.
std::optional<std::string_view> receive(int socket);

// The readable sockets of a set, each with a number of the caller.
class Poller {
 public:
  Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller();

  void add(int socket, std::uint64_t number);
  // Calls `readable` with the number of each; waits at most `time`.
  template <typename Readable>
  void wait(std::chrono::milliseconds time, Readable readable) {
    const int count = wait_for(time);
    for (int i = 0; i < count; ++i) readable(events_[static_cast<std::size_t>(i)].data.u64);
  }

 private:
  int wait_for(std::chrono::milliseconds time);

  int descriptor_;
  std::array<epoll_event, 512> events_{};
};

// Gathers one request or response: a head, then a body with a length or in chunks.
class HttpReader {
 public:
  // True once it is whole. What comes after it belongs to it: nobody here sends two at once.
  bool take(std::string_view bytes);
  void clear();

  std::string_view head() const { return std::string_view(bytes_).substr(0, head_); }
  std::string_view body() const { return std::string_view(bytes_).substr(head_); }
  int status() const;  // of a response

 private:
  bool is_whole() const;

  std::string bytes_;
  std::size_t head_ = 0;  // its length, once it is there
  std::size_t length_ = 0;
  bool is_chunked_ = false;
};

std::string post(std::string_view path, std::string_view body);
std::string chunk(std::string_view bytes);

}  // namespace bench::server_task
