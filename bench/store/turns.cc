#include "store/turns.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace bench::store_task {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kSyncs = 100;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Turn turn_of(std::vector<double> times, double seconds) {
  std::sort(times.begin(), times.end());
  return {static_cast<double>(times.size()) / seconds, times[times.size() * 99 / 100]};
}

}  // namespace

void take_turns(std::vector<Measured>& all, const std::string& what, int turns,
                const std::vector<NamedTurn>& contenders) {
  std::vector<Measured> best;
  for (const auto& [name, run] : contenders) best.push_back({what, name, 0, 1e12});
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const Turn took = contenders[i].second();
      best[i].per_second = std::max(best[i].per_second, took.per_second);
      best[i].p99_us = std::min(best[i].p99_us, took.p99_us);
    }
  }
  all.insert(all.end(), best.begin(), best.end());
}

Turn append_turn(Contender& contender, const Appends& appends, std::size_t& number) {
  std::vector<std::vector<double>> times(appends.threads);
  const auto work = [&](std::size_t thread) {
    for (std::size_t i = 0; i < appends.each; ++i) {
      const Clock::time_point start = Clock::now();
      contender.append(appends.session + thread, number + i);
      times[thread].push_back(seconds_since(start) * 1e6);
    }
  };
  const Clock::time_point start = Clock::now();
  if (appends.threads == 1) {
    work(0);
  } else {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < appends.threads; ++i) all.emplace_back(work, i);
  }
  const double seconds = seconds_since(start);
  number += appends.each;
  std::vector<double> together;
  for (const auto& list : times) together.insert(together.end(), list.begin(), list.end());
  return turn_of(std::move(together), seconds);
}

Turn sync_turn(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string body = body_of(0);
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  for (std::size_t i = 0; i < kSyncs; ++i) {
    const Clock::time_point begin = Clock::now();
    check(::write(file, body.data(), body.size()) > 0 && ::fdatasync(file) == 0, "the disk");
    times.push_back(seconds_since(begin) * 1e6);
  }
  const double seconds = seconds_since(start);
  ::close(file);
  return turn_of(std::move(times), seconds);
}

Turn load_turn(Contender& contender, std::size_t session, std::size_t bytes) {
  const Clock::time_point start = Clock::now();
  check(contender.load(session) >= bytes, "loading");
  const double seconds = seconds_since(start);
  return {1 / seconds, seconds * 1e6};
}

}  // namespace bench::store_task
