#include "agent/wire.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "agent/task.h"
#include "parley/json/writer.h"

namespace bench::agent_task {
namespace {

constexpr int kPatienceMs = 60'000;

void await(int socket) {
  pollfd waiting{socket, POLLIN, 0};
  check(::poll(&waiting, 1, kPatienceMs) == 1, "waiting for a client");
}

std::size_t length_of(const std::string& head) {
  constexpr std::string_view kName = "\r\nContent-Length:";
  const std::size_t found = head.find(kName);  // spelled as libcurl spells it
  return found == std::string::npos ? 0 : std::strtoull(head.c_str() + found + kName.size(), nullptr, 10);
}

std::string event(const std::string& delta, const char* finish) {
  return "data: "
         "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1763200000,\"model\":"
         "\"m\","
         "\"choices\":[{\"index\":0,\"delta\":{" +
         delta + "},\"logprobs\":null,\"finish_reason\":" + finish + "}]}\n\n";
}

std::string quoted(std::string_view text) {
  std::string out;
  parley::json::append_string(out, text);
  return out;
}

std::string chunk(const std::string& bytes) {
  std::array<char, 16> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return size.data() + bytes + "\r\n";
}

}  // namespace

Listener::Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  constexpr int kWaiting = 512;
  check(::bind(socket_, any, size) == 0 && ::listen(socket_, kWaiting) == 0 &&
            ::getsockname(socket_, any, &size) == 0,
        "listening");
  port_ = ntohs(address.sin_port);
}

Listener::~Listener() { ::close(socket_); }

int Listener::accept() const {
  await(socket_);
  const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  check(connection >= 0, "accepting");
  return connection;
}

Request read_request(int connection) {
  static std::vector<char> buffer(std::size_t{1} << 20);
  Request out;
  std::string bytes;
  std::size_t wanted = std::string::npos;  // known once the head is there
  std::size_t head = 0;
  while (bytes.size() < wanted) {
    await(connection);
    const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
    check(got > 0, "reading a request");
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (head != 0) continue;
    const std::size_t end = bytes.find("\r\n\r\n");
    if (end == std::string::npos) continue;
    head = end + 4;
    out.head = bytes.substr(0, head);
    wanted = head + length_of(out.head);
    bytes.reserve(wanted);
  }
  out.whole = std::chrono::steady_clock::now();
  out.body = bytes.substr(head);
  return out;
}

void send_all(int connection, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    check(sent > 0, "answering");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::vector<std::string> events_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> out = {event(R"("role":"assistant","content":"")", "null")};
  for (const std::string& token : tokens) {
    out.push_back(event(R"("content":)" + quoted(token), "null"));
  }
  out.push_back(event("", "\"stop\"") + "data: [DONE]\n\n");
  return out;
}

std::vector<std::string> chunks_of(const std::vector<std::string>& tokens) {
  std::vector<std::string> out = events_of(tokens);
  for (std::string& each : out) each = chunk(each);
  out.front().insert(0,
                     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
                     "Connection: close\r\n\r\n");
  out.back() += "0\r\n\r\n";
  return out;
}

}  // namespace bench::agent_task
