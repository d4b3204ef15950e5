// A Timer is the clock, the sleep and the randomness of a model. A test uses a fake one and does not wait.
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
  // Returns false soon after a stop.
  virtual bool wait(std::chrono::milliseconds time, const std::stop_token& stop) = 0;
  virtual double chance() = 0;  // random, in [0, 1)
};

// The steady clock of the machine.
std::shared_ptr<Timer> system_timer();

}  // namespace parley
