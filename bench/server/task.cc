#include "server/task.h"

#include <algorithm>
#include <cstdio>

#include "server/wire.h"

namespace bench::server_task {

Report measure(std::string_view task, std::size_t turns) {
  Report report;
  const auto is_wanted = [&](std::string_view name) {
    if (name.find(task) == std::string_view::npos) return false;
    std::fprintf(stderr, "%.*s\n", static_cast<int>(name.size()), name.data());
    return true;
  };
  raise_descriptor_limit();
  if (is_wanted("server turns")) measure_turns(report);
  if (is_wanted("server streams")) measure_streams(report);
  if (is_wanted("server first token")) measure_first_token(report);
  if (is_wanted("server idle")) measure_idle(report);
  if (is_wanted("server memory")) measure_memory(report, turns);
  return report;
}

Columns::Columns(Report& report, const std::vector<std::string>& names) : report_(report) {
  if (!report_.text.empty()) report_.text += "\n";
  row(names);
  row(std::vector<std::string>(names.size(), "---"));
}

void Columns::row(const std::vector<std::string>& cells) {
  for (const std::string& cell : cells) report_.text += "| " + cell + " ";
  report_.text += "|\n";
}

double best_of(std::vector<double> values) { return std::ranges::min(values); }

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace bench::server_task
