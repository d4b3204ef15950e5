#include "cli/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/process.h"
#include "cli/secrets.h"
#include "cli/terminal.h"

namespace parley::cli {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;

mode_t new_file_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// The target of symbolic links, or the path itself if it does not exist yet.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

std::unexpected<Error> cannot_open(int error) {
  return fail(Code::Unavailable, std::string("cannot open the file for writing: ") + std::strerror(error));
}

}  // namespace

Result<Output> Output::open(const std::string& path) {
  Output out;
  if (path == "-") {
    out.fd_ = STDOUT_FILENO;
    out.name_ = "standard output";
    return out;
  }
  if (path.empty()) return cannot_open(ENOENT);
  struct stat existing = {};
  const bool exists = ::stat(path.c_str(), &existing) == 0;
  out.owns_fd_ = true;
  out.name_ = path;
  if (exists && !S_ISREG(existing.st_mode)) {
    out.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (out.fd_ < 0) return cannot_open(errno);
    return out;
  }
  out.target_ = resolved(path);
  out.fd_ = open_temporary(folder_of(out.target_), out.temporary_);
  if (out.fd_ < 0) {
    out.temporary_.clear();
    return cannot_open(errno);
  }
  if (::fchmod(out.fd_, exists ? existing.st_mode & 07777 : new_file_mode()) != 0) return cannot_open(errno);
  return out;
}

Output::Output(Output&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      owns_fd_(other.owns_fd_),
      name_(std::move(other.name_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      buffer_(std::move(other.buffer_)),
      error_(other.error_) {}

Output::~Output() {
  if (owns_fd_ && fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) remove_temporary(temporary_);
}

std::unexpected<Error> Output::failed(std::string_view what) {
  if (error_ == 0) error_ = errno;
  return fail(Code::Unavailable, std::string(what) + ": " + std::strerror(error_));
}

Result<void> Output::put(std::string_view bytes) {
  if (!cli::put(fd_, bytes)) return failed("cannot write");
  return {};
}

Result<void> Output::flush() {
  if (error_ != 0) return failed("cannot write");
  const Result<void> outcome = put(buffer_);
  buffer_.clear();
  return outcome;
}

Result<void> Output::report(std::string_view text, ReportFormat form) {
  return write(form == ReportFormat::Json ? json_without_secrets(text) : without_secrets(text));
}

Result<void> Output::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBuffer) PARLEY_CHECK(flush());
  if (bytes.size() >= kBuffer) return put(bytes);
  buffer_ += bytes;
  return {};
}

Result<void> Output::write(const StyledText& text) {
  PARLEY_CHECK(flush());
  if (!cli::put(fd_, text)) return failed("cannot write");
  return {};
}

Result<void> Output::commit() {
  PARLEY_CHECK(flush());
  if (temporary_.empty()) return {};
  if (::fsync(fd_) != 0) return failed("cannot write");
  if (::close(std::exchange(fd_, -1)) != 0) return failed("cannot write");
  if (!keep_temporary(temporary_, target_)) return failed("cannot rename the temporary file");
  temporary_.clear();
  // The new name is durable when the folder is synced. Some file systems cannot do that; the file is complete
  // anyway.
  if (const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return {};
}

bool Output::is_terminal() const { return cli::is_terminal(fd_); }

ExitCode Output::end(const Error& error) const {
  if (error_ == EPIPE) return ExitCode::Ok;
  return report_error(error, {name_});
}

ExitCode print(std::string_view text, const std::string& path, ReportFormat form) {
  return print_content(form == ReportFormat::Json ? json_without_secrets(text) : without_secrets(text), path);
}

ExitCode print_content(std::string_view content, const std::string& path) {
  Result<Output> output = Output::open(path);
  if (!output) return report_error(output.error(), {path});
  Result<void> outcome = output->write(content);
  if (outcome) outcome = output->commit();
  return outcome ? ExitCode::Ok : output->end(outcome.error());
}

}  // namespace parley::cli
