#include "cli/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace parley::cli {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;

std::unexpected<Error> cannot(const char* verb) {
  return fail(Code::Unavailable, std::string("cannot ") + verb + " the file: " + std::strerror(errno));
}

}  // namespace

bool is_json_lines_name(std::string_view path) {
  return path.ends_with(".jsonl") || path.ends_with(".ndjson");
}

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\n") == std::string_view::npos; }

Result<FileLines> FileLines::open(const std::string& path, std::size_t max_line) {
  FileLines reader;
  reader.max_line_ = max_line;
  reader.owns_fd_ = path != "-";
  reader.fd_ = reader.owns_fd_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (reader.fd_ < 0) return cannot("open");
  struct stat status = {};
  if (::fstat(reader.fd_, &status) == 0 && S_ISREG(status.st_mode)) {
    // Standard input may start anywhere in its file.
    const off_t at = ::lseek(reader.fd_, 0, SEEK_CUR);
    reader.size_ = static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size - std::max<off_t>(0, at)));
  }
  reader.capacity_ = kChunk;
  reader.bytes_ = std::make_unique_for_overwrite<char[]>(reader.capacity_);
  return reader;
}

FileLines::FileLines(FileLines&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owns_fd_(other.owns_fd_),
      at_end_(other.at_end_),
      max_line_(other.max_line_),
      size_(other.size_),
      bytes_(std::move(other.bytes_)),
      capacity_(other.capacity_),
      begin_(other.begin_),
      filled_(other.filled_),
      scanned_(other.scanned_),
      number_(other.number_),
      consumed_(other.consumed_) {}

FileLines::~FileLines() {
  if (owns_fd_ && fd_ >= 0) ::close(fd_);
}

// Moves scanned_ to the LF that ends the next line. False if it was not read yet.
bool FileLines::find_end() {
  const void* end = std::memchr(bytes_.get() + scanned_, '\n', filled_ - scanned_);
  scanned_ =
      end == nullptr ? filled_ : static_cast<std::size_t>(static_cast<const char*>(end) - bytes_.get());
  return end != nullptr;
}

bool FileLines::is_ready() { return find_end(); }

Result<void> FileLines::fill() {
  if (begin_ != 0) {
    std::memmove(bytes_.get(), bytes_.get() + begin_, filled_ - begin_);
    filled_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (filled_ == capacity_) {
    // One byte more than the limit of a line is enough to refuse it.
    const std::size_t larger = std::max(std::min(capacity_ * 2, max_line_ + 1), capacity_ + 1);
    auto moved = std::make_unique_for_overwrite<char[]>(larger);
    std::memcpy(moved.get(), bytes_.get(), filled_);
    bytes_ = std::move(moved);
    capacity_ = larger;
  }
  for (;;) {
    const ssize_t got = ::read(fd_, bytes_.get() + filled_, capacity_ - filled_);
    if (got >= 0) {
      at_end_ = got == 0;
      filled_ += static_cast<std::size_t>(got);
      return {};
    }
    if (errno == EAGAIN) {
      pollfd readable = {fd_, POLLIN, 0};
      ::poll(&readable, 1, -1);
    } else if (errno != EINTR) {
      return cannot("read");
    }
  }
}

FileLines::Line FileLines::take(std::size_t length, bool has_end) {
  const Line line = {{bytes_.get() + begin_, length}, has_end};
  begin_ += length + (has_end ? 1 : 0);
  scanned_ = begin_;
  consumed_ += length + (has_end ? 1 : 0);
  return line;
}

Result<std::optional<FileLines::Line>> FileLines::next() {
  ++number_;
  for (;;) {
    const bool has_end = find_end();
    const std::size_t length = scanned_ - begin_;
    if (length > max_line_) {
      return fail(Code::LimitExceeded,
                  "the line exceeds the limit of " + std::to_string(max_line_) + " bytes");
    }
    if (has_end || (at_end_ && length != 0)) return take(length, has_end);
    if (at_end_) return std::nullopt;
    PARLEY_CHECK(fill());
  }
}

}  // namespace parley::cli
