// A Model over HTTP: a provider, a key, timeouts, retries and rate limits. The conversation is written in the
// provider's dialect; a broken history is refused, not repaired.
//
//   ModelConfig config;
//   config.model = "anthropic/claude-sonnet-4-5";
//   config.key = Secret(...);
//   auto model = open_model(std::move(config));
//   auto answer = (*model)->complete({.conversation = conversation});
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/secret.h"
#include "parley/base/text.h"
#include "parley/base/url.h"
#include "parley/dialect/dialect.h"
#include "parley/message/settings.h"
#include "parley/model/model.h"
#include "parley/model/usage_ledger.h"
#include "parley/net/http.h"

namespace parley {

// A Timer is the clock, the sleep and the randomness of a model. A test uses a fake one and does not wait.
//
// An implementation is safe from any thread.
class Timer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  virtual ~Timer() = default;

  virtual Time now() = 0;
  // Returns false soon after a stop.
  virtual bool wait(std::chrono::milliseconds time, const std::stop_token& stop) = 0;
  // The same without blocking: `then` is called on the loop when the time is over.
  virtual void wait_on(net::EventLoop& loop, std::chrono::milliseconds time, std::function<void()> then);
  virtual double chance() = 0;  // random, in [0, 1)
};

// The steady clock of the machine.
std::shared_ptr<Timer> system_timer();

// Timeouts, retries and rate limits of a call. Plain values.
struct Timeouts {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first_byte{300'000};  // thinking models send nothing for minutes
  std::chrono::milliseconds idle{120'000};        // between two chunks of an answer
  std::chrono::milliseconds total{600'000};       // of a call, with all attempts and waits
};

// Before attempt n + 1 a call waits as long as the provider requests, or first * 2^(n - 1), at most
// `longest`, minus a random jitter of up to a quarter. A wait that would end after Timeouts::total is not
// started, so all waits of a call together stay below it.
struct RetryPolicy {
  unsigned attempts = 3;
  std::chrono::milliseconds first{500};
  std::chrono::milliseconds longest{8'000};
  std::chrono::milliseconds longest_asked{60'000};  // if the provider requests a longer wait, the call fails
};

// Enforced by waiting before a request; 0 is no limit.
struct RateLimits {
  std::uint64_t requests_per_minute = 0;
  std::uint64_t tokens_per_minute = 0;  // of input and output
};

// A value; one thread at a time.
struct ModelConfig {
  std::string model;  // "provider/name" or "provider:name" (see Provider)
  Secret key = {};    // empty: no key is sent
  // The environment variable of the key, for errors and for providers with two kinds of keys (see Provider);
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

// The same by name: "openai/gpt-4o", or "rehearsal" (rehearsal.h). The key and the base URL come from the
// provider's environment variables; all other settings are the defaults.
Result<std::shared_ptr<Model>> open_model(std::string_view name);

// A provider of models: one row with its dialect, its address, how it takes its key, and the names of its
// environment variables.
//
// Invariants (quoted by tests as PROVIDER1..PROVIDER3):
//   PROVIDER1  Every provider has a unique name, a path, and a dialect with streams.
//   PROVIDER2  "provider/name" and "provider:name" are the same model; everything after the first separator
//              is the name.
//   PROVIDER3  A model's name in a path is percent-encoded.
//
// Constants and pure functions; safe from any thread.
struct Provider {
  std::string_view name;  // "openai", as in `--model provider/name`
  Dialect dialect = Dialect::OpenAI;
  std::string_view base_url = {};               // empty: the user must configure it
  std::string_view path = "/chat/completions";  // "{model}" is the model, "{version}" api_version
  std::string_view stream_path = {};            // of a stream, if different
  std::string_view key_header = "Authorization";
  std::string_view key_prefix = "Bearer ";
  std::string_view version_header = {};  // a header of every request, and its value
  std::string_view version = {};         // also the default of "{version}" in a path
  // Names of environment variables, best first.
  std::string_view key_variable = {};  // empty: no key is needed
  std::string_view other_key_variable = {};
  std::string_view other_key_header = {};  // for that key, if it is another kind of key
  std::string_view other_key_prefix = {};
  std::string_view base_url_variable = {};
  bool model_in_path = false;   // and not in the body
  bool stream_in_body = true;   // a member of the body requests a stream
  bool asks_for_usage = false;  // token counts of a stream must be requested
  bool takes_reply_schema = false;
  std::size_t max_tokens = 0;  // default of an answer, where requests need it
};

// All providers, best known first.
std::span<const Provider> providers();

// Fails with NotFound, listing the known names.
Result<const Provider*> provider_named(std::string_view name);

struct ModelName {
  const Provider* provider = nullptr;
  Text name;
};
// Fails with Invalid if the separator or the name is missing, like provider_named(), and with InvalidUtf8.
Result<ModelName> parse_model_name(std::string_view text);

// The URL of a request. An empty `base_url` or `version` is the provider's default. Fails with Missing if
// there is no base URL, with Invalid if it is not an http or https URL.
struct Endpoint {
  std::string_view base_url = {};
  std::string_view version = {};
  std::string_view model = {};
  bool stream = false;
};
Result<Url> url_of(const Provider& provider, const Endpoint& endpoint);

}  // namespace parley
