#include "net/loopback_server_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <cstdlib>

namespace parley::net {
namespace {

void must(bool claim) {
  if (!claim) std::abort();  // without a loopback interface nothing can be tested
}

// Waits until `socket` can be used, or the pipe `stop` is closed.
bool wait_for(int socket, short events, int stop) {
  std::array<pollfd, 2> files{{{socket, events, 0}, {stop, POLLIN, 0}}};
  const int ready = poll(files.data(), files.size(), -1);
  return ready > 0 && files[1].revents == 0;
}

std::size_t content_length(std::string_view head) {
  constexpr std::string_view kName = "\r\nContent-Length: ";
  const std::size_t found = head.find(kName);
  std::size_t length = 0;
  if (found != std::string_view::npos) {
    const std::string_view rest = head.substr(found + kName.size());
    std::from_chars(rest.data(), rest.data() + rest.size(), length);
  }
  return length;
}

}  // namespace

std::string SeenRequest::target() const {
  const std::size_t start = head.find(' ') + 1;
  return head.substr(start, head.find(' ', start) - start);
}

LoopbackServer::LoopbackServer(Script script) : script_(std::move(script)) {
  must(pipe(stop_) == 0);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  must(listener_ >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  must(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  must(listen(listener_, 16) == 0);
  socklen_t size = sizeof address;
  must(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

LoopbackServer::~LoopbackServer() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  close(listener_);
}

std::string LoopbackServer::url(std::string_view path, std::string_view host) const {
  return "http://" + std::string(host) + ":" + std::to_string(port_) + std::string(path);
}

std::vector<SeenRequest> LoopbackServer::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void LoopbackServer::run() {
  while (wait_for(listener_, POLLIN, stop_[0])) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    if (!serve(socket)) {
      close(socket);
      continue;
    }
    // What the client still sends is read, or closing would throw away what was answered.
    shutdown(socket, SHUT_WR);
    std::array<char, 4096> rest{};
    while (wait_for(socket, POLLIN, stop_[0]) && recv(socket, rest.data(), rest.size(), 0) > 0) {
    }
    close(socket);
  }
}

bool LoopbackServer::serve(int socket) {
  std::string bytes;
  std::array<char, 4096> buffer{};
  std::size_t end = std::string::npos;
  for (;;) {
    end = bytes.find("\r\n\r\n");
    if (end != std::string::npos && bytes.size() >= end + 4 + content_length(bytes.substr(0, end + 2))) break;
    if (!wait_for(socket, POLLIN, stop_[0])) return true;
    const ssize_t count = recv(socket, buffer.data(), buffer.size(), 0);
    if (count <= 0) return true;
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const SeenRequest request{bytes.substr(0, end + 4), bytes.substr(end + 4)};
  {
    const std::lock_guard lock(mutex_);
    seen_.push_back(request);
  }
  Connection connection(socket, *this);
  script_(connection, request);
  return !connection.is_reset_;
}

bool LoopbackServer::Connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_for(socket_, POLLOUT, server_.stop_[0])) return false;
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool LoopbackServer::Connection::pause() {
  constexpr int kMoment = 5;  // milliseconds
  std::array<pollfd, 2> files{{{socket_, POLLRDHUP, 0}, {server_.stop_[0], POLLIN, 0}}};
  return poll(files.data(), files.size(), kMoment) == 0;
}

void LoopbackServer::Connection::reset_at_next_request() {
  // Some of it is read, so that the client is in the middle of the rest; the rest is not, which makes closing
  // a reset.
  std::array<char, 4096> some{};
  if (!wait_for(socket_, POLLIN, server_.stop_[0])) return;
  (void)recv(socket_, some.data(), some.size(), 0);
  is_reset_ = true;
}

std::string answer(std::string_view status, std::string_view headers, std::string_view body) {
  std::string out = "HTTP/1.1 " + std::string(status) + "\r\n" + std::string(headers);
  out += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return out + std::string(body);
}

std::string gzipped(std::string_view bytes) {
  z_stream stream{};
  must(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  must(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace parley::net
