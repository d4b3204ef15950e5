#include "cli/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/lines.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "parley/dialect/rules.h"
#include "parley/guard/request.h"
#include "parley/message/validate.h"

namespace parley::cli {
namespace {

// What a strict reader refuses is a finding here, so that it does not hide the others.
std::optional<Finding> finding_from(const Note& note) {
  if (note.code != "lone_surrogate" && note.code != "duplicate_key") return std::nullopt;
  const char* sentence = note.code == "lone_surrogate" ? "unpaired surrogate in a string"
                                                       : "duplicate member name in one object";
  return Finding{std::string(note.code), FindingLevel::Error, note.message_index.value_or(0),
                 std::nullopt,           note.path,           sentence};
}

class FileCheck {
 public:
  FileCheck(const CheckOptions& options, const std::string& path, Output& output, Report& report)
      : options_(options), path_(path), output_(output), report_(report) {}

  CommandResult<void> run() {
    if (auto outcome = report_.begin(); !outcome) return outcome;
    const bool lines = options_.lines || is_json_lines_name(path_);
    if (auto outcome = lines ? each_line() : whole(); !outcome) return outcome;
    if (!options_.as && !options_.json && !options_.quiet && report_.saw_any()) {
      print_message(fmt::format("{}: detected dialect {}", path_, report_.dialects()));
    }
    return report_.end();
  }

 private:
  CommandResult<void> whole() {
    Result<json::Buffer> bytes = json::Buffer::from_file(path_.c_str(), reading_.limits.bytes);
    if (!bytes) return report_.refuse(bytes.error(), 0);
    return document(*std::move(bytes), 0);
  }

  // Stops at the first line that is refused.
  CommandResult<void> each_line() {
    Result<FileLines> reader = FileLines::open(path_, reading_.limits.bytes);
    if (!reader) return report_.refuse(reader.error(), 0);
    Progress progress(!options_.quiet && !output_.is_terminal(), reader->size());
    while (!report_.refused()) {
      if (!reader->is_ready()) {
        if (auto flushed = output_.flush(); !flushed) return std::unexpected(output_.end(flushed.error()));
        progress.update(reader->number(), reader->consumed());
      }
      const Result<std::optional<FileLines::Line>> line = reader->next();
      if (!line) return report_.refuse(line.error(), reader->number());
      if (!*line) break;
      if (is_blank((*line)->text)) continue;
      if (auto outcome = document(json::Buffer::copy_of((*line)->text), reader->number()); !outcome)
        return outcome;
    }
    return {};
  }

  CommandResult<void> document(json::Buffer bytes, std::size_t line) {
    const Result<Reading> reading = read(std::move(bytes));
    if (!reading) return report_.refuse(reading.error(), line);

    // First the findings of the text, then those of its meaning.
    for (const Note& note : reading->notes) {
      const std::optional<Finding> finding = finding_from(note);
      if (!finding) continue;
      if (auto outcome = report_.add(*finding, line, note.message_index.has_value()); !outcome)
        return outcome;
    }
    std::vector<Finding> reported, findings;
    std::vector<Finding> structural = validate(reading->conversation.messages());
    if (continues_elsewhere(reading->conversation)) {  // the call may be with the provider
      std::erase_if(structural, [](const Finding& finding) { return finding.code == "orphan_result"; });
    }
    std::ranges::merge(structural, inspect_media(reading->conversation.messages()),
                       std::back_inserter(reported), {}, &Finding::message_index, &Finding::message_index);
    std::ranges::merge(reported, provider_findings(reading->conversation, reported),
                       std::back_inserter(findings), {}, &Finding::message_index, &Finding::message_index);
    for (const Finding& finding : findings) {
      if (auto outcome = report_.add(finding, line); !outcome) return outcome;
    }
    return {};
  }

  // What the provider would refuse, unless it was reported already: "c1_orphan_result" is an "orphan_result".
  std::vector<Finding> provider_findings(const Conversation& conversation,
                                         const std::vector<Finding>& reported) const {
    const Result<Writing> writing = write(conversation, dialect_);
    const Result<Json> document = writing ? Json::parse(writing->text) : fail(Code::Invalid, "");
    if (!document) return {};
    std::set<std::pair<std::size_t, std::string_view>> known;
    for (const Finding& finding : reported) known.emplace(finding.message_index, finding.code);
    std::vector<Finding> findings = check_rules(*document, dialect_);
    std::erase_if(findings, [&](const Finding& finding) {
      const std::string_view code = finding.code;
      const std::string_view without_rule = code.substr(code.find('_') + 1);
      return known.contains({finding.message_index, code}) ||
             known.contains({finding.message_index, without_rule});
    });
    return findings;
  }

  Result<Reading> read(json::Buffer bytes) {
    Dialect dialect = Dialect::Parley;
    if (options_.as) {
      dialect = *options_.as;
    } else {
      PARLEY_TRY(dialect, detect(bytes.view(), reading_));
    }
    dialect_ = dialect;
    report_.saw(dialect);
    return parley::read(std::move(bytes), dialect, reading_);
  }

  const CheckOptions& options_;
  const std::string& path_;
  Output& output_;
  Report& report_;
  ReadOptions reading_;
  Dialect dialect_ = Dialect::Parley;  // of the current document
};

}  // namespace

ExitCode check(const CheckOptions& options) {
  Result<Output> output = Output::open(options.output);
  if (!output) return report_error(output.error(), {options.output});
  ExitCode exit = ExitCode::Ok;
  for (const std::string& path : options.files) {
    Report report(*output, path, options.json);
    if (auto outcome = FileCheck(options, path, *output, report).run(); !outcome) return outcome.error();
    exit = worse(exit, report.exit());
  }
  if (auto kept = output->commit(); !kept) return output->end(kept.error());
  return exit;
}

}  // namespace parley::cli
