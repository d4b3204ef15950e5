#include "server/openai/models.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "parley/json/writer.h"

namespace parley::server {
namespace {

Json model_json(const ModelDirectory::Entry& entry) {
  json::Writer w;
  w.begin_object().key("id").string(entry.id).key("object").string("model");
  w.key("created").number(entry.created_s).key("owned_by").string(entry.owner);
  return w.end_object().take();
}

void list_models(Service& service, const std::shared_ptr<Exchange>& exchange) {
  json::Writer w;
  w.begin_object().key("object").string("list").key("data").begin_array();
  for (const ModelDirectory::Entry& entry : service.engine.models().list()) {
    if (exchange->identity.may_ask(entry.id)) w.value(model_json(entry));
  }
  exchange->answer(200, w.end_array().end_object().take());
}

// A name that is not on the list may still be one that can be asked.
void get_model(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const std::string& name = exchange->parameters.front();
  ModelDirectory& models = service.engine.models();
  if (!exchange->identity.may_ask(name)) return answer(*exchange, no_model(name));
  const auto entries = models.list();
  const auto found = std::ranges::find(entries, name, &ModelDirectory::Entry::id);
  if (found != entries.end()) return exchange->answer(200, model_json(*found));
  const auto model = models.find(name);
  if (!model) return answer(*exchange, no_model(name));
  exchange->answer(200, model_json({.id = name, .owner = (*model)->info().provider.str()}));
}

}  // namespace

std::vector<Route> model_routes() {
  return {{"GET", "/v1/models", list_models}, {"GET", "/v1/models/{*}", get_model}};
}

ApiError no_model(std::string_view name) {
  return {.status = 404,
          .message = "The model '" + std::string(name) + "' does not exist, or this key may not use it.",
          .param = "model",
          .code = "model_not_found"};
}

}  // namespace parley::server
