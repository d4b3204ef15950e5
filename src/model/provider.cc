#include <algorithm>
#include <array>

#include "base/url_encode.h"
#include "parley/model/http_model.h"

namespace parley {
namespace {

// Paths and names as the providers' own clients have them.
constexpr auto kProviders = std::to_array<Provider>({
    {.name = "openai",
     .base_url = "https://api.openai.com/v1",
     .key_variable = "OPENAI_API_KEY",
     .base_url_variable = "OPENAI_BASE_URL",
     .asks_for_usage = true,
     .takes_reply_schema = true},
    {.name = "responses",
     .dialect = Dialect::Responses,
     .base_url = "https://api.openai.com/v1",
     .path = "/responses",
     .key_variable = "OPENAI_API_KEY",
     .base_url_variable = "OPENAI_BASE_URL",
     .takes_reply_schema = true},
    {.name = "azure",
     .path = "/openai/deployments/{model}/chat/completions?api-version={version}",
     .key_header = "api-key",
     .key_prefix = "",
     .version = "2024-10-21",
     .key_variable = "AZURE_OPENAI_API_KEY",
     .base_url_variable = "AZURE_OPENAI_ENDPOINT",
     .asks_for_usage = true,
     .takes_reply_schema = true},
    {.name = "anthropic",
     .dialect = Dialect::Anthropic,
     .base_url = "https://api.anthropic.com",
     .path = "/v1/messages",
     .key_header = "x-api-key",
     .key_prefix = "",
     .version_header = "anthropic-version",
     .version = "2023-06-01",
     .key_variable = "ANTHROPIC_API_KEY",
     .other_key_variable = "ANTHROPIC_AUTH_TOKEN",
     .other_key_header = "Authorization",
     .other_key_prefix = "Bearer ",
     .base_url_variable = "ANTHROPIC_BASE_URL",
     .takes_reply_schema = true,
     .max_tokens = 8192},
    {.name = "gemini",
     .dialect = Dialect::Gemini,
     .base_url = "https://generativelanguage.googleapis.com",
     .path = "/v1beta/models/{model}:generateContent",
     .stream_path = "/v1beta/models/{model}:streamGenerateContent?alt=sse",
     .key_header = "x-goog-api-key",
     .key_prefix = "",
     .key_variable = "GEMINI_API_KEY",
     .other_key_variable = "GOOGLE_API_KEY",
     .base_url_variable = "GOOGLE_GEMINI_BASE_URL",
     .model_in_path = true,
     .stream_in_body = false,
     .takes_reply_schema = true},
    {.name = "ollama",
     .dialect = Dialect::Ollama,
     .base_url = "http://127.0.0.1:11434",
     .path = "/api/chat",
     .base_url_variable = "OLLAMA_HOST",
     .takes_reply_schema = true},
    {.name = "deepseek",
     .dialect = Dialect::DeepSeek,
     .base_url = "https://api.deepseek.com",
     .key_variable = "DEEPSEEK_API_KEY",
     .asks_for_usage = true},
    {.name = "moonshot",
     .dialect = Dialect::Moonshot,
     .base_url = "https://api.moonshot.ai/v1",
     .key_variable = "MOONSHOT_API_KEY",
     .asks_for_usage = true},
    {.name = "dashscope",
     .dialect = Dialect::DashScope,
     .base_url = "https://dashscope.aliyuncs.com/compatible-mode/v1",
     .key_variable = "DASHSCOPE_API_KEY",
     .asks_for_usage = true},
    {.name = "llama-server",
     .base_url = "http://127.0.0.1:8080/v1",
     .asks_for_usage = true,
     .takes_reply_schema = true},
    {.name = "vllm",
     .base_url = "http://127.0.0.1:8000/v1",
     .asks_for_usage = true,
     .takes_reply_schema = true},
    {.name = "lmstudio",
     .base_url = "http://127.0.0.1:1234/v1",
     .asks_for_usage = true,
     .takes_reply_schema = true},
    // Any other server that speaks OpenAI's dialect, wherever it is.
    {.name = "compatible", .base_url_variable = "PARLEY_BASE_URL", .asks_for_usage = true},
});

std::string listed() {
  std::string all;
  for (const Provider& provider : kProviders) all.append(all.empty() ? "" : ", ").append(provider.name);
  return all;
}

// In a path or a query a name is one piece, whatever is in it.
std::string percent_encoded(std::string_view text) {
  std::string out;
  url::append_encoded(out, text, " \"#%&'+/:;<=>?@[\\]^`{|}");
  return out;
}

void replace(std::string& text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
}

}  // namespace

std::span<const Provider> providers() { return kProviders; }

Result<const Provider*> provider_named(std::string_view name) {
  const auto* const found = std::ranges::find(kProviders, name, &Provider::name);
  if (found != kProviders.end()) return found;
  return fail(Code::NotFound, "unknown provider '" + std::string(name) + "': expected one of " + listed());
}

Result<ModelName> parse_model_name(std::string_view text) {
  const std::size_t mark = text.find_first_of("/:");
  if (mark == std::string_view::npos || mark + 1 == text.size()) {
    return fail(Code::Invalid, "expected provider/name or provider:name; the providers are " + listed());
  }
  PARLEY_TRY(const Provider* provider, provider_named(text.substr(0, mark)));
  PARLEY_TRY(Text name, Text::checked(text.substr(mark + 1)));
  return ModelName{provider, std::move(name)};
}

Result<Url> url_of(const Provider& provider, const Endpoint& endpoint) {
  std::string all(endpoint.base_url.empty() ? provider.base_url : endpoint.base_url);
  if (all.empty()) {
    return fail(Code::Missing, "no base URL for provider " + std::string(provider.name) + ": set " +
                                   std::string(provider.base_url_variable) + " or [providers." +
                                   std::string(provider.name) + "] base_url");
  }
  // OLLAMA_HOST is mostly a host and a port. A key never goes where no scheme was said.
  if (!all.contains("://") && provider.key_variable.empty()) all.insert(0, "http://");
  while (all.ends_with('/')) all.pop_back();
  const bool is_other_path = endpoint.stream && !provider.stream_path.empty();
  std::string path(is_other_path ? provider.stream_path : provider.path);
  replace(path, "{version}", percent_encoded(endpoint.version.empty() ? provider.version : endpoint.version));
  replace(path, "{model}", percent_encoded(endpoint.model));
  PARLEY_TRY(Url url, parse_url(all + path));
  if (url.scheme != "http" && url.scheme != "https") {
    return fail(Code::Invalid, "invalid base URL: expected http or https");
  }
  return url;
}

}  // namespace parley
