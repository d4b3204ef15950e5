// A client that asks one turn after the other, alone and beside 10,000 idle connections and 1,000 slow ones:
// half of these send their request a byte at a time, the others do not read their stream.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "server/load.h"
#include "server/process.h"
#include "server/task.h"
#include "server/upstream.h"
#include "server/wire.h"

namespace bench::server_task {
namespace {

constexpr std::size_t kIdle = 10'000, kSlow = 1'000, kConnections = 16'384;
constexpr std::chrono::milliseconds kTime(4'000);

struct SlowClient {
  Socket socket;
  std::string request;  // what is left of it
};

// Each byte of a request on its own, by a fast client beside others.
class SlowClients {
 public:
  explicit SlowClients(std::uint16_t port) {
    for (std::size_t i = 0; i < kSlow; ++i) {
      const bool is_reader = i % 2 == 0;
      std::string request = is_reader ? chat_request(pace(1'000'000, 5'000), false, true)
                                      : chat_request(words(i, 200), false, false);
      clients_.push_back({connect_to(port), std::move(request)});
      if (is_reader) check(send_all(clients_.back().socket.get(), clients_.back().request), "asking slowly");
    }
  }

  void send_a_byte_each() {
    for (std::size_t i = 1; i < clients_.size(); i += 2) {
      SlowClient& client = clients_[i];
      const std::size_t end = client.request.size() - 1;  // the last byte never comes
      if (at_ < end) send_all(client.socket.get(), std::string_view(client.request).substr(at_, 1));
    }
    ++at_;
  }

 private:
  std::vector<SlowClient> clients_;
  std::size_t at_ = 0;
};

// Turns one after the other, with the slow clients at work between them.
LoadResult run_fast(std::uint16_t port, SlowClients* slow) {
  LoadResult out;
  const auto end = Clock::now() + kTime;
  auto next = Clock::now();
  while (Clock::now() < end) {
    if (slow != nullptr && Clock::now() >= next) {
      slow->send_a_byte_each();
      next += std::chrono::milliseconds(50);
    }
    LoadResult one = run_load(port, {.clients = 1, .requests = 1, .make = [](std::uint64_t number) {
                                       return chat_request(words(number, 200), false, false);
                                     }});
    out.answers += one.answers;
    out.failures += one.failures;
    for (const double each : one.latencies_us) out.latencies_us.push_back(each);
  }
  std::ranges::sort(out.latencies_us);
  return out;
}

}  // namespace

void measure_idle(Report& report) {
  const Folder folder;
  const Upstream upstream;
  const auto server = start_parley_for(kConnections, folder, upstream.url());
  const LoadResult alone = run_fast(server->port(), nullptr);
  const double empty_kb = server->resident_kb();
  std::vector<Socket> idle;
  for (std::size_t i = 0; i < kIdle; ++i) idle.push_back(connect_to(server->port()));
  SlowClients slow(server->port());
  const LoadResult crowded = run_fast(server->port(), &slow);
  Columns table(report, {"a fast client", "turns", "p50 ms", "p99 ms", "longest ms", "failed", "RSS MB"});
  table.row({"alone", std::to_string(alone.answers), number(alone.percentile_us(0.5) / 1e3),
             number(alone.percentile_us(0.99) / 1e3), number(alone.percentile_us(1) / 1e3),
             std::to_string(alone.failures), number(empty_kb / 1024)});
  table.row({"beside 10,000 idle and 1,000 slow ones", std::to_string(crowded.answers),
             number(crowded.percentile_us(0.5) / 1e3), number(crowded.percentile_us(0.99) / 1e3),
             number(crowded.percentile_us(1) / 1e3), std::to_string(crowded.failures),
             number(server->resident_kb() / 1024)});
  report.goals.push_back(at_most("a fast client beside 10,000 idle and 1,000 slow ones, p99 ms more", 50,
                                 (crowded.percentile_us(0.99) - alone.percentile_us(0.99)) / 1e3));
  report.goals.push_back(at_most("the same, turns that failed", 0, static_cast<double>(crowded.failures)));
}

}  // namespace bench::server_task
