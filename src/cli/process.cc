#include "cli/process.h"

#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace parley::cli {
namespace {

// The state of the signal handler. Changed only while the signals are blocked.
struct Slot {
  char path[PATH_MAX];
  bool used;
};
std::array<Slot, 4> slots;  // a command has two at most
volatile sig_atomic_t bar = 0;

// A caught SIGINT goes through this pipe to the code that waits for it.
int interrupt_pipe[2] = {-1, -1};
volatile sig_atomic_t interrupt_waits = 0;

volatile sig_atomic_t is_running = 0;  // a StopOnInterrupt lives

// The terminal modes before line editing.
termios terminal_before;
volatile sig_atomic_t terminal_is_edited = 0;
int change_pipe[2] = {-1, -1};

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr std::array kTerminalSignals = {SIGTSTP, SIGCONT, SIGWINCH};

class Blocked {
 public:
  Blocked() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : kSignals) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, &before_);
  }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  ~Blocked() {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }

 private:
  sigset_t before_;
};

void set_handler(int signal, void (*handler)(int), struct sigaction* before = nullptr) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, before);
}

// Failures are ignored: the process ends.
void give_terminal_back() {
  if (terminal_is_edited == 0) return;
  terminal_is_edited = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
  constexpr std::string_view kPasteOff = "\x1b[?2004l\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, kPasteOff.data(), kPasteOff.size());
}

void tell_change(int /*signal*/) {
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(change_pipe[1], "", 1);
  errno = error;
}

// Ctrl-Z: stops the process as the default action does, and continues here afterwards.
void stop(int signal) {
  const int error = errno;
  give_terminal_back();
  struct sigaction before = {};
  set_handler(signal, SIG_DFL, &before);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);  // stops here
  ::sigaction(signal, &before, nullptr);
  tell_change(signal);
  errno = error;
}

void handle(int signal) {
  const bool is_left = signal == SIGINT ? interrupt_pipe[1] >= 0 : is_running != 0;
  if (is_left && interrupt_waits == 0) {
    interrupt_waits = signal;
    const int error = errno;
    [[maybe_unused]] const ssize_t ignored = ::write(interrupt_pipe[1], "", 1);
    errno = error;
    return;
  }
  for (const Slot& slot : slots) {
    if (slot.used) ::unlink(slot.path);
  }
  if (bar != 0) {
    // Failures are ignored: the process ends.
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, "\n", 1);
  }
  give_terminal_back();
  ::_exit(128 + signal);
}

void forget(const std::string& path) {
  for (Slot& slot : slots) {
    if (slot.used && path == slot.path) slot.used = false;
  }
}

}  // namespace

void prepare_process() {
  // The wrong direction on purpose: reading a closed stdin and writing a closed stdout must fail.
  constexpr std::array kModes = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    const int opened = ::open("/dev/null", kModes[static_cast<std::size_t>(fd)]);
    if (opened >= 0 && opened != fd) ::close(opened);
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow (ulimit -f) is then an error of the write
  for (const int signal : kSignals) {
    struct sigaction action = {};
    // Under nohup(1) a hangup stays ignored. SIGINT is taken even if a shell ignores it for its background
    // jobs: it is sent on purpose.
    const bool is_ignored = ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (signal == SIGHUP && is_ignored) continue;
    set_handler(signal, handle);
  }
}

// glibc's setting for this is an environment variable, which it reads before main(). With another malloc
// the heap does not grow, and nothing is printed.
void expect_large_buffers() {
  constexpr int kHeap = 16 << 20;
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  mallopt(M_MMAP_THRESHOLD, kHeap);
  mallopt(M_TRIM_THRESHOLD, 16 * kHeap);
  mallopt(M_TOP_PAD, kHeap);
  const auto beyond_page = [](const char* at) { return reinterpret_cast<std::uintptr_t>(at) % kPage; };
  char* from = static_cast<char*>(::sbrk(0));  // where the heap ends
  const std::uintptr_t gap =
      2 * kPage - beyond_page(from);  // more than is left of the heap, so that it grows
  from += gap;
  // What is given out from now on shall begin where a large page does, so what lies before is never used.
  // Nothing in the large pages is touched before they are wanted: one small page keeps a large one away.
  [[maybe_unused]] static void* volatile before = std::malloc(gap);
  char* to = static_cast<char*>(::sbrk(0));
  to -= beyond_page(to);
  if (from < to) ::madvise(from, static_cast<std::size_t>(to - from), MADV_HUGEPAGE);
}

