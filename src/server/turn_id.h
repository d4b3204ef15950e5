// The ids that clients see, and where the thing is stored. An id names its session, so that no index is
// needed:
//
//   PREFIX TURN               the session has the same name as this id
//   PREFIX TURN _ SESSION     any other session; '~' and base64url where the name has other characters than
//                             letters, digits, '-', '.' and '_'
//
// An item of a turn has ".N" after TURN; N counts the inputs ("i0") or the parts of the answer ("0").
//
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parley::server {

struct TurnId {
  std::string session;
  std::string turn;
  std::string item = {};  // "i0", "0"; empty: the turn itself
  bool operator==(const TurnId&) const = default;
};

inline constexpr std::string_view kResponsePrefix = "resp_";
inline constexpr std::string_view kCompletionPrefix = "chatcmpl-";

// "resp_" + ..., "chatcmpl-" + ... for turns; "msg_", "fc_", "rs_" + ... for items, whose session has the
// same name as the response of their turn if it is not said.
std::string to_id(std::string_view prefix, const TurnId& id);
// nullopt: not an id with this prefix.
std::optional<TurnId> turn_id_of(std::string_view prefix, std::string_view id);

}  // namespace parley::server
