// Memory that many share: what is taken is given back later.
//
// Invariants (quoted by tests as BYTE_BUDGET1..BYTE_BUDGET2):
//   BYTE_BUDGET1  At most `most` bytes are taken at a time. What is refused takes nothing.
//   BYTE_BUDGET2  At most `share` of them are those of one client, so that one alone cannot lock out the
//                 others. Clients without a name have no share: loopback addresses and UNIX sockets.
//
// Safe from any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace parley::net {

class ByteBudget {
 public:
  // 0 is no limit, for each.
  ByteBudget(std::size_t most, std::size_t share) : most_(most), share_(share) {}

  // False, and nothing is taken, if there is less left for all, or for this client.
  bool take(std::size_t bytes, const std::string& client) {
    const std::lock_guard lock(mutex_);
    if (most_ > 0 && bytes > most_ - taken_) return false;
    if (is_counted(client) && !take_of(client, bytes)) return false;
    taken_ += bytes;
    return true;
  }

  void give(std::size_t bytes, const std::string& client) {
    const std::lock_guard lock(mutex_);
    taken_ -= bytes;
    if (!is_counted(client)) return;
    const auto found = by_client_.find(client);
    found->second -= bytes;
    if (found->second == 0) by_client_.erase(found);
  }

 private:
  bool is_counted(const std::string& client) const { return share_ > 0 && !client.empty(); }

  bool take_of(const std::string& client, std::size_t bytes) {
    const auto found = by_client_.find(client);
    const std::size_t has = found == by_client_.end() ? 0 : found->second;
    if (bytes > share_ - has) return false;
    if (bytes > 0) by_client_[client] = has + bytes;
    return true;
  }

  const std::size_t most_;
  const std::size_t share_;
  std::mutex mutex_;
  std::size_t taken_ = 0;
  std::unordered_map<std::string, std::size_t> by_client_;  // none has 0
};

}  // namespace parley::net
