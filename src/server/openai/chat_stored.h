// Stored chat completions: list, get, messages, update, delete. chat.h has the routes.
//
// Invariants (quoted by tests as STORED_CHAT1..STORED_CHAT2):
//   STORED_CHAT1  Pages lead on: a page with has_more true has elements, whose last id continues the list,
//                 but after very many completions that do not match the filters; then its last_id does.
//   STORED_CHAT2  Metadata that was set later replaces that of the request, also if it is empty.
//
// Blocks; one thread at a time each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "server/http/blocking.h"
#include "server/openai/conversation_book.h"
#include "server/openai/paging.h"

namespace parley::server {

// How many completions a list looks at for one page.
struct ChatListLimits {
  std::size_t examined = 1'000;        // of a page that has elements
  std::size_t without_match = 20'000;  // of one that has none yet
};

class StoredChatCall {
 public:
  StoredChatCall(ConversationBook& book, TurnEngine& engine, const Exchange& exchange,
                 ChatListLimits limits = {})
      : book_(book), engine_(engine), exchange_(exchange), limits_(limits) {}

  Reply list();
  Reply get();
  Reply messages();
  Reply update();
  Reply remove();

 private:
  struct Stored {
    TurnState state;
    Json metadata;  // an object or null
  };
  // NotFound: there is no such completion, or the key may not open it.
  Result<Stored> read(const std::string& id);
  Result<Stored> named() { return read(exchange_.parameters.front()); }
  Result<bool> is_only_turn(const TurnKey& key);  // whether its session has no other
  Result<std::vector<std::string>> ids_after(const PageQuery& query);

  ConversationBook& book_;
  TurnEngine& engine_;
  const Exchange& exchange_;
  ChatListLimits limits_;
};

}  // namespace parley::server
