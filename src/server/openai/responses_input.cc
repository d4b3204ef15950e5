#include "server/openai/responses_input.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "message/edit.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "server/openai/items.h"
#include "server/openai/responses_compaction.h"
#include "server/openai/responses_signature.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

constexpr auto kReadMembers = std::to_array<std::string_view>(
    {"instructions", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens", "temperature",
     "top_p", "reasoning", "text", "user"});

// Without a type, an item with an id and no role is a reference.
bool is_reference(const Json& item) {
  const auto type = item.get("type").value_or(Json()).as_string();
  if (type) return *type == "item_reference";
  return item.get("role").value_or(Json()).is_null() && item.get("id").value_or(Json()).is_string();
}

std::string own_id(const Json& item) {
  return item.get("id").value_or(Json()).as_string().value_or(Text()).str();
}

Json without_id(const Json& item) {
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : item.members()) {
    if (member.key != "id") w.key(member.key).value(member.value);
  }
  return w.end_object().take();
}

// The message with another id, and its wire as it was. A dict of `parley` has the difference to the wire, and
// the id beside it, which no provider is sent.
Result<Message> with_message_id(const Message& message, const std::string& id) {
  if (message.id() == id) return message;
  if (!has_more(message)) return MessageBuilder::like(message).id(Text(id)).build();
  PARLEY_TRY(const Json dict, to_dict(message, Dialect::Parley));
  return from_dict(with_item_id(dict, id), Dialect::Parley);
}

ApiError too_large_item(std::string_view at) {
  return invalid_value(at, "expected at most " + std::to_string(kMostInputItemBytes) + " bytes of JSON");
}

