#include "cli/editor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/environment.h"
#include "cli/process.h"
#include "cli/terminal.h"
#include "parley/base/text.h"
#include "parley/json/json.h"

namespace parley::cli {
namespace {

constexpr std::size_t kMostEditedBytes = std::size_t{4} * 1024 * 1024;  // the limit of a request

// While one lives, this process ignores the keys that the editor in the foreground gets, too.
class KeysForEditor {
 public:
  KeysForEditor() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &ignore, &before_[i]);
  }
  KeysForEditor(const KeysForEditor&) = delete;
  KeysForEditor& operator=(const KeysForEditor&) = delete;
  ~KeysForEditor() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGQUIT};
  struct sigaction before_[2];
};

// How the editor starts: with the default signals, and at the terminal even if the output of this process is
// a pipe.
class EditorStart {
 public:
  EditorStart() {
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int each : {SIGINT, SIGQUIT, SIGPIPE}) sigaddset(&defaults, each);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawn_file_actions_init(&actions);
    if (!is_terminal(STDIN_FILENO)) return;
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (!is_terminal(fd)) ::posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, fd);
    }
  }
  EditorStart(const EditorStart&) = delete;
  EditorStart& operator=(const EditorStart&) = delete;
  ~EditorStart() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

// A file for the editor, older than any save of it.
class DraftFile {
 public:
  static Result<DraftFile> create(std::string_view text) {
    std::string folder = from_environment("TMPDIR");
    if (folder.empty()) folder = "/tmp";
    DraftFile out;
    const int fd = open_temporary(folder, out.path_);
    if (fd < 0) return out.failed("create");
    const timespec old[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
    const bool is_good = cli::put(fd, text) && ::futimens(fd, old) == 0 && ::fstat(fd, &out.before_) == 0;
    const int error = errno;
    ::close(fd);
    errno = error;
    if (!is_good) return out.failed("write");
    return out;
  }
  DraftFile(DraftFile&& other) noexcept : path_(std::exchange(other.path_, {})), before_(other.before_) {}
  DraftFile& operator=(DraftFile&&) = delete;
  ~DraftFile() {
    if (!path_.empty()) remove_temporary(path_);
  }

  const std::string& path() const { return path_; }
  bool is_saved() const {
    struct stat now = {};
    if (::stat(path_.c_str(), &now) != 0) return false;
    return now.st_ino != before_.st_ino || now.st_mtim.tv_sec != before_.st_mtim.tv_sec;
  }

 private:
  DraftFile() = default;
  std::unexpected<Error> failed(const char* what) const {
    return fail(Code::Unavailable,
                fmt::format("cannot {} a file for the editor: {}", what, std::strerror(errno)));
  }

  std::string path_;
  struct stat before_ = {};
};

}  // namespace

Result<int> run_editor(const std::string& file) {
  std::string editor = from_environment("VISUAL");
  if (editor.empty()) editor = from_environment("EDITOR");
  if (editor.empty()) editor = "vi";
  // The variable is a command line, as git and others take it. The shell leaves Ctrl-C to the editor, too.
  const std::string script = "trap : INT QUIT; " + editor + " \"$1\"";
  const char* arguments[] = {"sh", "-c", script.c_str(), "sh", file.c_str(), nullptr};
  const KeysForEditor keys;
  const EditorStart start;
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, "sh", &start.actions, &start.attributes, const_cast<char**>(arguments), environ);
  if (error != 0)
    return fail(Code::Unavailable, fmt::format("cannot run {}: {}", editor, std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

Result<std::optional<std::string>> edit_text(std::string_view text) {
  PARLEY_TRY(const DraftFile draft, DraftFile::create(text));
  PARLEY_TRY(const int status, run_editor(draft.path()));
  if (status != 0 || !draft.is_saved()) return std::nullopt;
  PARLEY_TRY(const json::Buffer saved, json::Buffer::from_file(draft.path().c_str(), kMostEditedBytes));
  std::string out(saved.view());
  if (!is_utf8(out)) return fail(Code::Invalid, "the edited text is not UTF-8");
  out.resize(out.find_last_not_of(" \t\r\n") + 1);
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace parley::cli
