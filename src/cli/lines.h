// FileLines reads a file line by line; its memory depends on the longest line only.
//
// A line ends with LF; a CR before it belongs to the line. The last line may lack its LF.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "parley/base/error.h"

namespace parley::cli {

// True for names that end in .jsonl or .ndjson.
bool is_json_lines_name(std::string_view path);

// True if there is nothing but JSON's whitespace.
bool is_blank(std::string_view line);

class FileLines {
 public:
  struct Line {
    std::string_view text;  // without its LF; valid until the next call
    bool has_end;           // false if the file ended instead
  };

  // "-" is standard input. Fails with Unavailable.
  static Result<FileLines> open(const std::string& path, std::size_t max_line);

  FileLines(FileLines&& other) noexcept;
  FileLines& operator=(FileLines&&) = delete;
  ~FileLines();

  // True if the next line is here already: next() will not have to wait for it.
  bool is_ready();

  // Nothing at the end of the file. Fails with Unavailable if the file cannot be read, and with
  // LimitExceeded at a line of more than `max_line` bytes.
  Result<std::optional<Line>> next();

  std::size_t number() const { return number_; }        // of the line that next() gave or failed at, from 1
  std::uint64_t consumed() const { return consumed_; }  // bytes of the lines so far
  std::optional<std::uint64_t> size() const { return size_; }  // of a regular file

 private:
  FileLines() = default;
  bool find_end();
  Result<void> fill();
  Line take(std::size_t length, bool has_end);

  int fd_ = -1;
  bool owns_fd_ = false;
  bool at_end_ = false;
  std::size_t max_line_ = 0;
  std::optional<std::uint64_t> size_;
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;    // of the next line
  std::size_t filled_ = 0;   // end of the data
  std::size_t scanned_ = 0;  // there is no LF in [begin_, scanned_)
  std::size_t number_ = 0;
  std::uint64_t consumed_ = 0;
};

}  // namespace parley::cli
