// The commands that read documents, texts and media: parses their options and calls one function each.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "cli/check.h"
#include "cli/commands.h"
#include "cli/convert.h"
#include "cli/diagnostics.h"
#include "cli/dialects.h"
#include "cli/filter.h"
#include "cli/lines.h"
#include "cli/media.h"
#include "cli/media_show.h"
#include "cli/tokens.h"

namespace parley::cli {
namespace {

// ---- convert

struct TypedConvert {
  std::string from, to, policy, now;
  bool json = false;  // it is, in any case
  ConvertOptions options;
};

// "2026-11-16T14:00:00", with a fraction of up to three digits: local time, or UTC if a Z follows.
std::optional<std::int64_t> unix_ms(const std::string& text) {
  std::tm time = {};
  const char* rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (rest == nullptr) return std::nullopt;
  std::int64_t ms = 0;
  if (*rest == '.') {
    std::int64_t unit = 100;
    for (++rest; *rest >= '0' && *rest <= '9' && unit != 0; ++rest, unit /= 10) ms += unit * (*rest - '0');
  }
  const bool is_utc = *rest == 'Z';
  if (is_utc) ++rest;
  if (*rest != '\0') return std::nullopt;
  time.tm_isdst = -1;
  const std::time_t seconds = is_utc ? timegm(&time) : std::mktime(&time);
  return std::int64_t{seconds} * 1000 + ms;
}

ExitCode run_convert(TypedConvert& typed, const std::string& output) {
  ConvertOptions& options = typed.options;
  if (!typed.from.empty()) {
    const Result<Dialect> from = dialect_named(typed.from);
    if (!from) return usage_error("--from: " + from.error().message, "convert");
    options.from = *from;
  }
  const Result<Dialect> to = dialect_named(typed.to);
  if (!to) return usage_error("--to: " + to.error().message, "convert");
  options.to = *to;
  if (!typed.policy.empty()) {
    const Result<Formatter> policy = formatter_named(typed.policy);
    if (!policy) return usage_error("--policy: " + policy.error().message, "convert");
    options.policy = *policy;
  }
  if (!typed.now.empty()) {
    options.now = unix_ms(typed.now);
    if (!options.now)
      return usage_error("--now: invalid time '" + typed.now + "'; expected e.g. 2026-11-16T14:00:00Z",
                         "convert");
  }
  options.output = output;
  options.lines = options.lines || is_json_lines_name(options.input);
  if (options.pretty && options.lines)
    return usage_error("--pretty cannot be combined with --jsonl", "convert");
  if (options.notes == "-" || options.notes == options.output || options.notes == options.input) {
    return usage_error("--notes: FILE must differ from the input and the output", "convert");
  }
  return convert(options);
}

Run add_convert(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedConvert>();
  ConvertOptions& options = typed->options;
  command
      .add_option("--from", typed->from,
                  "Dialect to read, as 'parley dialects' lists them (default: detected)")
      ->type_name("D");
  command.add_option("--to", typed->to, "Dialect to write")->type_name("D")->required();
  command.add_flag("--repair", options.repair,
                   "Repair a broken history: orphaned, missing and misplaced results");
  command.add_flag("--complete-pending", options.complete_pending,
                   "Add a result for each unanswered call of the last step");
  command.add_flag("--strict", options.strict,
                   "Fail on lost content, duplicate member names and unpaired surrogates");
  command
      .add_option("--policy", typed->policy,
                  "Use the formatter of another program: agentscope-chat, agentscope-multiagent, openmanus")
      ->type_name("P");
  command.add_option("--model", options.model, "Model name to write into the request")->type_name("NAME");
  command.add_option("--now", typed->now, "Timestamp for messages that have none (default: now)")
      ->type_name("TIME");
  command.add_flag("--jsonl", options.lines, "Each line is a document (implied by .jsonl and .ndjson)");
  command.add_flag("--json", typed->json, "Accepted for consistency: the output is always JSON");
  command.add_flag("--pretty", options.pretty, "Indent the output");
  command.add_option("--notes", options.notes, "Write all notes to F as JSON Lines")->type_name("F");
  command.add_flag("-q,--quiet", options.quiet, "Print no notes and no progress");
  command.add_option("FILE", options.input, "The conversation (default: standard input)")->type_name("");
  return [typed, &output] { return run_convert(*typed, output); };
}

// ---- check

struct TypedCheck {
  std::string as;
  CheckOptions options;
};

ExitCode run_check(TypedCheck& typed, const std::string& output) {
  CheckOptions& options = typed.options;
  if (!typed.as.empty()) {
    const Result<Dialect> as = dialect_named(typed.as);
    if (!as) return usage_error("--as: " + as.error().message, "check");
    options.as = *as;
  }
  options.output = output;
  return check(options);
}

Run add_check(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedCheck>();
  CheckOptions& options = typed->options;
  command.add_option("--as", typed->as, "Dialect of the files (default: detected)")->type_name("D");
  command.add_flag("--jsonl", options.lines, "Each line is a document (implied by .jsonl and .ndjson)");
  command.add_flag("--json", options.json, "Print one JSON object per file");
  command.add_flag("-q,--quiet", options.quiet, "Print findings and errors only");
  command.add_option("FILE", options.files, "The conversations; '-' is standard input")
      ->type_name("")
      ->required();
  return [typed, &output] { return run_check(*typed, output); };
}

// ---- dialects

Run add_dialects(CLI::App& command, const std::string& output) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "Print one JSON object");
  return [json, &output] { return list_dialects(*json, output); };
}

// ---- tokens

struct TypedTokens {
  std::string as;
  TokensOptions options;
};

