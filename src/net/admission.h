// Which clients a server takes: so many at a time, and so many of one address.
//
// Invariants (quoted by tests as ADMISSION1..ADMISSION3):
//   ADMISSION1  At most `connections` are admitted at a time, at most `per_address` of one address.
//   ADMISSION2  A client that is refused counts neither among all nor for its address.
//   ADMISSION3  At most kRefused are refused with a response at a time; further ones are dropped.
//
// Safe from any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace parley::net {

class Admission {
 public:
  static constexpr std::size_t kRefused = 64;
  enum class Verdict { Admitted, Refused, Dropped };

  // 0 per address is no limit.
  Admission(std::size_t connections, std::size_t per_address)
      : connections_(connections), per_address_(per_address) {}

  // `address` is empty for clients that are not counted by their address. What is not dropped leaves later.
  Verdict enter(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const bool is_counted = per_address_ > 0 && !address.empty();
    const auto found = counts_.find(address);
    const bool is_many = is_counted && found != counts_.end() && found->second >= per_address_;
    if (admitted_ < connections_ && !is_many) {
      ++admitted_;
      if (is_counted) ++counts_[address];
      return Verdict::Admitted;
    }
    if (refused_ == kRefused) return Verdict::Dropped;
    ++refused_;
    return Verdict::Refused;
  }

  void leave(Verdict verdict, const std::string& address) {
    const std::lock_guard lock(mutex_);
    if (verdict != Verdict::Admitted) {
      --refused_;
      return;
    }
    --admitted_;
    const auto found = counts_.find(address);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
  }

  std::size_t admitted() const {
    const std::lock_guard lock(mutex_);
    return admitted_;
  }

 private:
  const std::size_t connections_;
  const std::size_t per_address_;
  mutable std::mutex mutex_;
  std::size_t admitted_ = 0;
  std::size_t refused_ = 0;
  std::unordered_map<std::string, std::size_t> counts_;
};

}  // namespace parley::net
