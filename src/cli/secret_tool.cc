#include "cli/secret_tool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "parley/base/clock.h"

extern char** environ;

namespace parley::cli {
namespace {

// Both ends of a pipe, closed when it is destroyed.
class Pipe {
 public:
  Pipe() { is_open_ = ::pipe2(ends_.data(), O_CLOEXEC) == 0; }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close(0);
    close(1);
  }
  bool is_open() const { return is_open_; }
  int end(std::size_t which) const { return ends_[which]; }
  void close(std::size_t which) {
    if (ends_[which] >= 0) ::close(ends_[which]);
    ends_[which] = -1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
  bool is_open_ = false;
};

struct SecretToolResult {
  int status = 0;
  Secret output;
};

// True if there is something to read, or the end.
bool is_readable(int fd, const Deadline& by) {
  for (;;) {
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(by.left().count()));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

// What secret-tool prints; more than a key is not read. `is_late`: it had not ended by then.
Secret read_key(int fd, const Deadline& by, bool& is_late) {
  std::array<char, 512> piece;
  std::string out;
  out.reserve(kMostKeyBytes + piece.size());  // does not move, so that one copy is wiped
  while (out.size() < kMostKeyBytes) {
    is_late = !is_readable(fd, by);
    if (is_late) break;
    const ssize_t count = ::read(fd, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    out.append(piece.data(), static_cast<std::size_t>(count));
    ::explicit_bzero(piece.data(), piece.size());
  }
  while (out.ends_with('\n')) out.pop_back();
  return Secret::take(out);
}

// A key is shorter than a pipe holds, so that writing it does not wait for the reader.
Result<SecretToolResult> run_secret_tool(std::vector<std::string> arguments, std::string_view input,
                                         std::chrono::milliseconds time = kSecretToolTime) {
  const Deadline by = Deadline::in(time);
  arguments.insert(arguments.begin(), "secret-tool");
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& each : arguments) words.push_back(each.data());
  words.push_back(nullptr);
  Pipe in, out;
  if (!in.is_open() || !out.is_open()) return fail(Code::Unavailable, "cannot make a pipe to secret-tool");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.end(0), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.end(1), STDOUT_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, "secret-tool", &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return fail(Code::Unavailable,
                fmt::format("cannot run secret-tool: {}; install libsecret-tools, or store "
                            "the key in a file",
                            ::strerror(error)));
  }
  in.close(0);
  out.close(1);
  const ssize_t written = ::write(in.end(1), input.data(), input.size());
  in.close(1);
  bool is_late = false;
  SecretToolResult ended{.status = 128, .output = read_key(out.end(0), by, is_late)};
  out.close(0);
  if (is_late) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_late) return fail(Code::Unavailable, "secret-tool does not respond: is the secret service locked?");
  const bool is_whole = written == static_cast<ssize_t>(input.size());
  const bool has_failed = WIFEXITED(status) && WEXITSTATUS(status) != 0;
  if (has_failed || (is_whole && WIFEXITED(status))) ended.status = WEXITSTATUS(status);
  return ended;
}

std::vector<std::string> with_attributes(std::vector<std::string> arguments, const std::string& provider) {
  for (const char* word : {"service", "parley", "provider"}) arguments.emplace_back(word);
  arguments.push_back(provider);
  return arguments;
}

Result<void> expect_success(const SecretToolResult& ended, std::string_view what) {
  if (ended.status == 0) return {};
  return fail(Code::Unavailable,
              fmt::format("secret-tool could not {} the key (exit code {}): is a secret service running?",
                          what, ended.status));
}

}  // namespace

Result<void> store_in_secret_service(const std::string& provider, const Secret& key) {
  PARLEY_TRY(
      const SecretToolResult ended,
      run_secret_tool(with_attributes({"store", "--label=parley: " + provider}, provider), key.reveal()));
  return expect_success(ended, "store");
}

Result<Secret> find_in_secret_service(const std::string& provider, std::chrono::milliseconds time) {
  PARLEY_TRY(SecretToolResult ended, run_secret_tool(with_attributes({"lookup"}, provider), "", time));
  if (!ended.output.empty()) return std::move(ended.output);
  return fail(Code::NotFound, fmt::format("the secret service has no key for {}, or is locked: run 'parley "
                                          "config key set {}'",
                                          provider, provider));
}

Result<void> remove_from_secret_service(const std::string& provider) {
  PARLEY_TRY(const SecretToolResult ended, run_secret_tool(with_attributes({"clear"}, provider), ""));
  return expect_success(ended, "remove");
}

}  // namespace parley::cli
