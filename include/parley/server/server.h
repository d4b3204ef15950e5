// A Server is `parley serve` as a library class: event loops, a turn engine, and the HTTP APIs over it.
//
// Invariants (quoted by tests as SERVER1..SERVER5):
//   SERVER1  It listens on loopback addresses and UNIX sockets without a key, also if the caller opened
//            the sockets. Any other address needs a key in the store, or is_insecure.
//   SERVER2  drain() answers what has begun, turn or not, refuses what is new, and stores what does not
//            end in time. A WebSocket is closed with 1001 when no turn runs.
//   SERVER3  GET /health answers while the process lives; GET /ready answers 200 only if the store works
//            and the server does not drain.
//   SERVER4  reload() takes new and revoked keys, a new certificate and new settings for later requests.
//   SERVER5  Every error is in OpenAI's form and has x-request-id, also for what is not a valid request.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/net/async_server.h"
#include "parley/server/turn_engine.h"

namespace parley::server {

// What can change while a server runs.
struct ServerSettings {
  // Names that clients may call the server by, beside addresses and localhost.
  std::vector<std::string> hosts = {};
  std::vector<std::string> origins = {};  // of browser pages that may call it
  // Further paths that go to the provider of a model as they are: "/v1/rerank", "/v1/files/{*}" (the rest of
  // a path). A client with a key may use them with the provider's key.
  std::vector<std::string> pass_through = {};
  // What happens when a client leaves, by model: the first that fits counts, unless the key or the request has
  // a rule.
  std::vector<ModelDisconnect> disconnect = {};
};

struct ServerConfig {
  net::ServerOptions http = {};   // address, port, sockets, certificate, limits; its loops are not used
  std::size_t loops = 0;          // 0: one for each processor
  TurnEngineOptions engine = {};  // the store and the models at least
  ServerSettings settings = {};
  bool is_insecure = false;                // without a key on any address
  std::chrono::milliseconds ping{15'000};  // between comments on a silent stream
};

class Server {
 public:
  // Fails with Invalid for a wrong address, certificate or SERVER1, with Unavailable if the port is in use,
  // and like the store.
  static Result<Server> start(ServerConfig config);
  Server(Server&&) noexcept;
  Server& operator=(Server&&) noexcept;
  ~Server();  // drains without waiting

  std::string url(std::string_view path = "") const;
  TurnEngine& engine();
  // Reads the keys and the certificate again. Fails if the certificate is wrong; the old one stays then.
  Result<void> reload();
  // The same, with other settings, which hold also if the certificate is wrong.
  Result<void> reload(ServerSettings settings);
  // Waits at most `time` for running turns and other requests; then stores the turns as they are and cuts the
  // rest. Returns when no connection is left.
  void drain(std::chrono::milliseconds time);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The limits of a server for many clients (docs/serve.md).
net::ServerOptions serve_limits();

}  // namespace parley::server
