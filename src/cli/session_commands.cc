// The commands for stored conversations.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/diagnostics.h"
#include "cli/doctor.h"
#include "cli/sessions.h"

namespace parley::cli {

void add_store(CLI::App& command, StoreChoice& choice) {
  command
      .add_option("--store", choice.uri,
                  "memory:, sqlite:PATH, postgresql://... or redis://... (default: the user's database)")
      ->type_name("URI");
}

void add_tenant(CLI::App& command, StoreChoice& choice) {
  command.add_option("--tenant", choice.tenant, "Tenant that owns the sessions (default: default)")
      ->type_name("NAME");
}

namespace {

// ---- sessions

struct SessionsVerb {
  const char* name;
  const char* arguments;  // after the verb
  std::size_t least, most;
  ExitCode (*run)(const SessionsOptions& options);
};

constexpr std::size_t kAnyNumber = 1000;
constexpr SessionsVerb kSessionsVerbs[] = {
    {"list", "", 0, 0, list_sessions},
    {"show", "ID", 1, 1, show_session},
    {"ids", "", 0, 0, list_session_ids},
    {"title", "ID [TEXT]", 1, 2, title_session},
    {"search", "WORDS", 1, kAnyNumber, search_sessions},
    {"import", "FILE", 1, 1, import_sessions},
    {"export", "ID", 1, 1, export_session},
    {"fork", "ID [NEW]", 1, 2, fork_session},
    {"rm", "ID...", 1, kAnyNumber, remove_sessions},
    {"expire", "ID DURATION|never", 2, 2, expire_session},
    {"sweep", "", 0, 0, sweep_sessions},
    {"copy", "ID STORE", 2, 2, copy_session},
    {"stats", "", 0, 0, count_sessions},
    {"verify", "", 0, 0, verify_sessions},
    {"backup", "FILE", 1, 1, back_up_sessions},
};

std::vector<std::string> verb_names() {
  std::vector<std::string> out;
  for (const SessionsVerb& verb : kSessionsVerbs) out.emplace_back(verb.name);
  return out;
}

std::string sessions_verbs() {
  std::string out;
  for (const SessionsVerb& verb : kSessionsVerbs) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : " | ", verb.name, *verb.arguments != 0 ? " " : "",
                       verb.arguments);
  }
  return out;
}

struct TypedSessions {
  std::string verb = "list";
  std::string from, to;
  SessionsOptions options;
};

ExitCode run_sessions(TypedSessions& typed, const std::string& output) {
  SessionsOptions& options = typed.options;
  const auto verb =
      std::ranges::find_if(kSessionsVerbs, [&](const SessionsVerb& each) { return each.name == typed.verb; });
  if (verb == std::end(kSessionsVerbs)) {
    return usage_error(fmt::format("unknown verb 'sessions {}'", typed.verb), "sessions");
  }
  const std::size_t count = options.arguments.size();
  if (count < verb->least || count > verb->most) {
    return usage_error(fmt::format("'sessions {}' takes {}", verb->name,
                                   *verb->arguments == 0 ? "no argument" : verb->arguments),
                       "sessions");
  }
  if (!typed.from.empty()) {
    const Result<Dialect> from = dialect_named(typed.from);
    if (!from) return usage_error("--from: " + from.error().message, "sessions");
    options.from = *from;
  }
  if (!typed.to.empty()) {
    const Result<Dialect> to = dialect_named(typed.to);
    if (!to) return usage_error("--to: " + to.error().message, "sessions");
    options.to = *to;
  }
  options.output = output;
  if (const CommandResult<void> resolved = resolve(options.store); !resolved) return resolved.error();
  return verb->run(options);
}

Run add_sessions(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedSessions>();
  SessionsOptions& options = typed->options;
  command.add_option("VERB", typed->verb, sessions_verbs() + " (default: list)")->type_name("");
  command
      .add_option("ARGUMENT", options.arguments,
                  "Arguments of the verb; ID may be a unique prefix, DURATION is 30m, 12h, 7d or 4w")
      ->type_name("");
  add_store(command, options.store);
  add_tenant(command, options.store);
  command.add_option("--from", typed->from, "import: dialect of FILE (default: detected)")->type_name("D");
  command.add_option("--session", options.session, "import: id of the session")->type_name("ID");
  command.add_option("--to", typed->to, "export: dialect to write (default: parley)")->type_name("D");
  command.add_option("--at", options.size, "fork: number of records to share (default: all)")->type_name("N");
  command.add_option("-n,--count", options.most, "list: the most recent N sessions (default: all)")
      ->check(CLI::Range(1, 1'000'000'000).description(""))
      ->type_name("N");
  command.add_flag("--by-model", options.by_model, "title: let the model write it");
  command
      .add_option("-m,--model", options.model,
                  "title --by-model: PROVIDER/NAME (default: the configured one)")
      ->type_name("M");
  command.add_flag("--jsonl", options.lines, "import, export: JSON Lines");
  command.add_flag("--json", options.json, "Print JSON, one object a line");
  command.add_flag("-q,--quiet", options.quiet, "Print no notes and no progress");
  return [typed, &output] { return run_sessions(*typed, output); };
}

// ---- doctor

Run add_doctor(CLI::App& command, const std::string& output) {
  auto options = std::make_shared<DoctorOptions>();
  add_store(command, options->store);
  command.add_option("-m,--model", options->model, "Model as PROVIDER/NAME (default: the configured one)")
      ->type_name("M");
  command.add_flag("--online", options->is_online, "Send the model a short request, which may cost a little");
  command.add_flag("--json", options->json, "Print one JSON object");
  return [options, &output] {
    options->output = output;
    return doctor(*options);
  };
}

}  // namespace

std::span<const Command> session_commands() {
  static constexpr Command kCommands[] = {
      {"sessions", "Manage the stored conversations", add_sessions, verb_names},
      {"doctor", "Check the store, the configuration, the model, the files and the MCP servers", add_doctor,
       nullptr, "Set up"},
  };
  return kCommands;
}

}  // namespace parley::cli
