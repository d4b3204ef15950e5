// Resolves names to addresses. An interface, so that a caller can check the addresses before it connects, and
// a test can return any.
//
// A Resolver is called from the thread that makes the request; an implementation says which threads it can
// serve.
#pragma once

#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/ip_address.h"

namespace parley::net {

class Resolver {
 public:
  Resolver() = default;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  virtual ~Resolver() = default;

  // The addresses of a domain in ASCII, best first; never empty. Fails with NotFound if the name has no
  // address, with Unavailable if no name server responds.
  virtual Result<std::vector<IpAddress>> resolve(std::string_view host) = 0;
};

// getaddrinfo(3): the hosts file and the name servers of the machine, with their own time limits
// (resolv.conf), which no deadline of Parley shortens. Safe from any thread; lives as long as the
// program.
Resolver& system_resolver();

}  // namespace parley::net
