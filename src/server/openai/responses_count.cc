#include "server/openai/responses_count.h"

#include <utility>
#include <vector>

#include "parley/json/writer.h"
#include "parley/token/counter.h"
#include "server/http/body.h"
#include "server/openai/responses_input.h"
#include "server/openai/responses_request.h"

namespace parley::server {

Reply input_tokens(const Exchange& exchange, ResponsesLookup& lookup) {
  PARLEY_REPLY_TRY(const Json json, body_object(exchange.request), "");
  const Members body(json);
  auto fields = responses_fields(body);
  if (!fields) return std::unexpected(std::move(fields).error());
  auto history = stored_history(*fields, exchange.identity, lookup);
  if (!history) return std::unexpected(std::move(history).error());
  auto input = responses_input(body,
                               {.identity = exchange.identity,
                                .turn = {exchange.session("resp_0"), "0"},
                                .history = history->session,
                                .after = history->after},
                               lookup);
  if (!input) return std::unexpected(std::move(input).error());
  Conversation conversation(std::move(history->messages));
  for (Message& message : input->messages) conversation.append(std::move(message));
  conversation.set_system(std::move(input->system));
  conversation.set_tools(std::move(input->tools));
  const std::size_t count = TokenCounter::for_model(fields->model).count(conversation);
  json::Writer w;
  w.begin_object().key("object").string("response.input_tokens");
  w.key("input_tokens").number(static_cast<std::int64_t>(count));
  return w.end_object().take();
}

void count_input_tokens(Service& service, const std::shared_ptr<Exchange>& exchange) {
  answer_with(service, exchange, [exchange, &engine = service.engine] {
    EngineLookup lookup(engine);
    return input_tokens(*exchange, lookup);
  });
}

}  // namespace parley::server
