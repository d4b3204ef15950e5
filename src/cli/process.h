// The command as a process: its standard descriptors, its signals, and the temporary files that must not
// outlive it. One thread at a time.
#pragma once

#include <signal.h>

#include <stop_token>
#include <string>
#include <thread>

namespace parley::cli {

// Call first. Closed standard descriptors fail instead of being reused for the next file that is opened; a
// closed pipe is an error of write(2), not a signal; SIGINT, SIGTERM and SIGHUP remove the temporary files,
// restore the terminal and end the process with 128 + the signal (130 for SIGINT).
void prepare_process();

// For a command that reads a session and writes it whole: memory comes in large pages where the system has
// them, and stays with the process. A fault for every 4 KB of such buffers takes longer than to fill them:
// a chat with a session of 1,000 messages sends its request after 12.4 ms, 13.4 without this.
void expect_large_buffers();

// From now on the first SIGINT is left to the functions below; a second one, if the first was not taken,
// ends the process. Fails only if there are no descriptors left; then nothing changes.
bool catch_interrupts();

// Readable while a SIGINT is not taken. -1 before catch_interrupts().
int interrupt_descriptor();

// Takes it. True if there was one.
bool take_interrupt();

// While one lives, a SIGINT, SIGTERM or SIGHUP asks for a stop; the latter two end the process with the
// StopOnInterrupt. REQUIRES: catch_interrupts() was called. Another signal ends the process at once.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  ~StopOnInterrupt();  // takes the signal

  // Asks for the stop itself.
  void stop() { source_.request_stop(); }
  std::stop_token token() const { return source_.get_token(); }
  static bool was_interrupted();  // since it was made

 private:
  std::stop_source source_;
  int end_ = -1;  // an eventfd that ends the thread
  std::jthread watcher_;
};

// Makes an empty file of a new name in `folder`, open for writing and removed by a signal. Returns its
// descriptor and sets `path`, or returns -1 with errno.
int open_temporary(const std::string& folder, std::string& path);

// Gives a temporary file its name for good. False, with errno, if that fails: then it is still temporary.
bool keep_temporary(const std::string& path, const std::string& name);
void remove_temporary(const std::string& path);

// While one lives, a line editor has the terminal at standard input. When the process ends or stops (Ctrl-Z),
// the terminal is restored to its state at construction.
class EditedTerminal {
 public:
  EditedTerminal();
  EditedTerminal(const EditedTerminal&) = delete;
  EditedTerminal& operator=(const EditedTerminal&) = delete;
  ~EditedTerminal();

  // Readable when the process went on after a stop, or the terminal has another size: it must be taken again
  // and drawn anew. -1 if there are no descriptors left.
  static int change_descriptor();
  static void take_change();

 private:
  struct sigaction before_[3];
};

// From its making on SIGINT and SIGTERM, and SIGHUP if it is asked for, wait for wait(), in this thread and
// in those that it starts.
class EndSignals {
 public:
  explicit EndSignals(bool with_hangup = false);
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals();
  // The one that came. After SIGINT and SIGTERM a second one ends the process at once.
  int wait();

 private:
  sigset_t before_, awaited_;
};

// While a progress bar is on the terminal, other output erases it first, and a signal ends its line.
void set_bar_is_shown(bool shown);
bool bar_is_shown();

}  // namespace parley::cli