bool is_ulid(std::string_view text) {
  constexpr std::size_t kLength = 26;
  return text.size() == kLength &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

// "msg_" of "msg_A.0"; empty: the id has none.
std::string_view prefix_in(std::string_view id) { return id.substr(0, id.find('_') + 1); }

// The turn and the session that an id of this server names; nullopt: it is another's.
std::optional<TurnId> place_in(std::string_view id) {
  const std::string_view prefix = prefix_in(id);
  return prefix.empty() ? std::nullopt : turn_id_of(prefix, id);
}

struct FoundItem {
  Json item;
  bool is_shown = false;  // the model sees it before the input
};

// The messages of a session, and which of them has which item.
struct SessionItems {
  struct Place {
    std::size_t message, item;
  };
  std::vector<TurnEngine::Item> messages = {};
  std::unordered_map<std::string, Place> by_id = {};
};

// Finds items by their ids, in sessions that the key may open (INPUT3).
class ItemFinder {
 public:
  ItemFinder(const InputPlace& place, ResponsesLookup& lookup) : place_(place), lookup_(lookup) {}

  // nullopt: there is none.
  Result<std::optional<FoundItem>> find(const std::string& id) {
    const std::optional<TurnId> named = place_in(id);
    PARLEY_TRY(std::optional<FoundItem> found, find_in_history(id, named));
    if (found || !named) return found;
    // The input of a turn that became a fork is named after the session it was meant for.
    for (const std::string& session : {named->session, std::string(kResponsePrefix) + named->turn,
                                       fork_beside(named->session, named->turn)}) {
      PARLEY_TRY(const SessionItems* items, items_of_session(session));
      const auto at = items->by_id.find(id);
      if (at == items->by_id.end() || items->messages[at->second.message].turn != named->turn) continue;
      return std::optional(FoundItem{item_at(*items, at->second, session)});
    }
    return found;
  }

 private:
  // By the item's own id, which may be a client's, or as an item of a turn that the history has from the
  // session it was forked from.
  Result<std::optional<FoundItem>> find_in_history(const std::string& id,
                                                   const std::optional<TurnId>& named) {
    PARLEY_TRY(const SessionItems* items, items_of_session(place_.history));
    auto at = items->by_id.find(id);
    if (at == items->by_id.end() && named)
      at = items->by_id.find(to_id(prefix_in(id), {place_.history, named->turn, named->item}));
    if (at == items->by_id.end()) return std::optional<FoundItem>();
    const store::Position position = items->messages[at->second.message].position;
    return std::optional(FoundItem{.item = item_at(*items, at->second, place_.history),
                                   .is_shown = !place_.after || position < *place_.after});
  }

  static Json item_at(const SessionItems& items, SessionItems::Place place, const std::string& session) {
    return items_of(items.messages[place.message], session).at(place.item);
  }

  // Of a session that is missing, or that the key may not open, none.
  Result<const SessionItems*> items_of_session(const std::string& session) {
    const auto [found, is_new] = sessions_.try_emplace(session);
    SessionItems& items = found->second;
    if (!is_new || session.empty() || !place_.identity.may_open(session)) return &items;
    auto read = lookup_.items({place_.turn.session.tenant, session});
    if (!read) {
      const bool is_missing = read.error().code == Code::NotFound || read.error().code == Code::Invalid;
      if (!is_missing) return std::unexpected(read.error());
      return &items;
    }
    items.messages = *std::move(read);
    for (std::size_t message = 0; message < items.messages.size(); ++message) {
      std::size_t item = 0;
      for (const Json& each : items_of(items.messages[message], session))
        items.by_id.try_emplace(own_id(each), message, item++);
    }
    return &items;
  }

  const InputPlace& place_;
  ResponsesLookup& lookup_;
  std::map<std::string, SessionItems> sessions_;
};

// Goes through the items of a list.
class InputReader {
 public:
  InputReader(const InputPlace& place, ResponsesLookup& lookup) : turn_(place.turn), finder_(place, lookup) {}

  std::expected<void, ApiError> add(const Json& item) {
    at_ = "input[" + std::to_string(position_++) + "]";
    if (!item.is_object()) return std::unexpected(invalid_type(at_, "an object"));
    if (item.text().size() > kMostInputItemBytes) return std::unexpected(too_large_item(at_));
    if (is_reference(item)) return add_reference(own_id(item));
    const std::string type = item_type(item);
    if (type == "compaction") return add_compaction(item);
    if (type == "compaction_trigger")
      return std::unexpected(invalid_value(at_ + ".type", "compact with POST /v1/responses/compact"));
    keep(item, own_id(item));
    return {};
  }

  const std::vector<Json>& items() const { return items_; }
  const std::string& id(std::size_t index) const { return ids_[index]; }

 private:
  std::expected<void, ApiError> add_reference(const std::string& id) {
    if (id.empty()) return std::unexpected(missing_parameter(at_ + ".id"));
    if (seen_.contains(id)) return {};
    auto found = finder_.find(id);
    if (!found) return std::unexpected(api_error(found.error()));
    if (!*found) {
      return std::unexpected(ApiError{.status = 404,
                                      .message = "Item with id '" + id + "' not found.",
                                      .param = at_ + ".id",
                                      .code = "item_not_found"});
    }
    // What the model sees already is not repeated.
    if (!(*found)->is_shown) keep((*found)->item, id);
    return {};
  }

  std::expected<void, ApiError> add_compaction(const Json& item) {
    auto summary = summary_in(item, turn_.session.tenant, at_);
    if (!summary) return std::unexpected(std::move(summary).error());
    keep(*summary ? summary_message("", **summary) : item, own_id(item));
    return {};
  }

  void keep(const Json& item, std::string id) {
    if (id.empty() || seen_.contains(id)) {
      id = to_id(item_prefix(item_type(item)),
                 {turn_.session.session, turn_.id, "i" + std::to_string(items_.size())});
    }
    // A '.' is in ids of ours, and in none that a provider takes (INPUT2).
    const bool is_foreign = own_id(item) == id && id.find('.') == std::string::npos;
    items_.push_back(is_foreign || !item.get("id") ? item : without_id(item));
    seen_.insert(id);
    ids_.push_back(std::move(id));
  }

  const TurnKey& turn_;
  ItemFinder finder_;
  std::string at_;
  std::size_t position_ = 0;
  std::vector<Json> items_;
  std::vector<std::string> ids_;
  std::set<std::string, std::less<>> seen_;
};

// A request that has what the dialect reads.
json::Buffer request_document(const Members& body, const std::vector<Json>& items) {
  json::Writer w;
  w.begin_object().key("input").begin_array();
  for (const Json& item : items) w.value(item);
  w.end_array();
  for (const std::string_view name : kReadMembers) {
    if (const auto value = body.find(name)) w.key(name).value(*value);
  }
  return json::Buffer::copy_of(w.end_object().view());
}

Settings call_settings(const Settings& read, const Members& body) {
  Settings out;
  for (const auto& [setting, value] : read.all()) {
    const bool is_ours =
        setting == Setting::Model || setting == Setting::Stream || setting == Setting::StreamUsage;
    if (!is_ours) out.set(setting, value);
  }
  const auto format = body.find("text").value_or(Json()).at("/format/type");
  if (format.value_or(Json()).as_string() == "json_object") {
    out.set(Setting::ReplySchema,
            Json::trusted(Text(R"({"name":"json_object","schema":{"type":"object"}})")));
  }
  return out;
}

}  // namespace

