#include "cli/environment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cli/process.h"
#include "cli/terminal.h"

namespace parley::cli {
namespace {

struct UserFolder {
  const char* variable;
  const char* at_home;
};

constexpr UserFolder kUserFolders[] = {
    {"XDG_CONFIG_HOME", ".config"},
    {"XDG_DATA_HOME", ".local/share"},
    {"XDG_STATE_HOME", ".local/state"},
};

}  // namespace

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never changed
  return value == nullptr ? std::string() : std::string(value);
}

Result<std::string> user_file(Folder folder, std::string_view name) {
  const UserFolder& place = kUserFolders[static_cast<std::size_t>(folder)];
  std::string base = from_environment(place.variable);
  if (!base.starts_with('/')) {  // the XDG standard ignores relative paths
    const std::string home = from_environment("HOME");
    if (home.empty()) return fail(Code::Unavailable, "HOME is not set");
    base = fmt::format("{}/{}", home, place.at_home);
  }
  return fmt::format("{}/parley/{}", base, name);
}

Result<void> expect_regular_file(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return {};
  const char* kind = S_ISDIR(info.st_mode)    ? "a folder"
                     : S_ISFIFO(info.st_mode) ? "a FIFO"
                     : S_ISSOCK(info.st_mode) ? "a socket"
                                              : "a device";
  return fail(Code::Invalid, fmt::format("expected a regular file, not {}", kind));
}

std::string exposure_of(const std::string& path, std::string_view what) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & 0066) == 0) return {};
  return fmt::format("other users can open {} (mode {:04o}), which holds {}: run chmod 600 on it", path,
                     info.st_mode & 07777, what);
}

Result<void> write_user_file(const std::string& path, std::string_view text) {
  PARLEY_CHECK(make_folder_of(path));
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  const std::string target = real ? real.get() : path;
  const auto cannot = [&] {
    return fail(Code::Unavailable, fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  };
  const std::size_t slash = target.rfind('/');
  std::string temporary;
  const int fd = open_temporary(slash == std::string::npos ? "." : target.substr(0, slash + 1), temporary);
  if (fd < 0) return cannot();
  struct stat info = {};
  if (::stat(target.c_str(), &info) == 0) static_cast<void>(::fchmod(fd, info.st_mode & 07777));
  const bool is_written = put(fd, text) && ::fsync(fd) == 0;
  const bool is_closed = ::close(fd) == 0;
  if (is_written && is_closed && keep_temporary(temporary, target)) return {};
  const auto failure = cannot();
  remove_temporary(temporary);
  return failure;
}

FolderLock::FolderLock(const std::string& path) {
  static_cast<void>(make_folder_of(path));
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ >= 0) static_cast<void>(::flock(fd_, LOCK_EX));
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> make_folder_of(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(Code::Unavailable,
                  fmt::format("cannot create the folder {}: {}", folder, std::strerror(errno)));
    }
  }
  return {};
}

}  // namespace parley::cli
