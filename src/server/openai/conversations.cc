#include "server/openai/conversations.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/json/writer.h"
#include "server/http/blocking.h"
#include "server/http/body.h"
#include "server/openai/conversation_book.h"
#include "server/openai/conversation_items.h"
#include "server/openai/conversation_list.h"
#include "server/openai/metadata.h"
#include "server/openai/paging.h"

namespace parley::server {
namespace {

constexpr std::string_view kConversation = "conversation";
constexpr std::chrono::seconds kRemovalTime(30);  // of the lease that keeps turns away meanwhile

// What the handlers of these routes share.
struct Desk {
  ConversationBook book;
  ItemLists lists;
};
using SharedDesk = std::shared_ptr<Desk>;

ApiError part_of_answer(const std::string& id, const std::vector<std::string>& others) {
  std::string ids;
  for (const std::string& other : others) ids.append(ids.empty() ? "'" : ", '").append(other).append("'");
  return {.status = 400,
          .message = "Item '" + id + "' is part of an answer: with it go " + ids +
                     ". Send whole=true in the query to delete all of them.",
          .code = "item_is_part_of_answer"};
}

// One request of these routes, on a thread that may block.
class ConversationCall {
 public:
  ConversationCall(Desk& desk, TurnEngine& engine, const Exchange& exchange)
      : desk_(desk), engine_(engine), exchange_(exchange) {}

  Reply create() {
    PARLEY_REPLY_TRY(const Json body, body_object(exchange_.request), kConversation);
    PARLEY_REPLY_TRY(const auto metadata, metadata_in(body), kConversation);
    PARLEY_REPLY_TRY(const std::vector<Message> items, new_items(body, {}), kConversation);
    const auto key = exchange_.session("conv_" + new_ulid(static_cast<std::uint64_t>(now_ms())));
    if (!exchange_.identity.may_open(key.session)) {
      return std::unexpected(ApiError{.status = 403,
                                      .message = "This key may only use the conversations that it names.",
                                      .code = "insufficient_permissions"});
    }
    const store::Batch batch({metadata_record(metadata.value_or(Json()))});
    PARLEY_REPLY_CHECK(engine_.store().append(key, batch), kConversation);
    if (!items.empty()) {
      if (const auto added = engine_.append(key, items); !added) {
        static_cast<void>(engine_.store().remove(key));  // it was never shown
        return refuse(added.error(), kConversation);
      }
    }
    return show(key);
  }

  Reply get() {
    PARLEY_REPLY_TRY(const auto key, named(), kConversation);
    return show(key);
  }

  Reply update() {
    PARLEY_REPLY_TRY(const auto key, named(), kConversation);
    PARLEY_REPLY_TRY(const Json body, body_object(exchange_.request), kConversation);
    PARLEY_REPLY_TRY(const auto metadata, metadata_in(body), kConversation);
    PARLEY_REPLY_CHECK(engine_.store().head(key), kConversation);
    if (body.get("metadata")) {
      const store::Batch batch({metadata_record(metadata.value_or(Json()))});
      PARLEY_REPLY_CHECK(engine_.store().append(key, batch), kConversation);
    }
    return show(key);
  }

  Reply remove() {
    PARLEY_REPLY_TRY(const auto key, named(), kConversation);
    store::Store& store = engine_.store();
    PARLEY_REPLY_CHECK(store.head(key), kConversation);
    // A running turn has the lease: the removal waits for its end, as Conflict.
    PARLEY_REPLY_CHECK(store.lease(key, "DELETE of a conversation", kRemovalTime), kConversation);
    PARLEY_REPLY_CHECK(store.remove(key), kConversation);
    desk_.book.forget(key);
    json::Writer w;
    w.begin_object().key("id").string(key.session).key("object").string("conversation.deleted");
    return w.key("deleted").boolean(true).end_object().take();
  }

  Reply add_items() {
    PARLEY_REPLY_TRY(const auto key, named(), kConversation);
    PARLEY_REPLY_TRY(const Json body, body_object(exchange_.request), kConversation);
    if (!body.get("items")) return refuse(Error{Code::Missing, "items is missing", "/items"});
    PARLEY_REPLY_TRY(const auto present, desk_.lists.read(engine_, key), kConversation);
    PARLEY_REPLY_TRY(const std::vector<Message> items, new_items(body, *present), kConversation);
    if (!items.empty()) PARLEY_REPLY_CHECK(engine_.append(key, items), kConversation);
    return list_page(shown_items(items, key.session), false);
  }

