#include "store/task.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "store/contender.h"

namespace bench::store_task {
namespace {

constexpr const char* kParley = "Parley";
constexpr const char* kBare = "bare SQLite";
constexpr int kTurns = 7;
constexpr std::size_t kAppends = 400;  // of one turn
constexpr std::size_t kLoaded = 1000;  // messages

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Turn {
  double per_second, p99_us;
};

// Every thread appends to a session of its own.
Turn append_turn(Contender& contender, std::size_t threads, std::size_t& number) {
  const std::size_t each = std::max<std::size_t>(kAppends / threads, 40);
  std::vector<std::vector<double>> times(threads);
  const auto work = [&](std::size_t thread) {
    for (std::size_t i = 0; i < each; ++i) {
      const Clock::time_point start = Clock::now();
      contender.append(threads * 1000 + thread, number + i);
      times[thread].push_back(seconds_since(start) * 1e6);
    }
  };
  const Clock::time_point start = Clock::now();
  if (threads == 1) {
    work(0);
  } else {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < threads; ++i) all.emplace_back(work, i);
  }
  const double seconds = seconds_since(start);
  number += each;
  std::vector<double> together;
  for (const auto& list : times) together.insert(together.end(), list.begin(), list.end());
  std::sort(together.begin(), together.end());
  return {static_cast<double>(together.size()) / seconds, together[together.size() * 99 / 100]};
}

// A message appended to a file and synced, which no durable store can undercut.
Turn sync_turn(const std::string& path, std::size_t& number) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string body = body_of(number++);
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < kAppends; ++i) {
    const Clock::time_point begin = Clock::now();
    if (::write(file, body.data(), body.size()) < 0 || ::fdatasync(file) != 0) std::exit(1);
    times.push_back(seconds_since(begin) * 1e6);
  }
  const double seconds = seconds_since(start);
  ::close(file);
  std::sort(times.begin(), times.end());
  return {static_cast<double>(kAppends) / seconds, times[times.size() * 99 / 100]};
}

void take_turns(std::vector<Measured>& all, const std::string& what,
                const std::vector<std::pair<std::string, std::function<Turn()>>>& contenders) {
  std::vector<Measured> best;
  for (const auto& [name, run] : contenders) best.push_back({what, name, 0, 1e12});
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const Turn took = contenders[i].second();
      best[i].per_second = std::max(best[i].per_second, took.per_second);
      best[i].p99_us = std::min(best[i].p99_us, took.p99_us);
    }
  }
  all.insert(all.end(), best.begin(), best.end());
}

Turn load_turn(Contender& contender, std::size_t session) {
  const Clock::time_point start = Clock::now();
  if (contender.load(session) < kLoaded * 1000) std::exit(1);
  const double seconds = seconds_since(start);
  return {1 / seconds, seconds * 1e6};
}

const Measured* find(const std::vector<Measured>& all, const std::string& what,
                     const std::string& contender) {
  for (const Measured& row : all) {
    if (row.what == what && row.contender == contender) return &row;
  }
  return nullptr;
}

}  // namespace

std::string body_of(std::size_t number) {
  std::string out = R"({"role":"user","content":")" + std::to_string(number) + " ";
  while (out.size() < kMessageBytes - 2) out += "what was said ";
  out.resize(kMessageBytes - 2);
  return out + "\"}";
}

std::vector<Measured> measure() {
  std::string folder = "parley-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) std::exit(1);
  std::vector<Measured> all;
  {
    const auto ours = parley_sqlite(folder + "/ours.db");
    const auto bare = bare_sqlite(folder + "/bare.db");
    std::size_t ours_number = 0, bare_number = 0, file_number = 0;
    take_turns(all, "append, 1 thread",
               {{kParley, [&] { return append_turn(*ours, 1, ours_number); }},
                {kBare, [&] { return append_turn(*bare, 1, bare_number); }},
                {"a file and fdatasync", [&] { return sync_turn(folder + "/file", file_number); }}});
    for (const std::size_t threads : {16, 64}) {
      take_turns(all, "append, " + std::to_string(threads) + " threads",
                 {{kParley, [&] { return append_turn(*ours, threads, ours_number); }}});
    }
    for (std::size_t i = 0; i < kLoaded; ++i) {
      ours->append(7, i);
      bare->append(7, 1'000'000 + i);
    }
    take_turns(
        all, "load 1,000 messages",
        {{kParley, [&] { return load_turn(*ours, 7); }}, {kBare, [&] { return load_turn(*bare, 7); }}});
  }
  std::filesystem::remove_all(folder);
  return all;
}

std::string to_markdown(const std::vector<Measured>& all) {
  std::string out = "| what | contender | a second, best | p99 us, best |\n|---|---|---|---|\n";
  for (const Measured& row : all) {
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %s | %.0f | %.0f |\n", row.what.c_str(), row.contender.c_str(),
                  row.per_second, row.p99_us);
    out += line;
  }
  return out;
}

std::vector<Goal> goals(const std::vector<Measured>& all) {
  std::vector<Goal> out;
  const auto ratio = [&](const std::string& text, const Measured* a, const Measured* b, double wanted) {
    if (a == nullptr || b == nullptr) return;
    const double reached = a->per_second / b->per_second;
    char number[2][32];
    std::snprintf(number[0], sizeof number[0], ">= %.2f", wanted);
    std::snprintf(number[1], sizeof number[1], "%.2f", reached);
    out.push_back({text, number[0], number[1], true, reached >= wanted});
  };
  const Measured* one = find(all, "append, 1 thread", kParley);
  ratio("append, x bare SQLite", one, find(all, "append, 1 thread", kBare), 0.8);
  ratio("append of 16 threads, x one thread", find(all, "append, 16 threads", kParley), one, 3);
  ratio("append of 64 threads, x one thread", find(all, "append, 64 threads", kParley), one, 7);
  ratio("load of 1,000 messages, x bare SQLite", find(all, "load 1,000 messages", kParley),
        find(all, "load 1,000 messages", kBare), 0.5);
  return out;
}

}  // namespace bench::store_task
