// A Workspace is a folder whose files a tool may read and change, and nothing outside of it.
//
// Invariants (quoted by tests as WORKSPACE1..WORKSPACE4):
//   WORKSPACE1  No path leads out of the folder: not "..", not an absolute path, not a link, however it
//               changes meanwhile. The kernel sees to it (openat2), not a comparison of texts.
//   WORKSPACE2  A file is written whole or not at all, and keeps its mode.
//   WORKSPACE3  A link is never written through, nor replaced.
//   WORKSPACE4  Sizes and counts are bounded.
//
// Paths are relative to the folder, or absolute beneath it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "tool/descriptor.h"

namespace parley {

class Workspace {
 public:
  static constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMaxEntries = 1000;

  // Fails with NotFound if there is no such folder.
  static Result<Workspace> open(const std::string& root);

  // The path as the functions below take it. Fails with Invalid if it cannot be beneath the folder.
  Result<std::string> beneath(std::string_view path) const;

  enum class Kind : std::uint8_t { Nothing, File, Folder, Other };
  Result<Kind> kind(const std::string& path) const;

  // Fail with NotFound, Invalid (outside of the folder, or not a regular file), LimitExceeded, Unavailable.
  Result<std::string> read(const std::string& path) const;
  Result<void> create(const std::string& path, std::string_view bytes) const;  // makes its folders, too
  Result<void> replace(const std::string& path, std::string_view bytes) const;
  Result<void> remove(const std::string& path) const;

  // What is in a folder and, one level down, in its folders, by name; hidden entries are left out. Each is a
  // path from that folder. At most kMaxEntries; `*is_cut` says whether there are more.
  Result<std::vector<std::string>> list(const std::string& path, bool* is_cut) const;

 private:
  Workspace(std::string root, Descriptor folder) : root_(std::move(root)), folder_(std::move(folder)) {}
  Result<Descriptor> open_beneath(const std::string& path, std::uint64_t flags) const;
  Result<Descriptor> make_folders(const std::string& path) const;

  std::string root_;
  Descriptor folder_;
};

}  // namespace parley
