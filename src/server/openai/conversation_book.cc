#include "server/openai/conversation_book.h"

#include <optional>
#include <utility>

#include "parley/json/writer.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostKnown = 10'000;

std::string name_of(const store::SessionKey& key) {
  return std::to_string(key.tenant.size()) + ":" + key.tenant + key.session;
}

Json empty_object() { return Json::trusted(Text("{}")); }

// Most records have none, and long ones are not parsed for nothing.
std::optional<Json> metadata_of(const store::StoredRecord& record) {
  if (record.kind != store::RecordKind::Change || !record.body.contains("\"conversation\""))
    return std::nullopt;
  const Result<Json> body = Json::parse(record.body);
  return body ? body->at("/conversation/metadata") : std::nullopt;
}

}  // namespace

Json to_json(const ConversationInfo& conversation) {
  json::Writer w;
  w.begin_object().key("id").string(conversation.id).key("object").string("conversation");
  w.key("created_at").number(conversation.created_ms / 1000);
  return w.key("metadata").value(conversation.metadata).end_object().take();
}

store::Record metadata_record(const Json& metadata) {
  json::Writer w;
  w.begin_object().key("conversation").begin_object().key("metadata");
  w.value(metadata.is_object() ? metadata : empty_object());
  store::Record out;
  out.kind = store::RecordKind::Change;
  out.body = w.end_object().end_object().take_string();
  return out;
}

Result<ConversationInfo> ConversationBook::read(store::Store& store, const store::SessionKey& key) {
  PARLEY_TRY(const store::SessionInfo head, store.head(key));
  return read(store, key, head);
}

Result<ConversationInfo> ConversationBook::read(store::Store& store, const store::SessionKey& key,
                                                const store::SessionInfo& head) {
  const std::string name = name_of(key);
  Known known{.created_ms = head.created_ms, .metadata = empty_object()};
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(name);
    if (found != known_.end() && found->second.created_ms == head.created_ms &&
        found->second.size <= head.size) {
      known = found->second;
    }
  }
  if (known.size < head.size) {
    PARLEY_CHECK(store.each(key, known.size, [&](const store::StoredRecord& record) -> Result<void> {
      if (auto metadata = metadata_of(record); metadata && metadata->is_object()) {
        known.metadata = *std::move(metadata);
        known.is_metadata_set = true;
      }
      known.size = record.position + 1;
      return {};
    }));
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMostKnown) known_.clear();
    known_.insert_or_assign(name, known);
  }
  return ConversationInfo{.id = key.session,
                          .created_ms = head.created_ms,
                          .updated_ms = head.updated_ms,
                          .size = known.size,
                          .metadata = known.metadata,
                          .is_metadata_set = known.is_metadata_set};
}

void ConversationBook::forget(const store::SessionKey& key) {
  const std::lock_guard lock(mutex_);
  known_.erase(name_of(key));
}

}  // namespace parley::server