bool catch_interrupts() {
  return interrupt_pipe[0] >= 0 || ::pipe2(interrupt_pipe, O_CLOEXEC | O_NONBLOCK) == 0;
}

int interrupt_descriptor() { return interrupt_pipe[0]; }

bool take_interrupt() {
  char byte = 0;
  const bool taken = ::read(interrupt_pipe[0], &byte, 1) == 1;
  interrupt_waits = 0;
  return taken;
}

StopOnInterrupt::StopOnInterrupt() : end_(::eventfd(0, EFD_CLOEXEC)) {
  is_running = 1;
  watcher_ = std::jthread([this] {
    pollfd fds[] = {{interrupt_pipe[0], POLLIN, 0}, {end_, POLLIN, 0}};
    while (::poll(fds, 2, -1) < 0 && errno == EINTR) {
    }
    if (fds[0].revents == 0) return;
    source_.request_stop();
  });
}

StopOnInterrupt::~StopOnInterrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(end_, &one, sizeof one);
  watcher_.join();
  ::close(end_);
  is_running = 0;
  const int signal = interrupt_waits;
  take_interrupt();
  if (signal != 0 && signal != SIGINT) ::raise(signal);
}

bool StopOnInterrupt::was_interrupted() { return interrupt_waits != 0; }

EditedTerminal::EditedTerminal() {
  if (change_pipe[0] < 0 && ::pipe2(change_pipe, O_CLOEXEC | O_NONBLOCK) != 0) change_pipe[0] = -1;
  const bool is_known = ::tcgetattr(STDIN_FILENO, &terminal_before) == 0;
  for (std::size_t i = 0; i < kTerminalSignals.size(); ++i) {
    set_handler(kTerminalSignals[i], kTerminalSignals[i] == SIGTSTP ? stop : tell_change, &before_[i]);
  }
  terminal_is_edited = is_known ? 1 : 0;
}

EditedTerminal::~EditedTerminal() {
  terminal_is_edited = 0;
  for (std::size_t i = 0; i < kTerminalSignals.size(); ++i) {
    ::sigaction(kTerminalSignals[i], &before_[i], nullptr);
  }
}

int EditedTerminal::change_descriptor() { return change_pipe[0]; }

void EditedTerminal::take_change() {
  char bytes[64];
  while (::read(change_pipe[0], bytes, sizeof bytes) > 0) {
  }
  terminal_is_edited = 1;
}

int open_temporary(const std::string& folder, std::string& path) {
  path = folder + "/.parley-XXXXXX";
  if (path.size() >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return -1;
  }
  const Blocked blocked;
  for (Slot& slot : slots) {
    if (slot.used) continue;
    const int fd = ::mkostemp(path.data(), O_CLOEXEC);
    if (fd < 0) return -1;
    std::memcpy(slot.path, path.c_str(), path.size() + 1);
    slot.used = true;
    return fd;
  }
  errno = EMFILE;
  return -1;
}

bool keep_temporary(const std::string& path, const std::string& name) {
  const Blocked blocked;
  if (std::rename(path.c_str(), name.c_str()) != 0) return false;
  forget(path);
  return true;
}

void remove_temporary(const std::string& path) {
  const Blocked blocked;
  ::unlink(path.c_str());
  forget(path);
}

namespace {

sigset_t end_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

EndSignals::EndSignals(bool with_hangup) : awaited_(end_signals()) {
  if (with_hangup) sigaddset(&awaited_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &awaited_, &before_);
}

EndSignals::~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int EndSignals::wait() {
  int signal = 0;
  while (sigwait(&awaited_, &signal) != 0) {
  }
  if (signal != SIGHUP) pthread_sigmask(SIG_UNBLOCK, &awaited_, nullptr);
  return signal;
}

void set_bar_is_shown(bool shown) { bar = shown ? 1 : 0; }

bool bar_is_shown() { return bar != 0; }

}  // namespace parley::cli
