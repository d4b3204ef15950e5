#include "store/sqlite/wal_header.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <span>

namespace parley::store {
namespace {

constexpr off_t kWalHeader = 32, kFrameHeader = 24;
constexpr std::size_t kFirstBytes =
    112;  // of the first page: the database header and that of its table of tables

std::uint32_t big32(std::span<const unsigned char> bytes, std::size_t at) {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

class WalFile {
 public:
  explicit WalFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  WalFile(const WalFile&) = delete;
  WalFile& operator=(const WalFile&) = delete;
  ~WalFile() {
    if (file_ >= 0) ::close(file_);
  }
  bool read(std::span<unsigned char> bytes, off_t at) const {
    return file_ >= 0 && ::pread(file_, bytes.data(), bytes.size(), at) == static_cast<ssize_t>(bytes.size());
  }

 private:
  int file_;
};

// Where the newest committed first page begins; 0 if there is none.
off_t first_page(const WalFile& file, std::span<const unsigned char> header) {
  const off_t page_size = big32(header, 8);
  off_t found = 0, committed = 0;
  std::array<unsigned char, kFrameHeader> frame = {};
  for (off_t at = kWalHeader; file.read(frame, at); at += kFrameHeader + page_size) {
    const bool is_current = big32(frame, 8) == big32(header, 16) && big32(frame, 12) == big32(header, 20);
    if (!is_current) break;  // frames of an earlier use of the file
    if (big32(frame, 0) == 1) found = at + kFrameHeader;
    if (big32(frame, 4) != 0) committed = found;
  }
  return committed;
}

}  // namespace

std::optional<DatabaseHeader> header_in_wal(const std::string& path) {
  const WalFile file(path);
  std::array<unsigned char, kWalHeader> header = {};
  if (!file.read(header, 0) || (big32(header, 0) | 1U) != 0x377F0683 || big32(header, 8) < 512)
    return std::nullopt;
  const off_t at = first_page(file, header);
  std::array<unsigned char, kFirstBytes> page = {};
  if (at == 0 || !file.read(page, at)) return std::nullopt;
  constexpr unsigned char kInteriorPage = 5;
  const bool has_rows = page[100] == kInteriorPage || page[103] != 0 || page[104] != 0;
  return DatabaseHeader{static_cast<std::int32_t>(big32(page, 60)),
                        static_cast<std::int32_t>(big32(page, 68)), has_rows};
}

}  // namespace parley::store
