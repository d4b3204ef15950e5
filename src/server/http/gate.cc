#include "server/http/gate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "net/fields.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/base/log.h"
#include "parley/base/url.h"
#include "parley/net/websocket.h"
#include "server/http/glob.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostIdBytes = 128;
constexpr std::string_view kExposedHeaders = "x-request-id, x-parley-notes, x-parley-queued-ms, Retry-After";
constexpr std::string_view kPreflightSeconds = "600";

bool is_sane_id(std::string_view id) {
  return !id.empty() && id.size() <= kMostIdBytes && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  });
}

std::string request_id_of(const net::ServerRequest& request) {
  const auto given = request.header("x-request-id");
  return given && is_sane_id(*given) ? std::string(*given) : new_request_id();
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), net::lower);
  return out;
}

// "localhost" of "LOCALHOST:7557", "[::1]" of "[::1]:80"; empty if it is neither.
std::string host_name(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') + 1 : std::min(host.find(':'), host.size());
  if (end < host.size() && host[end] != ':') return {};
  std::string name = lower_case(host.substr(0, end));
  if (name.ends_with('.')) name.pop_back();
  return name;
}

bool is_listed(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return matches(lower_case(pattern), name); });
}

bool is_address(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) {
    return parse_ipv6(name.substr(1, name.size() - 2)).has_value();
  }
  return ends_in_a_number(name) && parse_ipv4(name).has_value();
}

bool is_own_host(const GateOptions& options, const net::ServerRequest& request) {
  if (request.is_unix) return true;
  const std::string name = host_name(request.header("Host").value_or(""));
  return name == "localhost" || name.ends_with(".localhost") || is_address(name) ||
         is_listed(options.hosts, name);
}

bool is_read(std::string_view method) { return method == "GET" || method == "HEAD"; }

bool is_preflight(const net::ServerRequest& request) {
  return request.method == "OPTIONS" && request.header("Access-Control-Request-Method").has_value();
}

// A page of this server itself: the origin is its scheme and the Host.
bool is_same_origin(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return net::same_name(origin.substr(scheme.size()), host);
  }
  return false;
}

void refuse_origin(Exchange& exchange, std::string_view origin) {
  answer(exchange, {.status = 403,
                    .message = "Requests from pages of '" + std::string(origin) +
                               "' are not allowed: add it to the origins of the server",
                    .code = "origin_not_allowed"});
}

void answer_preflight(Exchange& exchange) {
  exchange.add_header("Access-Control-Allow-Methods", "GET, POST, DELETE, OPTIONS");
  const auto wanted = exchange.request.header("Access-Control-Request-Headers");
  if (wanted) exchange.add_header("Access-Control-Allow-Headers", std::string(*wanted));
  exchange.add_header("Access-Control-Max-Age", std::string(kPreflightSeconds));
  exchange.add_header("x-request-id", exchange.request_id);
  exchange.responder->whole(204, std::move(exchange.headers), {});
}

// The key of a request; nullopt: it has none.
std::optional<std::string_view> key_in(const net::ServerRequest& request) {
  constexpr std::string_view kBearer = "bearer ";
  if (const auto value = request.header("Authorization"); value && value->size() > kBearer.size()) {
    if (net::same_name(value->substr(0, kBearer.size()), kBearer)) return value->substr(kBearer.size());
  }
  for (const std::string_view name : {"x-api-key", "x-goog-api-key"}) {
    if (const auto value = request.header(name)) return value;
  }
  return std::nullopt;
}

void refuse_key(Exchange& exchange, bool has_key) {
  exchange.add_header("WWW-Authenticate", "Bearer");
  answer(exchange, {.status = 401,
                    .message = has_key ? "The API key is not valid."
                                       : "An API key is needed: send it as a Bearer token.",
                    .code = "invalid_api_key"});
}

// Answers and returns false if the request stops here.
bool check_browser(const GateOptions& options, Exchange& exchange) {
  const net::ServerRequest& request = exchange.request;
  if (!is_own_host(options, request)) {
    answer(exchange, {.status = 403,
                      .message = "Host '" + std::string(request.header("Host").value_or("")) +
                                 "' is not a name of this server: add it to the hosts of the server",
                      .code = "host_not_allowed"});
    return false;
  }
  const auto origin = request.header("Origin");
  if (!origin) return true;
  if (is_listed(options.origins, lower_case(*origin))) {
    exchange.add_header("Access-Control-Allow-Origin", std::string(*origin));
    exchange.add_header("Vary", "Origin");
    exchange.add_header("Access-Control-Expose-Headers", std::string(kExposedHeaders));
    if (!is_preflight(request)) return true;
    answer_preflight(exchange);
    return false;
  }
  // A page of any site may open a WebSocket, and reads what comes: that is not protected like an answer to
  // GET.
  const bool is_plain_read = is_read(request.method) && !net::is_websocket_request(request);
  if (is_plain_read || is_same_origin(*origin, request.header("Host").value_or(""))) return true;
  refuse_origin(exchange, *origin);
  return false;
}

}  // namespace

