// The members of a body of POST /v1/responses beside its items: checked, and as a Response object echoes
// them.
//
// Invariants (quoted by tests as FIELDS1..FIELDS3):
//   FIELDS1  A known member of the wrong type or outside of its range is refused, naming it as OpenAI does:
//            400 with "param" and "code". null counts as absent. Unknown members are ignored.
//   FIELDS2  What is echoed is complete: each function has "description", "parameters" and "strict",
//            reasoning has "effort" and "summary", text has "format".
//   FIELDS3  What is not asked for is not echoed: to_response() knows OpenAI's defaults.
//
// Pure functions; safe from any thread.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"
#include "server/http/exchange.h"

namespace parley::server {

template <typename T>
using ApiResult = std::expected<T, ApiError>;

// The members of an object, found without reading it again: a body can be long.
class Members {
 public:
  explicit Members(const Json& object) : members_(object.members()) {}
  // The last one of this name, or nothing if it is absent or null.
  std::optional<Json> find(std::string_view name) const;
  const std::vector<Json::Member>& all() const { return members_; }

 private:
  std::vector<Json::Member> members_;
};

struct ResponsesFields {
  std::string model = {};         // empty: the body has none
  std::string previous = {};      // previous_response_id; empty: none
  std::string conversation = {};  // its id; empty: none
  bool is_stored = true, is_streamed = false, is_background = false;
  Json echo = {};  // an object, for TurnRequest::request
};

ApiResult<ResponsesFields> responses_fields(const Members& body);

// Errors in OpenAI's words.
ApiError missing_parameter(std::string_view param);
ApiError invalid_type(std::string_view param, std::string_view expected);
ApiError invalid_value(std::string_view param, std::string message);

}  // namespace parley::server
