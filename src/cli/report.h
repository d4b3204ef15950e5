// Report prints the findings of one file, for people or for machines.
//
//   text   FILE:POINTER: error CODE: SENTENCE             FILE:LINE:POINTER: ... for JSON Lines
//   JSON   {"schema","file","findings":[{"code","severity","line"?,"message","block","path","sentence"}],
//           "dialect","errors","warnings"}                one object a line; a refused document is a finding
//
// Findings are printed as they come: memory does not grow with them. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "parley/dialect/dialect.h"
#include "parley/message/validate.h"

namespace parley::cli {

class Report {
 public:
  // REQUIRES: `output` outlives the report.
  Report(Output& output, std::string file, bool json)
      : output_(output), file_(std::move(file)), json_(json) {}

  CommandResult<void> begin();
  // `line` is the line of a JSON Lines file, or 0. A finding outside of all messages is not `in_message`.
  CommandResult<void> add(const Finding& finding, std::size_t line, bool in_message = true);
  // The document was refused, or could not be read: an error on stderr, and a finding in JSON.
  CommandResult<void> refuse(const Error& error, std::size_t line);
  CommandResult<void> end();

  void saw(Dialect dialect);     // one document of this dialect was looked at
  std::string dialects() const;  // "openmanus", or "openmanus, agentscope" if lines differ
  bool saw_any() const { return !dialects_.empty(); }

  bool refused() const { return refused_; }
  ExitCode exit() const { return exit_; }

 private:
  CommandResult<void> write(std::string_view text);
  std::string json_finding(const Finding& finding, std::size_t line, bool in_message);

  Output& output_;
  std::string file_;
  bool json_;
  bool refused_ = false;
  ExitCode exit_ = ExitCode::Ok;
  std::vector<Dialect> dialects_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

}  // namespace parley::cli
