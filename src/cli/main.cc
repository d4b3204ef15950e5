// The command line: finds the row of the command table and runs it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/diagnostics.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/secrets.h"
#include "cli/terminal.h"

namespace parley::cli {

std::span<const Command> all_commands() {
  static const std::vector<Command> commands = [] {
    std::vector<Command> out;
    for (const auto group :
         {chat_commands(), document_commands(), session_commands(), model_commands(), shell_commands()}) {
      out.insert(out.end(), group.begin(), group.end());
    }
    return out;
  }();
  return commands;
}

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 success, 1 findings or refused input, 2 usage error, 3 a file, a store, the network or a\n"
    "model failed, 130 interrupted.";

// CLI11 reads [a,b] as a list of two. Here it is one argument: a mark that no argument can contain protects
// it from CLI11.
constexpr char kMark = '\0';

std::string without_mark(std::string argument) {
  std::erase(argument, kMark);
  return argument;
}

// The function of each command, in the order of the table.
std::vector<Run> describe(CLI::App& app, std::string& output) {
  app.set_version_flag("--version", "parley " PARLEY_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("REQUIRED", "(required)");
  app.get_formatter()->column_width(28);
  app.require_subcommand(1);
  app.footer(std::string("'parley COMMAND --help' explains a command.\n") + kExitCodes);
  std::vector<Run> runs;
  for (const Command& each : all_commands()) {
    CLI::App& command = *app.add_subcommand(each.name, each.summary);
    command.group("Commands")->footer(kExitCodes);
    runs.push_back(each.add(command, output));
    command.add_option("-o,--output", output, "Write to FILE, atomically")->type_name("FILE");
    for (CLI::Option* option : command.get_options()) {
      if (option->get_items_expected_max() > 0) option->transform(without_mark);
    }
  }
  return runs;
}

// "-p", "-pTEXT", "--prompt", or after flags: "-cp".
bool names_prompt(std::string_view argument) {
  if (argument.starts_with("--prompt")) return true;
  if (argument.starts_with("--") || !argument.starts_with('-')) return false;
  const std::size_t first = argument.find_first_not_of("cq", 1);
  return first != std::string_view::npos && argument[first] == 'p';
}

// The arguments as CLI11 wants them: from the last to the first.
std::vector<std::string> arguments(std::span<char*> typed) {
  std::vector<std::string> out(typed.rbegin(), typed.rend());
  for (std::string& argument : out) {
    if (argument.starts_with('[') && argument.ends_with(']')) argument += kMark;
  }
  if (typed.front()[0] == '-' && std::ranges::any_of(typed, names_prompt)) out.emplace_back(kPromptCommand);
  return out;
}

// Messages of CLI11 start with a capital letter, ours do not.
std::string lower_first(std::string sentence) {
  if (sentence.size() > 1 && std::islower(static_cast<unsigned char>(sentence[1])) != 0) {
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  }
  return sentence;
}

std::optional<std::size_t> row_named(std::string_view name) {
  const std::span<const Command> commands = all_commands();
  const auto row = std::ranges::find_if(commands, [&](const Command& each) { return each.name == name; });
  if (row == commands.end()) return std::nullopt;
  return static_cast<std::size_t>(row - commands.begin());
}

ExitCode run(int argc, char** argv) {
  std::string output = "-";
  CLI::App app(
      "Parley chats with models, and reads, checks, stores and converts the conversations of LLM agents.",
      "parley");
  const std::vector<Run> runs = describe(app, output);
  if (argc < 2) {
    show(STDERR_FILENO, {app.help()});
    return ExitCode::Usage;
  }
  if (argv[1][0] != '-' && !row_named(argv[1])) {
    return usage_error(fmt::format("unknown command '{}'", argv[1]));
  }
  try {
    app.parse(arguments(std::span(argv + 1, static_cast<std::size_t>(argc) - 1)));
  } catch (const CLI::CallForHelp&) {
    return print(app.help(), "-");
  } catch (const CLI::CallForVersion&) {
    return print(app.version() + "\n", "-");
  } catch (const CLI::ParseError& error) {
    const auto commands = app.get_subcommands();
    if (commands.empty()) return usage_error("missing command: expected a command or -p TEXT");
    return usage_error(lower_first(without_mark(error.what())), commands.front()->get_name());
  }
  return runs[*row_named(app.get_subcommands().front()->get_name())]();
}

}  // namespace
}  // namespace parley::cli

int main(int argc, char** argv) {
  parley::cli::prepare_process();
  parley::cli::register_secrets_of_process(std::span(argv, static_cast<std::size_t>(argc)));
  try {
    return static_cast<int>(parley::cli::run(argc, argv));
  } catch (const std::bad_alloc&) {
    parley::cli::print_message("out of memory");
  } catch (const std::exception& error) {  // CLI11 and fmt can throw, but not on any input
    parley::cli::print_message(error.what());
  }
  return static_cast<int>(parley::cli::ExitCode::Environment);
}
