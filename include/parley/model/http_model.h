// A Model that is asked over HTTP: a provider's row, a key, and how long, how often and how fast to ask. The
// conversation is written in the provider's dialect as it is; a broken history is refused, not repaired.
//
//   ModelConfig config;
//   config.model = "anthropic/claude-sonnet-4-5";
//   config.key = Secret(...);
//   auto model = open_model(std::move(config));
//   auto answer = (*model)->complete({.conversation = conversation});
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/message/settings.h"
#include "parley/model/limits.h"
#include "parley/model/model.h"
#include "parley/model/prices.h"
#include "parley/model/timer.h"
#include "parley/model/usage_ledger.h"
#include "parley/net/http.h"

namespace parley {

// A value; one thread at a time.
struct ModelConfig {
  std::string model;  // "provider/name" or "provider:name" (provider.h)
  Secret key = {};    // empty: none is sent
  // What errors call the key, and which kind of key it is where a provider has two (provider.h); the
  // provider's own name for it if empty.
  std::string key_variable = {};
  std::string base_url = {};              // the provider's own if empty
  std::string api_version = {};           // of Azure, of Anthropic; the provider's own if empty
  std::vector<net::Header> headers = {};  // of every request
  Settings settings = {};                 // where a request says nothing
  std::optional<std::size_t> window = {};
  bool sees_images = true;

  Timeouts timeouts = {};
  RetryPolicy retry = {};
  RateLimits rate = {};
  std::optional<Url> proxy = {};  // as net::Request has it, and so is this:
  std::string ca_file = {};
  std::size_t max_answer_bytes = std::size_t{64} * 1024 * 1024;

  std::shared_ptr<UsageLedger> ledger = {};  // where calls are kept, if anywhere (MODEL5)
  PriceTable prices = PriceTable::published();
  std::shared_ptr<Timer> timer = system_timer();
};

// Fails as parse_model_name() and url_of() do, and with Missing, naming the variable, if the provider itself
// is asked and there is no key.
Result<std::shared_ptr<Model>> open_model(ModelConfig config);

}  // namespace parley
