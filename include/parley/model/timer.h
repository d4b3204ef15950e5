// A Timer is what a model goes by when it waits: a clock, a sleep and chance. A test puts one of its own in
// its place and waits for nothing.
//
// An implementation is safe from any thread.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

namespace parley {

class Timer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;

  virtual Time now() = 0;
  // False, and soon, if a stop is asked for.
  virtual bool wait(std::chrono::milliseconds time, const std::stop_token& stop) = 0;
  virtual double chance() = 0;  // from 0 up to, but not including, 1
};

// The steady clock of the machine.
std::shared_ptr<Timer> system_timer();

}  // namespace parley
