#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "parley/json/json.h"

namespace parley::json {

Buffer::Buffer(std::size_t size) : bytes_(static_cast<char*>(std::malloc(size + kPadding))), size_(size) {
  if (!bytes_) throw std::bad_alloc();
  std::memset(bytes_.get() + size, 0, kPadding);
}

Buffer Buffer::adopt(char* bytes, std::size_t size) {
  Buffer buffer;
  buffer.bytes_.reset(bytes);
  buffer.size_ = size;
  std::memset(bytes + size, 0, kPadding);
  return buffer;
}

Buffer Buffer::copy_of(std::string_view bytes) {
  Buffer buffer(bytes.size());
  if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

Result<Buffer> Buffer::from_file(const char* path, std::size_t max_bytes) {
  const bool is_stdin = std::string_view(path) == "-";
  const int fd = is_stdin ? STDIN_FILENO : ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(Code::Unavailable, std::string("cannot open the file: ") + std::strerror(errno));
  // Room for what the file claims to hold and one byte more, so that an honest one is read into its final
  // place (BUFFER2) and its end is seen; what claims nothing, such as a pipe, starts small. Never more than
  // one byte above the limit, which is enough to refuse.
  const std::size_t most = std::min(max_bytes, SIZE_MAX - kPadding - 1) + 1;
  struct stat about{};
  const bool claims = ::fstat(fd, &about) == 0 && about.st_size > 0;
  const std::size_t first = claims ? static_cast<std::size_t>(about.st_size) + 1 : std::size_t{64} * 1024;
  Buffer buffer(std::min(most, first));
  std::size_t filled = 0;
  Result<void> outcome;
  for (;;) {
    if (filled == buffer.size_) {
      Buffer larger(std::min(most, 2 * buffer.size_));
      std::memcpy(larger.data(), buffer.data(), filled);
      buffer = std::move(larger);
    }
    const ssize_t got = ::read(fd, buffer.data() + filled, buffer.size_ - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      outcome = fail(Code::Unavailable, std::string("cannot read the file: ") + std::strerror(errno));
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
    if (filled > max_bytes) {
      outcome = fail(Code::LimitExceeded,
                     "the file is larger than the limit of " + std::to_string(max_bytes) + " bytes");
      break;
    }
  }
  if (!is_stdin) ::close(fd);
  if (!outcome) return std::unexpected(std::move(outcome).error());
  buffer.size_ = filled;
  std::memset(buffer.data() + filled, 0, kPadding);
  return buffer;
}

}  // namespace parley::json
