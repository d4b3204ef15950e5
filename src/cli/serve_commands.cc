// The commands of the server.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/diagnostics.h"
#include "cli/serve.h"

namespace parley::cli {
namespace {

Run add_serve(CLI::App& command, const std::string& output) {
  auto options = std::make_shared<ServeOptions>();
  command
      .add_option(
          "--listen", options->listen,
          "ADDRESS:PORT or unix:PATH (default 127.0.0.1:7557); other addresses than loopback need a key")
      ->type_name("ADDR");
  add_store(command, options->store);
  command.add_option("--config", options->config, "Read FILE instead of the user's configuration")
      ->type_name("FILE");
  command.add_option("--tls-cert", options->tls_certificate, "Serve HTTPS with this certificate (PEM)")
      ->type_name("FILE");
  command.add_option("--tls-key", options->tls_key, "Key of the certificate (PEM)")->type_name("FILE");
  command.add_flag("--insecure", options->is_insecure, "Listen on any address without a key");
  command.add_flag("--check", options->only_checks, "Say whether the server can start, and exit");
  command.add_flag("--json", options->json, "Print the address as one JSON object");
  return [options, &output] {
    if (output != "-") return usage_error("serve takes no -o", "serve");
    if (options->tls_certificate.empty() != options->tls_key.empty()) {
      return usage_error("--tls-cert and --tls-key belong together", "serve");
    }
    return serve(*options);
  };
}

struct KeysVerb {
  const char* name;
  bool needs_name;
  ExitCode (*run)(const KeysOptions& options);
};
constexpr KeysVerb kKeysVerbs[] = {{"create", true, create_key},
                                   {"list", false, list_keys},
                                   {"rotate", true, rotate_key},
                                   {"revoke", true, revoke_key}};

std::vector<std::string> keys_verbs() {
  std::vector<std::string> out;
  for (const KeysVerb& verb : kKeysVerbs) out.emplace_back(verb.name);
  return out;
}

ExitCode run_keys(const std::string& verb, KeysOptions& options, const std::string& output) {
  options.output = output;
  for (const KeysVerb& each : kKeysVerbs) {
    if (each.name != verb) continue;
    if (each.needs_name == options.name.empty()) {
      return usage_error(fmt::format("'keys {}' takes {}", verb, each.needs_name ? "NAME" : "no argument"),
                         "keys");
    }
    return each.run(options);
  }
  return usage_error(fmt::format("unknown verb 'keys {}'", verb), "keys");
}

Run add_keys(CLI::App& command, const std::string& output) {
  auto options = std::make_shared<KeysOptions>();
  auto verb = std::make_shared<std::string>("list");
  command.add_option("VERB", *verb, "create NAME | list | rotate NAME | revoke NAME (default: list)")
      ->type_name("");
  command.add_option("NAME", options->name, "Name of the key")->type_name("");
  add_store(command, options->store);
  command.add_option("--tenant", options->tenant, "create: tenant of its conversations (default: default)")
      ->type_name("NAME");
  command.add_option("--role", options->role, "create: use, read or admin (default: use)")->type_name("ROLE");
  command.add_option("--models", options->models, "create: models that it may ask, with * (default: all)")
      ->delimiter(',')
      ->type_name("M");
  command
      .add_option("--conversations", options->conversations,
                  "create: conversations that it may open, with * (default: all)")
      ->delimiter(',')
      ->type_name("C");
  command.add_option("--expires", options->expires, "create: when it ends: 12h, 30d, 4w (default: never)")
      ->type_name("TIME");
  command.add_option("--rpm", options->requests_per_minute, "create: requests per minute")->type_name("N");
  command.add_option("--tpm", options->tokens_per_minute, "create: tokens per minute")->type_name("N");
  command.add_option("--concurrent", options->concurrent, "create: requests at a time")->type_name("N");
  command.add_option("--budget", options->budget, "create: dollars per month")->type_name("N");
  command.add_option("--on-busy", options->on_busy, "create: queue, reject, interrupt or fork")
      ->type_name("RULE");
  command.add_option("--disconnect", options->disconnect, "create: continue, grace:20s or cancel")
      ->type_name("RULE");
  command.add_flag("--json", options->json, "Print JSON, one object a line");
  return [options, verb, &output] { return run_keys(*verb, *options, output); };
}

}  // namespace

std::span<const Command> serve_commands() {
  static constexpr Command kCommands[] = {
      {"serve", "Serve OpenAI's APIs with stored conversations", add_serve},
      {"keys", "Create, list, rotate and revoke keys of the server's clients", add_keys, keys_verbs},
  };
  return kCommands;
}

}  // namespace parley::cli
