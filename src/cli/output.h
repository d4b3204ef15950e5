// The output of a command: standard output, or a file that is written atomically.
//
// Invariants (the tests of the command prove them):
//   OUTPUT1  Until commit() succeeds, a file of this name is unchanged. No temporary file is left after the
//            Output is destroyed.
//   OUTPUT2  A replaced file keeps its mode and, if it is a symbolic link, stays one. A new file has the
//            default mode of the umask.
//   OUTPUT3  Devices and pipes are written to directly and never replaced.
//   OUTPUT4  Reports contain no secret (secrets.h). Content that the user requested is written byte for byte,
//            except to a terminal, which shows control characters as \uXXXX.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/styled_text.h"
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
  // Text with styles, at once. REQUIRES: is_terminal().
  Result<void> write(const StyledText& text);
  Result<void> flush();

  // The last call: everything is written, and a file is on its disk and has its name.
  Result<void> commit();

  // True for a file that is not there before commit().
  bool is_whole_or_nothing() const { return !temporary_.empty(); }
  bool is_terminal() const;
  int descriptor() const { return fd_; }

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
