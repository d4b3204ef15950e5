// Files beneath a root. The kernel keeps the path beneath it (openat2), not a comparison of texts: between a
// comparison and an open, a link could change.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/url_encode.h"
#include "guard/fetch/fetch.h"

namespace parley {
namespace {

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

int open_beneath(int folder, const std::string& path) {
  open_how how{};
  // A FIFO or a device must not make open() wait; what is not a regular file is refused afterwards.
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    const auto opened = static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
    // The kernel fails with EAGAIN when a part of the path is moved during the look-up.
    constexpr int kMaxTries = 16;
    if (opened >= 0 || (errno != EAGAIN && errno != EINTR) || tries == kMaxTries) return opened;
  }
}

std::unexpected<Error> explain(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return fail(Code::NotFound, "no such file below the root of the fetch policy");
    case EXDEV:
    case ELOOP:
      return fail(Code::Invalid, "the file is outside the root of the fetch policy");
    case ENOSYS:
    case EPERM:
      return fail(Code::Unavailable, "cannot read files: the system has no openat2");
    default:
      return fail(Code::Unavailable, "cannot open the file");
  }
}

}  // namespace

std::optional<std::string> path_beneath(const Url& url, std::string_view root) {
  std::string path = percent_decode(url.path);
  // An escaped slash would make two segments of one that was checked as one.
  for (std::size_t i = 0; i + 2 < url.path.size(); ++i) {
    if (url.path[i] == '%' && url::equals_ignoring_case(std::string_view(url.path).substr(i, 3), "%2f")) {
      return std::nullopt;
    }
  }
  if (path.find('\0') != std::string::npos || !path.starts_with(root)) return std::nullopt;
  path.erase(0, root.size());
  if (root != "/") {
    if (!path.starts_with('/')) return std::nullopt;
    path.erase(0, 1);
  }
  // "//x" would be an absolute path to the kernel, and an empty path is not a file.
  if (path.empty() || path.front() == '/') return std::nullopt;
  return path;
}

Result<std::string> read_beneath(const std::string& root, const std::string& path, std::size_t max_bytes) {
  const File folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return fail(Code::Unavailable, "cannot open the root of the fetch policy");
  const File file(open_beneath(folder.get(), path));
  if (!file.is_open()) return explain(errno);
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return explain(errno);
  if (!S_ISREG(status.st_mode)) return fail(Code::Invalid, "the file is not a regular file");
  const auto too_large = [&] {
    return fail(Code::LimitExceeded, "the file is larger than " + std::to_string(max_bytes) + " bytes");
  };
  if (static_cast<std::uint64_t>(status.st_size) > max_bytes) return too_large();

  // The size may be wrong (/proc) or change, so the file is read to its end or to the limit.
  std::string bytes;
  constexpr std::size_t kPiece = std::size_t{64} * 1024;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    const ssize_t count = read(file.get(), bytes.data() + before, kPiece);
    if (count < 0 && errno == EINTR) {
      bytes.resize(before);
      continue;
    }
    if (count < 0) return fail(Code::Unavailable, "cannot read the file");
    bytes.resize(before + static_cast<std::size_t>(count));
    if (bytes.size() > max_bytes) return too_large();
    if (count == 0) return bytes;
  }
}

}  // namespace parley
