// `parley serve` with an upstream that answers at once: stored turns, streams, the first token, many idle and
// slow clients, and memory over many turns. Beside agentic-api, the strongest server of the kind, and nginx
// as a plain proxy, in the same run. What counts is the processor time of the server's process: rates depend
// on what else the machine does.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "goals.h"

namespace bench::server_task {

struct Report {
  std::string text;  // tables in Markdown
  std::vector<Goal> goals;
};

// Those of "server turns", "server streams", "server first token", "server idle" and "server memory" whose
// name has `task`. `turns` are those of "server memory".
Report measure(std::string_view task, std::size_t turns);

// ---- The parts

void measure_turns(Report& report);
void measure_streams(Report& report);
void measure_first_token(Report& report);
void measure_idle(Report& report);
void measure_memory(Report& report, std::size_t turns);

// Rows of a table.
class Columns {
 public:
  Columns(Report& report, const std::vector<std::string>& names);
  void row(const std::vector<std::string>& cells);

 private:
  Report& report_;
};

double best_of(std::vector<double> values);  // the least
double median_of(std::vector<double> values);

}  // namespace bench::server_task
