#include "tool/workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "parley/base/clock.h"
#include "parley/base/ids.h"

namespace parley {
namespace {

// Like explain() of src/guard/fetch/file.cc, with the sentences of a workspace.
std::unexpected<Error> explain(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return fail(Code::NotFound, "no such file");
    case EXDEV:
    case ELOOP:
      return fail(Code::Invalid, "the path is outside of the workspace");
    case EEXIST:
      return fail(Code::Conflict, "the file already exists");
    default:
      return fail(Code::Unavailable, std::string("system error: ") + std::strerror(error));
  }
}

// A path as its folder and the name in it. REQUIRES: lexically normal.
struct Split {
  std::string folder, name;
};
Result<Split> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  Split out{slash == std::string::npos ? "." : path.substr(0, slash), path.substr(slash + 1)};
  if (out.name.empty() || out.name == "." || out.name == "..") {
    return fail(Code::Invalid, "the path does not name a file");
  }
  return out;
}

Result<void> write_all(const Descriptor& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return explain(errno);
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

// Writes beside the file, and gives the result its name at once (WORKSPACE2).
Result<void> write_file(const Descriptor& folder, const std::string& name, std::string_view bytes,
                        const struct stat* before) {
  if (bytes.size() > Workspace::kMaxFileBytes) {
    return fail(Code::LimitExceeded,
                "a file has at most " + std::to_string(Workspace::kMaxFileBytes) + " bytes");
  }
  const std::string temporary = ".parley-" + new_ulid(static_cast<std::uint64_t>(now_ms()));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor file(openat(folder.get(), temporary.c_str(), kFlags, 0666));
  if (!file.is_open()) return explain(errno);
  Result<void> done = write_all(file, bytes);
  const auto step = [&](bool went_well) {
    if (done && !went_well) done = explain(errno);
  };
  if (before != nullptr) step(fchmod(file.get(), before->st_mode & 07777) == 0);
  step(fsync(file.get()) == 0);
  if (done) {
    const unsigned flags = before == nullptr ? RENAME_NOREPLACE : 0;
    step(renameat2(folder.get(), temporary.c_str(), folder.get(), name.c_str(), flags) == 0);
  }
  if (!done) {
    unlinkat(folder.get(), temporary.c_str(), 0);
    return done;
  }
  fsync(folder.get());
  return {};
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// The names in a folder that are not hidden, sorted. Takes the descriptor over.
std::vector<std::string> names_in(Descriptor folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> stream(fdopendir(folder.get()));
  if (!stream) return names;
  folder.release();
  while (const dirent* const entry = readdir(stream.get())) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  std::ranges::sort(names);
  return names;
}

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

}  // namespace

Result<Workspace> Workspace::open(const std::string& root) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(root, error).string();
  Descriptor folder(error ? -1 : ::open(real.c_str(), kFolderFlags));
  if (!folder.is_open()) return fail(Code::NotFound, "the workspace folder does not exist");
  return Workspace(real, std::move(folder));
}

Result<std::string> Workspace::beneath(std::string_view path) const {
  const auto outside = [] { return fail(Code::Invalid, "the path is outside of the workspace"); };
  if (path.find('\0') != std::string_view::npos) return outside();
  if (path.starts_with('/')) {
    const std::string_view root = root_ == "/" ? "" : std::string_view(root_);
    if (!path.starts_with(root)) return outside();
    path.remove_prefix(root.size());
    if (!path.empty() && !path.starts_with('/')) return outside();
    while (path.starts_with('/')) path.remove_prefix(1);
  }
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.ends_with('/')) normal.pop_back();
  if (normal.empty()) normal = ".";
  if (normal == ".." || normal.starts_with("../")) return outside();
  return normal;
}

Result<Descriptor> Workspace::open_beneath(const std::string& path, std::uint64_t flags) const {
  open_how how{};
  // A FIFO or a device must not make open() wait; O_PATH does not wait, and takes few flags beside it.
  how.flags = flags | O_CLOEXEC | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK | O_NOCTTY);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    Descriptor opened(static_cast<int>(syscall(SYS_openat2, folder_.get(), path.c_str(), &how, sizeof how)));
    if (opened.is_open()) return opened;
    // The kernel gives up, and says so, when something on the way is moved while it looks.
    constexpr int kMaxTries = 16;
    if ((errno != EAGAIN && errno != EINTR) || tries == kMaxTries) return explain(errno);
  }
}

