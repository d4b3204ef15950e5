#include "cli/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/secrets.h"
#include "parley/base/text.h"
#include "parley/json/writer.h"

namespace parley::cli {

CommandResult<void> Report::write(std::string_view text) {
  if (auto written = output_.report(text, json_ ? ReportFormat::Json : ReportFormat::Lines); !written)
    return std::unexpected(output_.end(written.error()));
  return {};
}

CommandResult<void> Report::begin() {
  if (!json_) return {};
  json::Writer w;
  w.begin_object()
      .key("schema")
      .string("parley.check/1")
      .key("file")
      .string(repair_utf8(file_))
      .key("findings");
  return write(w.take_string() + "[");
}

std::string Report::json_finding(const Finding& finding, std::size_t line, bool in_message) {
  json::Writer w;
  w.begin_object().key("code").string(finding.code);
  w.key("severity").string(finding.level == FindingLevel::Error ? "error" : "warning");
  if (line != 0) w.key("line").number(static_cast<std::int64_t>(line));
  w.key("message");
  in_message ? w.number(static_cast<std::int64_t>(finding.message_index)) : w.null();
  w.key("block");
  finding.block_index ? w.number(static_cast<std::int64_t>(*finding.block_index)) : w.null();
  w.key("path")
      .string(repair_utf8(finding.path))
      .key("sentence")
      .string(repair_utf8(finding.sentence))
      .end_object();
  const bool is_first = errors_ + warnings_ == 1;
  return is_first ? w.take_string() : "," + w.take_string();
}

CommandResult<void> Report::add(const Finding& finding, std::size_t line, bool in_message) {
  const bool is_error = finding.level == FindingLevel::Error;
  ++(is_error ? errors_ : warnings_);
  if (is_error) exit_ = worse(exit_, ExitCode::Refused);
  if (json_) return write(json_finding(finding, line, in_message));
  // A path contains member names of the input, which can be any text.
  const std::string text = fmt::format("{}:{}: {} {}: {}", to_string(Location{file_, line}),
                                       shortened(without_secrets(finding.path)),
                                       is_error ? "error" : "warning", finding.code, finding.sentence);
  return write(visible(without_secrets(text)) + "\n");
}

CommandResult<void> Report::refuse(const Error& error, std::size_t line) {
  ++errors_;
  refused_ = true;
  exit_ = worse(exit_, report_error(error, {file_, line}));
  if (!json_) return {};
  const Finding finding = {
      std::string(to_string(error.code)), FindingLevel::Error, 0, {}, error.path, error.message};
  return write(json_finding(finding, line, false));
}

CommandResult<void> Report::end() {
  if (!json_) return {};
  json::Writer w;
  w.begin_object().key("dialect");
  saw_any() ? w.string(dialects()) : w.null();
  w.key("errors").number(static_cast<std::int64_t>(errors_));
  w.key("warnings").number(static_cast<std::int64_t>(warnings_)).end_object();
  return write("]," + w.take_string().substr(1) + "\n");
}

void Report::saw(Dialect dialect) {
  if (std::find(dialects_.begin(), dialects_.end(), dialect) == dialects_.end()) dialects_.push_back(dialect);
}

std::string Report::dialects() const {
  std::string names;
  for (const Dialect dialect : dialects_) {
    if (!names.empty()) names += ", ";
    names += to_string(dialect);
  }
  return names;
}

}  // namespace parley::cli
