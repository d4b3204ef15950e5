#include "cli/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/proxy.h"
#include "cli/secret_tool.h"
#include "cli/secrets.h"
#include "cli/suggestion.h"
#include "parley/model/http_model.h"

namespace parley::cli {
namespace {

Result<OpenedModel> open_rehearsal(const Config& chosen, std::shared_ptr<UsageLedger> ledger) {
  PARLEY_TRY(Rehearsal rehearsal, Rehearsal::start());
  OpenedModel out;
  out.rehearsal = std::make_shared<Rehearsal>(std::move(rehearsal));
  ModelConfig config;
  config.model = std::string("compatible/") + kRehearsal;
  config.base_url = out.rehearsal->url();
  if (chosen.window.value > 0) config.window = chosen.window.value;
  config.ledger = std::move(ledger);
  PARLEY_TRY(out.model, open_model(std::move(config)));
  return out;
}

Result<OpenedModel> open_named(const std::string& name, const Config& config,
                               std::shared_ptr<UsageLedger> ledger) {
  PARLEY_TRY(ModelConfig model, chosen_model(name, config));
  model.ledger = std::move(ledger);
  OpenedModel out;
  const Result<ModelName> parsed = parse_model_name(name);
  const bool has_key = !model.key.empty();
  Result<std::shared_ptr<Model>> opened = open_model(std::move(model));
  if (!opened && opened.error().code == Code::Missing && !has_key && parsed) {
    opened.error().message += fmt::format(" or run 'parley config key set {}'", parsed->provider->name);
  }
  PARLEY_TRY(out.model, std::move(opened));
  return out;
}

bool is_rehearsal(std::string_view name) {
  return name == kRehearsal || name == fmt::format("{0}/{0}", kRehearsal);
}

// The error, with the source of the wrong value as its path.
std::unexpected<Error> with_source(Error error, const std::string& source) {
  error.path = source;
  return std::unexpected(std::move(error));
}

std::string unknown_model(const std::string& name, const Config& config) {
  std::vector<std::string> names = {kRehearsal};
  for (const KnownModel& each : known_models()) names.emplace_back(each.name);
  for (const auto& [alias, model] : config.aliases) names.push_back(alias);
  const auto meant = suggestion_for(name, names);
  return fmt::format("unknown model '{}': {}use PROVIDER/NAME; 'parley models' lists what can be asked", name,
                     meant ? fmt::format("did you mean '{}'? Or ", *meant) : "");
}

ExitCode report_model_error(const Error& error) {
  const bool is_choice = error.code == Code::NotFound || error.code == Code::Invalid;
  if (is_choice && !error.path.empty()) return report_choice_error(error.message, error.path);
  print_message(error.message);
  return is_choice ? ExitCode::Usage : ExitCode::Environment;
}

}  // namespace

PriceTable prices_of(const Config& config) {
  PriceTable table = PriceTable::published();
  std::vector<Price> rows;
  for (const auto& [name, price] : config.prices) {
    const std::size_t slash = name.find('/');
    rows.push_back({.model = slash == std::string::npos ? name : name.substr(slash + 1),
                    .provider = slash == std::string::npos ? std::string() : name.substr(0, slash),
                    .input = price.input,
                    .output = price.output,
                    .cache_read = price.cache_read,
                    .cache_write = price.cache_write});
  }
  table.prefer(rows);
  return table;
}

Result<std::string> chosen_name(const std::string& typed, const Config& config) {
  std::string name = typed.empty() ? config.model.value : typed;
  if (const auto alias = config.aliases.find(name); alias != config.aliases.end()) name = alias->second.value;
  if (!name.empty()) return is_rehearsal(name) ? kRehearsal : with_provider(name);
  for (const auto& [provider, choice] : config.providers) {
    if (!choice.key.is_set() && !choice.base_url.is_set()) continue;
    return fail(Code::Missing, fmt::format("{} is configured, but no model is set: use --model {}/NAME or "
                                           "'parley config set model {}/NAME'; "
                                           "'parley models' lists names",
                                           provider, provider, provider));
  }
  return kRehearsal;
}

Result<ModelConfig> chosen_model(const std::string& name, const Config& config) {
  Result<ModelName> parsed = parse_model_name(name);
  if (!parsed) {
    const bool is_bare = name.find_first_of("/:") == std::string::npos;
    parsed.error().message =
        is_bare ? unknown_model(name, config) : fmt::format("model '{}': {}", name, parsed.error().message);
    return with_source(parsed.error(), config.model.value == name ? config.model.from : "");
  }
  const ProviderChoice provider = config.provider(parsed->provider->name);
  ModelConfig out;
  out.model = name;
  out.key = provider.key.value;
  if (out.key.empty() && provider.key.from == kInSecretService) {
    Result<Secret> key = find_in_secret_service(std::string(parsed->provider->name));
    if (!key) return fail(Code::Missing, key.error().message);
    register_secrets("api_key", key->reveal());
    out.key = *std::move(key);
  }
  out.key_variable = provider.key.from;
  out.base_url = provider.base_url.value;
  out.prices = prices_of(config);
  out.retry.attempts = static_cast<unsigned>(config.retries.value) + 1;
  if (config.window.value > 0) {
    out.window = config.window.value;
  } else if (out.base_url.empty()) {  // another server may have another model of this name
    out.window = known_window(parsed->provider->name, parsed->name.view());
  }
  out.ca_file = from_environment("SSL_CERT_FILE");
  const Result<Url> url = url_of(*parsed->provider, {.base_url = out.base_url, .model = parsed->name});
  if (!url) return with_source(url.error(), provider.base_url.from);
  PARLEY_TRY(out.proxy, proxy_for(*url));
  return out;
}

Result<OpenedModel> try_model(const std::string& name, const Config& config,
                              std::shared_ptr<UsageLedger> ledger) {
  return name == kRehearsal ? open_rehearsal(config, std::move(ledger))
                            : open_named(name, config, std::move(ledger));
}

CommandResult<OpenedModel> open_chosen_model(const std::string& typed, const Config& config,
                                             std::shared_ptr<UsageLedger> ledger) {
  const Result<std::string> name = chosen_name(typed, config);
  if (!name) {
    print_message(name.error().message);
    return std::unexpected(ExitCode::Usage);
  }
  if (typed.empty() && !config.model.is_set()) {
    print_message("using 'rehearsal', the built-in offline model; set a key or --model for a real one");
  }
  Result<OpenedModel> opened = try_model(*name, config, std::move(ledger));
  if (!opened) return std::unexpected(report_model_error(opened.error()));
  return *std::move(opened);
}

}  // namespace parley::cli
