#include "server/stream_clients.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace bench::server_task {

void StreamClients::open(std::size_t count, std::chrono::milliseconds time,
                         const std::function<std::string(std::size_t i)>& make) {
  const Clock::time_point begun = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    const auto due = begun + time * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(count);
    while (Clock::now() < due) read(std::chrono::milliseconds(1));
    clients_.push_back({connect_to(port_)});
    poller_.add(clients_.back().socket.get(), clients_.size() - 1);
    check(send_all(clients_.back().socket.get(), make(i)), "asking for a stream");
  }
}

void StreamClients::read(std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    poller_.wait(std::max(left, std::chrono::milliseconds(0)),
                 [this](std::uint64_t i) { hear(clients_[i]); });
  } while (Clock::now() < end);
}

// An event ends with an empty line; nothing else on the wire has "\n\n".
void StreamClients::hear(Client& client) {
  if (!client.socket.is_open()) return;
  const auto bytes = receive(client.socket.get());
  if (!bytes) {
    client.socket = Socket();
    ++broken_;
    return;
  }
  const std::uint64_t before = events_;
  for (std::size_t at = 0; (at = bytes->find('\n', at)) != std::string_view::npos; ++at) {
    if ((at == 0 ? client.last : (*bytes)[at - 1]) == '\n') ++events_;
  }
  if (!bytes->empty()) client.last = bytes->back();
  if (events_ != before && !std::exchange(client.has_begun, true)) ++begun_;
}

std::uint64_t StreamClients::segments() const {
  std::uint64_t out = 0;
  for (const Client& client : clients_) {
    if (!client.socket.is_open()) continue;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(client.socket.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
      out += info.tcpi_data_segs_in;
    }
  }
  return out;
}

}  // namespace bench::server_task
