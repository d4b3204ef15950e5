// A provider is where a model is asked: one row that says its dialect, its address, how it wants its key, and
// what it is called in the environment. Nothing here reads the environment: the names are for those who do.
//
// Invariants (quoted by tests as PROVIDER1..PROVIDER3):
//   PROVIDER1  Every provider has a name of its own, a path, and a dialect that has streams.
//   PROVIDER2  "provider/name" and "provider:name" are the same model; what follows the first mark is the name,
//       whatever it holds.
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
  std::string_view name;  // "openai", as `--model provider/name` has it
  Dialect dialect = Dialect::OpenAI;
  std::string_view base_url = {};               // empty: the user must say it
  std::string_view path = "/chat/completions";  // "{model}" is the model, "{version}" api_version
  std::string_view stream_path = {};            // of a stream, if that is another one
  std::string_view key_header = "Authorization";
  std::string_view key_prefix = "Bearer ";
  std::string_view version_header = {};  // a header and its value, which every request has
  std::string_view version = {};         // also the default of "{version}" in a path
  // Names of environment variables, best first.
  std::string_view key_variable = {};  // empty: no key is needed
  std::string_view other_key_variable = {};
  std::string_view other_key_header = {};  // of a key of that name, if it is another kind of key
  std::string_view other_key_prefix = {};
  std::string_view base_url_variable = {};
  bool model_in_path = false;   // and not in the body
  bool stream_in_body = true;   // a member of the body asks for a stream
  bool asks_for_usage = false;  // a stream has no token counts unless they are asked for
  bool takes_reply_schema = false;
  std::size_t max_tokens = 0;  // of an answer, where a request must say it and does not
};

// All of them, best known first.
std::span<const Provider> providers();

// Fails with NotFound, listing the names there are.
Result<const Provider*> provider_named(std::string_view name);

struct ModelName {
  const Provider* provider = nullptr;
  Text name;
};
// Fails with Invalid if there is no mark or no name, as provider_named() does, and with InvalidUtf8.
Result<ModelName> parse_model_name(std::string_view text);

// Where a request goes. `base_url` and `version` are the provider's own if they are empty. Fails with Missing
// if nobody says where the provider is, with Invalid for what is no http: or https: URL.
struct Endpoint {
  std::string_view base_url = {};
  std::string_view version = {};
  std::string_view model = {};
  bool stream = false;
};
Result<Url> url_of(const Provider& provider, const Endpoint& endpoint);

}  // namespace parley
