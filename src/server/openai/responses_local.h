// Responses that are not stored, kept in one connection so that it can continue them.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/message/message.h"
#include "parley/server/turn.h"

namespace parley::server {

// What a later request stands on: a stored session up to a position, if any, and messages after it. `after`
// is set if `session` is.
struct LocalHistory {
  std::optional<store::SessionKey> session = {};
  std::optional<store::Position> after = {};
  std::vector<Message> messages = {};
};

class LocalResponses {
 public:
  // The oldest are forgotten above these limits.
  static constexpr std::size_t kMostResponses = 32;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  // nullptr: there is none. Valid until the next call of another function.
  const LocalHistory* find(std::string_view id) const;
  void add(std::string id, LocalHistory history);
  void forget(std::string_view id);

 private:
  struct Kept {
    std::string id;
    LocalHistory history;
    std::size_t bytes;
  };
  std::deque<Kept> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace parley::server
