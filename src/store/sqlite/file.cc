#include "store/sqlite/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace parley::store {
namespace {

std::unexpected<Error> failure(const std::string& what, const std::string& path) {
  return fail(Code::Unavailable, what + ": " + std::generic_category().message(errno), path);
}

std::string folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// SQLite's log of writes needs memory that all its users share, which no network file system gives.
bool is_remote(const std::string& folder) {
  constexpr unsigned long kRemote[] = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x5346414F,  // AFS
      0x73757245,  // Coda
      0x01021997,  // 9P
  };
  struct statfs about = {};
  if (::statfs(folder.c_str(), &about) != 0) return false;
  const auto type = static_cast<unsigned long>(about.f_type) & 0xFFFFFFFF;
  return std::find(std::begin(kRemote), std::end(kRemote), type) != std::end(kRemote);
}

Result<void> check_local(const std::string& path) {
  if (!is_remote(folder_of(path))) return {};
  return fail(Code::Unsupported, "a database cannot be on a network file system", path);
}

// Makes the missing folders of a path, for this user alone.
Result<void> make_folders(const std::string& folder) {
  std::string made;
  for (const std::filesystem::path& part : std::filesystem::path(folder)) {
    made = (std::filesystem::path(made) / part).string();
    if (::mkdir(made.c_str(), 0700) != 0 && errno != EEXIST) return failure("cannot make the folder", made);
  }
  return {};
}

// Makes an empty file that only this user may read; false if there is one.
Result<bool> make_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) return failure("cannot make the file", path);
  const bool is_ours = ::fchmod(file, 0600) == 0;  // a umask may have taken more away
  const int error = errno;
  ::close(file);
  errno = error;
  if (!is_ours) return failure("cannot set the permissions", path);
  return true;
}

Result<void> check_file(const struct stat& about, const std::string& path) {
  const auto refuse = [&](const char* why) {
    return fail(Code::Invalid, std::string("the database must be ") + why, path);
  };
  if (S_ISLNK(about.st_mode)) return refuse("a regular file: this is a symbolic link");
  if (!S_ISREG(about.st_mode)) return refuse("a regular file");
  if (about.st_nlink != 1) return refuse("a file without hard links: this file has several names");
  if (about.st_uid != ::geteuid()) return refuse("a file that you own: this file has another owner");
  return {};
}

}  // namespace

Result<bool> look_at_file(const std::string& path) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) != 0) {
    if (errno == ENOENT) return false;
    return failure("cannot look at the file", path);
  }
  PARLEY_CHECK(check_local(path));
  PARLEY_CHECK(check_file(about, path));
  return true;
}

bool is_read_only(const std::string& path) {
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0 ||
         ::faccessat(AT_FDCWD, folder_of(path).c_str(), W_OK, AT_EACCESS) != 0;
}

Result<void> probe_place(const std::string& path) {
  std::string folder = folder_of(path);
  struct stat about = {};
  while (::stat(folder.c_str(), &about) != 0 && errno == ENOENT && folder != folder_of(folder)) {
    folder = folder_of(folder);
  }
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return failure("cannot make a file there", folder);
  }
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);  // it has no name
  if (file < 0) return {};  // not every file system has such files
  const std::string bytes(std::size_t{64} << 10, '\0');
  errno = ENOSPC;  // unless the system says otherwise
  const bool is_written = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  const int error = errno;
  ::close(file);
  errno = error;
  if (!is_written) return failure("cannot write there", folder);
  return {};
}

Result<void> make_folders_of(const std::string& path) {
  PARLEY_CHECK(make_folders(folder_of(path)));
  return check_local(path);
}

Result<void> make_new_file(const std::string& path) {
  PARLEY_TRY(const bool is_new, make_file(path));
  if (!is_new) return fail(Code::Invalid, "there is a file of this name already", path);
  return {};
}

std::vector<std::string> permission_warnings(const std::string& path) {
  std::vector<std::string> out;
  struct stat about = {};
  if (::stat(path.c_str(), &about) == 0 && (about.st_mode & 077) != 0) {
    out.emplace_back("other users can open the database: run chmod 600");
  }
  return out;
}

Result<FileLock> FileLock::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return failure("cannot open the lock of the database", path);
  if (::fchmod(file, 0600) != 0 && errno != EPERM) {
    auto error = failure("cannot set the permissions", path);
    ::close(file);
    return error;
  }
  return FileLock(file);
}

FileLock::FileLock(FileLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

Result<void> FileLock::lock(const Deadline& deadline) {
  std::chrono::microseconds pause(20);
  while (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return failure("cannot lock the database", {});
    if (deadline.has_passed()) return fail(Code::Timeout, "another process is writing to the database");
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(500));
  }
  return {};
}

void FileLock::unlock() { ::flock(file_, LOCK_UN); }

void FileLock::keep_room() {
  constexpr off_t kRoom = off_t{1} << 20;
  struct stat about = {};
  if (::fstat(file_, &about) != 0 || about.st_blocks * 512 >= kRoom) return;
  (void)::fallocate(file_, FALLOC_FL_KEEP_SIZE, 0, kRoom);
}

void FileLock::give_room() { [[maybe_unused]] const int done = ::ftruncate(file_, 0); }

}  // namespace parley::store
