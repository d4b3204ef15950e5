// Resident memory over many stored turns.
#include <chrono>

#include "server/load.h"
#include "server/process.h"
#include "server/task.h"
#include "server/upstream.h"
#include "server/wire.h"

namespace bench::server_task {

void measure_memory(Report& report, std::size_t turns) {
  const Folder folder;
  const Upstream upstream;
  const auto server = start_parley(folder, upstream.url());
  const auto run = [&](std::size_t count) {
    const LoadResult result = run_load(
        server->port(),
        {.clients = 32,
         .time = std::chrono::minutes(30),
         .requests = count,
         .make = [](std::uint64_t number) { return chat_request(words(number, 2'048), true, false); }});
    check(result.failures == 0, "a turn of many");
    return server->resident_kb() / 1024;
  };
  const double early = run(turns / 10);
  const double late = run(turns - turns / 10);
  Columns table(report, {"stored turns", "RSS MB"});
  table.row({std::to_string(turns / 10), number(early)});
  table.row({std::to_string(turns), number(late)});
  report.goals.push_back(
      at_most("RSS after " + std::to_string(turns) + " turns, x that after a tenth", 1.1, late / early));
}

}  // namespace bench::server_task
