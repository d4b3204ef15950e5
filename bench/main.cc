// parley_bench [--rounds N] [--task NAME] [--document NAME] [--contender NAME] [--images FOLDER] [--turns N]
//
// Runs every task, or those whose names contain what is given (the task `validate` also on FOLDER's *.b64;
// `server memory` with N turns), and prints tables in Markdown: what was measured on what, and at the end the
// goals with what was reached. Nothing is left out if it was missed.
#include <malloc.h>
#include <sys/utsname.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>

#include "agent/task.h"
#include "construct/task.h"
#include "convert/task.h"
#include "copy/task.h"
#include "filter/task.h"
#include "generate.h"
#include "goals.h"
#include "harness.h"
#include "media/task.h"
#include "memory/task.h"
#include "read/task.h"
#include "server/task.h"
#include "store/task.h"
#include "stream/task.h"
#include "tokens/task.h"
#include "unescape/task.h"
#include "window/task.h"
#include "write/task.h"

namespace {

struct Options {
  std::size_t rounds = 100;
  std::size_t turns = 20'000;
  std::string_view task, document, contender, images;
};

bool parse_count(std::string_view text, std::size_t& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size() && to > 0;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (i + 1 == argc) return false;
    const std::string_view value = argv[i + 1];
    if (name == "--rounds") {
      if (!parse_count(value, options.rounds)) return false;
    } else if (name == "--turns") {
      if (!parse_count(value, options.turns)) return false;
    } else if (name == "--task") {
      options.task = value;
    } else if (name == "--document") {
      options.document = value;
    } else if (name == "--contender") {
      options.contender = value;
    } else if (name == "--images") {
      options.images = value;
    } else {
      return false;
    }
  }
  return true;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string cpu_line(std::string_view key) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with(key)) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string machine(std::size_t rounds) {
  const std::string flags = " " + cpu_line("flags") + " ";
  std::string sets;
  for (const char* set : {"avx2", "bmi2", "avx512bw", "avx512vbmi", "avx512_vbmi2"}) {
    if (flags.find(std::string(" ") + set + " ") != std::string::npos) sets += std::string(" ") + set;
  }
  utsname system = {};
  uname(&system);
  const std::time_t now = std::time(nullptr);
  char date[16];
  std::strftime(date, sizeof date, "%Y-%m-%d", std::localtime(&now));
  return "- processor: " + cpu_line("model name") + ",\n  with" + sets + "\n- system: " + system.sysname +
         " " + system.release +
         "\n- compiler: " PARLEY_BENCH_COMPILER " " PARLEY_BENCH_FLAGS "\n- date: " + date +
         "\n- rounds: " + std::to_string(rounds) + "\n";
}

bool has(std::string_view name, std::string_view wanted) {
  return name.find(wanted) != std::string_view::npos;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(
        "usage: parley_bench [--rounds N] [--task NAME] [--document NAME] [--contender NAME] [--images "
        "FOLDER] [--turns N]\n",
        stderr);
    return 2;
  }
  // Freed memory stays in the process, so that nobody is measured by the page faults of the kernel.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);

  const std::vector<bench::Document> documents = bench::make_documents();
  print("# parley_bench\n\n" + machine(options.rounds) + "\n## Documents\n\n" + bench::describe(documents));

  bench::Table table;
  const auto run = [&](const std::vector<bench::Group>& groups) {
    for (const bench::Group& group : groups) {
      if (!has(group.task, options.task) || !has(group.document, options.document)) continue;
      std::fprintf(stderr, "%s %s\n", group.task.c_str(), group.document.c_str());
      table.add(bench::measure(group, options.rounds, options.contender));
    }
  };
  run(bench::read_task::groups(documents));
  run(bench::unescape_task::groups(documents));
  run(bench::write_task::groups(documents));
  run(bench::convert_task::groups(documents));
  run(bench::stream_task::groups());
  run(bench::construct_task::groups());
  run(bench::copy_task::groups());
  run(bench::tokens_task::groups());
  run(bench::filter_task::groups());
  run(bench::media_task::groups(options.images));
  run(bench::window_task::groups(documents));
  print("\n## Times\n\nMicroseconds of one call; GB/s of the document written or read.\n\n" +
        bench::to_markdown(table.rows()));
  std::vector<bench::memory_task::Held> held;
  if (has("memory", options.task)) {
    held = bench::memory_task::measure(documents);
    print("\n## Memory\n\n" + bench::memory_task::to_markdown(held));
  }
  std::vector<bench::copy_task::Cost> copies;
  if (has("copy", options.task)) {
    copies = bench::copy_task::measure();
    print("\n## Copies\n\n" + bench::copy_task::to_markdown(copies));
  }
  if (has("prefix", options.task)) {
    print("\n## The front of the window\n\n" + to_markdown(bench::window_task::measure_prefixes()));
  }
  std::vector<bench::window_task::Resident> resident;
  if (has("resident", options.task)) {
    resident = bench::window_task::measure_resident();
    print("\n## A large memory\n\n" + to_markdown(resident));
  }
  std::vector<bench::window_task::LongRun> long_runs;
  if (has("resident", options.task)) {
    long_runs = bench::window_task::measure_long_runs();
    print("\n## A long run\n\n" + to_markdown(long_runs));
  }
  std::vector<bench::Goal> goals = bench::check_goals(table, held, copies, resident);
  if (!long_runs.empty()) {
    goals.push_back(bench::at_most("a long run with a window of 100, MiB held by default", 20,
                                   long_runs.front().held_mib, true));
  }
  const std::vector<bench::store_task::Measured> stored = bench::store_task::measure(options.task);
  if (!stored.empty()) {
    print("\n## Stores\n\n" + bench::store_task::to_markdown(stored));
    for (bench::Goal& goal : bench::store_task::goals(stored)) goals.push_back(std::move(goal));
  }
  const std::vector<bench::agent_task::Measured> agent = bench::agent_task::measure(options.task, documents);
  if (!agent.empty()) {
    print("\n## Agents\n\n" + bench::agent_task::to_markdown(agent));
    for (bench::Goal& goal : bench::agent_task::goals(agent)) goals.push_back(std::move(goal));
  }
  const bench::server_task::Report served = bench::server_task::measure(options.task, options.turns);
  if (!served.text.empty()) {
    print("\n## Server\n\n" + served.text);
    for (const bench::Goal& goal : served.goals) goals.push_back(goal);
  }
  print("\n## Goals\n\n" + bench::to_markdown(goals));
  return 0;
}