bool has_references(const Members& body) {
  const Json input = body.find("input").value_or(Json());
  return input.is_array() && std::ranges::any_of(input.elements(), [](const Json& item) {
           return item.is_object() && is_reference(item);
         });
}

std::string fork_beside(std::string_view parent, std::string_view turn) {
  constexpr std::string_view kMark = ".f";
  const std::size_t end = parent.rfind(kMark);
  const bool has_mark = end != std::string_view::npos && end != 0;
  const bool is_fork = has_mark && is_ulid(parent.substr(end + kMark.size()));
  return std::string(parent.substr(0, is_fork ? end : parent.size())).append(kMark).append(turn);
}

ApiResult<ResponsesInput> responses_input(const Members& body, const InputPlace& place,
                                          ResponsesLookup& lookup) {
  const Json input = body.find("input").value_or(Json());
  const bool is_list = input.is_array() || input.is_null();
  if (!is_list && !input.is_string()) return std::unexpected(invalid_type("input", "a string or an array"));
  if (input.is_string() && input.text().size() > kMostInputItemBytes)
    return std::unexpected(too_large_item("input"));
  const std::vector<Json> given = input.elements();
  if (given.size() > kMostInputItems) {
    return std::unexpected(
        invalid_value("input", "expected at most " + std::to_string(kMostInputItems) + " items"));
  }
  const TurnKey& turn = place.turn;
  InputReader reader(place, lookup);
  for (const Json& item : given) {
    if (auto good = reader.add(item); !good) return std::unexpected(std::move(good).error());
  }
  const Result<Reading> reading = read(request_document(body, reader.items()), Dialect::Responses);
  if (!reading) return std::unexpected(api_error(reading.error()));
  const Conversation& conversation = reading->conversation;
  ResponsesInput out{.system = conversation.system(),
                     .tools = {conversation.tools().begin(), conversation.tools().end()},
                     .settings = call_settings(conversation.settings(), body)};
  if (const auto text = input.as_string()) {
    const std::string id = to_id("msg_", {turn.session.session, turn.id, "i0"});
    out.messages.push_back(MessageBuilder(Role::User).id(Text(id)).content(*text).build().value());
  }
  std::size_t index = 0;
  for (const Message& message : conversation.messages()) {
    const auto named = with_message_id(with_open_signatures(message), reader.id(index++));
    if (!named) return std::unexpected(api_error(named.error()));
    out.messages.push_back(*named);
  }
  return out;
}

}  // namespace parley::server
