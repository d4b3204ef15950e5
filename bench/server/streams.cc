// Streams through the server, in the shape that the upstream speaks too, decoded and written anew. The time
// is taken while all streams run; what it takes to open one is a column of its own.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "server/load.h"
#include "server/process.h"
#include "server/stream_clients.h"
#include "server/task.h"
#include "server/upstream.h"
#include "server/wire.h"

namespace bench::server_task {
namespace {

using std::chrono::milliseconds;

struct Way {
  const char* name;
  std::size_t streams, per_second;
  milliseconds opening, window;
  double most_cpu_us;
};
constexpr Way kWays[] = {
    {"4,000 streams x 5/s", 4'000, 5, milliseconds(8'000), milliseconds(5'000), 22},
    {"1,000 streams x 50/s", 1'000, 50, milliseconds(2'000), milliseconds(5'000), 10},
};
constexpr std::size_t kCancelled = 200;
constexpr double kMostStreamKb = 32;

std::string stream_request(const Way& way, std::size_t i, bool is_stored) {
  constexpr std::size_t kManyEvents = 1'000'000;  // it never ends by itself
  const std::string text = pace(kManyEvents, 1'000'000 / way.per_second) + words(i, 100);
  return chat_request(text, is_stored, true);
}

// How long after a client has left its stream the upstream notices, one after the other, while the others
// run. Milliseconds, sorted.
std::vector<double> cancel_some(StreamClients& clients, const Upstream& upstream) {
  std::vector<double> out;
  const UpstreamCounts& counts = upstream.counts();
  for (std::size_t i = 0; i < kCancelled; ++i) {
    const std::uint64_t before = counts.cut;
    const auto left = Clock::now();
    clients.close(i);
    const auto latest = left + std::chrono::seconds(2);
    while (counts.cut == before && Clock::now() < latest) clients.read(milliseconds(1));
    const auto noticed = Clock::time_point(Clock::duration(counts.cut_at_ns));
    const auto took = counts.cut == before ? latest - left : noticed - left;
    out.push_back(std::chrono::duration<double, std::milli>(took).count());
    clients.read(milliseconds(2));
  }
  std::ranges::sort(out);
  return out;
}

void measure_way(Report& report, Columns& table, const Way& way, bool is_stored) {
  const Folder folder;
  const Upstream upstream;
  const auto server = start_parley(folder, upstream.url());
  run_load(server->port(), {.clients = 8, .requests = 500, .make = [&](std::uint64_t number) {
                              return chat_request(words(number, 100), is_stored, false);
                            }});
  const double empty_kb = server->resident_kb();
  StreamClients clients(server->port());
  const double unopened = server->processor_us();
  clients.open(way.streams, way.opening, [&](std::size_t i) { return stream_request(way, i, is_stored); });
  const std::uint64_t early = clients.events();
  const double opened = server->processor_us();
  const auto latest = Clock::now() + std::chrono::seconds(60);
  while (clients.begun() < way.streams && Clock::now() < latest) clients.read(milliseconds(100));
  clients.read(milliseconds(1'000));
  check(clients.begun() == way.streams && clients.broken() == 0, "opening the streams");

  const std::uint64_t events_before = clients.events();
  const std::uint64_t segments_before = clients.segments();
  const double cpu_before = server->processor_us();
  clients.read(way.window);
  const double cpu = server->processor_us() - cpu_before;
  const auto events = static_cast<double>(clients.events() - events_before);
  const auto segments = static_cast<double>(clients.segments() - segments_before);
  const double stream_kb = (server->resident_kb() - empty_kb) / static_cast<double>(way.streams);
  const double cpu_us = cpu / events;
  const double open_us =
      (opened - unopened - cpu_us * static_cast<double>(early)) / static_cast<double>(way.streams);
  const std::string name = std::string(way.name) + (is_stored ? ", stored" : ", not stored");
  const double rate = events / std::chrono::duration<double>(way.window).count();
  table.row({name, number(rate), number(segments / events), number(cpu_us), number(stream_kb),
             number(open_us), std::to_string(clients.broken())});
  report.goals.push_back(
      at_most(name + ", CPU us an event (" + number(segments / events) + " reads an event)", way.most_cpu_us,
              cpu_us));
  report.goals.push_back(at_most(name + ", KB a stream", kMostStreamKb, stream_kb));
  if (is_stored || way.streams > 1'000) return;
  const std::vector<double> cancelled = cancel_some(clients, upstream);
  report.goals.push_back(
      at_most("cancel reaches the upstream, 1,000 streams, ms, median", 5, cancelled[cancelled.size() / 2]));
  report.goals.push_back(at_most("cancel reaches the upstream, 1,000 streams, ms, p99", 5,
                                 cancelled[cancelled.size() * 99 / 100]));
}

}  // namespace

void measure_streams(Report& report) {
  Columns table(report, {"streams", "events/s", "reads an event", "CPU us an event", "KB a stream",
                         "CPU us to open one", "broken"});
  for (const Way& way : kWays) {
    measure_way(report, table, way, false);
    measure_way(report, table, way, true);
  }
}

}  // namespace bench::server_task
