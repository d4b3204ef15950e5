// The items of conversations: those that clients add, and lists of all, with real paging.
//
// The functions block; safe from any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/json/json.h"
#include "parley/message/message.h"
#include "parley/server/turn_engine.h"

namespace parley::server {

inline constexpr std::size_t kMostNewItems = 100;  // per request; OpenAI takes 20

// The items of a session that are not hidden, in order.
struct ItemList {
  std::vector<Json> items = {};
  std::vector<store::Position> positions = {};  // of the message of each item
  bool has(std::string_view id) const;
};

// Lists that were made lately, so that the next page costs nothing.
class ItemLists {
 public:
  // Fails with NotFound if there is no such session.
  Result<std::shared_ptr<const ItemList>> read(TurnEngine& engine, const store::SessionKey& key);

 private:
  struct Kept {
    store::SessionKey key;
    store::Position size = 0;
    std::int64_t created_ms = 0;
    std::shared_ptr<const ItemList> list = {};
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;  // the last one used is last
};

// The member "items" of a request, as messages that have an id each: the client's, or a new one if it has
// none or if `present` has it already. No member gives no messages. Fails like read(), with Invalid for too
// many items or one that only names another, with LimitExceeded.
Result<std::vector<Message>> new_items(const Json& request, const ItemList& present);

// The ids of the items that leave with this one of the list, because they are of the same message or of the
// same exchange, which is only hidden whole. The other half of its own tool call is not named: neither can
// stay without the other. Fails like TurnEngine::hide().
Result<std::vector<std::string>> items_hidden_with(TurnEngine& engine, const store::SessionKey& key,
                                                   const ItemList& list, std::size_t index);

// The items as they are shown.
std::vector<Json> shown_items(const std::vector<Message>& messages, const std::string& session);

}  // namespace parley::server
