#include "server/openai/responses_routes.h"

#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "parley/json/writer.h"
#include "server/http/blocking.h"
#include "server/http/body.h"
#include "server/openai/items.h"
#include "server/openai/paging.h"
#include "server/openai/responses_compact.h"
#include "server/openai/responses_count.h"
#include "server/openai/responses_object.h"
#include "server/openai/responses_request.h"
#include "server/openai/responses_socket.h"
#include "server/openai/responses_turn.h"

namespace parley::server {
namespace {

// Larger bodies are read on another thread, so that the loop serves its other connections meanwhile.
constexpr std::size_t kMostBodyOnLoop = std::size_t{256} * 1024;

using ReadResponse = ApiResult<ResponsesCall>;

ReadResponse read_call(const Members& body, const Exchange& exchange, TurnEngine& engine) {
  EngineLookup lookup(engine);
  return read_responses_call(body, exchange, lookup);
}

void run_or_answer(Service& service, const std::shared_ptr<Exchange>& exchange, ReadResponse call) {
  if (!call) return answer(*exchange, call.error());
  run_response(service, exchange, *std::move(call));
}

// A body that is read meanwhile, and whether its client is still there.
struct ReadingBody {
  std::optional<ReadResponse> call = {};
  bool is_gone = false;
};

void create_response(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const bool is_small = exchange->request.body.size() <= kMostBodyOnLoop;
  if (is_small) {
    const Result<Json> body = body_object(exchange->request);
    if (!body) return answer(*exchange, api_error(body.error()));
    const Members members(*body);
    if (!refers_to_store(members)) {
      return run_or_answer(service, exchange, read_call(members, *exchange, service.engine));
    }
  }
  const auto reading = std::make_shared<ReadingBody>();
  exchange->responder->on_gone([reading] { reading->is_gone = true; });
  service.engine.run(
      *exchange->loop,
      [reading, exchange, &engine = service.engine] {
        const Result<Json> body = body_object(exchange->request);
        reading->call =
            body ? read_call(Members(*body), *exchange, engine) : std::unexpected(api_error(body.error()));
      },
      [&service, reading, exchange] {
        if (!reading->is_gone) run_or_answer(service, exchange, *std::move(reading->call));
      });
}

// The response that the path names, or an answer: foreign and missing ones answer alike.
std::optional<TurnKey> named_response(const std::shared_ptr<Exchange>& exchange) {
  auto key = response_key(exchange->identity.tenant, exchange->parameters.at(0));
  if (key && exchange->identity.may_open(key->session.session)) return key;
  answer(*exchange, no_response(exchange->parameters.at(0)));
  return std::nullopt;
}

ApiError response_error(const Error& error, std::string_view id) {
  const bool is_missing = error.code == Code::NotFound || error.code == Code::Invalid;
  return is_missing ? no_response(id) : api_error(error);
}

// Both spellings: "include[]=a&include[]=b" (openai) and "include=a".
std::vector<std::string> include_query(const Exchange& exchange) {
  std::vector<std::string> out = exchange.query_all("include[]");
  for (std::string& name : exchange.query_all("include")) out.push_back(std::move(name));
  return out;
}

// The number of an event, from "starting_after" or Last-Event-ID; nullopt: not a number.
std::optional<std::int64_t> last_event(const Exchange& exchange) {
  std::string text = exchange.query("starting_after").value_or("");
  if (text.empty()) text = exchange.request.header("Last-Event-ID").value_or("");
  if (text.empty()) return -1;
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0) return std::nullopt;
  return out;
}

void get_response(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const auto key = named_response(exchange);
  if (!key) return;
  std::vector<std::string> include = include_query(*exchange);
  if (exchange->query("stream") == "true") {
    const auto after = last_event(*exchange);
    if (!after) return answer(*exchange, invalid_type("starting_after", "an integer of at least 0"));
    return follow_response(service, exchange, {*key, std::move(include), *after});
  }
  answer_with(service, exchange, [key = *key, include, exchange, &engine = service.engine]() -> Reply {
    const auto state = engine.read(key);
    if (!state) return std::unexpected(response_error(state.error(), exchange->parameters.at(0)));
    return to_response(*state, ResponseMoment::Now, include);
  });
}

void cancel_response(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const auto key = named_response(exchange);
  if (!key) return;
  service.engine.cancel(*key, *exchange->loop, [exchange](const Result<TurnState>& state) {
    if (!state) return answer(*exchange, response_error(state.error(), exchange->parameters.at(0)));
    exchange->answer(200, to_response(*state));
  });
}

void remove_response(Service& service, const std::shared_ptr<Exchange>& exchange, const TurnKey& key) {
  answer_with(service, exchange, [key, exchange, &engine = service.engine]() -> Reply {
    const std::string& id = exchange->parameters.at(0);
    if (const auto removed = engine.remove(key); !removed)
      return std::unexpected(response_error(removed.error(), id));
    json::Writer w;
    w.begin_object().key("id").string(id).key("object").string("response").key("deleted").boolean(true);
    return w.end_object().take();
  });
}

void delete_response(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const auto key = named_response(exchange);
  if (!key) return;
  service.engine.cancel(
      *key, *exchange->loop, [&service, exchange, key = *key](const Result<TurnState>& state) {
        // Of a server that stops, all clients are gone, and then its engine.
        if (exchange->is_gone) return;
        if (!state) return answer(*exchange, response_error(state.error(), exchange->parameters.at(0)));
        remove_response(service, exchange, key);
      });
}

void list_input_items(Service& service, const std::shared_ptr<Exchange>& exchange) {
  const auto key = named_response(exchange);
  if (!key) return;
  answer_with(service, exchange, [key = *key, exchange, &engine = service.engine]() -> Reply {
    PARLEY_REPLY_TRY(const PageQuery query, page_query(*exchange), "");
    const auto state = engine.read(key);
    if (!state) return std::unexpected(response_error(state.error(), exchange->parameters.at(0)));
    std::vector<Json> all;
    std::size_t index = 0;
    for (const Message& message : state->input) {
      for (Json& item : input_items(message, {key.session.session, key.id, "i" + std::to_string(index)}))
        all.push_back(std::move(item));
      ++index;
    }
    PARLEY_REPLY_TRY(Json page, page_of(all, query), "");
    return page;
  });
}

}  // namespace

std::vector<Route> responses_routes() {
  return {
      {"POST", "/v1/responses", create_response},
      {"GET", "/v1/responses", open_responses_socket},
      {"POST", "/v1/responses/compact", compact_response},
      {"POST", "/v1/responses/input_tokens", count_input_tokens},
      {"GET", "/v1/responses/{}", get_response},
      {"DELETE", "/v1/responses/{}", delete_response},
      {"POST", "/v1/responses/{}/cancel", cancel_response},
      {"GET", "/v1/responses/{}/input_items", list_input_items},
  };
}

}  // namespace parley::server
