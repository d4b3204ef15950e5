// Looks up names for an event loop: by other threads, once for all who wait for a name (ASYNC_CLIENT5).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/loop.h"
#include "parley/net/http.h"

namespace parley::net {

class NameCache {
 public:
  using Addresses = Result<std::vector<IpAddress>>;
  using Found = std::function<void(const Addresses& addresses)>;

  // The resolver must be safe from any thread, and outlive the look-ups.
  NameCache(std::shared_ptr<Loop> loop, Resolver& resolver);
  NameCache(const NameCache&) = delete;
  NameCache& operator=(const NameCache&) = delete;
  ~NameCache();

  // On the loop; `found` is called there, at once if the name is remembered. Failures are not remembered.
  void find(const std::string& host, Found found);
  // Drops those who wait.
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace parley::net
