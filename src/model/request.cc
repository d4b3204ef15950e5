#include "model/request.h"

#include <utility>

#include "model/images.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley::model {
namespace {

net::SecretHeader key_header(const Provider& provider, const ModelConfig& config) {
  const bool is_other =
      !provider.other_key_header.empty() && config.key_variable == provider.other_key_variable;
  return {std::string(is_other ? provider.other_key_header : provider.key_header),
          std::string(is_other ? provider.other_key_prefix : provider.key_prefix), config.key};
}

// What every request to the provider has.
void set_connection(net::Request& request, const Provider& provider, const ModelConfig& config) {
  request.headers = config.headers;
  if (!provider.version_header.empty()) {
    request.headers.push_back({std::string(provider.version_header), config.api_version.empty()
                                                                         ? std::string(provider.version)
                                                                         : config.api_version});
  }
  if (!config.key.empty()) request.secret_headers.push_back(key_header(provider, config));
  request.connect_timeout = config.timeouts.connect;
  request.first_byte_timeout = config.timeouts.first_byte;
  request.idle_timeout = config.timeouts.idle;
  request.proxy = config.proxy;
  request.ca_file = config.ca_file;
}

}  // namespace

Text name_of(const ModelRequest& asked, const Text& model) {
  const auto own = asked.conversation.settings().get(Setting::Model);
  return own.value_or(Json()).as_string().value_or(model);
}

Result<WireRequest> request_of(const ModelRequest& asked, const Text& model, const Provider& provider,
                               const ModelConfig& config, std::vector<Note>& notes) {
  Settings settings = asked.conversation.settings();
  for (const auto& [setting, value] : config.settings.all()) {
    if (!settings.get(setting)) settings.set(setting, value);
  }
  const Text name = name_of(asked, model);
  const auto max_tokens = static_cast<std::int64_t>(provider.max_tokens);
  if (max_tokens != 0 && !settings.get(Setting::MaxTokens))
    settings.set(Setting::MaxTokens, Json::number(max_tokens));
  Settings said;
  if (!provider.model_in_path) said.set(Setting::Model, Json::string(name));
  for (const auto& [setting, value] : settings.all()) {
    if (setting != Setting::Model && setting != Setting::Stream) said.set(setting, value);
  }
  if (provider.stream_in_body) said.set(Setting::Stream, Json::boolean(asked.stream));
  if (provider.asks_for_usage && asked.stream) said.set(Setting::StreamUsage, Json::boolean(true));
  if (asked.reply && !provider.takes_reply_schema) {
    notes.push_back({"setting_dropped", Severity::Minor, std::nullopt, std::nullopt,
                     to_string(provider.dialect), "dropped", "the provider accepts no reply schema"});
  } else if (asked.reply) {
    json::Writer w;
    w.begin_object().key("name").string(asked.reply->name).key("schema").value(asked.reply->schema);
    said.set(Setting::ReplySchema, w.end_object().take());
  }
  WireRequest out;
  out.conversation = asked.conversation;
  out.conversation.set_shape(DocumentShape::Envelope);
  out.conversation.set_settings(std::move(said));
  if (!config.sees_images) replace_images(out.conversation, notes);
  PARLEY_TRY(out.document, gather(out.conversation, provider.dialect));
  notes.insert(notes.end(), out.document.notes.begin(), out.document.notes.end());

  net::Request& request = out.http;
  PARLEY_TRY(request.url, url_of(provider, {config.base_url, config.api_version, name, asked.stream}));
  request.method = "POST";
  set_connection(request, provider, config);
  request.headers.push_back({"Content-Type", "application/json"});
  request.body_chunks = out.document.pieces;
  request.max_bytes = request.max_wire_bytes = config.max_answer_bytes;
  return out;
}

// The path of the chat API stands for the others beside it: Azure has it in the middle of the URL.
Result<net::Request> sibling_request(std::string_view path, const Text& model, const Provider& provider,
                                     const ModelConfig& config) {
  std::string sibling;
  for (const std::string_view own : {"/chat/completions", "/responses"}) {
    const std::size_t at = provider.path.find(own);
    if (at == std::string_view::npos) continue;
    sibling.append(provider.path.substr(0, at)).append(path).append(provider.path.substr(at + own.size()));
    break;
  }
  if (sibling.empty()) {
    return fail(Code::Unsupported,
                "the provider " + std::string(provider.name) + " has no " + std::string(path));
  }
  Provider other = provider;
  other.path = sibling;
  net::Request out;
  PARLEY_TRY(out.url, url_of(other, {config.base_url, config.api_version, model, false}));
  set_connection(out, provider, config);
  out.timeout = config.timeouts.total;
  return out;
}

}  // namespace parley::model