  Reply list_items() {
    PARLEY_REPLY_TRY(const auto key, named(), kConversation);
    PARLEY_REPLY_TRY(const PageQuery query, page_query(exchange_), kConversation);
    PARLEY_REPLY_TRY(const auto list, desk_.lists.read(engine_, key), kConversation);
    PARLEY_REPLY_TRY(Json page, page_of(list->items, query), kConversation);
    return page;
  }

  Reply get_item() {
    PARLEY_REPLY_TRY(const auto key, named(), kConversation);
    PARLEY_REPLY_TRY(const auto list, desk_.lists.read(engine_, key), kConversation);
    const auto item = find_item(*list);
    return item == list->items.end() ? Reply(no_item()) : Reply(*item);
  }

  Reply remove_item() {
    PARLEY_REPLY_TRY(const auto key, named(), kConversation);
    PARLEY_REPLY_TRY(const auto list, desk_.lists.read(engine_, key), kConversation);
    const auto item = find_item(*list);
    if (item == list->items.end()) return no_item();
    const auto index = static_cast<std::size_t>(item - list->items.begin());
    if (exchange_.query("whole") != "true") {
      PARLEY_REPLY_TRY(const auto others, items_hidden_with(engine_, key, *list, index), "item");
      if (!others.empty()) return std::unexpected(part_of_answer(exchange_.parameters[1], others));
    }
    PARLEY_REPLY_CHECK(engine_.hide(key, {list->positions[index]}), "item");
    return show(key);
  }

  Reply list() { return list_conversations(desk_.book, engine_.store(), exchange_); }

 private:
  // The session of the path. A name that the key may not open looks like one that does not exist.
  Result<store::SessionKey> named() const {
    const std::string& id = exchange_.parameters.front();
    if (!exchange_.identity.may_open(id))
      return fail(Code::NotFound, "there is no conversation '" + id + "'");
    return exchange_.session(id);
  }

  Reply show(const store::SessionKey& key) {
    PARLEY_REPLY_TRY(const ConversationInfo info, desk_.book.read(engine_.store(), key), kConversation);
    return to_json(info);
  }

  std::vector<Json>::const_iterator find_item(const ItemList& list) const {
    return std::ranges::find(list.items, exchange_.parameters[1], id_in);
  }

  static std::unexpected<ApiError> no_item() {
    return refuse(Error{Code::NotFound, "no such item", ""}, "item");
  }

  Desk& desk_;
  TurnEngine& engine_;
  const Exchange& exchange_;
};

Handler conversation_handler(const SharedDesk& desk, Reply (ConversationCall::*call)()) {
  return [desk, call](Service& service, const std::shared_ptr<Exchange>& exchange) {
    answer_with(service, exchange, [desk, call, &engine = service.engine, exchange] {
      return (ConversationCall(*desk, engine, *exchange).*call)();
    });
  };
}

}  // namespace

std::vector<Route> conversation_routes() {
  const auto desk = std::make_shared<Desk>();
  const auto to = [&](Reply (ConversationCall::*call)()) { return conversation_handler(desk, call); };
  return {
      {"POST", "/v1/conversations", to(&ConversationCall::create)},
      {"GET", "/v1/conversations", to(&ConversationCall::list)},
      {"GET", "/v1/conversations/{}", to(&ConversationCall::get)},
      {"POST", "/v1/conversations/{}", to(&ConversationCall::update)},
      {"DELETE", "/v1/conversations/{}", to(&ConversationCall::remove)},
      {"POST", "/v1/conversations/{}/items", to(&ConversationCall::add_items)},
      {"GET", "/v1/conversations/{}/items", to(&ConversationCall::list_items)},
      {"GET", "/v1/conversations/{}/items/{}", to(&ConversationCall::get_item)},
      {"DELETE", "/v1/conversations/{}/items/{}", to(&ConversationCall::remove_item)},
  };
}

}  // namespace parley::server
