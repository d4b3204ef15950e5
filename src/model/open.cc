// Models by name: the key and the address come from the environment.
#include <cstdlib>

#include "parley/model/http_model.h"
#include "parley/model/rehearsal.h"

namespace parley {
namespace {

std::string variable(std::string_view name) {
  if (name.empty()) return {};
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<std::shared_ptr<Model>> open_model(std::string_view name) {
  if (name == kRehearsalName) return rehearsal_model();
  PARLEY_TRY(const ModelName parsed, parse_model_name(name));
  const Provider& provider = *parsed.provider;
  ModelConfig config;
  config.model = std::string(name);
  config.base_url = variable(provider.base_url_variable);
  for (const std::string_view each : {provider.key_variable, provider.other_key_variable}) {
    std::string key = variable(each);
    if (key.empty()) continue;
    config.key = Secret::take(key);
    config.key_variable = std::string(each);
    break;
  }
  return open_model(std::move(config));
}

}  // namespace parley
