// A model's server for tests, in the process of the test: it outlives the servers that are killed. It speaks
// OpenAI's Chat Completions, and its answers follow from the number of the turn: a request contains
// "turn#N".
//
// Safe from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "parley/net/async_server.h"
#include "parley/net/event_loop.h"

namespace parley::server::testing {

// "turn#N", as it is in the text of a request.
std::string turn_text(std::size_t turn);
// The last "turn#N" in a text.
std::optional<std::size_t> turn_in(std::string_view text);

// How a turn is answered.
struct Answer {
  std::vector<std::string> deltas = {};
  std::chrono::milliseconds pause{0};                    // before each delta
  std::size_t cut_after = static_cast<std::size_t>(-1);  // the connection ends after so many deltas
  int status = 200;                                      // other: an error instead of an answer
  bool is_silent = false;                                // nothing is ever sent

  std::string text() const;
};

class Upstream {
 public:
  using Plan = std::function<Answer(std::size_t turn)>;
  // What happens to a turn: Asked before the first byte is sent, Delta after each delta, Last after the end.
  // The call must not block, nor call the upstream.
  enum class Moment : std::uint8_t { Asked, Delta, Last };
  using OnMoment = std::function<void(std::size_t turn, Moment moment, std::size_t delta)>;

  explicit Upstream(Plan plan);
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  std::string base_url() const { return server_->url("/v1"); }
  void on_moment(OnMoment call);

  std::size_t asked(std::size_t turn) const;  // requests that came for it
  std::size_t asked_in_all() const;
  bool is_gone(std::size_t turn) const;  // the connection of its last request ended before its answer
  std::string last_body(std::size_t turn) const;

 private:
  struct Stream;
  void handle(net::ServerRequest request, std::shared_ptr<net::Responder> responder);
  void send_next(const std::shared_ptr<Stream>& stream);
  void tell(std::size_t turn, Moment moment, std::size_t delta);

  const Plan plan_;
  mutable std::mutex mutex_;
  OnMoment on_moment_;
  std::map<std::size_t, std::size_t> asked_;
  std::map<std::size_t, std::string> bodies_;
  std::set<std::size_t> gone_;
  std::unique_ptr<net::EventLoop> loop_;
  std::optional<net::AsyncServer> server_;
};

}  // namespace parley::server::testing
