#include "parley/server/server.h"

#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <thread>
#include <utility>

#include "net/listener.h"
#include "parley/base/clock.h"
#include "server/http/gate.h"
#include "server/http/handler.h"
#include "server/http/keys.h"
#include "server/http/own_routes.h"
#include "server/http/pass_through.h"
#include "server/http/router.h"
#include "server/openai/chat.h"
#include "server/openai/conversations.h"
#include "server/openai/models.h"
#include "server/openai/responses_routes.h"

namespace parley::server {
namespace {

std::vector<Route> all_routes(const std::shared_ptr<const std::atomic<bool>>& is_draining,
                              const std::vector<std::string>& pass_through) {
  std::vector<Route> out = own_routes(is_draining);
  for (auto routes : {responses_routes(), chat_routes(), conversation_routes(), model_routes(),
                      pass_through_routes(pass_through)}) {
    std::ranges::move(routes, std::back_inserter(out));
  }
  return out;
}

std::string_view code_of_refusal(int status) {
  switch (status) {
    case 408:
      return "request_timeout";
    case 413:
      return "request_too_large";
    case 431:
      return "headers_too_large";
    case 500:
      return "internal_error";
    case 503:
      return "overloaded";
    default:
      return "invalid_http";
  }
}

// What is refused before it is a request (SERVER5).
std::pair<std::vector<net::Header>, std::string> refusal_of(int status, std::string_view reason) {
  std::string message(reason);
  if (!message.empty() && message[0] >= 'a' && message[0] <= 'z') {
    message[0] = static_cast<char>(message[0] - 'a' + 'A');
  }
  const ApiError error{.status = status,
                       .type = status >= 500 ? "server_error" : "invalid_request_error",
                       .message = message + ".",
                       .code = std::string(code_of_refusal(status))};
  return {{{"Content-Type", "application/json"}, {"x-request-id", new_request_id()}},
          to_json(error).text().str()};
}

Result<void> check_address(const ServerConfig& config, const KeyRing& keys) {
  if (config.is_insecure || keys.has_keys()) return {};
  const auto address = net::reachable_address(config.http);
  if (!address) return {};
  return fail(Code::Invalid,
              "listening on " + *address +
                  " needs a key: create one with 'parley keys create NAME', or use --insecure");
}

GateOptions gate_options(ServerSettings& settings) {
  return {.hosts = std::move(settings.hosts),
          .origins = std::move(settings.origins),
          .disconnect = std::make_shared<const std::vector<ModelDisconnect>>(std::move(settings.disconnect))};
}

}  // namespace

net::ServerOptions serve_limits() {
  net::ServerOptions out;
  out.connections = 8'192;
  out.max_body_bytes = std::size_t{32} << 20;
  out.idle_timeout = std::chrono::seconds(75);
  return out;
}

struct Server::State {
  ~State() {
    if (http) http->stop();
    engine.reset();  // ends its turns on the loops
    loops.clear();
  }

  // Requests use the routes that they began with.
  void set_routes(const std::vector<std::string>& pass_through) {
    auto next = std::make_shared<const Router>(all_routes(is_draining, pass_through));
    const std::lock_guard lock(mutex);
    router = std::move(next);
  }
  std::shared_ptr<const Router> present_router() {
    const std::lock_guard lock(mutex);
    return router;
  }

  // Returns when each loop has finished what it was at.
  void wait_for_loops() {
    std::latch left(static_cast<std::ptrdiff_t>(loops.size()));
    for (const auto& loop : loops) loop->post([&left] { left.count_down(); });
    left.wait();
  }

  std::shared_ptr<std::atomic<bool>> is_draining = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::unique_ptr<net::EventLoop>> loops;
  std::shared_ptr<store::Store> store;
  std::unique_ptr<TurnEngine> engine;
  std::shared_ptr<KeyRing> keys;
  std::optional<Service> service;
  std::optional<Gate> gate;
  std::mutex mutex;
  std::shared_ptr<const Router> router;
  std::optional<net::AsyncServer> http;
  bool has_certificate = false;
};

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&&) noexcept = default;
Server::~Server() {
  if (state_) drain(std::chrono::milliseconds(0));
}

Result<Server> Server::start(ServerConfig config) {
  auto state = std::make_unique<State>();
  state->store = config.engine.store;
  if (!state->store) return fail(Code::Invalid, "a server needs a store");
  state->keys = std::make_shared<KeyRing>(*state->store);
  PARLEY_CHECK(state->keys->reload());
  PARLEY_CHECK(check_address(config, *state->keys));
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < (config.loops == 0 ? processors : config.loops); ++i) {
    PARLEY_TRY(auto loop, net::EventLoop::start());
    config.http.event_loops.push_back(loop.get());
    state->loops.push_back(std::move(loop));
  }
  PARLEY_TRY(state->engine, TurnEngine::start(std::move(config.engine)));
  state->service.emplace(Service{.engine = *state->engine, .ping = config.ping});
  state->gate.emplace(gate_options(config.settings), state->keys);
  state->set_routes(config.settings.pass_through);
  state->has_certificate = !config.http.tls_certificate.empty();
  if (!config.http.refusal) config.http.refusal = refusal_of;
  const auto handler =
      make_handler(*state->service, *state->gate, [at = state.get()] { return at->present_router(); });
  PARLEY_TRY(auto http, net::AsyncServer::listen(config.http, handler));
  state->http = std::move(http);
  return Server(std::move(state));
}

std::string Server::url(std::string_view path) const { return state_->http->url(path); }
TurnEngine& Server::engine() { return *state_->engine; }

Result<void> Server::reload() {
  state_->keys->forget();
  if (state_->has_certificate) PARLEY_CHECK(state_->http->reload_tls());
  return {};
}

Result<void> Server::reload(ServerSettings settings) {
  state_->set_routes(settings.pass_through);
  state_->gate->change(gate_options(settings));
  return reload();
}

void Server::drain(std::chrono::milliseconds time) {
  constexpr std::chrono::milliseconds kLastBytes{500};  // of answers that have just ended
  constexpr std::chrono::milliseconds kPause{10};
  const Deadline end = Deadline::in(time);
  *state_->is_draining = true;
  state_->http->drain();
  state_->engine->drain(time);
  // No turn is left that a WebSocket waits for, once the loops have told the end of the last one.
  state_->wait_for_loops();
  state_->http->close_websockets();
  const Deadline last = Deadline::in(time.count() > 0 ? std::max(end.left(), kLastBytes) : end.left());
  while (state_->http->connections() > 0 && !last.has_passed()) std::this_thread::sleep_for(kPause);
  state_->http->stop();
}

}  // namespace parley::server
