#include "cli/tokens.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/json_line.h"
#include "cli/output.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

// The default limit of a document.

std::string line_of(const std::vector<std::uint32_t>& ids) {
  std::string line;
  for (const std::uint32_t id : ids) {
    if (!line.empty()) line += ' ';
    fmt::format_to(std::back_inserter(line), "{}", id);
  }
  return line + "\n";
}

std::string json_of(const std::vector<std::uint32_t>& ids) {
  json::Writer w;
  w.begin_object().key("tokens").number(static_cast<std::int64_t>(ids.size())).key("ids").begin_array();
  for (const std::uint32_t id : ids) w.number(id);
  return w.end_array().end_object().take_string() + "\n";
}

ExitCode print_count(std::size_t count, const TokensOptions& options) {
  if (options.json) return print_json({{"tokens", static_cast<std::int64_t>(count)}}, options.output);
  return print(fmt::format("{}\n", count), options.output);
}

}  // namespace

ExitCode tokens(const TokensOptions& options, const Encoding& encoding) {
  const Result<json::Buffer> text = json::Buffer::from_file(options.file.c_str(), json::Limits().bytes);
  if (!text) return report_error(text.error(), {options.file});
  if (options.json && !options.ids) return print_count(encoding.count(text->view()), options);
  if (options.json) return print(json_of(encoding.encode(text->view())), options.output, ReportFormat::Json);
  return print(options.ids ? line_of(encoding.encode(text->view()))
                           : fmt::format("{}\n", encoding.count(text->view())),
               options.output);
}

ExitCode tokens(const TokensOptions& options, Dialect dialect, const TokenCounter& counter) {
  const ReadOptions reading_options;
  Result<json::Buffer> document = json::Buffer::from_file(options.file.c_str(), reading_options.limits.bytes);
  if (!document) return report_error(document.error(), {options.file});
  const Result<Reading> reading = read(*std::move(document), dialect, reading_options);
  if (!reading) return report_error(reading.error(), {options.file});
  return print_count(counter.count(reading->conversation), options);
}

}  // namespace parley::cli
