#include "cli/approval.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/call_view.h"
#include "cli/diagnostics.h"

namespace parley::cli {
namespace {

// The tools that run code, and the argument that holds it.
struct CodeTool {
  std::string_view name, member;
  bool is_shell;
};
constexpr CodeTool kCodeTools[] = {{"bash", "command", true}, {"python", "code", false}};

// Words that run other commands, or are not commands; and builtins that take names, in which bash runs
// substitutions even inside quotes: printf -v 'a[$(command)]'.
constexpr std::string_view kNoPrograms[] = {
    ".",        "alias",   "bind",   "builtin", "case",    "command",  "compgen", "complete",
    "coproc",   "declare", "do",     "done",    "elif",    "else",     "enable",  "esac",
    "eval",     "exec",    "export", "fi",      "for",     "function", "getopts", "hash",
    "if",       "in",      "let",    "local",   "mapfile", "printf",   "read",    "readarray",
    "readonly", "select",  "set",    "shopt",   "source",  "test",     "then",    "time",
    "trap",     "typeset", "unset",  "until",   "wait",    "while",
};

// The program of a command that is one program with its arguments: no pipe, list, redirection, substitution,
// assignment, comment or second line. Inside of quotes all but substitutions is text.
std::optional<std::string_view> program_of(std::string_view command) {
  constexpr std::string_view kOperators = ";&|<>()$`\\#";
  if (command.find_first_of("\n\r") != std::string_view::npos) return std::nullopt;
  char quote = 0;
  for (const char c : command) {
    if (quote == '\'') {
      if (c == '\'') quote = 0;
    } else if (quote == '"') {
      if (c == '$' || c == '`' || c == '\\') return std::nullopt;
      if (c == '"') quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (kOperators.find(c) != std::string_view::npos) {
      return std::nullopt;
    }
  }
  if (quote != 0) return std::nullopt;
  command.remove_prefix(std::min(command.find_first_not_of(" \t"), command.size()));
  const std::string_view program = command.substr(0, command.find_first_of(" \t"));
  const bool is_plain = !program.empty() && std::ranges::all_of(program, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./+").find(c) != std::string_view::npos;
  });
  if (!is_plain || std::ranges::find(kNoPrograms, program) != std::end(kNoPrograms)) return std::nullopt;
  return program;
}

std::string key_of(std::string_view tool, std::string_view kind, std::string_view what) {
  return fmt::format("{}{}{}{}{}", tool, '\0', kind, '\0', what);
}

}  // namespace

std::optional<std::string_view> code_member(std::string_view tool) {
  const auto* row = std::ranges::find(kCodeTools, tool, &CodeTool::name);
  return row == std::end(kCodeTools) ? std::nullopt : std::optional(row->member);
}

ApprovalScope approval_scope(const ToolUseBlock& use) {
  const std::string_view tool = use.name.view();
  const auto* row = std::ranges::find(kCodeTools, tool, &CodeTool::name);
  if (row == std::end(kCodeTools)) {
    return {key_of(tool, "tool", ""), fmt::format("every call of the tool '{}'", visible(tool))};
  }
  const std::optional<Text> code = code_of(use);
  if (code && row->is_shell) {
    if (const auto program = program_of(code->view())) {
      return {key_of(tool, "program", *program),
              fmt::format("every {} command that runs only '{}'", tool, *program)};
    }
  }
  return {key_of(tool, "exact", use.arguments.view()), fmt::format("exactly this call of {}", tool)};
}

}  // namespace parley::cli