std::string new_request_id() { return "req_" + new_ulid(static_cast<std::uint64_t>(now_ms())); }

Gate::Gate(GateOptions options, std::shared_ptr<KeyRing> keys)
    : keys_(std::move(keys)), options_(std::make_shared<const GateOptions>(std::move(options))) {}

void Gate::change(GateOptions options) {
  auto next = std::make_shared<const GateOptions>(std::move(options));
  const std::lock_guard lock(mutex_);
  options_ = std::move(next);
}

std::shared_ptr<const GateOptions> Gate::options() {
  const std::lock_guard lock(mutex_);
  return options_;
}

void Gate::pass(Service& service, net::EventLoop& loop, net::ServerRequest request,
                std::shared_ptr<net::Responder> responder, Next next) {
  const auto exchange = std::make_shared<Exchange>();
  exchange->request = std::move(request);
  exchange->responder = std::move(responder);
  exchange->loop = &loop;
  exchange->request_id = request_id_of(exchange->request);
  exchange->responder->on_gone([weak = std::weak_ptr<Exchange>(exchange)] {
    if (const auto left = weak.lock()) left->is_gone = true;
  });
  const std::shared_ptr<const GateOptions> rules = options();
  exchange->disconnect = rules->disconnect;
  if (!check_browser(*rules, *exchange)) return;
  const bool is_public =
      std::ranges::find(rules->public_paths, exchange->request.path) != rules->public_paths.end();
  if (keys_ == nullptr || is_public) return next(exchange);
  check_key(service, exchange, std::move(next));
}

void Gate::check_key(Service& service, std::shared_ptr<Exchange> exchange, Next next) {
  if (keys_->is_fresh()) return admit(service, exchange, next);
  net::EventLoop& loop = *exchange->loop;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(exchange), std::move(next)});
    if (std::exchange(is_reloading_, true)) return;
  }
  reload(service, loop);
}

// For connections that live long, whose other requests may be over.
void Gate::refresh(Service& service, net::EventLoop& loop) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_reloading_, true)) return;
  }
  reload(service, loop);
}

// Reads the keys on a thread for calls that block, for all requests that wait meanwhile.
void Gate::reload(Service& service, net::EventLoop& loop) {
  const auto result = std::make_shared<Result<void>>();
  service.engine.run(
      loop, [this, result] { *result = keys_->reload(); },
      [this, &service, result] {
        std::vector<Waiting> waiting;
        {
          const std::lock_guard lock(mutex_);
          waiting = std::exchange(waiting_, {});
          is_reloading_ = false;
        }
        if (!*result) log(LogLevel::Error, "cannot read the keys: " + result->error().message);
        for (Waiting& one : waiting) {
          net::EventLoop& own = *one.exchange->loop;
          own.run([this, &service, result, one = std::move(one)] {
            if (one.exchange->is_gone) return;
            if (*result) return admit(service, one.exchange, one.next);
            answer(*one.exchange, api_error(result->error()));
          });
        }
      });
}

// The hash of the key is kept, not the key.
std::function<bool()> Gate::later_check(Service& service, net::EventLoop& loop,
                                        std::optional<std::string_view> key) {
  const auto hash = key ? std::optional(sha256(*key)) : std::nullopt;
  return [this, &service, &loop, hash] {
    if (!keys_->is_fresh()) refresh(service, loop);
    return !keys_->has_keys() || (hash && keys_->has_valid(*hash, now_ms()));
  };
}

void Gate::admit(Service& service, const std::shared_ptr<Exchange>& exchange, const Next& next) {
  const auto key = key_in(exchange->request);
  exchange->is_still_allowed = later_check(service, *exchange->loop, key);
  if (!keys_->has_keys()) return next(exchange);
  const auto identity = key ? keys_->find(*key, now_ms()) : std::nullopt;
  if (!identity) return refuse_key(*exchange, key.has_value());
  exchange->identity = *identity;
  if (!identity->may_write() && !is_read(exchange->request.method)) {
    return answer(*exchange,
                  {.status = 403, .message = "This key may only read.", .code = "insufficient_permissions"});
  }
  next(exchange);
}

}  // namespace parley::server
