#include "cli/tokens.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/output.h"
#include "parley/json/json.h"

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

}  // namespace

ExitCode tokens(const TokensOptions& options, const Encoding& encoding) {
  const Result<json::Buffer> text = json::Buffer::from_file(options.file.c_str(), json::Limits().bytes);
  if (!text) return report_error(text.error(), {options.file});
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
  return print(fmt::format("{}\n", counter.count(reading->conversation)), options.output);
}

}  // namespace parley::cli
