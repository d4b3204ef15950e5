#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "parley/net/http.h"

namespace parley::net {
namespace {

class SystemResolver final : public Resolver {
 public:
  Result<std::vector<IpAddress>> resolve(std::string_view host) override {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;  // or every address comes once for each type of socket
    addrinfo* found = nullptr;
    const int status = getaddrinfo(std::string(host).c_str(), nullptr, &hints, &found);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, [](addrinfo* list) {
      if (list != nullptr) freeaddrinfo(list);
    });
    if (status == EAI_NONAME || status == EAI_NODATA) {
      return fail(Code::NotFound, "the host " + std::string(host) + " has no address");
    }
    if (status != 0) {
      return fail(Code::Unavailable,
                  "cannot resolve the host " + std::string(host) + ": " + gai_strerror(status));
    }
    std::vector<IpAddress> addresses;
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
      IpAddress address;
      if (entry->ai_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, entry->ai_addr, sizeof v4);
        address = IpAddress::v4(ntohl(v4.sin_addr.s_addr));
      } else if (entry->ai_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, entry->ai_addr, sizeof v6);
        address.is_v6 = true;
        std::memcpy(address.bytes.data(), &v6.sin6_addr, address.bytes.size());
      } else {
        continue;
      }
      if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
    }
    if (addresses.empty()) {
      return fail(Code::NotFound, "the host " + std::string(host) + " has no address");
    }
    return addresses;
  }
};

}  // namespace

Resolver& system_resolver() {
  static SystemResolver resolver;
  return resolver;
}

}  // namespace parley::net
