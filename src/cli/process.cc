#include "cli/process.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace parley::cli {
namespace {

// What the signal handler may touch. Changed only while the signals are blocked.
struct Slot {
  char path[PATH_MAX];
  bool used;
};
std::array<Slot, 4> slots;  // a command has two at most
volatile sig_atomic_t bar = 0;

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

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

void end_by_signal(int signal) {
  for (const Slot& slot : slots) {
    if (slot.used) ::unlink(slot.path);
  }
  if (bar != 0) {
    // Whether this succeeds matters to nobody any more.
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, "\n", 1);
  }
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
  for (const int signal : kSignals) {
    struct sigaction action = {};
    // Under nohup(1) a hangup stays ignored. SIGINT is taken even if a shell ignores it for its background
    // jobs: whoever sends it means it.
    const bool is_ignored = ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (signal == SIGHUP && is_ignored) continue;
    action = {};
    action.sa_handler = end_by_signal;
    sigfillset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
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

void set_bar_is_shown(bool shown) { bar = shown ? 1 : 0; }

bool bar_is_shown() { return bar != 0; }

}  // namespace parley::cli
