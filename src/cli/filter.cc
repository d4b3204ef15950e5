#include "cli/filter.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/output.h"
#include "parley/base/text.h"
#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

std::string json_of(const FilteredText& filtered) {
  json::Writer w;
  w.begin_object().key("text").string(filtered.text.view()).key("changes").begin_array();
  for (const FilterChange& change : filtered.changes) w.string(to_string(change));
  return w.end_array().end_object().take_string() + "\n";
}

}  // namespace

ExitCode filter(const FilterCommand& command, const FilterChain& chain) {
  Result<json::Buffer> read = json::Buffer::from_file(command.file.c_str(), json::Limits().bytes);
  if (!read) return report_error(read.error(), {command.file});
  const auto bytes = std::make_shared<const json::Buffer>(*std::move(read));
  const std::size_t valid = valid_utf8_prefix(bytes->view());
  if (valid != bytes->view().size()) {
    return report_error({Code::InvalidUtf8, fmt::format("invalid UTF-8 at byte {}", valid), ""},
                        {command.file});
  }
  const FilteredText filtered = chain.run(Text::trusted(bytes, bytes->view()));
  if (command.json) return print_content(json_of(filtered), command.output);
  const ExitCode exit = print_content(filtered.text, command.output);
  if (exit == ExitCode::Ok && !command.quiet) {
    for (const FilterChange& change : filtered.changes) print_message(to_string(change));
  }
  return exit;
}

ExitCode list_filters(const FilterCommand& command) {
  if (command.json) {
    json::Writer w;
    w.begin_object().key("filters").begin_array();
    for (const Filter& each : filters()) {
      w.begin_object().key("name").string(each.name).key("does").string(each.does).end_object();
    }
    return print(w.end_array().end_object().take_string() + "\n", command.output, ReportFormat::Json);
  }
  std::string list;
  for (const Filter& each : filters()) {
    fmt::format_to(std::back_inserter(list), "{:<20}{}\n", each.name, each.does);
  }
  return print(list, command.output);
}

}  // namespace parley::cli
