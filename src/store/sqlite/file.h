// The file of a database: made safely, checked before it is opened, and locked between processes.
#pragma once

#include <string>
#include <vector>

#include "parley/base/clock.h"
#include "parley/base/error.h"

namespace parley::store {

// True if the file exists. Refuses anything but a regular file of this user on a local disk: a symbolic link,
// a hard link, another owner, a network file system. Changes nothing, and does not open the file: closing
// it would drop the locks that SQLite holds.
Result<bool> look_at_file(const std::string& path);

// True if the file, or the folder in which SQLite makes its log, cannot be written.
bool is_read_only(const std::string& path);

// Whether a file and its missing folders could be created there. Creates nothing.
Result<void> probe_place(const std::string& path);

// Makes the missing folders of a file (0700).
Result<void> make_folders_of(const std::string& path);

// Makes an empty file (0600, whatever the umask). Fails with Invalid if there is one.
Result<void> make_new_file(const std::string& path);

// What health should say of the permissions of a file and its folder.
std::vector<std::string> permission_warnings(const std::string& path);

// A lock beside the database, held around every write and every checkpoint of any process. SQLite before
// 3.51.3 can lose committed pages if one connection writes while another resets the log; the owner of
// this lock is alone. One thread at a time.
class FileLock {
 public:
  static Result<FileLock> open(const std::string& path);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

  // Fails with Timeout. Given up when the process ends, however it ends.
  Result<void> lock(const Deadline& deadline);
  void unlock();

  // Room on the disk that the lock's file holds, so that something can still be removed when the disk is
  // full: a removal is written to the log first. Not every file system can reserve room.
  void keep_room();
  void give_room();

 private:
  explicit FileLock(int file) : file_(file) {}
  int file_;
};

}  // namespace parley::store
