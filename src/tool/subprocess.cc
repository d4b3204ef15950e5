#include "tool/subprocess.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include "parley/base/text.h"

namespace parley {
namespace {

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> new_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return fail(Code::Unavailable, "cannot create a pipe: too many open files");
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

void stop_blocking(const Descriptor& descriptor) {
  if (descriptor.is_open()) fcntl(descriptor.get(), F_SETFL, O_NONBLOCK);
}

bool is_program(const std::string& path) {
  // A folder may be executed too, as far as access(2) is concerned; execve(2) will fail.
  return access(path.c_str(), X_OK) == 0;
}

std::string_view path_in(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(kName)) return std::string_view(entry).substr(kName.size());
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

// Here and not in the subprocess, which may do very little between fork and execve.
Result<std::string> find_program(const SubprocessOptions& options) {
  if (options.arguments.empty() || options.arguments[0].empty()) {
    return fail(Code::Invalid, "the program name is empty");
  }
  const std::string& name = options.arguments[0];
  if (name.find('/') != std::string::npos) return name;
  std::string_view folders = path_in(options.environment);
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    // An empty entry would be the current folder, which is never intended.
    if (colon > 0) {
      std::string path = std::string(folders.substr(0, colon)) + "/" + name;
      if (is_program(path)) return path;
    }
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return fail(Code::NotFound, "program not found: '" + name + "'");
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  out.reserve(strings.size() + 1);
  for (const std::string& s : strings) out.push_back(const_cast<char*>(s.c_str()));
  out.push_back(nullptr);
  return out;
}

// All that the child needs, made before the fork.
struct Launch {
  std::string program;
  std::vector<char*> arguments, environment;
  const char* folder = nullptr;
  int input = -1, output = -1, errors = -1, report = -1;
  bool dies_with_thread = true;
  pid_t parent = -1;
};

// Runs in the subprocess: only what is safe between fork and execve in a program with threads. Reports a
// failure to the parent as an errno.
[[noreturn]] void become(const Launch& launch) {
  const auto give_up = [&] {
    const int error = errno;
    [[maybe_unused]] const ssize_t ignored = write(launch.report, &error, sizeof error);
    _exit(127);
  };
  if (setpgid(0, 0) != 0) give_up();
  if (launch.dies_with_thread) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) give_up();
    if (getppid() != launch.parent) _exit(127);  // it died before the line above
  }
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  if (launch.folder != nullptr && chdir(launch.folder) != 0) give_up();
  if (dup2(launch.input, 0) < 0 || dup2(launch.output, 1) < 0 || dup2(launch.errors, 2) < 0) give_up();
  // Whatever other libraries opened without O_CLOEXEC stays here (SUBPROCESS1).
  if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) give_up();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execve(launch.program.c_str(), launch.arguments.data(), launch.environment.data());
  give_up();
  _exit(127);
}

// No signal handler of this process may run in the child, so all signals are blocked around the fork.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

std::unexpected<Error> cannot_start(const std::string& program, int error) {
  const bool is_missing = error == ENOENT || error == ENOTDIR || error == EACCES || error == ENOEXEC;
  return fail(is_missing ? Code::NotFound : Code::Unavailable,
              "'" + program + "' failed to start: " + std::strerror(error));
}

// A descriptor below 3 would be overwritten by the dup2 of another one.
Result<Descriptor> above_standard(Descriptor descriptor) {
  if (descriptor.get() > 2) return descriptor;
  Descriptor moved(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3));
  if (!moved.is_open()) return fail(Code::Unavailable, "cannot create a pipe: too many open files");
  return moved;
}

}  // namespace

