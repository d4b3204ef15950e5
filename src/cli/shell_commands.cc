// The commands that are generated from the command table: completions and the manual.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/diagnostics.h"
#include "cli/json_line.h"
#include "cli/manual.h"
#include "cli/output.h"

namespace parley::cli {
namespace {

DescribedOption described(const CLI::Option& option) {
  DescribedOption out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    out.value = option.get_positional() ? option.get_name(true) : option.get_type_name();
  }
  out.help = option.get_description();
  out.is_required = option.get_required();
  out.is_many = option.get_items_expected_max() > 1;
  return out;
}

std::vector<DescribedCommand> described(const CLI::App& app) {
  std::vector<DescribedCommand> out;
  for (const Command& row : all_commands()) {
    DescribedCommand command = {.name = row.name, .summary = row.summary, .options = {}};
    for (const CLI::Option* option : app.get_subcommand(row.name)->get_options()) {
      command.options.push_back(described(*option));
    }
    if (row.words != nullptr) command.words = row.words();
    out.push_back(std::move(command));
  }
  return out;
}

Run add_completion(CLI::App& command, const std::string& output) {
  auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash, fish or zsh")->type_name("")->required();
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "Print one JSON object");
  return [shell, json, &command, &output] {
    const Result<std::string> script = completion(*shell, described(*command.get_parent()));
    if (!script) return usage_error(script.error().message, "completion");
    return *json ? print_json({{"shell", *shell}, {"script", *script}}, output) : print(*script, output);
  };
}

Run add_man(CLI::App& command, const std::string& output) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "Print one JSON object");
  return [json, &command, &output] {
    const std::string page = manual(PARLEY_VERSION, described(*command.get_parent()));
    return *json ? print_json({{"manual", page}}, output) : print(page, output);
  };
}

}  // namespace

std::span<const Command> shell_commands() {
  static constexpr Command kCommands[] = {
      {.name = "completion",
       .summary = "Print a completion script for a shell",
       .add = add_completion,
       .words = shells,
       .describes_all = true},
      {.name = "man", .summary = "Print the manual page", .add = add_man, .describes_all = true},
  };
  return kCommands;
}

}  // namespace parley::cli
