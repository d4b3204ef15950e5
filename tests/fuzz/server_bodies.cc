// Bodies of POST /v1/responses and POST /v1/chat/completions: they are refused with a reason, or become the
// request of a turn that every shape of OpenAI's can show again.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "parley/json/json.h"
#include "require.h"
#include "server/openai/chat_request.h"
#include "server/openai/items.h"
#include "server/openai/responses_lookup_testing.h"
#include "server/openai/responses_object.h"
#include "server/openai/responses_request.h"

namespace {

using namespace parley;
using namespace parley::server;

KnownTurns& lookup() {
  static KnownTurns* const out = [] {
    auto* made = new KnownTurns;  // for the life of the process
    made->add_turn("resp_A", "A", {Message::user_message("q")}, Message::assistant_message("a")).end = 2;
    made->add_session("conv_1");
    return made;
  }();
  return *out;
}

void judge(const ApiError& error) {
  require(error.status >= 400 && error.status < 500, "a body is the client's fault");
  require(!error.message.empty() && is_utf8(error.message), "a refusal has a reason");
  require(Json::parse(to_json(error).text().str()).has_value(), "a refusal is JSON");
}

void judge(const TurnRequest& turn) {
  require(!turn.key.id.empty() || turn.shape == "chat", "a turn has an id");
  require(!turn.request.text().str().empty(), "what is shown again is there");
  if (turn.shape == "chat") return;  // whose messages have no ids
  for (const Message& message : turn.input) {
    require(message.id().has_value() && !message.id()->view().empty(), "each message has an id");
  }
}

void judge_response(const TurnRequest& turn) {
  TurnState state;
  state.key = turn.key;
  state.shape = turn.shape;
  state.request = turn.request;
  state.model = turn.model;
  state.input = turn.input;
  state.status = TurnStatus::Completed;
  state.answer = Message::assistant_message("answer");
  const Json shown = to_response(state);
  require(Json::parse(shown.text().str()).has_value(), "a response is JSON");
  require(shown.text().str() == to_response(state).text().str(), "the same state gives the same bytes");
  std::size_t at = 0;
  for (const Message& message : turn.input) {
    const TurnId place{turn.key.session.session, turn.key.id, "i" + std::to_string(at++)};
    std::set<std::string> ids;
    for (const Json& item : input_items(message, place)) {
      const auto parsed = Json::parse(item.text().str());
      require(parsed && parsed->is_object(), "an item is an object");
      const auto id = parsed->get("id").value_or(Json()).as_string();
      require(id && ids.insert(id->str()).second, "items of a message have ids that differ");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 8192) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto body = Json::parse(text);
  if (!body || !body->is_object()) return 0;
  Exchange exchange;
  exchange.request.body = text;
  if ((data[0] & 1) != 0) {
    const auto chat = read_chat_request(exchange);
    if (chat) {
      judge(chat->turn);
    } else {
      judge(chat.error());
    }
    return 0;
  }
  const auto call = read_responses_call(Members(*body), exchange, lookup());
  if (!call) {
    judge(call.error());
    return 0;
  }
  judge(call->turn);
  judge_response(call->turn);
  const auto again = read_responses_call(Members(*body), exchange, lookup());
  require(again && again->turn.retry_key == call->turn.retry_key, "the same body has the same retry key");
  return 0;
}
