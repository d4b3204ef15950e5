// The commands that call a model.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/diagnostics.h"
#include "cli/terminal.h"
#include "cli/verbose.h"

namespace parley::cli {
namespace {

struct Typed {
  ChatOptions options;
  std::string words;
  std::vector<std::string> list;  // the words, one by one
};

// CLI::Range accepts nan.
CLI::Validator seconds() {
  return {[](const std::string& typed) {
            double value = 0;
            const bool is_good = CLI::detail::lexical_cast(typed, value) && value >= 0.001 && value <= 86'400;
            return is_good ? std::string() : "Value " + typed + " not in range [0.001 - 86400]";
          },
          ""};
}

void add_chat_options(CLI::App& command, ChatOptions& options) {
  command
      .add_option("-m,--model", options.model, "PROVIDER/NAME, a known NAME or an alias ('parley models')")
      ->type_name("M");
  command.add_option("-s,--system", options.system, "System prompt")->type_name("TEXT");
  command.add_flag("-c,--continue", options.continues_last,
                   "Continue the last session; without a request, its last answer");
  command
      .add_option("-a,--attach", options.attachments,
                  "Attach an image or a text; '-' is standard input; repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--tools", options.tools, "Comma-separated tool names, 'all' or 'none'")
      ->type_name("LIST");
  command.add_option("--max-steps", options.max_steps, "Maximum model calls for one request (default 30)")
      ->check(CLI::Range(1, 10'000).description(""))
      ->type_name("N");
  command
      .add_option("--max-calls", options.max_calls,
                  "Maximum tool calls in one answer; with more, none runs (default 128)")
      ->check(CLI::Range(1, kMostCalls).description(""))
      ->type_name("N");
  command
      .add_option("--max-input-tokens", options.max_input_tokens,
                  "Maximum input tokens of all model calls for one request (default: no limit)")
      ->check(CLI::Range(std::int64_t{1}, kMostInputTokens).description(""))
      ->type_name("N");
  command.add_option("--timeout", options.timeout, "Time limit for one request")
      ->check(seconds())
      ->type_name("SECONDS");
  command
      .add_option("-O,--option", options.model_options,
                  "Model setting: temperature, top_p, seed, stop, reasoning_effort, ...; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--max-tokens", options.max_tokens, "Maximum tokens of one answer")
      ->check(CLI::Range(1, kMostWindow).description(""))
      ->type_name("N");
  command.add_option("--retries", options.retries, "Retries of a failed call to the model (default 2)")
      ->check(CLI::Range(0, 100).description(""))
      ->type_name("N");
  command
      .add_option("--window", options.window,
                  "Context window of the model, in tokens (default: the model's, if known)")
      ->check(CLI::Range(1, kMostWindow).description(""))
      ->type_name("N");
  command
      .add_option("--schema", options.schema,
                  "Require an answer that matches this JSON Schema: a file, JSON, or 'name, age int'")
      ->type_name("SCHEMA");
  command.add_flag("--no-log", options.is_not_stored, "Store nothing");
  command.add_flag("-x,--extract", options.extracts_code, "Print only the last code block of the answer");
  add_store(command, options.store);
  add_tenant(command, options.store);
  command.add_flag("--json", options.json, "Print one JSON object per answer");
  command.add_flag("--stream", options.stream, "With --json: also print each event as a line of JSON");
  command.add_flag("--raw", options.raw, "Print Markdown as it is, also at a terminal");
  command.add_flag("-q,--quiet", options.quiet, "Print the answer and errors only");
  command.add_flag("-v,--verbose", options.verbose,
                   "Print HTTP requests, responses, retries and their times on stderr");
}

void add_template(CLI::App& command, ChatOptions& options) {
  command.add_option("-t,--template", options.template_name, "Use a template of the configuration folder")
      ->type_name("NAME");
  command.add_option("-V,--var", options.variables, "Value of a variable of the template; repeatable")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

ExitCode start(const std::shared_ptr<Typed>& typed, const std::string& output, const char* name,
               ExitCode (*run)(const ChatOptions& options, const std::string& words)) {
  ChatOptions& options = typed->options;
  options.output = output;
  if (!options.variables.empty() && options.template_name.empty())
    return usage_error("--var needs --template", name);
  if (options.verbose && options.quiet) return usage_error("-v cannot be combined with -q", name);
  if (options.stream && !options.json) return usage_error("--stream needs --json", name);
  if (options.plan && (options.extracts_code || !options.schema.empty())) {
    return usage_error("--plan cannot be combined with -x or --schema", name);
  }
  if (options.continues_last && !options.session.empty()) {
    return usage_error("--continue cannot be combined with SESSION", name);
  }
  if (options.is_not_stored) {
    if (options.continues_last || !options.session.empty() || !options.store.uri.empty()) {
      return usage_error("--no-log cannot be combined with --continue, SESSION or --store", name);
    }
    options.store.uri = "memory:";
  }
  if (options.verbose) print_log_lines();
  const ExitCode exit = run(options, typed->words);
  print_held_log_lines();
  return exit;
}

Run add_chat(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  add_chat_options(command, typed->options);
  command
      .add_option("SESSION", typed->options.session,
                  "Session name or id (default: a new session); /help in the chat lists its commands")
      ->type_name("");
  return [typed, &output] {
    return start(typed, output, "chat",
                 [](const ChatOptions& options, const std::string&) { return chat(options); });
  };
}

Run add_run(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  add_chat_options(command, typed->options);
  command.add_flag("--plan", typed->options.plan,
                   "Let the model make a plan for the task, and run its steps one after the other");
  add_template(command, typed->options);
  command.add_option("TASK", typed->words, "The task; piped input comes before it")->type_name("");
  return [typed, &output] { return start(typed, output, "run", run_task); };
}

Run add_prompt(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  const CLI::Option* words =
      command.add_option("PROMPT", typed->list, "The prompt; piped input comes before it")->type_name("");
  const CLI::Option* prompt =
      command.add_option("-p,--prompt", typed->words, "The prompt, if it begins like a command or an option")
          ->type_name("TEXT");
  add_chat_options(command, typed->options);
  add_template(command, typed->options);
  return [typed, words, prompt, &output] {
    const bool has_prompt = prompt->count() > 0;
    if (has_prompt && words->count() > 0) {
      return usage_error("-p TEXT cannot be combined with PROMPT", kPromptCommand);
    }
    // Not `list`: CLI11 reads the prompt "{}" as an empty one.
    if (!has_prompt) typed->words = fmt::format("{}", fmt::join(words->results(), " "));
    const ChatOptions& options = typed->options;
    if (!has_prompt && typed->words.empty() && !options.continues_last && options.attachments.empty() &&
        options.template_name.empty() && is_terminal(STDIN_FILENO)) {
      return usage_error("missing prompt: expected parley 'PROMPT'", kPromptCommand);
    }
    return start(typed, output, kPromptCommand, answer_prompt);
  };
}

}  // namespace

std::span<const Command> chat_commands() {
  static constexpr Command kCommands[] = {
      {"chat", "Chat with a model, line by line", add_chat},
      {"run", "Run an agent with tools on one task", add_run},
      {kPromptCommand, "Ask once: parley 'PROMPT'", add_prompt},
  };
  return kCommands;
}

}  // namespace parley::cli
