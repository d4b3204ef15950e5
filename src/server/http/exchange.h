// One HTTP request on its way through the server, and the helpers that every API answers with.
//
// An Exchange is used on the loop of its connection, one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "parley/net/async_server.h"
#include "parley/net/event_loop.h"
#include "parley/server/turn_engine.h"

namespace parley::server {

// The caller, by the key of the request; without keys every caller is the same administrator of "default".
struct Identity {
  enum class Role : std::uint8_t { Use, Read, Admin };
  std::string tenant = "default";
  std::string key = {};  // its name
  Role role = Role::Admin;
  std::vector<std::string> models = {};         // empty: all
  std::vector<std::string> conversations = {};  // globs; empty: all
  std::optional<OnBusy> on_busy = {};
  std::optional<Disconnect> disconnect = {};

  bool may_write() const { return role != Role::Read; }
  bool may_ask(std::string_view model) const;
  bool may_open(std::string_view session) const;
};

struct Exchange {
  net::ServerRequest request;
  std::shared_ptr<net::Responder> responder;
  net::EventLoop* loop = nullptr;
  Identity identity = {};
  std::string request_id = {};               // x-request-id
  std::vector<std::string> parameters = {};  // the parts of the path that its route leaves open, decoded
  std::shared_ptr<const std::vector<ModelDisconnect>> disconnect = {};  // rules by model; may be null
  // The client left before a handler set on_gone itself: for those that do something else first.
  bool is_gone = false;
  // Whether the key of the request is still valid, on the loop; empty: no key is needed. For connections that
  // live long: it knows of a revoked key some seconds later (KEYS3), because it has the keys read again.
  std::function<bool()> is_still_allowed = {};

  store::SessionKey session(std::string name) const { return {identity.tenant, std::move(name)}; }
  // The decoded value of a query parameter; the first of several. All of one name: query_all("include[]").
  std::optional<std::string> query(std::string_view name) const;
  std::vector<std::string> query_all(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> query_pairs() const;  // all, decoded, in order

  // Answers with JSON. Headers: Content-Type, x-request-id, and those added here before.
  void answer(int status, const Json& body);
  void add_header(std::string name, std::string value) {
    headers.push_back({std::move(name), std::move(value)});
  }
  // The headers of an answer that is sent in pieces: Responder::start(200,
  // stream_headers("text/event-stream")). They keep proxies from holding pieces back.
  std::vector<net::Header> stream_headers(std::string_view content_type) const;

  std::vector<net::Header> headers = {};
};

// What the handlers of all APIs share.
struct Service {
  TurnEngine& engine;
  std::chrono::milliseconds ping{15'000};  // between comments on a silent stream
};

using Handler = std::function<void(Service& service, const std::shared_ptr<Exchange>& exchange)>;

// "/v1/responses/{}/cancel": "{}" is one part of the path, decoded.
struct Route {
  std::string_view method;
  std::string_view pattern;
  Handler handle;
};

// An error in OpenAI's form: {"error": {"message", "type", "param", "code"}}.
struct ApiError {
  int status = 400;
  std::string type = "invalid_request_error";
  std::string message = {};
  std::optional<std::string> param = {};
  std::optional<std::string> code = {};
};
Json to_json(const ApiError& error);
// With Retry-After, unless it was added before, if the status is 409, 429 or 503.
void answer(Exchange& exchange, const ApiError& error);

// The error of a store or an engine as an API error: Conflict 409 "conversation_locked", NotFound 404,
// Invalid and BrokenHistory 400, Unavailable 503, ... `what` names the missing thing ("conversation"): the
// code is then "conversation_not_found".
ApiError api_error(const Error& error, std::string_view what = {});
// The same for TurnFollower::refused(): LimitExceeded means 400 "context_length_exceeded".
ApiError refusal_error(const Error& error);
// The failure of a turn: RateLimit 429, ContextTooLong 400 "context_length_exceeded", Overloaded 503, others
// 502 or 500. Never the status of the upstream's own authentication: its key is the operator's.
ApiError api_error(const TurnFailure& failure);

}  // namespace parley::server
