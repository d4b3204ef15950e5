#include "cli/served_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/known_models.h"
#include "cli/secret_tool.h"
#include "cli/secrets.h"
#include "parley/base/log.h"

namespace parley::cli {
namespace {

constexpr std::chrono::seconds kSecretTime{5};    // for secret-tool: an event loop may wait for it
constexpr std::chrono::seconds kSecretPause{30};  // before it is asked again for a key that it did not give

bool is_ready(const Config& config, std::string_view provider) {
  const ProviderChoice choice = config.provider(provider);
  return choice.key.is_set() || choice.base_url.is_set();
}

bool lacks_key(const ProviderChoice& provider) {
  return provider.key.value.empty() && provider.key.from == kInSecretService;
}

// Empty if there is none.
Secret key_in_secret_service(const std::string& provider) {
  Result<Secret> key = find_in_secret_service(provider, kSecretTime);
  if (!key) {
    log(LogLevel::Warning, key.error().message);
    return {};
  }
  register_secrets("api_key", key->reveal());
  return *std::move(key);
}

std::unexpected<Error> no_model(std::string_view name) {
  return fail(Code::NotFound, fmt::format("the model '{}' does not exist or has no key here", name),
              "/model");
}

}  // namespace

ServedModels::SharedConfig ServedModels::present() {
  const std::lock_guard lock(mutex_);
  return config_;
}

Result<std::shared_ptr<Model>> ServedModels::find(std::string_view name) {
  if (name.empty()) return no_model(name);
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = opened_.find(name); found != opened_.end()) return found->second;
  }
  SharedConfig config = present();
  const Result<std::string> chosen = chosen_name(std::string(name), *config);
  if (!chosen) return no_model(name);
  config = with_key_of(*chosen, std::move(config));
  if (!config) return no_model(name);
  Result<OpenedModel> opened = try_model(*chosen, *config);
  if (!opened) return no_model(name);
  return keep(name, *std::move(opened), config);
}

// The configuration with the key of the model's provider, if that is in the secret service; null: it is not.
ServedModels::SharedConfig ServedModels::with_key_of(const std::string& model, SharedConfig config) {
  const Result<ModelName> parsed = parse_model_name(model);
  if (!parsed || !lacks_key(config->provider(parsed->provider->name))) return config;
  const std::string provider(parsed->provider->name);
  {
    const std::lock_guard lock(mutex_);
    const auto pause = pauses_.find(provider);
    if (pause != pauses_.end() && !pause->second.has_passed()) return nullptr;
    pauses_.insert_or_assign(provider, Deadline::in(kSecretPause));
  }
  Secret key = key_in_secret_service(provider);
  if (key.empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (lacks_key(config_->provider(provider))) {
    auto next = std::make_shared<Config>(*config_);
    next->providers[provider].key.value = std::move(key);
    config_ = std::move(next);
  }
  return config_;
}

// Two may open a model of one name at a time; one of them is kept.
std::shared_ptr<Model> ServedModels::keep(std::string_view name, OpenedModel opened,
                                          const SharedConfig& config) {
  // A model lives with the server that it asks, if that is part of this process.
  const auto both = std::make_shared<OpenedModel>(std::move(opened));
  std::shared_ptr<Model> model(both, both->model.get());
  const std::lock_guard lock(mutex_);
  if (config_ != config) return model;      // a later request goes by the new one
  constexpr std::size_t kMostModels = 256;  // a few hundred open models are enough
  if (opened_.size() >= kMostModels) opened_.erase(opened_.begin());
  return opened_.emplace(name, model).first->second;
}

std::vector<server::ModelDirectory::Entry> ServedModels::list() {
  const SharedConfig config = present();
  std::vector<Entry> out;
  const auto add = [&](std::string id) {
    const std::string owner = id.substr(0, id.find('/'));
    if (std::ranges::find(out, id, &Entry::id) == out.end()) out.push_back({std::move(id), owner, 0});
  };
  if (!config->model.value.empty()) add(chosen_name("", *config).value_or(config->model.value));
  for (const auto& [alias, model] : config->aliases) add(alias);
  for (const KnownModel& each : known_models()) {
    if (is_ready(*config, each.provider)) add(fmt::format("{}/{}", each.provider, each.name));
  }
  if (out.empty()) add(kRehearsal);
  return out;
}

std::string ServedModels::default_model() { return chosen_name("", *present()).value_or(""); }

std::string ServedModels::example() { return list().front().id; }

void ServedModels::reload(Config config) {
  std::map<std::string, Deadline, std::less<>> pauses;
  for (auto& [name, provider] : config.providers) {
    if (!lacks_key(provider)) continue;
    provider.key.value = key_in_secret_service(name);
    if (provider.key.value.empty()) pauses.emplace(name, Deadline::in(kSecretPause));
  }
  const std::lock_guard lock(mutex_);
  config_ = std::make_shared<const Config>(std::move(config));
  opened_.clear();
  pauses_ = std::move(pauses);
}

}  // namespace parley::cli
