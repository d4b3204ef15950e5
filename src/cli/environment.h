// The environment: variables, and the user's folders by the XDG standard. One thread at a time.
#pragma once

#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley::cli {

// The value of a variable; empty if it is not set.
std::string from_environment(const char* name);

// A file of the user: in $XDG_CONFIG_HOME, ... if that is an absolute path, else beneath the home folder.
// Fails with Unavailable if there is no home.
enum class Folder { Config, Data, State };
Result<std::string> user_file(Folder folder, std::string_view name);  // ".../parley/NAME"

// A file of settings is a regular one, or a symbolic link to it: a FIFO would hang and a device may have no
// end. Fails with Invalid for anything else of this name.
Result<void> expect_regular_file(const std::string& path);

// A warning if users other than the owner may read or change a file that holds `what`; empty if not.
std::string exposure_of(const std::string& path, std::string_view what);

// Replaces a file of the user atomically, or creates it for its owner only (0600), with its folders. A
// symbolic link stays one. Fails with Unavailable.
Result<void> write_user_file(const std::string& path, std::string_view text);

// While one lives, no other command changes the files in the folder of `path`: what is read, changed and
// written under it loses no change of another. Without a folder, or where it cannot be locked, it does
// nothing.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int fd_ = -1;
};

// Creates the folder of `path` and its missing parents, for the owner only (0700).
Result<void> make_folder_of(const std::string& path);

}  // namespace parley::cli
