// The commands that serve or record models.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/diagnostics.h"
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
  command.add_option("--port", typed->options.port, "Port to listen on (default: any free port)")
      ->type_name("N");
  return [typed, &output] { return run_rehearse(*typed, output); };
}

}  // namespace

std::span<const Command> model_commands() {
  static constexpr Command kCommands[] = {
      {"rehearse", "Serve the offline model, or record a real one", add_rehearse},
  };
  return kCommands;
}

}  // namespace parley::cli
