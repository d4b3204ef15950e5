// A stored turn that is not streamed: 2 KB in, on a keep-alive connection. SQLite on the disk of TMPDIR.
#include <algorithm>
#include <chrono>
#include <memory>

#include "server/load.h"
#include "server/process.h"
#include "server/task.h"
#include "server/upstream.h"
#include "server/wire.h"

namespace bench::server_task {
namespace {

constexpr std::size_t kInputBytes = 2'048;
constexpr std::size_t kClients[] = {8, 32};
constexpr int kRounds = 3;
constexpr std::chrono::milliseconds kTime(2'000);

struct Samples {
  std::vector<double> per_second, cpu_us, p50_us, p99_us;
};

struct Contender {
  std::string name;
  std::unique_ptr<ServerProcess> server;
  std::function<std::string(std::uint64_t number)> make;
  std::size_t turns = 0, failures = 0;
  std::uintmax_t empty_bytes = 0;
  Samples samples[std::size(kClients)] = {};

  void run(std::size_t clients, Samples& to, std::chrono::milliseconds time) {
    const double before = server->processor_us();
    const LoadResult result = run_load(server->port(), {.clients = clients, .time = time, .make = make});
    const double took = server->processor_us() - before;
    turns += result.answers;
    failures += result.failures;
    if (result.answers == 0) return;
    to.per_second.push_back(result.per_second());
    to.cpu_us.push_back(took / static_cast<double>(result.answers));
    to.p50_us.push_back(result.percentile_us(0.5));
    to.p99_us.push_back(result.percentile_us(0.99));
  }
};

double most_of(const std::vector<double>& values) { return *std::ranges::max_element(values); }

std::vector<Contender> contenders(const Folder& folder, const Upstream& upstream) {
  std::vector<Contender> out;
  out.push_back({"parley serve", start_parley(folder, upstream.url()),
                 [](std::uint64_t number) { return chat_request(words(number, kInputBytes), true, false); }});
  if (auto agentic = start_agentic(folder, upstream.url())) {
    out.push_back({"agentic-api 0.9.0", std::move(agentic), [](std::uint64_t number) {
                     return responses_request("gpt-4o-mini", words(number, kInputBytes));
                   }});
  }
  return out;
}

}  // namespace

void measure_turns(Report& report) {
  const Folder folder;
  const Upstream upstream;
  std::vector<Contender> all = contenders(folder, upstream);
  for (Contender& each : all) {
    Samples ignored;
    each.run(8, ignored, std::chrono::milliseconds(500));
    each.empty_bytes = each.server->file_bytes();
    each.turns = 0;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < std::size(kClients); ++i) {
      for (Contender& each : all) each.run(kClients[i], each.samples[i], kTime);
    }
  }
  Columns table(
      report, {"stored turn, not streamed, 2 KB", "clients", "turns/s, best", "median", "CPU us a turn, best",
               "median", "p50 ms", "p99 ms", "file bytes a turn", "RSS MB", "failed"});
  for (std::size_t i = 0; i < std::size(kClients); ++i) {
    for (const Contender& each : all) {
      const Samples& samples = each.samples[i];
      check(!samples.cpu_us.empty(), each.name.c_str());
      const auto grown = static_cast<double>(each.server->file_bytes() - each.empty_bytes);
      table.row({each.name, std::to_string(kClients[i]), number(most_of(samples.per_second)),
                 number(median_of(samples.per_second)), number(best_of(samples.cpu_us)),
                 number(median_of(samples.cpu_us)), number(median_of(samples.p50_us) / 1e3),
                 number(median_of(samples.p99_us) / 1e3), number(grown / static_cast<double>(each.turns)),
                 number(each.server->resident_kb() / 1024), std::to_string(each.failures)});
    }
    const std::string clients = std::to_string(kClients[i]) + " clients";
    const Samples& ours = all.front().samples[i];
    report.goals.push_back(at_most("stored turn, " + clients + ", CPU us", 250, best_of(ours.cpu_us)));
    if (all.size() == 1) continue;
    report.goals.push_back(at_least("stored turn, " + clients + ", turns per second, x agentic-api", 3,
                                    most_of(ours.per_second) / most_of(all.back().samples[i].per_second)));
  }
}

}  // namespace bench::server_task
