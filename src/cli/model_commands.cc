// The commands that list, serve or record models.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/diagnostics.h"
#include "cli/models.h"
#include "cli/rehearse.h"

namespace parley::cli {
namespace {

struct TypedRehearse {
  RehearseOptions options;
  std::string record;
};

ExitCode run_rehearse(TypedRehearse& typed, const std::string& output) {
  RehearseOptions& options = typed.options;
  options.output = output;
  if (typed.record.empty()) {
    if (output != "-") return usage_error("-o needs --record", "rehearse");
    return rehearse(options);
  }
  if (!options.script.empty()) return usage_error("--script cannot be combined with --record", "rehearse");
  if (output == "-") return usage_error("--record needs -o FILE", "rehearse");
  const Result<Url> url = parse_url(typed.record);
  if (!url || (url->scheme != "http" && url->scheme != "https")) {
    return usage_error("--record: expected an http: or https: URL", "rehearse");
  }
  options.record = *url;
  return record(options);
}

Run add_rehearse(CLI::App& command, const std::string& output) {
  auto typed = std::make_shared<TypedRehearse>();
  command
      .add_option("--script", typed->options.script, "Script to follow; without it, answer by a few patterns")
      ->type_name("F");
  command
      .add_option("--record", typed->record,
                  "Forward requests to the provider at URL and record them in -o FILE")
      ->type_name("URL");
  command.add_flag("--json", typed->options.json, "Print the address as one JSON object");
  command.add_option("--port", typed->options.port, "Port to listen on (default: any free port)")
      ->type_name("N");
  return [typed, &output] { return run_rehearse(*typed, output); };
}

Run add_models(CLI::App& command, const std::string& output) {
  auto options = std::make_shared<ModelsOptions>();
  command.add_flag("--online", options->is_online, "Ask the configured servers which models they have");
  command.add_flag("--json", options->json, "Print one JSON object");
  return [options, &output] {
    options->output = output;
    return list_models(*options);
  };
}

}  // namespace

std::span<const Command> model_commands() {
  static constexpr Command kCommands[] = {
      {"models", "List the models that can be asked, with window, price and key", add_models},
      {"rehearse", "Serve the offline model, or record a real one", add_rehearse},
  };
  return kCommands;
}

}  // namespace parley::cli
