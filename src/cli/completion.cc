#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/known_models.h"
#include "parley/dialect/dialect.h"

namespace parley::cli {
namespace {

using Words = std::vector<std::string>;

Words dialect_names() {
  Words out;
  for (const DialectInfo& each : dialects()) out.emplace_back(each.name);
  return out;
}

Words model_names() {
  Words out = {kRehearsal};
  for (const KnownModel& each : known_models()) out.push_back(fmt::format("{}/{}", each.provider, each.name));
  return out;
}

// The values of an option, by the name that help gives to its value.
Words values_of(const std::string& value) {
  if (value == "D") return dialect_names();
  if (value == "P") return {"agentscope-chat", "agentscope-multiagent", "openmanus"};
  if (value == "E") return {"o200k_base", "cl100k_base"};
  if (value == "M") return model_names();
  if (value == "L") return {"header", "decode"};
  return {};
}

bool is_file(const std::string& value) { return value == "F" || value == "FILE"; }

// The options of all commands that have a value, as `COMMAND --option` patterns.
std::string patterns(const DescribedCommand& command, const DescribedOption& option) {
  std::string out;
  for (const std::string& name : option.names) {
    out += fmt::format("{}'{} {}'", out.empty() ? "" : " | ", command.name, name);
  }
  return out;
}

Words option_names(const DescribedCommand& command) {
  Words out;
  for (const DescribedOption& option : command.options) {
    out.insert(out.end(), option.names.begin(), option.names.end());
  }
  return out;
}

// The verbs of `parley sessions` whose first argument is a session.
constexpr const char* kVerbsOfSessions[] = {"show", "export", "fork", "rm", "expire", "copy", "title"};

// ---- bash

std::string for_bash(std::span<const DescribedCommand> commands) {
  std::string values;
  std::string options;
  Words names;
  for (const DescribedCommand& command : commands) {
    if (command.name != kPromptCommand) names.push_back(command.name);
    for (const DescribedOption& option : command.options) {
      if (option.names.empty() || option.value.empty()) continue;
      const Words words = values_of(option.value);
      values += fmt::format("    {}) {} ;;\n", patterns(command, option),
                            !words.empty()          ? fmt::format("words='{}'", fmt::join(words, " "))
                            : is_file(option.value) ? "files=1"
                                                    : ":");
    }
    options += fmt::format("    {}) options='{}' verbs='{}' ;;\n", command.name,
                           fmt::join(option_names(command), " "), fmt::join(command.words, " "));
  }
  return fmt::format(R"sh(# Completion of parley for bash, made by 'parley completion bash'.
# The sessions whose id begins with the word, or else those whose title contains it; lists also show the titles.
_parley_sessions() {{
  local id title by_id=() by_title=() described=0
  [[ ${{COMP_TYPE:-9}} != 63 && ${{COMP_TYPE:-9}} != 33 ]] || described=1
  while IFS=$'\t' read -r id title; do
    local shown=$(printf %q "$id")
    ((!described)) || shown+="  $title"
    if [[ $id == "$word"* ]]; then by_id+=("$shown")
    elif [[ ${{title,,}} == *"${{word,,}}"* ]]; then by_title+=("$shown"); fi
  done < <(parley sessions ids 2>/dev/null)
  COMPREPLY=("${{by_id[@]}}")
  ((${{#by_id[@]}})) || COMPREPLY=("${{by_title[@]}}")
}}
_parley() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  local words='' options='' verbs='' files=0 is_value=1
  [[ $command != -* ]] || command=prompt
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{} -p --help --version' -- "$word")
    return
  fi
  case "$command $before" in
{}    *) is_value=0 ;;
  esac
  case $command in
{}  esac
  if ((!is_value)); then
    if [[ $word == -* ]]; then words=$options
    elif [[ -n $verbs ]] && ((COMP_CWORD == 2)); then words=$verbs
    elif [[ $command == chat ]] && ((COMP_CWORD == 2)); then _parley_sessions; return
    elif [[ $command == sessions && ${{COMP_WORDS[2]}} == @({}) ]] && ((COMP_CWORD == 3)); then _parley_sessions; return
    else files=1; fi
  fi
  if ((files)); then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}}
complete -F _parley parley
)sh",
                     fmt::join(names, " "), values, options, fmt::join(kVerbsOfSessions, "|"));
}

// ---- zsh

// In '...' of an _arguments specification, where brackets and colons mean something.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_values(const DescribedOption& option) {
  if (option.value.empty()) return "";
  const Words words = values_of(option.value);
  return fmt::format(":{}:{}", option.value,
                     !words.empty()          ? fmt::format("({})", fmt::join(words, " "))
                     : is_file(option.value) ? "_files"
                                             : " ");
}

std::string for_zsh(std::span<const DescribedCommand> commands) {
  std::string names;
  std::string cases;
  for (const DescribedCommand& command : commands) {
    if (command.name != kPromptCommand) {
      names += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    }
    std::string specs;
    for (const DescribedOption& option : command.options) {
      for (const std::string& name : option.names) {
        specs += fmt::format(" \\\n        '{}{}[{}]{}'", option.is_many ? "*" : "", name,
                             zsh_text(option.help), zsh_values(option));
      }
    }
    if (!command.words.empty())
      specs += fmt::format(" \\\n        '1:verb:({})'", fmt::join(command.words, " "));
    const bool has_sessions = command.name == "sessions" || command.name == "chat";
    cases += fmt::format("    {}) _arguments{} \\\n        '*:{}' ;;\n",
                         command.name == kPromptCommand ? "-*" : command.name, specs,
                         has_sessions ? "session:_parley_sessions" : "file:_files");
  }
  return fmt::format(R"sh(#compdef parley
# Completion of parley for zsh, made by 'parley completion zsh'.
_parley_sessions() {{
  local -a ids shown found
  local line
  for line in ${{(f)"$(parley sessions ids 2>/dev/null)"}}; do
    ids+=("${{line%%$'\t'*}}") shown+=("${{line/$'\t'/  -- }}")
  done
  compadd -l -d shown -a ids && return
  # By a word of the title.
  found=(${{(M)shown:#(#i)*${{(b)PREFIX}}*}})
  [[ -z $PREFIX ]] || {{ ids=("${{(@)found%%  -- *}}"); compadd -U -l -d found -a ids && return; }}
  _files
}}
_parley() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    compadd -- -p --help --version
    return
  fi
  local command=$words[2]
  [[ $command == -* ]] || {{ shift words; ((CURRENT--)); }}
  case $command in
{}  esac
}}
# In a folder of $fpath this file is the function itself the first time; sourced, it only defines it.
if [[ $funcstack[1] == _parley ]]; then _parley "$@"; else compdef _parley parley; fi
)sh",
                     names, cases);
}

// ---- fish

std::string fish_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string fish_option(const DescribedCommand& command, const DescribedOption& option) {
  const std::string when = command.name == kPromptCommand
                               ? "__fish_use_subcommand"
                               : fmt::format("__fish_seen_subcommand_from {}", command.name);
  std::string out = fmt::format("complete -c parley -n '{}'", when);
  for (const std::string& name : option.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  const Words words = values_of(option.value);
  if (!words.empty()) {
    out += fmt::format(" -x -a '{}'", fmt::join(words, " "));
  } else if (is_file(option.value)) {
    out += " -r -F";
  } else if (!option.value.empty()) {
    out += " -x";
  }
  return out + fmt::format(" -d '{}'\n", fish_text(option.help));
}

std::string for_fish(std::span<const DescribedCommand> commands) {
  std::string out =
      "# Completion of parley for fish, made by 'parley completion fish'.\n"
      "complete -c parley -n '__fish_seen_subcommand_from sessions chat' -a '(parley sessions ids "
      "2>/dev/null)'\n";
  for (const DescribedCommand& command : commands) {
    if (command.name != kPromptCommand) {
      out += fmt::format("complete -c parley -f -n __fish_use_subcommand -a {} -d '{}'\n", command.name,
                         fish_text(command.summary));
    }
    if (!command.words.empty()) {
      out += fmt::format("complete -c parley -n '__fish_seen_subcommand_from {}' -a '{}'\n", command.name,
                         fmt::join(command.words, " "));
    }
    for (const DescribedOption& option : command.options) {
      if (!option.names.empty()) out += fish_option(command, option);
    }
  }
  return out;
}

struct Shell {
  const char* name;
  std::string (*make)(std::span<const DescribedCommand> commands);
};
constexpr Shell kShells[] = {{"bash", for_bash}, {"fish", for_fish}, {"zsh", for_zsh}};

}  // namespace

std::vector<std::string> shells() {
  Words out;
  for (const Shell& shell : kShells) out.emplace_back(shell.name);
  return out;
}

Result<std::string> completion(std::string_view shell, std::span<const DescribedCommand> commands) {
  const auto row = std::ranges::find_if(kShells, [&](const Shell& each) { return each.name == shell; });
  if (row == std::end(kShells)) {
    return fail(Code::NotFound,
                fmt::format("unknown shell '{}': expected one of {}", shell, fmt::join(shells(), ", ")));
  }
  return row->make(commands);
}

}  // namespace parley::cli
