// The command table: one row a command. Help, completions and the manual are made from it.
//
// CLI11 is included by the files that describe commands (*_commands.cc) and by main.cc only.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace parley::cli {

// Runs a command with its parsed options.
using Run = std::function<ExitCode()>;

struct Command {
  const char* name;
  const char* summary;
  // Describes the options of the command and returns what runs it. `output` is the value of -o.
  Run (*add)(CLI::App& command, const std::string& output);
  // The values of its first argument, for completions; null if it has no fixed values.
  std::vector<std::string> (*words)() = nullptr;
  const char* group = nullptr;  // of help; null: that of its table (main.cc)
  // Whether `add` needs the descriptions of all commands. Otherwise only the command that runs is described.
  bool describes_all = false;
};

std::span<const Command> chat_commands();      // chat, run, prompt
std::span<const Command> document_commands();  // convert, check, dialects, media, tokens, filter
std::span<const Command> session_commands();   // sessions, doctor
std::span<const Command> config_commands();    // config
std::span<const Command> model_commands();     // models, rehearse
std::span<const Command> serve_commands();     // serve, keys
std::span<const Command> shell_commands();     // completion, man
std::span<const Command> all_commands();       // in the order help shows them

// 'parley TEXT' is 'parley prompt TEXT'.
inline constexpr const char* kPromptCommand = "prompt";

// Adds --store and --tenant.
struct StoreChoice;
void add_store(CLI::App& command, StoreChoice& choice);
void add_tenant(CLI::App& command, StoreChoice& choice);

}  // namespace parley::cli
