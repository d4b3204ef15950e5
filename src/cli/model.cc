#include "cli/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/diagnostics.h"
#include "cli/environment.h"
#include "cli/proxy.h"
#include "parley/model/provider.h"

namespace parley::cli {
namespace {

Result<OpenedModel> open_rehearsal(std::shared_ptr<UsageLedger> ledger) {
  PARLEY_TRY(Rehearsal rehearsal, Rehearsal::start());
  OpenedModel out;
  out.rehearsal = std::make_shared<Rehearsal>(std::move(rehearsal));
  ModelConfig config;
  config.model = std::string("compatible/") + kRehearsal;
  config.base_url = out.rehearsal->url();
  config.ledger = std::move(ledger);
  PARLEY_TRY(out.model, open_model(std::move(config)));
  return out;
}

Result<OpenedModel> open_named(const std::string& name, const Config& config,
                               std::shared_ptr<UsageLedger> ledger) {
  PARLEY_TRY(ModelConfig model, chosen_model(name, config));
  model.ledger = std::move(ledger);
  OpenedModel out;
  PARLEY_TRY(out.model, open_model(std::move(model)));
  return out;
}

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

bool is_rehearsal(std::string_view name) {
  return name == kRehearsal || name == fmt::format("{0}/{0}", kRehearsal);
}

// The error, with the source of the wrong value as its path.
std::unexpected<Error> with_source(Error error, const std::string& source) {
  error.path = source;
  return std::unexpected(std::move(error));
}

ExitCode report_model_error(const Error& error) {
  const bool is_choice = error.code == Code::NotFound || error.code == Code::Invalid;
  if (is_choice && !error.path.empty()) return report_choice_error(error.message, error.path);
  print_message(error.message);
  return is_choice ? ExitCode::Usage : ExitCode::Environment;
}

}  // namespace

Result<std::string> chosen_name(const std::string& typed, const Config& config) {
  const std::string name = typed.empty() ? config.model.value : typed;
  if (!name.empty()) return is_rehearsal(name) ? kRehearsal : name;
  for (const auto& [provider, choice] : config.providers) {
    if (!choice.key.is_set() && !choice.base_url.is_set()) continue;
    return fail(Code::Missing,
                fmt::format("{} is configured, but no model is set: use --model {}/NAME or set PARLEY_MODEL",
                            provider, provider));
  }
  return kRehearsal;
}

Result<ModelConfig> chosen_model(const std::string& name, const Config& config) {
  Result<ModelName> parsed = parse_model_name(name);
  if (!parsed) {
    parsed.error().message = fmt::format("model '{}': {}", name, parsed.error().message);
    return with_source(parsed.error(), config.model.value == name ? config.model.from : "");
  }
  const ProviderChoice provider = config.provider(parsed->provider->name);
  ModelConfig out;
  out.model = name;
  out.key = provider.key.value;
  out.key_variable = provider.key.from;
  out.base_url = provider.base_url.value;
  out.prices = prices_of(config);
  out.ca_file = from_environment("SSL_CERT_FILE");
  const Result<Url> url = url_of(*parsed->provider, {.base_url = out.base_url, .model = parsed->name});
  if (!url) return with_source(url.error(), provider.base_url.from);
  PARLEY_TRY(out.proxy, proxy_for(*url));
  return out;
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
  Result<OpenedModel> opened =
      *name == kRehearsal ? open_rehearsal(std::move(ledger)) : open_named(*name, config, std::move(ledger));
  if (!opened) return std::unexpected(report_model_error(opened.error()));
  return *std::move(opened);
}

}  // namespace parley::cli
