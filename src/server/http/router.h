// Finds the handler of a request by its method and path.
//
//   "/v1/responses/{}/cancel"   "{}" is one part of the path, decoded
//   "/v1/models/{*}"            "{*}", at the end, is the rest of the path: one part or more, decoded
//
// Invariants (quoted by tests as ROUTER1..ROUTER4):
//   ROUTER1  Of several routes that match, the one with the earlier literal part wins.
//   ROUTER2  A path of no route is 404, a method that its routes do not have is 405 with Allow, each with
//            an error in OpenAI's form.
//   ROUTER3  HEAD is served by GET. (The server sends no body then.)
//   ROUTER4  A "%2F" is not a separator: it is a '/' in the decoded part.
//
// Immutable; safe from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/exchange.h"

namespace parley::server {

class Router {
 public:
  explicit Router(std::vector<Route> routes);

  // The route of the request, whose parameters are then in the exchange; or null, and the exchange is
  // answered.
  const Route* find(Exchange& exchange) const;

  // The methods of a path, sorted: "GET, POST". Empty: there is no such path.
  std::string allowed(std::string_view path) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string_view> parts;
  };
  std::vector<Entry> entries_;  // those with earlier literal parts first (ROUTER1)
};

}  // namespace parley::server
