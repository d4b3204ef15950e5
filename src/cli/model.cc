#include "cli/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/say.h"
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

// The provider that somebody gave a key or an address, for the sentence that asks for a model.
std::string configured_provider(const Config& config) {
  for (const auto& [name, provider] : config.providers) {
    if (provider.key.is_said() || provider.base_url.is_said()) return name;
  }
  return {};
}

bool is_rehearsal(std::string_view name) {
  return name == kRehearsal || name == fmt::format("{0}/{0}", kRehearsal);
}

Exit complain_of_model(const Error& error) {
  say(error.message);
  return error.code == Code::NotFound || error.code == Code::Invalid ? Exit::Usage : Exit::Environment;
}

}  // namespace

Result<ModelConfig> chosen_model(const std::string& name, const Config& config) {
  PARLEY_TRY(const ModelName parsed, parse_model_name(name));
  const ProviderChoice provider = config.provider(parsed.provider->name);
  ModelConfig out;
  out.model = name;
  out.key = provider.key.value;
  out.key_variable = provider.key.from;
  out.base_url = provider.base_url.value;
  out.prices = prices_of(config);
  return out;
}

Outcome<OpenedModel> open_chosen_model(const std::string& typed, const Config& config,
                                       std::shared_ptr<UsageLedger> ledger) {
  const std::string name = typed.empty() ? config.model.value : typed;
  if (name.empty()) {
    if (const std::string provider = configured_provider(config); !provider.empty()) {
      say(fmt::format("{} is configured, but no model is named: say --model {}/NAME, or set PARLEY_MODEL",
                      provider, provider));
      return std::unexpected(Exit::Usage);
    }
    say("no key and no server is configured (docs/configuration.md): this is 'rehearsal', which is no real "
        "model");
  }
  Result<OpenedModel> opened = name.empty() || is_rehearsal(name)
                                   ? open_rehearsal(std::move(ledger))
                                   : open_named(name, config, std::move(ledger));
  if (!opened) return std::unexpected(complain_of_model(opened.error()));
  return *std::move(opened);
}

}  // namespace parley::cli
