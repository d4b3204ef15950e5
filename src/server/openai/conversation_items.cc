#include "server/openai/conversation_items.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "parley/memory/memory.h"
#include "server/openai/items.h"
#include "server/openai/paging.h"

namespace parley::server {
namespace {

// The result of a custom tool has a status as an item of Responses, and none as one of Conversations.
Json conversation_item(const Json& item) {
  if (item_type(item) != "custom_tool_call_output") return item;
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : item.members()) {
    if (member.key != "status") w.key(member.key).value(member.value);
  }
  return w.end_object().take();
}

constexpr std::size_t kMostKeptLists = 16;
constexpr std::size_t kMostKeptBytes = std::size_t{8} << 20;  // of one list

std::size_t bytes_of(const ItemList& list) {
  std::size_t out = 0;
  for (const Json& item : list.items) out += item.text().size();
  return out;
}

std::string place_of(std::size_t index) { return "/items/" + std::to_string(index); }

Error at_item(Error error, std::string_view prefix) {
  error.path = std::string(prefix) + error.path;
  return error;
}

// The positions of the messages that leave with the one at this index: those of its exchange, as a memory
// removes it.
Result<std::unordered_set<store::Position>> positions_hidden_with(
    const std::vector<TurnEngine::Item>& messages, std::size_t index) {
  PARLEY_TRY(Memory memory, Memory::create({.budget = Budget::unlimited(), .duplicates = Duplicates::Keep}));
  std::vector<Message> all;
  std::unordered_set<store::Position> out;
  for (const TurnEngine::Item& message : messages) {
    all.push_back(message.message);
    out.insert(message.position);
  }
  PARLEY_CHECK(memory.add(all));
  PARLEY_CHECK(memory.remove(index));
  for (const std::size_t left : memory.window_positions()) out.erase(messages.at(left).position);
  return out;
}

std::string call_id_of(const Json& item) {
  return item.get("call_id").value_or(Json()).as_string().value_or(Text()).str();
}

}  // namespace

bool ItemList::has(std::string_view id) const {
  return std::ranges::any_of(items, [&](const Json& item) { return id_in(item) == id; });
}

Result<std::shared_ptr<const ItemList>> ItemLists::read(TurnEngine& engine, const store::SessionKey& key) {
  PARLEY_TRY(const store::SessionInfo head, engine.store().head(key));
  const auto is_it = [&](const Kept& kept) { return kept.key == key; };
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(kept_, is_it);
    if (found != kept_.end() && found->size == head.size && found->created_ms == head.created_ms) {
      std::rotate(found, found + 1, kept_.end());
      return kept_.back().list;
    }
  }
  PARLEY_TRY(const std::vector<TurnEngine::Item> messages, engine.items(key));
  auto list = std::make_shared<ItemList>();
  for (const TurnEngine::Item& message : messages) {
    for (const Json& item : items_of(message, key.session)) {
      list->items.push_back(conversation_item(item));
      list->positions.push_back(message.position);
    }
  }
  // A list that is newer than the head is made again next time.
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, is_it);
  if (bytes_of(*list) > kMostKeptBytes) return list;
  if (kept_.size() == kMostKeptLists) kept_.erase(kept_.begin());
  kept_.push_back({key, head.size, head.created_ms, list});
  return list;
}

Result<std::vector<Message>> new_items(const Json& request, const ItemList& present) {
  const auto items = request.get("items");
  if (!items || items->is_null()) return std::vector<Message>();
  if (!items->is_array()) return fail(Code::WrongType, "items must be a list", "/items");
  const std::vector<Json> list = items->elements();
  if (list.empty()) return std::vector<Message>();
  if (list.size() > kMostNewItems) {
    return fail(Code::LimitExceeded, "items has more than " + std::to_string(kMostNewItems) + " elements",
                "/items");
  }
  json::Writer w;
  w.begin_array();
  std::unordered_set<std::string> ids;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) return fail(Code::WrongType, "an item must be an object", place_of(i));
    const std::string type = item_type(list[i]);
    if (type == "item_reference") {
      return fail(Code::Unsupported, "an item_reference cannot be added: send the item itself", place_of(i));
    }
    std::string id = id_in(list[i]);
    if (id.empty() || present.has(id) || ids.contains(id)) id = new_item_id(type);
    ids.insert(id);
    w.value(with_item_id(list[i], id));
  }
  const std::string text = w.end_array().take_string();
  Result<Reading> reading = parley::read(text, Dialect::Responses);
  if (!reading) return std::unexpected(at_item(std::move(reading).error(), "/items"));
  const auto messages = reading->conversation.messages();
  return std::vector<Message>(messages.begin(), messages.end());
}

Result<std::vector<std::string>> items_hidden_with(TurnEngine& engine, const store::SessionKey& key,
                                                   const ItemList& list, std::size_t index) {
  PARLEY_TRY(const std::vector<TurnEngine::Item> messages, engine.items(key));
  const auto at = std::ranges::find(messages, list.positions.at(index), &TurnEngine::Item::position);
  if (at == messages.end()) return fail(Code::NotFound, "no such item");
  PARLEY_TRY(const auto hidden,
             positions_hidden_with(messages, static_cast<std::size_t>(at - messages.begin())));
  const std::string call = call_id_of(list.items[index]);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const bool is_other_half = !call.empty() && call_id_of(list.items[i]) == call;
    const bool leaves = i != index && hidden.contains(list.positions[i]);
    if (leaves && !is_other_half) out.push_back(id_in(list.items[i]));
  }
  return out;
}

std::vector<Json> shown_items(const std::vector<Message>& messages, const std::string& session) {
  std::vector<Json> out;
  for (const Message& message : messages) {
    for (const Json& item : input_items(message, {session, "p0", "0"}))
      out.push_back(conversation_item(item));
  }
  return out;
}

}  // namespace parley::server
