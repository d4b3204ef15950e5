#include "agent/task.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace bench::agent_task {
namespace {

// What was not measured has no goal.
class Goals {
 public:
  explicit Goals(const std::vector<Measured>& all) : all_(all) {}

  void beside(const std::string& what, const char* rival, double wanted, const char* contender = kParley) {
    const Measured* ours = find(all_, what, contender);
    const Measured* theirs = find(all_, what, rival);
    if (ours == nullptr || theirs == nullptr) return;
    const std::string form = contender == kParley ? "" : std::string(", ") + contender;
    out.push_back(at_most(what + form + ", x " + rival, wanted, ours->best / theirs->best));
  }
  void flat() {
    double least = 1e12;
    double most = 0;
    for (const std::size_t log : kLogs) {
      const Measured* row = find(all_, step_of(log), kParley);
      if (row == nullptr) return;
      least = std::min(least, row->best);
      most = std::max(most, row->best);
    }
    out.push_back(at_most("a step, 1k to 100k messages in the log, slowest over fastest", 2, most / least));
  }

  std::vector<Goal> out;

 private:
  const std::vector<Measured>& all_;
};

}  // namespace

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", what);
  std::exit(1);
}

Measured measured(std::string what, std::string contender, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {std::move(what), std::move(contender), times.front(), times[times.size() / 2]};
}

double microseconds_of(const rusage& usage) {
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

std::string step_of(std::size_t log) {
  return "a step, 1,000 messages shown of " + std::to_string(log / 1000) + "k in the log";
}

std::vector<Measured> measure(std::string_view task, const std::vector<Document>& documents) {
  const auto is_wanted = [&](std::string_view name) { return name.find(task) != std::string_view::npos; };
  std::vector<Measured> all;
  if (is_wanted("agent start")) measure_start(all, documents.front().json);
  if (is_wanted("agent step")) measure_step(all, documents.front());
  if (is_wanted("agent streams")) measure_streams(all);
  if (is_wanted("agent markdown")) measure_markdown(all);
  return all;
}

std::string to_markdown(const std::vector<Measured>& all) {
  std::string out = "| what | contender | us, best | us, median |\n|---|---|---|---|\n";
  for (const Measured& row : all) {
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(), "| %s | %s | %.2f | %.2f |\n", row.what.c_str(),
                  row.contender.c_str(), row.best, row.median);
    out += line.data();
  }
  return out;
}

std::vector<Goal> goals(const std::vector<Measured>& all) {
  Goals goals(all);
  goals.beside(kPrompt, kCurl, 2);
  goals.beside(kRun, kCurl, 2);
  for (const std::size_t log : kLogs) goals.beside(step_of(log), kMemcpy, 5);
  goals.flat();
  for (const char* way : {kPaced, kFlood}) {
    goals.beside(way, kLibcurl, 4);
    goals.beside(way, kLibcurl, 4, kLoop);
  }
  for (const char* way : {kMarkdownPaced, kMarkdownFlood}) goals.beside(way, kRaw, 1.5);
  return std::move(goals.out);
}

}  // namespace bench::agent_task
