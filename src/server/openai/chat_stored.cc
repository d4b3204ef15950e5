#include "server/openai/chat_stored.h"

#include <algorithm>
#include <utility>

#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "server/http/body.h"
#include "server/openai/chat_object.h"
#include "server/openai/metadata.h"
#include "server/openai/paging.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

constexpr std::string_view kCompletion = "chat completion";
constexpr std::size_t kSessionsPerPage = 1'000;

// The text of a list of parts.
std::optional<std::string> text_of_parts(const Json& parts) {
  std::optional<std::string> out;
  for (const Json& part : parts.elements()) {
    const auto text = part.get("text").value_or(Json()).as_string();
    if (!text) continue;
    if (out) *out += '\n';
    out = out.value_or("").append(text->view());
  }
  return out;
}

// {"id", ..., "content": string or null, "content_parts": list or null, "refusal"}
Json stored_message(const Json& wire, const std::string& id) {
  json::Writer w;
  w.begin_object().key("id").string(id);
  const Json content = wire.get("content").value_or(Json());
  for (const Json::Member& member : wire.members()) {
    if (member.key == "content" || member.key == "refusal" || member.key == "id") continue;
    w.key(member.key).value(member.value);
  }
  w.key("content");
  const auto text = text_of_parts(content);
  if (!content.is_array()) {
    w.value(content);
  } else if (text) {
    w.string(*text);
  } else {
    w.null();
  }
  w.key("content_parts");
  if (content.is_array()) {
    w.value(content);
  } else {
    w.null();
  }
  return w.key("refusal").value(wire.get("refusal").value_or(Json())).end_object().take();
}

bool is_after(const std::string& id, const std::string& after, bool is_ascending) {
  return is_ascending ? id > after : id < after;
}

}  // namespace

Result<StoredChatCall::Stored> StoredChatCall::read(const std::string& id) {
  const auto missing = [&] { return fail(Code::NotFound, "there is no chat completion '" + id + "'"); };
  const auto place = turn_id_of(kCompletionPrefix, id);
  if (!place || !exchange_.identity.may_open(place->session)) return missing();
  const TurnKey key{exchange_.session(place->session), place->turn};
  PARLEY_TRY(TurnState state, engine_.read(key));
  if (state.shape != "chat") return missing();
  PARLEY_TRY(const ConversationInfo info, book_.read(engine_.store(), key.session));
  const Json given = state.request.get("metadata").value_or(Json());
  return Stored{std::move(state), info.is_metadata_set ? info.metadata : given};  // STORED_CHAT2
}

Reply StoredChatCall::get() {
  PARLEY_REPLY_TRY(const Stored stored, named(), kCompletion);
  return to_completion(stored.state, stored.metadata);
}

Reply StoredChatCall::messages() {
  PARLEY_REPLY_TRY(const PageQuery query, page_query(exchange_, {.is_ascending = true}), kCompletion);
  PARLEY_REPLY_TRY(const Stored stored, named(), kCompletion);
  const std::string id = completion_id(stored.state.key);
  std::vector<Json> all;
  for (const Message& message : stored.state.input) {
    for (const Json& wire : to_dicts(message, Dialect::OpenAI)) {
      all.push_back(stored_message(wire.compact(), id + "-" + std::to_string(all.size())));
    }
  }
  PARLEY_REPLY_TRY(Json page, page_of(all, query), kCompletion);
  return page;
}

Reply StoredChatCall::update() {
  PARLEY_REPLY_TRY(const Json body, body_object(exchange_.request), kCompletion);
  PARLEY_REPLY_TRY(const auto metadata, metadata_in(body), kCompletion);
  PARLEY_REPLY_TRY(const Stored stored, named(), kCompletion);
  if (!body.get("metadata")) return refuse(Error{Code::Missing, "metadata is missing", "/metadata"});
  const store::Batch batch({metadata_record(metadata.value_or(Json()))});
  PARLEY_REPLY_CHECK(engine_.store().append(stored.state.key.session, batch), kCompletion);
  return get();
}

Reply StoredChatCall::remove() {
  PARLEY_REPLY_TRY(const Stored stored, named(), kCompletion);
  const store::SessionKey& session = stored.state.key.session;
  PARLEY_REPLY_TRY(const bool is_alone, is_only_turn(stored.state.key), kCompletion);
  PARLEY_REPLY_CHECK(engine_.remove(stored.state.key), kCompletion);
  // A session of its own is erased, also if its metadata was changed later.
  if (is_alone) {
    const auto erased = engine_.store().remove(session);
    if (!erased && erased.error().code != Code::NotFound) return refuse(erased.error(), kCompletion);
  }
  book_.forget(session);
  json::Writer w;
  w.begin_object()
      .key("id")
      .string(completion_id(stored.state.key))
      .key("object")
      .string("chat.completion.deleted");
  return w.key("deleted").boolean(true).end_object().take();
}

Result<bool> StoredChatCall::is_only_turn(const TurnKey& key) {
  PARLEY_TRY(const std::vector<TurnEngine::Item> items, engine_.items(key.session));
  return std::ranges::all_of(items, [&](const TurnEngine::Item& item) { return item.turn == key.id; });
}

// Ids of sessions that are named after a completion, in the order of the query. They are ULIDs, so that is
// the order of their creation. The store lists sessions by their last change, which any update of metadata
// moves, so all names have to be read.
Result<std::vector<std::string>> StoredChatCall::ids_after(const PageQuery& query) {
  std::vector<std::string> out;
  store::ListOptions options{.count = kSessionsPerPage};
  do {
    PARLEY_TRY(store::SessionList page, engine_.store().list(exchange_.identity.tenant, options));
    for (store::SessionInfo& session : page.sessions) {
      std::string& id = session.session;
      if (!id.starts_with(kCompletionPrefix) || !exchange_.identity.may_open(id)) continue;
      if (query.after.empty() || is_after(id, query.after, query.is_ascending)) out.push_back(std::move(id));
    }
    options.after = std::move(page.next);
  } while (!options.after.empty());
  std::ranges::sort(out);
  if (!query.is_ascending) std::ranges::reverse(out);
  return out;
}

Reply StoredChatCall::list() {
  PARLEY_REPLY_TRY(const PageQuery query, page_query(exchange_, {.is_ascending = true}), kCompletion);
  PARLEY_REPLY_TRY(const std::vector<std::string> ids, ids_after(query), kCompletion);
  const auto filters = metadata_filters(exchange_);
  const auto model = exchange_.query("model");
  std::vector<Json> data;
  std::size_t examined = 0;
  // Pagers of clients continue after the last element, and stop at an empty page (STORED_CHAT1).
  const auto is_over = [&] {
    const std::size_t most = data.empty() ? limits_.without_match : limits_.examined;
    return data.size() == query.limit || examined >= most;
  };
  while (examined < ids.size() && !is_over()) {
    const Result<Stored> stored = read(ids[examined++]);
    if (!stored && stored.error().code == Code::NotFound) continue;  // removed meanwhile
    if (!stored) return refuse(stored.error(), kCompletion);
    if (!is_presentable(stored->state) || (model && stored->state.model != *model)) continue;
    if (!has_metadata(stored->metadata, filters)) continue;
    data.push_back(to_completion(stored->state, stored->metadata));
  }
  const bool has_more = examined < ids.size();
  return list_page(data, has_more, has_more ? ids[examined - 1] : std::string());
}

}  // namespace parley::server
