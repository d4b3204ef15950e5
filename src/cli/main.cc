// The command line: what is typed becomes options, and options become one call. CLI11 is included here only.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <new>
#include <string>
#include <vector>

#include "cli/check.h"
#include "cli/convert.h"
#include "cli/dialects.h"
#include "cli/doctor.h"
#include "cli/exit.h"
#include "cli/filter.h"
#include "cli/lines.h"
#include "cli/media.h"
#include "cli/output.h"
#include "cli/process.h"
#include "cli/say.h"
#include "cli/sessions.h"
#include "cli/tokens.h"

namespace parley::cli {
namespace {

constexpr const char* kExitCodes =
    "Exit: 0 ok, 1 findings or refused input, 2 wrong usage, 3 a file cannot be opened, read or written,\n"
    "130 interrupted.";

Exit usage(std::string_view what, const std::string& command = "") {
  say(fmt::format("{} (see 'parley {}{}--help')", what, command, command.empty() ? "" : " "));
  return Exit::Usage;
}

// What was typed, before it is looked at together.
struct Typed {
  std::string from, to, as, policy;
  bool json = false;
  std::string output = "-";
  ConvertOptions convert;
  CheckOptions check;
  TokensOptions tokens;
  MediaOptions media;
  std::string media_verb, level = "decode";
  FilterCommand filter;
  FilterOptions filter_options;
  SessionsOptions sessions;
  std::string sessions_verb;
  DoctorOptions doctor;
};

// ---- convert

void add_convert(CLI::App& command, Typed& typed) {
  ConvertOptions& options = typed.convert;
  command.add_option("--from", typed.from, "The dialect to read ('parley dialects' lists them)")
      ->type_name("D")
      ->required();
  command.add_option("--to", typed.to, "The dialect to write")->type_name("D")->required();
  command.add_flag("--repair", options.repair,
                   "Make a broken history whole: orphan, missing, displaced results");
  command.add_flag("--complete-pending", options.complete_pending, "Answer the calls of the last step");
  command.add_flag("--strict", options.strict,
                   "Refuse to lose content, duplicate member names and half surrogate pairs");
  command
      .add_option("--policy", typed.policy,
                  "Format as another program does: agentscope-chat, agentscope-multiagent, openmanus")
      ->type_name("P");
  command.add_flag("--jsonl", options.lines, "Each line is a document (implied by .jsonl and .ndjson)");
  command.add_flag("--pretty", options.pretty, "Indent the output");
  command.add_option("--notes", options.notes, "Write all notes to F as JSON Lines")->type_name("F");
  command.add_flag("-q,--quiet", options.quiet, "No notes and no progress on standard error");
  command.add_option("FILE", options.input, "The conversation; standard input if missing or '-'")
      ->type_name("");
}

Exit run_convert(Typed& typed) {
  ConvertOptions& options = typed.convert;
  const Result<Dialect> from = dialect_named(typed.from);
  if (!from) return usage("--from: " + from.error().message, "convert");
  const Result<Dialect> to = dialect_named(typed.to);
  if (!to) return usage("--to: " + to.error().message, "convert");
  options.from = *from;
  options.to = *to;
  if (!typed.policy.empty()) {
    const Result<Policy> policy = policy_named(typed.policy);
    if (!policy) return usage("--policy: " + policy.error().message, "convert");
    options.policy = *policy;
  }
  options.output = typed.output;
  options.lines = options.lines || is_json_lines_name(options.input);
  if (options.pretty && options.lines) return usage("--pretty makes no JSON Lines", "convert");
  if (options.notes == "-" || options.notes == options.output || options.notes == options.input) {
    return usage("--notes needs a file of its own", "convert");
  }
  return convert(options);
}

// ---- check

void add_check(CLI::App& command, Typed& typed) {
  CheckOptions& options = typed.check;
  command.add_option("--as", typed.as, "The dialect of the files; without it, it is detected")
      ->type_name("D");
  command.add_flag("--jsonl", options.lines, "Each line is a document (implied by .jsonl and .ndjson)");
  command.add_flag("--json", typed.json, "One JSON object a file instead of one line a finding");
  command.add_flag("-q,--quiet", options.quiet, "Nothing but findings and errors");
  command.add_option("FILE", options.files, "The conversations; '-' is standard input")
      ->type_name("")
      ->required();
}

Exit run_check(Typed& typed) {
  CheckOptions& options = typed.check;
  if (!typed.as.empty()) {
    const Result<Dialect> as = dialect_named(typed.as);
    if (!as) return usage("--as: " + as.error().message, "check");
    options.as = *as;
  }
  options.json = typed.json;
  options.output = typed.output;
  return check(options);
}

// ---- dialects

void add_dialects(CLI::App& command, Typed& typed) {
  command.add_flag("--json", typed.json, "As one JSON object");
}

Exit run_dialects(Typed& typed) { return list_dialects(typed.json, typed.output); }

// ---- tokens

void add_tokens(CLI::App& command, Typed& typed) {
  TokensOptions& options = typed.tokens;
  command.add_option("--as", typed.as, "FILE is a conversation in this dialect: print what it costs")
      ->type_name("D");
  command.add_option("--model", options.model, "With --as: the model that is to read it (default gpt-4o)")
      ->type_name("M");
  command
      .add_option("--encoding", options.encoding,
                  "o200k_base or cl100k_base (default: o200k_base; with --as, that of the model)")
      ->type_name("E");
  command.add_flag("--ids", options.ids, "Print the ids of the tokens instead of their number");
  command.add_option("FILE", options.file, "A text, or a conversation; '-' is standard input")
      ->type_name("")
      ->required();
}

Exit count_conversation(const TokensOptions& options, const std::string& as) {
  const Result<Dialect> dialect = dialect_named(as);
  if (!dialect) return usage("--as: " + dialect.error().message, "tokens");
  if (options.ids) return usage("--ids is for texts, not for conversations", "tokens");
  const std::string model = options.model.empty() ? "gpt-4o" : options.model;
  if (options.encoding.empty()) return tokens(options, *dialect, TokenCounter::for_model(model));
  const Result<Encoding> encoding = Encoding::named(options.encoding);
  if (!encoding) return usage("--encoding: " + encoding.error().message, "tokens");
  return tokens(options, *dialect, TokenCounter::for_model(model, *encoding));
}

Exit run_tokens(Typed& typed) {
  TokensOptions& options = typed.tokens;
  options.output = typed.output;
  if (!typed.as.empty()) return count_conversation(options, typed.as);
  if (!options.model.empty()) return usage("--model needs --as", "tokens");
  const Result<Encoding> encoding =
      Encoding::named(options.encoding.empty() ? "o200k_base" : options.encoding);
  if (!encoding) return usage("--encoding: " + encoding.error().message, "tokens");
  return tokens(options, *encoding);
}

// ---- media

void add_media(CLI::App& command, Typed& typed) {
  MediaOptions& options = typed.media;
  command.add_option("VERB", typed.media_verb, "check: say whether images, audio and video are good")
      ->type_name("")
      ->required();
  command.add_flag("--base64", options.base64, "The files hold base64 or data URLs");
  command
      .add_option(
          "--level", typed.level,
          "Of images, header: what the headers say; decode: whether the pixels are there too (default)")
      ->type_name("L");
  command.add_flag("--json", typed.json, "One JSON object a file instead of one line");
  command.add_option("FILE", options.files, "The files; '-' is standard input")->type_name("")->required();
}

Exit run_media(Typed& typed) {
  MediaOptions& options = typed.media;
  if (typed.media_verb != "check") {
    return usage(fmt::format("there is no 'media {}'; there is: check", typed.media_verb), "media");
  }
  if (typed.level != "header" && typed.level != "decode") {
    return usage("--level: there is no level of this name; there are: header, decode", "media");
  }
  options.level = typed.level == "header" ? ImageLevel::Header : ImageLevel::Decode;
  options.json = typed.json;
  options.output = typed.output;
  return check_media(options);
}

// ---- filter

void add_filter(CLI::App& command, Typed& typed) {
  command.add_option("--bytes", typed.filter_options.size_bytes, "'size': the longest text (default 65536)")
      ->check([](const std::string& typed_number) {
        return typed_number.starts_with('-') ? std::string("a number of bytes is not negative")
                                             : std::string();
      })
      ->type_name("N");
  command.add_flag("--keep-page-state", typed.filter_options.keep_page_state,
                   "'browser' and 'browser-agentscope': page state and snapshots stay");
  command.add_flag("-q,--quiet", typed.filter.quiet, "Do not say what changed");
  command.add_option("NAME", typed.filter.name, "The filter; without it, they are listed")->type_name("");
  command.add_option("FILE", typed.filter.file, "The text; standard input if missing or '-'")->type_name("");
}

Exit run_filter(Typed& typed) {
  typed.filter.output = typed.output;
  if (typed.filter.name.empty()) return list_filters(typed.output);
  const std::string_view names[] = {typed.filter.name};
  const Result<FilterChain> chain = FilterChain::of(names, typed.filter_options);
  if (!chain) return usage(chain.error().message, "filter");
  return filter(typed.filter, *chain);
}

// ---- sessions

struct SessionsVerb {
  const char* name;
  const char* arguments;  // what stands behind it
  std::size_t least, most;
  Exit (*run)(const SessionsOptions& options);
};

constexpr std::size_t kAnyNumber = 1000;
constexpr SessionsVerb kSessionsVerbs[] = {
    {"list", "", 0, 0, list_sessions},
    {"show", "ID", 1, 1, show_session},
    {"search", "WORDS", 1, kAnyNumber, search_sessions},
    {"import", "FILE", 1, 1, import_sessions},
    {"export", "ID", 1, 1, export_session},
    {"fork", "ID [NEW]", 1, 2, fork_session},
    {"rm", "ID...", 1, kAnyNumber, remove_sessions},
    {"copy", "ID STORE", 2, 2, copy_session},
    {"stats", "", 0, 0, count_sessions},
    {"verify", "", 0, 0, verify_sessions},
    {"backup", "FILE", 1, 1, back_up_sessions},
};

std::string sessions_verbs() {
  std::string out;
  for (const SessionsVerb& verb : kSessionsVerbs) {
    out += fmt::format("{}{}{}{}", out.empty() ? "" : " | ", verb.name, *verb.arguments != 0 ? " " : "",
                       verb.arguments);
  }
  return out;
}

void add_store(CLI::App& command, StoreChoice& choice) {
  command
      .add_option("--store", choice.uri,
                  "memory:, sqlite:PATH, postgresql://... or redis://... (default: the user's database)")
      ->type_name("URI");
}

void add_sessions(CLI::App& command, Typed& typed) {
  SessionsOptions& options = typed.sessions;
  command.add_option("VERB", typed.sessions_verb, sessions_verbs())->type_name("")->required();
  command.add_option("ARGUMENT", options.arguments, "What the verb needs")->type_name("");
  add_store(command, options.store);
  command.add_option("--tenant", options.store.tenant, "Whose sessions (default: default)")
      ->type_name("NAME");
  command.add_option("--from", typed.from, "import: the dialect; without it, it is detected")->type_name("D");
  command.add_option("--session", options.session, "import: the id of the session")->type_name("ID");
  command.add_option("--to", typed.to, "export: the dialect (default: parley)")->type_name("D");
  command.add_option("--at", options.size, "fork: how many records it shares (default: all)")->type_name("N");
  command.add_flag("--jsonl", options.lines, "import, export: JSON Lines");
  command.add_flag("--json", typed.json, "list, search, stats: JSON");
  command.add_flag("-q,--quiet", options.quiet, "No notes and no progress on standard error");
}

Exit run_sessions(Typed& typed) {
  SessionsOptions& options = typed.sessions;
  const auto verb = std::ranges::find_if(
      kSessionsVerbs, [&](const SessionsVerb& each) { return each.name == typed.sessions_verb; });
  if (verb == std::end(kSessionsVerbs)) {
    return usage(fmt::format("there is no 'sessions {}'", typed.sessions_verb), "sessions");
  }
  const std::size_t count = options.arguments.size();
  if (count < verb->least || count > verb->most) {
    return usage(fmt::format("'sessions {}' takes {}", verb->name,
                             *verb->arguments == 0 ? "nothing else" : verb->arguments),
                 "sessions");
  }
  if (!typed.from.empty()) {
    const Result<Dialect> from = dialect_named(typed.from);
    if (!from) return usage("--from: " + from.error().message, "sessions");
    options.from = *from;
  }
  if (!typed.to.empty()) {
    const Result<Dialect> to = dialect_named(typed.to);
    if (!to) return usage("--to: " + to.error().message, "sessions");
    options.to = *to;
  }
  options.json = typed.json;
  options.output = typed.output;
  return verb->run(options);
}

// ---- doctor

void add_doctor(CLI::App& command, Typed& typed) {
  add_store(command, typed.doctor.store);
  command.add_flag("--json", typed.json, "As one JSON object");
}

Exit run_doctor(Typed& typed) {
  typed.doctor.json = typed.json;
  typed.doctor.output = typed.output;
  return doctor(typed.doctor);
}

// ---- All of them

struct Command {
  const char* name;
  const char* summary;
  void (*add)(CLI::App& command, Typed& typed);
  Exit (*run)(Typed& typed);
};

constexpr Command kCommands[] = {
    {"convert", "Read a conversation and write it in another dialect", add_convert, run_convert},
    {"check", "Say what is wrong with conversations", add_check, run_check},
    {"dialects", "List the dialects and what each can carry", add_dialects, run_dialects},
    {"media", "Say whether images, audio and video may enter a conversation", add_media, run_media},
    {"tokens", "Count the tokens of a text or a conversation", add_tokens, run_tokens},
    {"filter", "Run a text filter, or list the filters", add_filter, run_filter},
    {"sessions", "The stored conversations", add_sessions, run_sessions},
    {"doctor", "Say whether the store is there and well", add_doctor, run_doctor},
};

void describe(CLI::App& app, Typed& typed) {
  app.set_version_flag("--version", "parley " PARLEY_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("REQUIRED", "(required)");
  app.get_formatter()->column_width(28);
  app.require_subcommand(1);
  app.footer(std::string("'parley COMMAND --help' explains a command.\n") + kExitCodes);
  for (const Command& each : kCommands) {
    CLI::App& command = *app.add_subcommand(each.name, each.summary);
    command.group("Commands")->footer(kExitCodes);
    each.add(command, typed);
    command.add_option("-o,--output", typed.output, "Write to FILE, whole or not at all")->type_name("FILE");
  }
}

// The arguments as CLI11 wants them: from the last to the first.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = argc - 1; i > 0; --i) {
    std::string argument = argv[i];
    // CLI11 takes [a,b] for a list of two; here it is one file of an odd name.
    if (argument.starts_with('[') && argument.ends_with(']')) argument.insert(0, "./");
    out.push_back(std::move(argument));
  }
  return out;
}

Exit print(const std::string& text) {
  Result<Output> output = Output::open("-");
  Result<void> outcome = output->write(text);
  if (outcome) outcome = output->commit();
  return outcome ? Exit::Ok : output->end(outcome.error());
}

// CLI11 writes sentences; ours start with a small letter.
std::string lower_first(std::string sentence) {
  if (sentence.size() > 1 && std::islower(static_cast<unsigned char>(sentence[1])) != 0) {
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  }
  return sentence;
}

Exit run(int argc, char** argv) {
  Typed typed;
  CLI::App app("Parley reads, checks and writes the conversations of LLM agents.", "parley");
  describe(app, typed);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return Exit::Usage;
  }
  const auto is_named = [](std::string_view name) {
    return [name](const Command& each) { return each.name == name; };
  };
  if (argv[1][0] != '-' && std::ranges::none_of(kCommands, is_named(argv[1]))) {
    return usage(fmt::format("there is no command '{}'", argv[1]));
  }
  try {
    app.parse(arguments(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::CallForVersion&) {
    return print(app.version() + "\n");
  } catch (const CLI::ParseError& error) {
    const auto commands = app.get_subcommands();
    if (commands.empty()) return usage("a command is required");
    return usage(lower_first(error.what()), commands.front()->get_name());
  }
  const std::string name = app.get_subcommands().front()->get_name();
  return std::ranges::find_if(kCommands, is_named(name))->run(typed);
}

}  // namespace
}  // namespace parley::cli

int main(int argc, char** argv) {
  parley::cli::prepare_process();
  try {
    return static_cast<int>(parley::cli::run(argc, argv));
  } catch (const std::bad_alloc&) {
    parley::cli::say("there is not enough memory");
  } catch (const std::exception& error) {  // CLI11 and fmt throw; no input should make them
    parley::cli::say(error.what());
  }
  return static_cast<int>(parley::cli::Exit::Environment);
}
