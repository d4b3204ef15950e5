// A Model over HTTP: a provider, a key, timeouts, retries and rate limits. The conversation is written in the
// provider's dialect; a broken history is refused, not repaired.
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
  Secret key = {};    // empty: no key is sent
  // The environment variable of the key, for errors and for providers with two kinds of keys (provider.h);
  // empty: the provider's default.
  std::string key_variable = {};
  std::string base_url = {};              // empty: the provider's default
  std::string api_version = {};           // of Azure, of Anthropic; empty: the provider's default
  std::vector<net::Header> headers = {};  // of every request
  Settings settings = {};                 // defaults for requests
  std::optional<std::size_t> window = {};
  bool sees_images = true;

  Timeouts timeouts = {};
  RetryPolicy retry = {};
  RateLimits rate = {};
  std::optional<Url> proxy = {};  // proxy and ca_file: see net::Request
  std::string ca_file = {};
  std::size_t max_answer_bytes = std::size_t{64} * 1024 * 1024;

  std::shared_ptr<UsageLedger> ledger = {};  // records the calls, if set (MODEL5)
  PriceTable prices = PriceTable::published();
  std::shared_ptr<Timer> timer = system_timer();
};

// Fails like parse_model_name() and url_of(), and with Missing, naming the variable, if the provider's own
// server is used without a key.
Result<std::shared_ptr<Model>> open_model(ModelConfig config);

}  // namespace parley
