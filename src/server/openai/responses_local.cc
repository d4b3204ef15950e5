#include "server/openai/responses_local.h"

#include <algorithm>
#include <utility>

#include "memory/state.h"

namespace parley::server {

const LocalHistory* LocalResponses::find(std::string_view id) const {
  const auto found = std::ranges::find(kept_, id, &Kept::id);
  return found == kept_.end() ? nullptr : &found->history;
}

// Messages are shared with the responses they continue, so what they count is more than what they take.
void LocalResponses::add(std::string id, LocalHistory history) {
  forget(id);
  std::size_t bytes = 0;
  for (const Message& message : history.messages) bytes += memory::content_bytes(message);
  bytes_ += bytes;
  kept_.push_back({std::move(id), std::move(history), bytes});
  while (kept_.size() > kMostResponses || (bytes_ > kMostBytes && kept_.size() > 1)) {
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

void LocalResponses::forget(std::string_view id) {
  const auto found = std::ranges::find(kept_, id, &Kept::id);
  if (found == kept_.end()) return;
  bytes_ -= found->bytes;
  kept_.erase(found);
}

}  // namespace parley::server