Result<Workspace::Kind> Workspace::kind(const std::string& path) const {
  const auto opened = open_beneath(path, O_PATH);
  if (!opened && opened.error().code == Code::NotFound) return Kind::Nothing;
  if (!opened) return std::unexpected(opened.error());
  struct stat status{};
  if (fstat(opened->get(), &status) != 0) return explain(errno);
  return S_ISREG(status.st_mode) ? Kind::File : S_ISDIR(status.st_mode) ? Kind::Folder : Kind::Other;
}

Result<std::string> Workspace::read(const std::string& path) const {
  PARLEY_TRY(const Descriptor file, open_beneath(path, O_RDONLY));
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return explain(errno);
  if (!S_ISREG(status.st_mode)) return fail(Code::Invalid, "not a regular file");
  std::string bytes;
  constexpr std::size_t kPiece = std::size_t{64} * 1024;
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + kPiece);
    const ssize_t count = ::read(file.get(), bytes.data() + before, kPiece);
    if (count < 0 && errno != EINTR) return explain(errno);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (bytes.size() > kMaxFileBytes) {
      return fail(Code::LimitExceeded, "a file has at most " + std::to_string(kMaxFileBytes) + " bytes");
    }
    if (count == 0) return bytes;
  }
}

Result<Descriptor> Workspace::make_folders(const std::string& path) const {
  auto folder = open_beneath(path, kFolderFlags);
  if (folder || folder.error().code != Code::NotFound) return folder;
  PARLEY_TRY(Descriptor above, open_beneath(".", kFolderFlags));
  for (std::size_t end = 0; end != std::string::npos;) {
    const std::size_t begin = end == 0 ? 0 : end + 1;
    end = path.find('/', begin);
    const std::string name = path.substr(begin, end == std::string::npos ? end : end - begin);
    if (mkdirat(above.get(), name.c_str(), 0777) != 0 && errno != EEXIST) return explain(errno);
    PARLEY_TRY(above, open_beneath(path.substr(0, end), kFolderFlags));
  }
  return above;
}

Result<void> Workspace::create(const std::string& path, std::string_view bytes) const {
  PARLEY_TRY(const Split place, split(path));
  PARLEY_TRY(const Descriptor folder, make_folders(place.folder));
  return write_file(folder, place.name, bytes, nullptr);
}

Result<void> Workspace::replace(const std::string& path, std::string_view bytes) const {
  PARLEY_TRY(const Split place, split(path));
  PARLEY_TRY(const Descriptor folder, open_beneath(place.folder, kFolderFlags));
  struct stat status{};
  if (fstatat(folder.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return explain(errno);
  if (S_ISLNK(status.st_mode)) {
    return fail(Code::Invalid, "it is a symbolic link: edit its target instead");
  }
  if (!S_ISREG(status.st_mode)) return fail(Code::Invalid, "not a regular file");
  return write_file(folder, place.name, bytes, &status);
}

Result<void> Workspace::remove(const std::string& path) const {
  PARLEY_TRY(const Split place, split(path));
  PARLEY_TRY(const Descriptor folder, open_beneath(place.folder, kFolderFlags));
  if (unlinkat(folder.get(), place.name.c_str(), 0) != 0) return explain(errno);
  return {};
}

Result<std::vector<std::string>> Workspace::list(const std::string& path, bool* is_cut) const {
  PARLEY_TRY(const Descriptor folder, open_beneath(path, kFolderFlags));
  std::vector<std::string> out;
  const auto add = [&](std::string entry) {
    *is_cut = out.size() == kMaxEntries;
    if (!*is_cut) out.push_back(std::move(entry));
  };
  *is_cut = false;
  for (const std::string& name : names_in(Descriptor(openat(folder.get(), ".", kFolderFlags)))) {
    add(name);
    if (*is_cut) break;
    // A link to a folder is named, and not followed.
    Descriptor inner(openat(folder.get(), name.c_str(), kFolderFlags | O_NOFOLLOW));
    if (!inner.is_open()) continue;
    const std::string prefix = name + "/";
    for (const std::string& below : names_in(std::move(inner))) add(prefix + below);
  }
  return out;
}

}  // namespace parley
