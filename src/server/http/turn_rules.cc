#include "server/http/turn_rules.h"

#include <string>
#include <string_view>

#include "server/http/glob.h"

namespace parley::server {
namespace {

std::unexpected<ApiError> bad_rule(std::string_view header, std::string_view expected) {
  return std::unexpected(ApiError{
      .message = "Invalid header " + std::string(header) + ": expected " + std::string(expected) + ".",
      .param = std::string(header),
      .code = "invalid_header"});
}

Disconnect disconnect_of_model(const Exchange& exchange, const TurnRequest& turn) {
  if (exchange.disconnect) {
    for (const ModelDisconnect& each : *exchange.disconnect) {
      if (matches(each.models, turn.model)) return each.rule;
    }
  }
  return turn.is_stored ? Disconnect{} : Disconnect{Disconnect::Rule::Cancel, {}};
}

}  // namespace

std::expected<void, ApiError> set_turn_rules(const Exchange& exchange, TurnRequest& turn) {
  constexpr std::string_view kOnBusy = "x-parley-on-busy", kDisconnect = "x-parley-disconnect";
  turn.on_busy = exchange.identity.on_busy.value_or(OnBusy::Queue);
  if (const auto given = exchange.request.header(kOnBusy)) {
    const auto rule = on_busy_named(*given);
    if (!rule) return bad_rule(kOnBusy, "queue, reject, interrupt or fork");
    turn.on_busy = *rule;
  }
  turn.disconnect = exchange.identity.disconnect.value_or(disconnect_of_model(exchange, turn));
  if (const auto given = exchange.request.header(kDisconnect)) {
    const auto rule = disconnect_named(*given);
    if (!rule) return bad_rule(kDisconnect, "continue, grace:20s or cancel");
    turn.disconnect = *rule;
  }
  return {};
}

}  // namespace parley::server
