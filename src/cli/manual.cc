#include "cli/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands.h"
#include "cli/exit_code.h"

namespace parley::cli {
namespace {

// Escaped for roff: literal hyphens, and no line that looks like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (begins_line && (c == '.' || c == '\'')) {
      out += "\\&";
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string head_of(const DescribedOption& option) {
  std::string out;
  for (const std::string& name : option.names) out += (out.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty()) out += (out.empty() ? "" : " ") + italic(option.value);
  return out + (option.is_many ? "..." : "");
}

// "parley convert --from D --to D [OPTIONS] [FILE]"
std::string synopsis(const DescribedCommand& command) {
  std::string out = bold("parley");
  if (command.name != kPromptCommand) out += " " + bold(command.name);
  for (const DescribedOption& option : command.options) {
    if (!option.names.empty() && option.is_required) {
      out += " " + bold(option.names.front()) + " " + italic(option.value);
    }
  }
  out += " [" + italic("OPTIONS") + "]";
  for (const DescribedOption& option : command.options) {
    if (!option.names.empty()) continue;
    const std::string argument = italic(option.value) + (option.is_many ? "..." : "");
    out += option.is_required ? " " + argument : " [" + argument + "]";
  }
  return out;
}

struct Entry {
  const char* head;
  const char* text;
};

std::string section(const char* name, std::span<const Entry> entries) {
  std::string out = fmt::format(".SH {}\n", name);
  for (const Entry& entry : entries) out += fmt::format(".TP\n{}\n{}\n", bold(entry.head), roff(entry.text));
  return out;
}

std::string exit_section() {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitMeaning& each : kExitMeanings) {
    out +=
        fmt::format(".TP\n{}\n{}\n", bold(std::to_string(static_cast<int>(each.code))), roff(each.meaning));
  }
  return out;
}

constexpr Entry kEnvironment[] = {
    {"PARLEY_MODEL", "The model, as provider/name; --model overrides it."},
    {"PARLEY_STORE, PARLEY_TENANT", "The same as --store and --tenant, which override them."},
    {"PARLEY_CONFIG", "Path of the user's configuration file."},
    {"OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, ...",
     "API keys, named as the providers' own clients name them. docs/configuration.md lists them."},
    {"OPENAI_BASE_URL, ANTHROPIC_BASE_URL, OLLAMA_HOST, ...",
     "Base URLs of the servers, named the same way."},
    {"NO_COLOR, CLICOLOR_FORCE, TERM", "Turn colours on or off."},
};

constexpr Entry kFiles[] = {
    {"$XDG_CONFIG_HOME/parley/parley.toml", "The user's configuration (~/.config/parley/parley.toml)."},
    {"$XDG_CONFIG_HOME/parley/keys.toml",
     "The keys that 'parley config key set' stored, for their owner only."},
    {"$XDG_CONFIG_HOME/parley/templates/NAME.toml", "The template of -t NAME."},
    {".parley.toml", "The project's configuration, in the working directory or a folder above it."},
    {"$XDG_DATA_HOME/parley/parley.db", "The stored conversations (~/.local/share/parley/parley.db)."},
    {"$XDG_STATE_HOME/parley/history", "The input history of 'parley chat' (~/.local/state/parley/history)."},
};

}  // namespace

std::string manual(std::string_view version, std::span<const DescribedCommand> commands) {
  std::string out = fmt::format(".TH PARLEY 1 \"\" \"parley {}\" \"User Commands\"\n", version);
  out += ".SH NAME\nparley \\- the conversation engine for LLM agents\n.SH SYNOPSIS\n";
  for (const DescribedCommand& command : commands) out += synopsis(command) + "\n.br\n";
  out +=
      ".SH DESCRIPTION\nParley reads, checks, converts and stores the conversations of LLM agents, and chats "
      "with models.\nResults go to standard output, everything else to standard error.\n.SH COMMANDS\n";
  for (const DescribedCommand& command : commands) {
    out += fmt::format(".SS \"{}\"\n{}.\n",
                       roff(command.name == kPromptCommand ? "parley PROMPT" : "parley " + command.name),
                       roff(command.summary));
    for (const DescribedOption& option : command.options) {
      out += fmt::format(".TP\n{}\n{}{}\n", head_of(option), roff(option.help),
                         option.is_required ? " (required)" : "");
    }
  }
  return out + exit_section() + section("ENVIRONMENT", kEnvironment) + section("FILES", kFiles);
}

}  // namespace parley::cli
