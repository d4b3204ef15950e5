#include "server/wire.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace bench::server_task {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  out.sin_port = htons(port);
  return out;
}

// The value of a header whose line begins with `name`, which ends with a colon.
std::string_view header(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at + 2 < head.size(); at = head.find("\r\n", at + 2)) {
    const std::string_view line = head.substr(at + 2, head.find("\r\n", at + 2) - at - 2);
    if (line.size() < name.size() || ::strncasecmp(line.data(), name.data(), name.size()) != 0) continue;
    return line.substr(line.find_first_not_of(' ', name.size()));
  }
  return {};
}

}  // namespace

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket listen_anywhere(std::uint16_t& port) {
  Socket out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  constexpr int kWaiting = 4096;
  check(::bind(out.get(), any, size) == 0 && ::listen(out.get(), kWaiting) == 0 &&
            ::getsockname(out.get(), any, &size) == 0,
        "listening");
  port = ntohs(address.sin_port);
  return out;
}

std::uint16_t free_port() {
  std::uint16_t port = 0;
  const Socket socket = listen_anywhere(port);
  return port;
}

Socket try_connect(std::uint16_t port) {
  Socket out(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  check(out.is_open(), "making a socket");
  const sockaddr_in address = loopback(port);
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Socket();
  const int on = 1;
  ::setsockopt(out.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return out;
}

Socket connect_to(std::uint16_t port) {
  Socket out = try_connect(port);
  check(out.is_open(), "connecting");
  return out;
}

void raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno != EAGAIN) return false;
    pollfd waiting{socket, POLLOUT, 0};
    constexpr int kPatienceMs = 10'000;
    if (::poll(&waiting, 1, kPatienceMs) != 1) return false;
  }
  return true;
}

std::optional<std::string_view> receive(int socket) {
  static std::array<char, std::size_t{64} * 1024> buffer;
  const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got > 0) return std::string_view(buffer.data(), static_cast<std::size_t>(got));
  if (got < 0 && errno == EAGAIN) return std::string_view();
  return std::nullopt;
}

Poller::Poller() : descriptor_(::epoll_create1(EPOLL_CLOEXEC)) {
  check(descriptor_ >= 0, "making an epoll descriptor");
}

Poller::~Poller() { ::close(descriptor_); }

void Poller::add(int socket, std::uint64_t number) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  check(::epoll_ctl(descriptor_, EPOLL_CTL_ADD, socket, &event) == 0, "watching a socket");
}

int Poller::wait_for(std::chrono::milliseconds time) {
  return ::epoll_wait(descriptor_, events_.data(), static_cast<int>(events_.size()),
                      static_cast<int>(time.count()));
}

bool HttpReader::take(std::string_view bytes) {
  bytes_ += bytes;
  if (head_ == 0) {
    const std::size_t end = bytes_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    head_ = end + 4;
    length_ = std::strtoull(std::string(header(head(), "Content-Length:")).c_str(), nullptr, 10);
    is_chunked_ = header(head(), "Transfer-Encoding:").starts_with("chunked");
  }
  return is_whole();
}

bool HttpReader::is_whole() const {
  if (!is_chunked_) return bytes_.size() >= head_ + length_;
  return body() == "0\r\n\r\n" || body().ends_with("\r\n0\r\n\r\n");
}

void HttpReader::clear() {
  bytes_.clear();
  head_ = 0;
}

int HttpReader::status() const {
  constexpr std::size_t kAt = std::string_view("HTTP/1.1 ").size();
  return head_ > kAt ? std::atoi(bytes_.c_str() + kAt) : 0;
}

std::string post(std::string_view path, std::string_view body) {
  std::string out = "POST " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  out += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return out.append(body);
}

std::string chunk(std::string_view bytes) {
  std::array<char, 16> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return std::string(size.data()).append(bytes) + "\r\n";
}

}  // namespace bench::server_task
