// NoteLog prints the notes of a conversion: the first ones to stderr, all of them to a file.
// One thread at a time.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "parley/dialect/dialect.h"

namespace parley::cli {

class NoteLog {
 public:
  // `file`, if any, receives the notes as JSON Lines. `quiet` keeps them off stderr.
  static CommandResult<NoteLog> open(const std::optional<std::string>& file, bool quiet);

  // `line` is the line of a JSON Lines file, or 0.
  CommandResult<void> add(std::vector<Note> notes, std::size_t line);

  // The last call: prints how many notes were not shown. The file appears if `keep` is true.
  CommandResult<void> finish(bool keep);

 private:
  explicit NoteLog(bool quiet) : quiet_(quiet) {}

  bool quiet_;
  std::size_t count_ = 0;
  std::optional<Output> file_;
};

}  // namespace parley::cli
