#include "cli/config_verbs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "cli/config.h"
#include "cli/config_edit.h"
#include "cli/diagnostics.h"
#include "cli/editor.h"
#include "cli/environment.h"
#include "cli/json_line.h"
#include "cli/model.h"
#include "cli/output.h"
#include "parley/json/writer.h"

namespace parley::cli {
namespace {

// The user's file, to be changed.
CommandResult<std::string> file_to_change() {
  const Result<std::string> file = user_config_file();
  if (!file) return std::unexpected(report_file_error(file.error()));
  if (!file->empty()) return *file;
  print_message("there is no configuration file to change: PARLEY_CONFIG=/dev/null turns them off");
  return std::unexpected(ExitCode::Refused);
}

// Empty if the file does not exist.
CommandResult<std::string> text_of_file(const std::string& file) {
  Result<std::string> text = read_config_text(file);
  if (text) return *std::move(text);
  if (text.error().code == Code::NotFound) return "";
  return std::unexpected(report_config_error(text.error()));
}

CommandResult<std::vector<std::string>> typed_path(const std::string& typed) {
  Result<std::vector<std::string>> path = config_path(typed);
  if (!path) return std::unexpected(usage_error(path.error().message, "config"));
  return *std::move(path);
}

std::string name_of(const std::vector<std::string>& path) { return fmt::format("{}", fmt::join(path, ".")); }

CommandResult<void> write_changed(const std::string& file, Result<std::string> text) {
  if (text) {
    Result<void> written = write_user_file(file, *text);
    if (written) return {};
    return std::unexpected(report_file_error(written.error()));
  }
  if (text.error().path.empty()) text.error().path = file;
  return std::unexpected(report_file_error(text.error()));
}

std::string as_json(const std::vector<ConfigChoice>& choices) {
  json::Writer w;
  w.begin_object().key("schema").string("parley.config/1").key("values").begin_array();
  for (const ConfigChoice& each : choices) {
    w.begin_object().key("key").string(Text(each.key));
    w.key("value").string(Text(each.value));
    w.key("from").string(Text(each.from.empty() ? "default" : each.from)).end_object();
  }
  return w.end_array().end_object().take_string() + "\n";
}

constexpr const char* kNewFile =
    "# The configuration of parley; docs/configuration.md lists the keys.\n"
    "# model = \"anthropic/claude-sonnet-4-5\"\n"
    "# system = \"Answer in one sentence.\"\n"
    "\n"
    "# [aliases]\n"
    "# fast = \"openai/gpt-4o-mini\"\n";

}  // namespace

ExitCode list_config(const ConfigOptions& options) {
  const Result<Config> config = read_config();
  if (!config) return report_config_error(config.error());
  const std::vector<ConfigChoice> choices = choices_of(*config);
  if (options.json) return print(as_json(choices), options.output, ReportFormat::Json);
  std::string out;
  for (const ConfigChoice& each : choices) {
    out += fmt::format("{} = {} ({})\n", visible(each.key), visible(each.value),
                       each.from.empty() ? "default" : visible(each.from));
  }
  return print(out, options.output);
}

ExitCode get_config(const ConfigOptions& options) {
  const auto path = typed_path(options.arguments[0]);
  if (!path) return path.error();
  const Result<Config> config = read_config();
  if (!config) return report_config_error(config.error());
  const std::vector<ConfigChoice> choices = choices_of(*config);
  const auto found = std::ranges::find(choices, name_of(*path), &ConfigChoice::key);
  if (found != choices.end() && options.json) {
    return print_json({{"key", found->key}, {"value", found->value}, {"from", found->from}}, options.output);
  }
  if (found != choices.end()) return print(found->value + "\n", options.output);
  const Result<ConfigEntry> known = config_entry(*path, "");
  if (!known && known.error().code == Code::NotFound) return usage_error(known.error().message, "config");
  print_message(fmt::format("'{}' is not set", name_of(*path)));
  return ExitCode::Refused;
}

ExitCode set_config(const ConfigOptions& options) {
  const auto path = typed_path(options.arguments[0]);
  if (!path) return path.error();
  const std::string& typed = options.arguments[1];
  if (path->back() == "api_key") {
    return usage_error(fmt::format("a key on the command line stays in the history of the shell: use 'parley "
                                   "config key set {}'",
                                   path->size() == 3 ? (*path)[1] : "PROVIDER"),
                       "config");
  }
  const Result<ConfigEntry> entry = config_entry(*path, typed);
  if (!entry) return usage_error(entry.error().message, "config");
  const auto file = file_to_change();
  if (!file) return file.error();
  // A file that PARLEY_CONFIG names need not exist yet.
  const bool is_new = ::access(file->c_str(), F_OK) != 0;
  Result<Config> config = is_new ? Config{} : read_config();
  if (!config) return report_config_error(config.error());
  if (name_of(*path) == "model") {
    const Result<std::string> name = chosen_name(typed, *config);
    const Result<ModelConfig> model =
        name && *name != kRehearsal ? chosen_model(*name, *config) : ModelConfig{};
    if (!model && model.error().code != Code::Missing) return usage_error(model.error().message, "config");
  }
  const FolderLock lock(*file);
  const auto text = text_of_file(*file);
  if (!text) return text.error();
  if (const auto written = write_changed(*file, with_entry(*text, *entry)); !written) return written.error();
  config = read_config();
  if (!config) return report_config_error(config.error());
  ExitCode exit = ExitCode::Ok;
  // Another source may come before the file.
  for (const ConfigChoice& each : choices_of(*config)) {
    if (each.key != name_of(*path)) continue;
    if (options.json) {
      exit = print_json({{"key", each.key}, {"value", each.value}, {"from", each.from}}, options.output);
    } else {
      print_message(fmt::format("{} = {} ({})", each.key, each.value, each.from));
    }
    if (!each.from.starts_with(*file + ":")) {
      print_message(fmt::format("warning: {} comes before {}", each.from, *file));
    }
  }
  return exit;
}

ExitCode unset_config(const ConfigOptions& options) {
  const auto path = typed_path(options.arguments[0]);
  if (!path) return path.error();
  const auto file = file_to_change();
  if (!file) return file.error();
  const FolderLock lock(*file);
  const auto text = text_of_file(*file);
  if (!text) return text.error();
  const auto written = write_changed(*file, without_entry(*text, *path));
  if (!written) return written.error();
  return options.json ? print_json({{"key", name_of(*path)}, {"file", *file}}, options.output) : ExitCode::Ok;
}

ExitCode print_config_path(const ConfigOptions& options) {
  const auto file = file_to_change();
  if (!file) return file.error();
  return options.json ? print_json({{"file", *file}}, options.output) : print(*file + "\n", options.output);
}

ExitCode edit_config(const ConfigOptions& options) {
  const auto file = file_to_change();
  if (!file) return file.error();
  if (::access(file->c_str(), F_OK) != 0) {
    if (const auto written = write_changed(*file, std::string(kNewFile)); !written) return written.error();
  }
  const Result<int> status = run_editor(*file);
  if (!status) return report_file_error(status.error());
  if (*status != 0) {
    print_message(fmt::format("the editor ended with exit code {}", *status));
    return ExitCode::Environment;
  }
  const Result<Config> config = read_config();
  if (!config) return report_config_error(config.error());
  return options.json ? print_json({{"file", *file}}, options.output) : ExitCode::Ok;
}

}  // namespace parley::cli
