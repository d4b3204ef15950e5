// A Subprocess is a subprocess with pipes, in its own process group.
//
// Invariants (quoted by tests as SUBPROCESS1..SUBPROCESS6):
//   SUBPROCESS1  The subprocess inherits only the given arguments, environment and descriptors: no other
//                descriptor, and no blocked or ignored signal.
//   SUBPROCESS2  The owner can kill the whole process group; the destructor does so, and leaves no zombie.
//   SUBPROCESS3  If this process dies in any way, the subprocess is killed.
//   SUBPROCESS4  run_subprocess() returns soon after the subprocess ends, at its deadline or at a stop, even
//                if descendants of the subprocess keep the pipes open.
//   SUBPROCESS5  run_subprocess() keeps a bounded part of the output; a note marks where it was cut.
//   SUBPROCESS6  A program that cannot be started is an error, not an exit status.
//
// A descendant in a new session (setsid) leaves the group and is not killed.
//
// One thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"
#include "tool/descriptor.h"

namespace parley {

struct SubprocessOptions {
  std::vector<std::string> arguments = {};    // the first is the program: a path, or a name for PATH
  std::vector<std::string> environment = {};  // "NAME=value" each; its PATH is used to find the program
  std::string folder = {};                    // the working directory; empty: that of this process
  bool has_input = false;                     // a pipe; otherwise its input is empty
  bool merges_errors = false;                 // standard error goes to standard output
  // For SUBPROCESS3 the kernel kills the subprocess when the thread that started it ends. Set this to false
  // for a subprocess that must outlive its thread; it should exit when its input ends.
  bool dies_with_thread = true;
};

// How a program ended: by itself, with a status, or by a signal.
struct SubprocessExit {
  int status = 0;  // -1: unknown
  int signal = 0;
  bool is_good() const { return status == 0 && signal == 0; }
};

class Subprocess {
 public:
  // Fails with NotFound if there is no such program or folder, with Unavailable if a system limit is reached.
  static Result<Subprocess> start(const SubprocessOptions& options);

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  // This side's ends of the pipes, which do not block. They may be closed at any time.
  Descriptor input = {};
  Descriptor output = {};
  Descriptor errors = {};

  pid_t id() const { return id_; }
  int exit_event() const { return handle_.get(); }  // readable to poll() once the program has ended

  // Sends a signal to the program and to all of its group.
  void signal_group(int signal) const;
  // Waits for the end of the program, and kills what is left of its group. Nothing if the deadline came
  // first.
  std::optional<SubprocessExit> wait(Deadline deadline);
  // Kills the group, and waits for the end.
  SubprocessExit end();

 private:
  Subprocess(pid_t id, Descriptor handle) : id_(id), handle_(std::move(handle)) {}
  SubprocessExit collect();

  pid_t id_ = -1;
  Descriptor handle_;  // a pidfd
  std::optional<SubprocessExit> ended_;
};

// Bytes that may be too many: the first and the last are kept. One thread at a time.
class BoundedBytes {
 public:
  explicit BoundedBytes(std::size_t most) : most_(most) {}
  void append(std::string_view bytes);
  // What was kept, as UTF-8, with "[... 123 bytes cut ...]" between its parts if something was cut.
  std::string text() const;
  std::size_t cut() const { return cut_; }

 private:
  std::size_t most_;
  std::string head_;
  std::string tail_;  // up to twice as long as it is allowed to be, so that moving it costs little
  std::size_t cut_ = 0;
};

struct SubprocessRun {
  enum class Ending : std::uint8_t { Itself, Deadline, Stop };
  Ending ending = Ending::Itself;
  SubprocessExit end;
  std::string output;  // UTF-8
  std::string errors;
};

// Starts a program, gives it `input` (if options.has_input) and takes what it says, until it ends. At a
// deadline or a stop its group is killed, and what it said until then is there. Fails as start() does.
Result<SubprocessRun> run_subprocess(const SubprocessOptions& options, std::string_view input,
                                     std::size_t max_bytes, Deadline deadline, const std::stop_token& stop);

}  // namespace parley
