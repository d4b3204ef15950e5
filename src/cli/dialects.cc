#include "cli/dialects.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

std::string as_table() {
  std::string table;
  for (const DialectInfo& each : parley::dialects()) {
    if (!table.empty()) table += '\n';
    table += fmt::format("{:<12}{}\n", each.name, each.summary);
    table += fmt::format("{:<12}blocks     {}\n", "", each.blocks);
    table += fmt::format("{:<12}documents  {}\n", "", each.documents);
  }
  return table;
}

std::string as_json() {
  json::Writer w;
  w.begin_object().key("schema").string("parley.dialects/1").key("dialects").begin_array();
  for (const DialectInfo& each : parley::dialects()) {
    w.begin_object().key("name").string(each.name).key("summary").string(each.summary);
    w.key("blocks").string(each.blocks).key("documents").string(each.documents).end_object();
  }
  w.end_array().end_object();
  return w.take_string() + "\n";
}

}  // namespace

ExitCode list_dialects(bool json, const std::string& path) {
  return print(json ? as_json() : as_table(), path, json ? ReportFormat::Json : ReportFormat::Lines);
}

}  // namespace parley::cli
