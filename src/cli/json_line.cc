#include "cli/json_line.h"

#include "cli/output.h"
#include "parley/base/text.h"
#include "parley/json/writer.h"

namespace parley::cli {

std::string json_line(std::initializer_list<JsonMember> members) {
  json::Writer w;
  w.begin_object();
  for (const auto& [name, value] : members) {
    w.key(name);
    if (const auto* text = std::get_if<std::string>(&value)) w.string(repair_utf8(*text));
    if (const auto* number = std::get_if<std::int64_t>(&value)) w.number(*number);
    if (const auto* flag = std::get_if<bool>(&value)) w.boolean(*flag);
  }
  return w.end_object().take_string() + "\n";
}

ExitCode print_json(std::initializer_list<JsonMember> members, const std::string& output) {
  return print(json_line(members), output, ReportFormat::Json);
}

}  // namespace parley::cli
