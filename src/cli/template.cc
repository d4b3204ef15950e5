#include "cli/template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/config.h"
#include "cli/config_file.h"
#include "cli/diagnostics.h"
#include "cli/environment.h"

namespace parley::cli {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

struct Template {
  std::string prompt, system, model, schema;
  bool extracts_code = false;
  std::vector<std::string> model_options;  // NAME=VALUE
  Variables defaults;
};

std::string text_of_value(const ConfigEntry& entry) {
  if (const auto* text = std::get_if<std::string>(&entry.value)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&entry.value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&entry.value)) return fmt::format("{}", *real);
  if (const auto* truth = std::get_if<bool>(&entry.value)) return *truth ? "true" : "false";
  std::vector<std::string> items;
  for (const std::string& item : std::get<std::vector<std::string>>(entry.value)) {
    items.push_back(Json::string(item).text().str());
  }
  return fmt::format("[{}]", fmt::join(items, ","));
}

Result<void> take_entry(Template& into, const ConfigEntry& entry) {
  const std::string& key = entry.path.front();
  const std::string value = text_of_value(entry);
  constexpr std::pair<std::string_view, std::string Template::*> kTexts[] = {
      {"prompt", &Template::prompt},
      {"system", &Template::system},
      {"model", &Template::model},
      {"schema", &Template::schema},
  };
  if (entry.path.size() == 2 && key == "options") {
    into.model_options.push_back(fmt::format("{}={}", entry.path[1], value));
    return {};
  }
  if (entry.path.size() == 2 && key == "defaults") {
    into.defaults[entry.path[1]] = value;
    return {};
  }
  if (entry.path.size() == 1 && key == "extract" && std::holds_alternative<bool>(entry.value)) {
    into.extracts_code = value == "true";
    return {};
  }
  const auto* row = std::ranges::find_if(kTexts, [&](const auto& each) { return each.first == key; });
  if (entry.path.size() == 1 && row != std::end(kTexts) && std::holds_alternative<std::string>(entry.value)) {
    into.*(row->second) = value;
    return {};
  }
  return fail(
      Code::Invalid,
      fmt::format("unknown key '{}' or wrong type: a template has prompt, system, model, schema, extract, "
                  "[options] and [defaults]",
                  fmt::join(entry.path, ".")),
      entry.location);
}

std::string names_in_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto each = std::filesystem::directory_iterator(folder, error);
       !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    if (each->path().extension() == ".toml") names.push_back(each->path().stem().string());
  }
  std::ranges::sort(names);
  return names.empty() ? "the folder has no templates" : fmt::format("available: {}", fmt::join(names, ", "));
}

Result<Template> read_template(const std::string& name) {
  if (name.empty() || name.starts_with('.') || name.contains('/')) {
    return fail(Code::Invalid, fmt::format("invalid name '{}': expected the name of a template", name));
  }
  PARLEY_TRY(const std::string folder, user_file(Folder::Config, "templates"));
  Result<std::vector<ConfigEntry>> entries = read_config_file(fmt::format("{}/{}.toml", folder, name));
  if (!entries && entries.error().code == Code::NotFound) {
    return fail(Code::NotFound,
                fmt::format("no template '{}' in {}: {}", name, folder, names_in_folder(folder)));
  }
  if (!entries) return std::unexpected(entries.error());
  Template out;
  for (const ConfigEntry& entry : *entries) PARLEY_CHECK(take_entry(out, entry));
  return out;
}

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The text with the values of its variables. Sets `has_input` if one of them is "input".
Result<std::string> filled(std::string_view text, const Variables& variables, bool& has_input) {
  std::string out;
  while (true) {
    const std::size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    if (dollar == text.size()) return out;
    text.remove_prefix(dollar + 1);
    const bool is_braced = text.starts_with('{');
    const std::string_view rest = text.substr(is_braced ? 1 : 0);
    const auto size = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_in_name) - rest.begin());
    const std::string_view name = rest.substr(0, size);
    const bool is_closed = !is_braced || rest.substr(size).starts_with('}');
    if (name.empty() || !is_closed) {
      out += '$';
      if (text.starts_with('$')) text.remove_prefix(1);
      continue;
    }
    const auto value = variables.find(name);
    if (value == variables.end()) {
      return fail(Code::Missing, fmt::format("variable '{0}' has no value: use -V {0}=VALUE", name));
    }
    has_input = has_input || name == "input";
    out += value->second;
    text.remove_prefix(size + (is_braced ? 2 : 0));
  }
}

ExitCode report_template_error(const Error& error) {
  if (!error.path.empty()) return report_config_error(error);
  return report_choice_error(error.message, "--template");
}

}  // namespace

CommandResult<std::string> apply_template(ChatOptions& options, const std::string& input) {
  Result<Template> read = read_template(options.template_name);
  if (!read) return std::unexpected(report_template_error(read.error()));
  Variables variables = std::move(read->defaults);
  for (const std::string& typed : options.variables) {
    const std::size_t equals = std::min(typed.find('='), typed.size());
    if (equals == 0 || equals == typed.size()) {
      return std::unexpected(
          report_choice_error(fmt::format("expected NAME=VALUE, not '{}'", typed), "--var"));
    }
    variables[typed.substr(0, equals)] = typed.substr(equals + 1);
  }
  variables["input"] = input;
  bool has_input = false;
  const Result<std::string> system = filled(read->system, variables, has_input);
  if (!system) return std::unexpected(report_template_error(system.error()));
  Result<std::string> prompt = filled(read->prompt, variables, has_input);
  if (!prompt) return std::unexpected(report_template_error(prompt.error()));
  if (!options.system && !system->empty()) options.system = *system;
  if (options.model.empty()) options.model = read->model;
  if (options.schema.empty()) options.schema = read->schema;
  options.extracts_code = options.extracts_code || read->extracts_code;
  // Those that are typed come last, and win.
  options.model_options.insert(options.model_options.begin(), read->model_options.begin(),
                               read->model_options.end());
  if (has_input || input.empty()) return *std::move(prompt);
  return prompt->empty() ? input : *prompt + "\n\n" + input;
}

}  // namespace parley::cli
