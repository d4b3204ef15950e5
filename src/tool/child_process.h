// A ChildProcess is a program that runs beside this one, in a process group of its own, with pipes.
//
// Invariants (quoted by tests as SUBPROCESS1..SUBPROCESS6):
//   SUBPROCESS1  The program has the arguments, the environment and the descriptors it was given, and nothing else of
//       this process: no descriptor, no signal that is blocked or ignored.
//   SUBPROCESS2  Whoever owns a ChildProcess can end it with all of its group; its destructor does, and leaves no
//       zombie.
//   SUBPROCESS3  If this process dies, however it dies, the program is killed.
//   SUBPROCESS4  run_child() ends soon after its program does, at its deadline or at a stop, whatever the program and
//       the programs it started do with their pipes.
//   SUBPROCESS5  What run_child() keeps of an output is bounded; what was cut is said in it.
//   SUBPROCESS6  A program that cannot be started is an error here, not an exit status.
//
// What a program starts in a session of its own (setsid) is out of its group, and is not found again.
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

#include "parley/base/deadline.h"
#include "parley/base/error.h"
#include "tool/descriptor.h"

namespace parley {

struct ChildOptions {
  std::vector<std::string> arguments = {};    // the first is the program: a path, or a name that PATH finds
  std::vector<std::string> environment = {};  // "NAME=value" each; the PATH that counts is this one's
  std::string folder = {};                    // where it runs; empty: where this process does
  bool has_input = false;                     // a pipe; otherwise its input is empty
  bool merges_errors = false;                 // its errors go where its output goes
  // SUBPROCESS3 goes by the thread that started the program: the kernel kills it when that thread ends. A program that
  // must outlive its thread says no here, and should end when its input does.
  bool dies_with_thread = true;
};

// How a program ended: by itself, with a status, or by a signal.
struct ChildEnd {
  int status = 0;  // -1: it is not known
  int signal = 0;
  bool is_good() const { return status == 0 && signal == 0; }
};

class ChildProcess {
 public:
  // Fails with NotFound if there is no such program or folder, with Unavailable if the system has no room.
  static Result<ChildProcess> start(const ChildOptions& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

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
  std::optional<ChildEnd> wait(Deadline deadline);
  // Kills the group, and waits for the end.
  ChildEnd end();

 private:
  ChildProcess(pid_t id, Descriptor handle) : id_(id), handle_(std::move(handle)) {}
  ChildEnd collect();

  pid_t id_ = -1;
  Descriptor handle_;  // a pidfd
  std::optional<ChildEnd> ended_;
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

struct ChildRun {
  enum class Ending : std::uint8_t { Itself, Deadline, Stop };
  Ending ending = Ending::Itself;
  ChildEnd end;
  std::string output;  // UTF-8
  std::string errors;
};

// Starts a program, gives it `input` (if options.has_input) and takes what it says, until it ends. At a
// deadline or a stop its group is killed, and what it said until then is there. Fails as start() does.
Result<ChildRun> run_child(const ChildOptions& options, std::string_view input, std::size_t max_bytes,
                           Deadline deadline, const std::stop_token& stop);

}  // namespace parley