Result<Subprocess> Subprocess::start(const SubprocessOptions& options) {
  for (const auto* list : {&options.arguments, &options.environment}) {
    for (const std::string& text : *list) {
      if (text.find('\0') != std::string::npos) {
        return fail(Code::Invalid, "an argument or variable of the program contains a NUL character");
      }
    }
  }
  PARLEY_TRY(std::string program, find_program(options));
  PARLEY_TRY(Pipe output, new_pipe());
  PARLEY_TRY(Pipe report, new_pipe());
  Pipe input;
  Pipe errors;
  if (options.has_input) {
    PARLEY_TRY(input, new_pipe());
  } else {
    input.read = Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  if (!options.merges_errors) {
    PARLEY_TRY(errors, new_pipe());
  }
  for (Descriptor* end : {&input.read, &output.write, &errors.write, &report.write}) {
    if (!end->is_open()) continue;
    PARLEY_TRY(*end, above_standard(std::move(*end)));
  }

  Launch launch;
  launch.program = program;
  launch.arguments = pointers(options.arguments);
  launch.environment = pointers(options.environment);
  if (!options.folder.empty()) launch.folder = options.folder.c_str();
  launch.input = input.read.get();
  launch.output = output.write.get();
  launch.errors = options.merges_errors ? output.write.get() : errors.write.get();
  launch.report = report.write.get();
  launch.dies_with_thread = options.dies_with_thread;
  launch.parent = getpid();
  pid_t id = -1;
  {
    const SignalsBlocked blocked;
    id = fork();
    if (id == 0) become(launch);
  }
  if (id < 0) return fail(Code::Unavailable, "cannot start another process: the system's limit is reached");
  setpgid(id, id);  // in both processes, because either may run first; one of them may fail
  Subprocess child(id, Descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0))));
  if (!child.handle_.is_open()) {
    child.end();
    return fail(Code::Unavailable, "cannot watch the process: pidfd_open failed");
  }
  report.write.close();
  int error = 0;
  ssize_t told = 0;
  do {
    told = read(report.read.get(), &error, sizeof error);
  } while (told < 0 && errno == EINTR);
  if (told == sizeof error) {
    child.end();
    return cannot_start(options.arguments[0], error);
  }
  child.input = std::move(input.write);
  child.output = std::move(output.read);
  child.errors = std::move(errors.read);
  for (const Descriptor* end : {&child.input, &child.output, &child.errors}) stop_blocking(*end);
  return child;
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : input(std::move(other.input)),
      output(std::move(other.output)),
      errors(std::move(other.errors)),
      id_(std::exchange(other.id_, -1)),
      handle_(std::move(other.handle_)),
      ended_(other.ended_) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this != &other) {
    end();
    input = std::move(other.input);
    output = std::move(other.output);
    errors = std::move(other.errors);
    id_ = std::exchange(other.id_, -1);
    handle_ = std::move(other.handle_);
    ended_ = other.ended_;
  }
  return *this;
}

Subprocess::~Subprocess() { end(); }

void Subprocess::signal_group(int signal) const {
  // Until it is reaped its process id is not reused.
  if (id_ > 0 && !ended_) kill(-id_, signal);
}

std::optional<SubprocessExit> Subprocess::wait(Deadline deadline) {
  if (ended_ || id_ <= 0) return ended_.value_or(SubprocessExit{});
  for (;;) {
    pollfd event{handle_.get(), POLLIN, 0};
    const auto left = static_cast<int>(std::min<std::int64_t>(deadline.left().count(), INT_MAX));
    const int ready = poll(&event, 1, left);
    if (ready > 0) return collect();
    if (ready == 0 && deadline.has_passed()) return std::nullopt;
  }
}

SubprocessExit Subprocess::end() {
  if (ended_ || id_ <= 0) return ended_.value_or(SubprocessExit{});
  return collect();
}

// The group is killed while the program is still there, dead or alive, so that its number means it.
SubprocessExit Subprocess::collect() {
  kill(-id_, SIGKILL);
  int status = 0;
  pid_t collected = -1;
  do {
    collected = waitpid(id_, &status, 0);
  } while (collected < 0 && errno == EINTR);
  if (collected != id_) {
    ended_ = SubprocessExit{-1, 0};  // a program that ignores SIGCHLD never learns how its children end
  } else {
    ended_ =
        WIFSIGNALED(status) ? SubprocessExit{0, WTERMSIG(status)} : SubprocessExit{WEXITSTATUS(status), 0};
  }
  return *ended_;
}

void BoundedBytes::append(std::string_view bytes) {
  const std::size_t most_head = most_ - most_ / 2;
  const std::size_t most_tail = most_ / 2;
  const std::size_t to_head = std::min(bytes.size(), most_head - head_.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() > most_tail) {
    cut_ += tail_.size() + bytes.size() - most_tail;
    tail_.clear();
    bytes.remove_prefix(bytes.size() - most_tail);
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * most_tail) {
    cut_ += tail_.size() - most_tail;
    tail_.erase(0, tail_.size() - most_tail);
  }
}

std::string BoundedBytes::text() const {
  const std::size_t excess = tail_.size() > most_ / 2 ? tail_.size() - most_ / 2 : 0;
  const std::size_t cut = cut_ + excess;
  std::string out = head_;
  if (cut > 0) out += "\n[... " + std::to_string(cut) + " bytes cut ...]\n";
  out.append(tail_, excess);
  return repair_utf8(out);
}

}  // namespace parley
