#include "cli/notes.h"

#include <fmt/format.h>

#include <utility>

#include "cli/diagnostics.h"

namespace parley::cli {
namespace {

constexpr std::size_t kShown = 20;

}  // namespace

CommandResult<NoteLog> NoteLog::open(const std::optional<std::string>& file, bool quiet) {
  NoteLog log(quiet);
  if (file) {
    Result<Output> output = Output::open(*file);
    if (!output) return std::unexpected(report_error(output.error(), {*file}));
    log.file_.emplace(*std::move(output));
  }
  return log;
}

CommandResult<void> NoteLog::add(std::vector<Note> notes, std::size_t line) {
  for (Note& note : notes) {
    if (line != 0) note.line = line;
    if (count_++ < kShown && !quiet_) print_message("note: " + to_line(note));
    if (!file_) continue;
    if (auto written = file_->report(to_json(note).text().str() + "\n", ReportFormat::Json); !written) {
      return std::unexpected(file_->end(written.error()));
    }
  }
  return {};
}

CommandResult<void> NoteLog::finish(bool keep) {
  if (count_ > kShown && !quiet_) {
    print_message(
        fmt::format("note: {} more{}", count_ - kShown, file_ ? "" : "; --notes FILE writes all of them"));
  }
  if (!file_ || !keep) return {};
  if (auto kept = file_->commit(); !kept) return std::unexpected(file_->end(kept.error()));
  return {};
}

}  // namespace parley::cli
