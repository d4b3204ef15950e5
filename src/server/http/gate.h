// What every request passes before its route: a request id, the checks against browsers that other sites
// misuse, and the key.
//
// Invariants (quoted by tests as GATE1..GATE9):
//   GATE1  Every answer has x-request-id: the client's, if it is 1 to 128 letters, digits and "-_.:",
//          else a new one.
//   GATE2  A Host that is neither an address, nor "localhost", nor on the list is 403: a name of another
//          site that was pointed at this address (DNS rebinding). A UNIX socket has no such check.
//   GATE3  A write, or a WebSocket, with an Origin is 403 unless the origin is this server or on the
//          list.
//   GATE4  Without a list of origins no answer has a CORS header. With it, a preflight of a listed
//          origin is answered.
//   GATE5  If the store ever had a key, a request without a valid one is 401, but for the public paths.
//          The key is a Bearer token, x-api-key or x-goog-api-key; the first that is present counts.
//   GATE6  A key of the role "read" gets 403 for everything but GET and HEAD.
//   GATE7  Without keys every caller is the administrator of the tenant "default".
//   GATE8  Exchange::is_still_allowed is false once the request would be 401, and has the keys read
//          again when they are not fresh.
//   GATE9  change() holds for requests that come later.
//
// Safe from any thread; outlives the requests that wait in it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/net/async_server.h"
#include "server/http/exchange.h"
#include "server/http/keys.h"

namespace parley::server {

struct GateOptions {
  std::vector<std::string> hosts = {};    // names that clients call the server by; globs
  std::vector<std::string> origins = {};  // of browser pages that may call it: "https://app.example"; globs
  std::vector<std::string> public_paths = {"/", "/health", "/ready"};
  std::shared_ptr<const std::vector<ModelDisconnect>> disconnect = {};  // Exchange::disconnect
};

// "req_" and 26 characters.
std::string new_request_id();

class Gate {
 public:
  // `keys` may be null: none are needed.
  Gate(GateOptions options, std::shared_ptr<KeyRing> keys);

  using Next = std::function<void(const std::shared_ptr<Exchange>& exchange)>;
  // Calls `next` on the loop, at once or after the keys were read again; or answers.
  void pass(Service& service, net::EventLoop& loop, net::ServerRequest request,
            std::shared_ptr<net::Responder> responder, Next next);
  void change(GateOptions options);

 private:
  struct Waiting {
    std::shared_ptr<Exchange> exchange;
    Next next;
  };

  std::shared_ptr<const GateOptions> options();
  void check_key(Service& service, std::shared_ptr<Exchange> exchange, Next next);
  void refresh(Service& service, net::EventLoop& loop);
  void reload(Service& service, net::EventLoop& loop);
  void admit(Service& service, const std::shared_ptr<Exchange>& exchange, const Next& next);
  std::function<bool()> later_check(Service& service, net::EventLoop& loop,
                                    std::optional<std::string_view> key);

  const std::shared_ptr<KeyRing> keys_;
  std::mutex mutex_;
  std::shared_ptr<const GateOptions> options_;
  std::vector<Waiting> waiting_;  // for the keys
  bool is_reloading_ = false;
};

}  // namespace parley::server
