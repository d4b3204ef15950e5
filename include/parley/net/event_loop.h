// A thread that waits for many sockets and timers at once. Servers and clients of this room run on it; a call
// that is given to it must not block.
//
// Invariants (quoted by tests as EVENT_LOOP1..EVENT_LOOP4):
//   EVENT_LOOP1  Calls run on the loop's thread, in the order in which they were given: those of run()
//                at once if the caller is that thread, those of post() never at once.
//   EVENT_LOOP2  A call of after() runs once, not before its time.
//   EVENT_LOOP3  After finish() nothing runs, and what is given is dropped.
//   EVENT_LOOP4  Whatever runs on the loop's thread (a call, a callback of a request, a server's
//                handler) gets the loop from current().
//
// Safe from any thread, but finish(). It outlives what runs on it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "parley/base/error.h"

namespace parley::net {

class AsyncClient;
class Loop;

class EventLoop {
 public:
  // Fails with Unavailable if the system has no thread left.
  static Result<std::unique_ptr<EventLoop>> start();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();  // finishes it

  // The loop whose thread calls; null on any other thread.
  static EventLoop* current();

  void run(std::function<void()> call);
  void post(std::function<void()> call);
  void after(std::chrono::milliseconds time, std::function<void()> call);
  bool is_this_thread() const;

  // Cancels the requests of the loop's client and waits until nothing is left to do: stop servers on it
  // first. Not from the loop.
  void finish();

  // For this room and those that send requests (net/loop.h, net/async_client.h).
  const std::shared_ptr<Loop>& loop() const { return loop_; }
  AsyncClient& client();  // on the loop

 private:
  EventLoop();
  std::shared_ptr<Loop> loop_;
  std::unique_ptr<AsyncClient> client_;
};

}  // namespace parley::net
