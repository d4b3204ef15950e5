// The command line: finds the row of the command table and runs it.
#include <fmt/format.h>
#include <sys/stat.h>
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
#include "cli/suggestion.h"
#include "cli/terminal.h"

namespace parley::cli {

std::span<const Command> all_commands() {
  static const std::vector<Command> commands = [] {
    std::vector<Command> out;
    const auto add = [&](std::span<const Command> rows, const char* group) {
      for (const Command& row : rows) {
        out.push_back(row);
        if (row.group == nullptr) out.back().group = group;
      }
    };
    add(chat_commands(), "Ask a model");
    add(session_commands(), "Stored conversations");
    add(document_commands(), "Documents, texts and media");
    add(serve_commands(), "Serve");
    add(config_commands(), "Set up");
    add(model_commands(), "Set up");
    add(shell_commands(), "Set up");
    return out;
  }();
  return commands;
}

namespace {

std::string exit_codes() {
  std::string out = "Exit codes:";
  for (const ExitMeaning& each : kExitMeanings) {
    out += fmt::format("\n  {:<4} {}", static_cast<int>(each.code), each.meaning);
  }
  return out;
}

// CLI11 reads [a,b] as a list of two. Here it is one argument: a mark that no argument can contain protects
// it from CLI11.
constexpr char kMark = '\0';

std::string without_mark(std::string argument) {
  std::erase(argument, kMark);
  return argument;
}

void describe_program(CLI::App& app) {
  app.set_version_flag("--version", "parley " PARLEY_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("REQUIRED", "(required)");
  app.get_formatter()->column_width(28);
  app.require_subcommand(1);
  app.footer(std::string("'parley COMMAND --help' explains a command.\n") + exit_codes());
}

// What every command has, and what is typed for it.
struct CommonOptions {
  std::string output = "-";
  std::string colour = "auto";
};

// Returns the function that runs the command.
Run describe_command(CLI::App& app, const Command& row, CommonOptions& common) {
  CLI::App& command = *app.add_subcommand(row.name, row.summary);
  command.group(row.group)->footer(exit_codes());
  Run run = row.add(command, common.output);
  command.add_option("-o,--output", common.output, "Write to FILE, atomically")->type_name("FILE");
  command.add_option("--color", common.colour, "Colours: auto, always or never (default auto)")
      ->type_name("WHEN");
  for (CLI::Option* option : command.get_options()) {
    if (option->get_items_expected_max() > 0) option->transform(without_mark);
  }
  return run;
}

// Describes the chosen command only, because CLI11 takes longer for the options of all of them than many a
// command takes to run; all of them if none is chosen. Returns the function that runs the chosen one.
Run describe_commands(CLI::App& app, const Command* chosen, CommonOptions& common) {
  Run out;
  for (const Command& row : all_commands()) {
    const bool is_chosen = &row == chosen;
    if (chosen != nullptr && !is_chosen && !chosen->describes_all) continue;
    Run run = describe_command(app, row, common);
    if (is_chosen) out = std::move(run);
  }
  return out;
}

// Null if there is none.
const Command* command_named(std::string_view name) {
  const std::span<const Command> commands = all_commands();
  const auto row = std::ranges::find_if(commands, [&](const Command& each) { return each.name == name; });
  return row == commands.end() ? nullptr : &*row;
}

// Words and options without a command are a prompt: "hello", "-m gpt-4o hello".
bool is_prompt(std::span<char*> typed) {
  if (typed.empty()) return true;
  const std::string_view first = typed.front();
  return first != "-h" && first != "--help" && first != "--version" && command_named(first) == nullptr;
}

// The command that is typed; null for help and the version.
const Command* chosen_command(std::span<char*> typed) {
  return command_named(is_prompt(typed) ? kPromptCommand : typed.front());
}

// The arguments as CLI11 wants them: from the last to the first.
std::vector<std::string> arguments(std::span<char*> typed) {
  std::vector<std::string> out(typed.rbegin(), typed.rend());
  for (std::string& argument : out) {
    if (argument.starts_with('[') && argument.ends_with(']')) argument += kMark;
  }
  if (is_prompt(typed)) out.emplace_back(kPromptCommand);
  return out;
}

// The command that was probably meant by the first word. If more words follow, a prompt is more likely, and
// the first letter must be right: "what is the time" does not mean "chat".
std::optional<std::string> meant_command(std::span<char*> typed) {
  const std::string_view first = typed.empty() ? "" : typed.front();
  if (first.empty() || first.starts_with('-') || command_named(first) != nullptr) return std::nullopt;
  std::vector<std::string> names;
  for (const Command& each : all_commands()) names.emplace_back(each.name);
  std::optional<std::string> name = suggestion_for(first, names);
  const bool is_alone = typed.size() == 1 || typed[1][0] == '-';
  if (!name || is_alone || (name->front() == first.front() && edit_distance(*name, first) == 1)) return name;
  return std::nullopt;
}

// A pipe or a file: it may hold a prompt. A terminal or /dev/null does not.
bool has_piped_input() {
  struct stat info = {};
  return ::fstat(STDIN_FILENO, &info) == 0 && !S_ISCHR(info.st_mode);
}

// Messages of CLI11 start with a capital letter, ours do not.
std::string lower_first(std::string sentence) {
  if (sentence.size() > 1 && std::islower(static_cast<unsigned char>(sentence[1])) != 0) {
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  }
  return sentence;
}

ExitCode run(int argc, char** argv) {
  const std::span typed(argv + std::min(argc, 1), static_cast<std::size_t>(std::max(argc - 1, 0)));
  CLI::App app(
      "Parley chats with models, and reads, checks, stores and converts the conversations of LLM agents.\n"
      "  parley 'PROMPT'  asks once and prints the answer ('parley prompt --help' lists its options)",
      "parley");
  describe_program(app);
  const bool has_nothing = typed.empty() && !has_piped_input();
  const bool is_help = typed.size() == 1 && typed[0] == std::string_view("help");
  const Command* const chosen = has_nothing || is_help ? nullptr : chosen_command(typed);
  CommonOptions common;
  const Run command = describe_commands(app, chosen, common);
  if (has_nothing) {
    show(STDERR_FILENO, {app.help()});
    return ExitCode::Usage;
  }
  if (is_help) return print(app.help(), "-");
  if (const auto meant = meant_command(typed)) {
    return usage_error(fmt::format("unknown command '{}': did you mean '{}'? To ask a model, use -p '{}'",
                                   typed[0], *meant, typed[0]));
  }
  try {
    app.parse(arguments(typed));
  } catch (const CLI::CallForHelp&) {
    return print(app.help(), "-");
  } catch (const CLI::CallForVersion&) {
    return print(app.version() + "\n", "-");
  } catch (const CLI::ParseError& error) {
    return usage_error(lower_first(without_mark(error.what())), chosen == nullptr ? "" : chosen->name);
  }
  const std::optional<ColourChoice> choice = colour_choice_named(common.colour);
  if (!choice) {
    return usage_error(
        fmt::format("--color: unknown choice '{}': expected auto, always or never", common.colour),
        chosen->name);
  }
  set_typed_colour(*choice);
  return command();
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
