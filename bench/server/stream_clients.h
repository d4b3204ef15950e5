// Many clients that read one stream each, on one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/wire.h"

namespace bench::server_task {

class StreamClients {
 public:
  explicit StreamClients(std::uint16_t port) : port_(port) {}

  // Asks for `count` streams, spread evenly over `time`, and reads those that are there meanwhile.
  void open(std::size_t count, std::chrono::milliseconds time,
            const std::function<std::string(std::size_t i)>& make);
  // Reads for that long.
  void read(std::chrono::milliseconds time);
  // The client leaves.
  void close(std::size_t i) { clients_[i].socket = Socket(); }

  std::size_t size() const { return clients_.size(); }
  // Of all clients until now.
  std::uint64_t events() const { return events_; }
  std::size_t begun() const { return begun_; }    // streams with an event
  std::size_t broken() const { return broken_; }  // connections that the server closed
  // TCP segments with data that came in. A server that wakes up for an event writes once, which is one
  // segment: so this counts the reads that the server did for the events.
  std::uint64_t segments() const;

 private:
  struct Client {
    Socket socket;
    char last = 0;  // byte that came
    bool has_begun = false;
  };
  void hear(Client& client);

  std::uint16_t port_;
  Poller poller_;
  std::vector<Client> clients_;
  std::uint64_t events_ = 0;
  std::size_t begun_ = 0, broken_ = 0;
};

}  // namespace bench::server_task
