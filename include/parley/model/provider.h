// A provider of models: one row with its dialect, its address, how it takes its key, and the names of its
// environment variables. Nothing here reads the environment; the names are for callers that do.
//
// Invariants (quoted by tests as PROVIDER1..PROVIDER3):
//   PROVIDER1  Every provider has a unique name, a path, and a dialect with streams.
//   PROVIDER2  "provider/name" and "provider:name" are the same model; everything after the first separator
//              is the name.
//   PROVIDER3  A model's name in a path is percent-encoded.
//
// Constants and pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/base/url.h"
#include "parley/dialect/dialect.h"

namespace parley {

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
