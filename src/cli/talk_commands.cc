// The commands that talk with a model.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/say.h"

namespace parley::cli {
namespace {

struct Typed {
  TalkOptions options;
  std::string words;
};

// CLI::Range takes what is no number at all (nan) for one in its range.
CLI::Validator seconds() {
  return {[](const std::string& typed) {
            double value = 0;
            const bool is_good = CLI::detail::lexical_cast(typed, value) && value >= 0.001 && value <= 86'400;
            return is_good ? std::string() : "Value " + typed + " not in range [0.001 - 86400]";
          },
          ""};
}

void add_talk(CLI::App& command, TalkOptions& options) {
  command.add_option("-m,--model", options.model, "PROVIDER/NAME, or 'rehearsal', which needs no network")
      ->type_name("M");
  command.add_option("-s,--system", options.system, "What the model is told before everything else")
      ->type_name("TEXT");
  command.add_flag("-c,--continue", options.continues_last,
                   "Continue the session that was used last; without a request, its last answer");
  command
      .add_option("-a,--attach", options.attachments,
                  "An image or a text; '-' is standard input; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--tools", options.tools, "Names with commas between them, 'all' or 'none'")
      ->type_name("LIST");
  command
      .add_option("--max-steps", options.max_steps,
                  "How often the model is asked for one request (default 30)")
      ->check(CLI::Range(1, 10'000).description(""))
      ->type_name("N");
  command
      .add_option("--max-calls", options.max_calls,
                  "Most tool calls in one answer; if an answer has more, none of them runs (default 128)")
      ->check(CLI::Range(1, kMostCalls).description(""))
      ->type_name("N");
  command.add_option("--timeout", options.timeout, "How long one request may take")
      ->check(seconds())
      ->type_name("SECONDS");
  add_store(command, options.store);
  add_tenant(command, options.store);
  command.add_flag("--json", options.json, "One JSON object for each answer");
  command.add_flag("--stream", options.stream, "With --json: a line for each event before it");
  command.add_flag("-q,--quiet", options.quiet, "Nothing but the answer, and errors");
}

Exit start(const std::shared_ptr<Typed>& typed, const std::string& output, const char* name,
           Exit (*run)(const TalkOptions& options, const std::string& words)) {
  TalkOptions& options = typed->options;
  options.output = output;
  if (options.stream && !options.json) return usage("--stream needs --json", name);
  if (options.continues_last && !options.session.empty()) {
    return usage("--continue names the session already", name);
  }
  return run(options, typed->words);
}

Run add_chat(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  add_talk(command, typed->options);
  command.add_option("SESSION", typed->options.session, "Its id; without one, a new session")->type_name("");
  return [typed, &output] {
    return start(typed, output, "chat",
                 [](const TalkOptions& options, const std::string&) { return chat(options); });
  };
}

Run add_run(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  add_talk(command, typed->options);
  command.add_option("TASK", typed->words, "What is to be done, behind what is piped in")->type_name("");
  return [typed, &output] { return start(typed, output, "run", run_task); };
}

Run add_prompt(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<Typed>();
  command.add_option("-p,--prompt", typed->words, "What is asked, behind what is piped in")
      ->type_name("TEXT")
      ->required();
  add_talk(command, typed->options);
  return [typed, &output] { return start(typed, output, kPromptCommand, answer_prompt); };
}

}  // namespace

std::span<const Command> talk_commands() {
  static constexpr Command kCommands[] = {
      {"chat", "Talk with a model, line by line", add_chat},
      {"run", "Let an agent with tools do a task", add_run},
      {kPromptCommand, "Ask once: 'parley -p TEXT'", add_prompt},
  };
  return kCommands;
}

}  // namespace parley::cli
