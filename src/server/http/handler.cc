#include "server/http/handler.h"

#include <memory>
#include <utility>

#include "parley/net/event_loop.h"

namespace parley::server {

net::AsyncServer::Handler make_handler(Service& service, Gate& gate,
                                       std::function<std::shared_ptr<const Router>()> routes) {
  const Gate::Next next = [&service, routes = std::move(routes)](const std::shared_ptr<Exchange>& exchange) {
    const std::shared_ptr<const Router> router = routes();
    if (const Route* route = router->find(*exchange)) route->handle(service, exchange);
  };
  return [&service, &gate, next](net::ServerRequest request, std::shared_ptr<net::Responder> responder) {
    gate.pass(service, *net::EventLoop::current(), std::move(request), std::move(responder), next);
  };
}

}  // namespace parley::server
