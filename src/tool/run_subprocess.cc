// One poll loop over all events of a subprocess: output, input, exit, timeout, stop.
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>

#include "tool/subprocess.h"

namespace parley {
namespace {

// Readable once a stop was asked for.
class StopEvent {
 public:
  explicit StopEvent(const std::stop_token& stop)
      : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), callback_(stop, Signal{event_.get()}) {}
  int get() const { return event_.get(); }

 private:
  struct Signal {
    int event;
    void operator()() const {
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t ignored = write(event, &one, sizeof one);
    }
  };
  Descriptor event_;
  std::stop_callback<Signal> callback_;
};

// Takes what is there, at most a megabyte of it, so that a program that floods cannot keep the loop from the
// clock.
void take(Descriptor& from, BoundedBytes& into) {
  std::array<char, std::size_t{64} * 1024> piece;
  for (int i = 0; i < 16; ++i) {
    const ssize_t count = read(from.get(), piece.data(), piece.size());
    if (count > 0) {
      into.append({piece.data(), static_cast<std::size_t>(count)});
    } else if (count == 0) {
      return from.close();
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      return from.close();
    }
  }
}

// A subprocess that stops reading its input is not an error. SIGPIPE must not end this process.
void give(Descriptor& to, std::string_view& input) {
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  ssize_t count = 0;
  while (!input.empty() && (count = write(to.get(), input.data(), input.size())) > 0) {
    input.remove_prefix(static_cast<std::size_t>(count));
  }
  const bool is_broken = count < 0 && errno != EAGAIN && errno != EINTR;
  if (is_broken && errno == EPIPE) {
    const timespec now{};
    sigtimedwait(&broken_pipe, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (input.empty() || is_broken) to.close();
}

}  // namespace

Result<SubprocessRun> run_subprocess(const SubprocessOptions& options, std::string_view input,
                                     std::size_t max_bytes, Deadline deadline, const std::stop_token& stop) {
  const StopEvent stopped(stop);
  if (stopped.get() < 0) return fail(Code::Unavailable, "cannot create an event: too many open files");
  PARLEY_TRY(Subprocess child, Subprocess::start(options));
  BoundedBytes output(max_bytes);
  BoundedBytes errors(max_bytes);
  SubprocessRun run;
  for (bool is_running = true; is_running;) {
    // poll() ignores closed descriptors.
    std::array<pollfd, 5> events{{{child.exit_event(), POLLIN, 0},
                                  {stopped.get(), POLLIN, 0},
                                  {child.output.get(), POLLIN, 0},
                                  {child.errors.get(), POLLIN, 0},
                                  {child.input.get(), POLLOUT, 0}}};
    const auto left = static_cast<int>(std::min<std::int64_t>(deadline.left().count(), INT_MAX));
    const int ready = poll(events.data(), events.size(), left);
    if (ready < 0 && errno != EINTR) return fail(Code::Unavailable, "cannot watch the process: poll failed");
    if (ready > 0) {
      if (events[2].revents != 0) take(child.output, output);
      if (events[3].revents != 0) take(child.errors, errors);
      if (events[4].revents != 0) give(child.input, input);
    }
    if (ready > 0 && events[0].revents != 0) {
      is_running = false;
    } else if (ready > 0 && events[1].revents != 0) {
      run.ending = SubprocessRun::Ending::Stop;
      is_running = false;
    } else if (deadline.has_passed()) {
      run.ending = SubprocessRun::Ending::Deadline;
      is_running = false;
    }
  }
  run.end = child.end();
  // The last output is still in the pipes. Do not wait for their end: a process outside of the group may keep
  // them open.
  if (child.output.is_open()) take(child.output, output);
  if (child.errors.is_open()) take(child.errors, errors);
  run.output = output.text();
  run.errors = errors.text();
  return run;
}

}  // namespace parley
