// Output takes what a command makes: standard output, or a file that appears whole or not at all.
//
// Invariants (the tests of the command prove them):
//   O1  Until commit() succeeded, a file of this name is what it was before, and nothing of ours is left
//       beside it after the Output is gone.
//   O2  A replaced file keeps its mode and, if it is a symbolic link, stays one. A new file has the mode the
//       umask gives.
//   O3  Devices and pipes are written to as they are and never replaced.
//   O4  What a command reports holds no secret (secrets.h). Conversations and texts that a user asked for are
//       byte for byte what they are, except on a terminal, which shows control characters as \uXXXX.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "parley/base/error.h"

namespace parley::cli {

enum class ReportFormat : std::uint8_t { Lines, Json };

class Output {
 public:
  // "-" is standard output. Fails with Unavailable.
  static Result<Output> open(const std::string& path);

  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  // What is written gathers in a buffer of 1 MiB. All fail with Unavailable, then and ever after. A report is
  // a message of the command, in whole lines or in JSON with whole strings; the rest is content.
  Result<void> report(std::string_view text, ReportFormat form = ReportFormat::Lines);
  Result<void> write(std::string_view content);
  Result<void> flush();

  // The last call: everything is written, and a file is on its disk and has its name.
  Result<void> commit();

  // True for a file that is not there before commit().
  bool is_whole_or_nothing() const { return !temporary_.empty(); }
  bool is_terminal() const;

  // Prints the error. A closed pipe (`parley ... | head`) is not a failure: the command then succeeds
  // silently.
  ExitCode end(const Error& error) const;

 private:
  Output() = default;
  Result<void> put(std::string_view bytes);
  std::unexpected<Error> failed(std::string_view what);

  int fd_ = -1;
  bool owns_fd_ = false;
  std::string name_;       // for messages
  std::string target_;     // where the file goes
  std::string temporary_;  // where it is until then
  std::string buffer_;
  int error_ = 0;  // errno of the first failure
};

// Writes a report, or content, to `path` atomically; prints what went wrong.
ExitCode print(std::string_view text, const std::string& path, ReportFormat form = ReportFormat::Lines);
ExitCode print_content(std::string_view content, const std::string& path);

}  // namespace parley::cli
