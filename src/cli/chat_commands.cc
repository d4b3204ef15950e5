// The commands that call a model.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/diagnostics.h"

namespace parley::cli {
namespace {

struct Typed {
  ChatOptions options;
  std::string words;
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
  command.add_option("-m,--model", options.model, "PROVIDER/NAME, or 'rehearsal', the offline model")
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
  command.add_option("--timeout", options.timeout, "Time limit for one request")
      ->check(seconds())
      ->type_name("SECONDS");
  add_store(command, options.store);
  add_tenant(command, options.store);
  command.add_flag("--json", options.json, "Print one JSON object per answer");
  command.add_flag("--stream", options.stream, "With --json: also print each event as a line of JSON");
  command.add_flag("-q,--quiet", options.quiet, "Print the answer and errors only");
}

ExitCode start(const std::shared_ptr<Typed>& typed, const std::string& output, const char* name,
               ExitCode (*run)(const ChatOptions& options, const std::string& words)) {
  ChatOptions& options = typed->options;
  options.output = output;
  if (options.stream && !options.json) return usage_error("--stream needs --json", name);
  if (options.continues_last && !options.session.empty()) {
    return usage_error("--continue cannot be combined with SESSION", name);
  }
  return run(options, typed->words);
}

Run add_chat(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  add_chat_options(command, typed->options);
  command.add_option("SESSION", typed->options.session, "Session id (default: a new session)")->type_name("");
  return [typed, &output] {
    return start(typed, output, "chat",
                 [](const ChatOptions& options, const std::string&) { return chat(options); });
  };
}

Run add_run(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  add_chat_options(command, typed->options);
  command.add_option("TASK", typed->words, "The task; piped input comes before it")->type_name("");
  return [typed, &output] { return start(typed, output, "run", run_task); };
}

Run add_prompt(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  command.add_option("-p,--prompt", typed->words, "The prompt; piped input comes before it")
      ->type_name("TEXT")
      ->required();
  add_chat_options(command, typed->options);
  return [typed, &output] { return start(typed, output, kPromptCommand, answer_prompt); };
}

}  // namespace

std::span<const Command> chat_commands() {
  static constexpr Command kCommands[] = {
      {"chat", "Chat with a model, line by line", add_chat},
      {"run", "Run an agent with tools on one task", add_run},
      {kPromptCommand, "Ask once: parley -p 'TEXT'", add_prompt},
  };
  return kCommands;
}

}  // namespace parley::cli