ExitCode count_conversation(const TokensOptions& options, const std::string& as) {
  const Result<Dialect> dialect = dialect_named(as);
  if (!dialect) return usage_error("--as: " + dialect.error().message, "tokens");
  if (options.ids) return usage_error("--ids cannot be combined with --as", "tokens");
  const std::string model = options.model.empty() ? "gpt-4o" : options.model;
  if (options.encoding.empty()) return tokens(options, *dialect, TokenCounter::for_model(model));
  const Result<Encoding> encoding = Encoding::named(options.encoding);
  if (!encoding) return usage_error("--encoding: " + encoding.error().message, "tokens");
  return tokens(options, *dialect, TokenCounter::for_model(model, *encoding));
}

ExitCode run_tokens(TypedTokens& typed, const std::string& output) {
  TokensOptions& options = typed.options;
  options.output = output;
  if (!typed.as.empty()) return count_conversation(options, typed.as);
  if (!options.model.empty()) return usage_error("--model needs --as", "tokens");
  const Result<Encoding> encoding =
      Encoding::named(options.encoding.empty() ? "o200k_base" : options.encoding);
  if (!encoding) return usage_error("--encoding: " + encoding.error().message, "tokens");
  return tokens(options, *encoding);
}

Run add_tokens(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedTokens>();
  TokensOptions& options = typed->options;
  command.add_option("--as", typed->as, "Count FILE as a conversation in this dialect")->type_name("D");
  command
      .add_option("--model", options.model, "With --as: count by the rules of this model (default gpt-4o)")
      ->type_name("M");
  command
      .add_option("--encoding", options.encoding,
                  "o200k_base or cl100k_base (default: o200k_base; with --as, the model's)")
      ->type_name("E");
  command.add_flag("--ids", options.ids, "Print token ids instead of their number");
  command.add_flag("--json", options.json, "Print one JSON object");
  command.add_option("FILE", options.file, "A text, or a conversation; '-' is standard input")
      ->type_name("")
      ->required();
  return [typed, &output] { return run_tokens(*typed, output); };
}

// ---- media

struct TypedMedia {
  std::string verb, level = "decode";
  MediaOptions options;
};

ExitCode run_media(TypedMedia& typed, const std::string& output) {
  MediaOptions& options = typed.options;
  if (typed.verb != "check" && typed.verb != "show") {
    return usage_error(fmt::format("unknown verb 'media {}': expected check or show", typed.verb), "media");
  }
  if (typed.level != "header" && typed.level != "decode") {
    return usage_error(fmt::format("--level: unknown level '{}': expected header or decode", typed.level),
                       "media");
  }
  options.level = typed.level == "header" ? ImageLevel::Header : ImageLevel::Decode;
  options.output = output;
  const bool shows = typed.verb == "show";
  if (shows && options.base64) return usage_error("--base64 is for 'media check'", "media");
  // To a program an image is shown by what is known of it.
  return shows && !options.json ? show_media(options) : check_media(options);
}

Run add_media(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedMedia>();
  MediaOptions& options = typed->options;
  command
      .add_option("VERB", typed->verb,
                  "check: validate images, audio and video; show: show images at the terminal")
      ->type_name("")
      ->required();
  command.add_flag("--base64", options.base64, "The files contain base64 or data URLs");
  command
      .add_option("--level", typed->level,
                  "Images: 'header' checks the headers, 'decode' the pixels too (default)")
      ->type_name("L");
  command.add_flag("--json", options.json, "Print one JSON object per file");
  command.add_option("FILE", options.files, "The files; '-' is standard input")->type_name("")->required();
  return [typed, &output] { return run_media(*typed, output); };
}

// ---- filter

struct TypedFilter {
  FilterCommand command;
  FilterOptions options;
};

ExitCode run_filter(TypedFilter& typed, const std::string& output) {
  typed.command.output = output;
  if (typed.command.name.empty()) return list_filters(typed.command);
  const std::string_view names[] = {typed.command.name};
  const Result<FilterChain> chain = FilterChain::of(names, typed.options);
  if (!chain) return usage_error(chain.error().message, "filter");
  return filter(typed.command, *chain);
}

Run add_filter(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedFilter>();
  command
      .add_option("--bytes", typed->options.size_bytes,
                  "With 'size': maximum number of bytes (default 65536)")
      ->check([](const std::string& number) {
        return number.starts_with('-') ? std::string("expected a non-negative number of bytes")
                                       : std::string();
      })
      ->type_name("N");
  command.add_flag("--keep-page-state", typed->options.keep_page_state,
                   "With 'browser' and 'browser-agentscope': keep page state and snapshots");
  command.add_flag("--json", typed->command.json, "Print one JSON object: the text and the changes");
  command.add_flag("-q,--quiet", typed->command.quiet, "Do not report the changes");
  command.add_option("NAME", typed->command.name, "Filter to run; without it, list the filters")
      ->type_name("");
  command.add_option("FILE", typed->command.file, "The text (default: standard input)")->type_name("");
  return [typed, &output] { return run_filter(*typed, output); };
}

}  // namespace

std::span<const Command> document_commands() {
  static constexpr Command kCommands[] = {
      {"convert", "Read a conversation and write it in another dialect", add_convert},
      {"check", "Check conversations and report what is wrong", add_check},
      {"dialects", "List the dialects and what each can carry", add_dialects},
      {"media", "Check images, audio and video", add_media,
       [] { return std::vector<std::string>{"check", "show"}; }},
      {"tokens", "Count the tokens of a text or a conversation", add_tokens},
      {"filter", "Run a text filter, or list the filters", add_filter},
  };
  return kCommands;
}

}  // namespace parley::cli
