// The other side of a connection on the loopback interface, by hand, so that it costs next to nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench::agent_task {

struct Request {
  std::string head, body;
  std::chrono::steady_clock::time_point whole;  // when its last byte was there
};

// Listens on 127.0.0.1, on a port that is free. Ends the program if anything fails or takes a minute.
class Listener {
 public:
  Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // A connection, which the caller closes.
  int accept() const;

 private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

Request read_request(int connection);
void send_all(int connection, std::string_view bytes);

// A stream of Chat Completions: its events, one for each token and two around them; and the same as the
// chunks of a response, the first with its head and the last with its end.
std::vector<std::string> events_of(const std::vector<std::string>& tokens);
std::vector<std::string> chunks_of(const std::vector<std::string>& tokens);

}  // namespace bench::agent_task
