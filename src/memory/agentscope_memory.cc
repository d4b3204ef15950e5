#include "parley/memory/agentscope_memory.h"

#include <algorithm>
#include <set>
#include <string>

#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley {
namespace {

using Marks = std::vector<Text>;

bool has(std::span<const Text> list, const Text& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool has_any(std::span<const Text> list, std::span<const Text> texts) {
  return std::any_of(texts.begin(), texts.end(), [&](const Text& text) { return has(list, text); });
}

Error wrong(std::string path, std::string_view expected) {
  return {Code::WrongType, "expected " + std::string(expected), std::move(path)};
}

// An empty time counts as none, in the original too.
bool has_time(const Message& message) { return !message.timestamp().value_or(Text()).empty(); }

// What the original's to_dict() writes: the members it keeps, {} for metadata that are null. Makes an id and
// a time if the message has none.
Result<Json> original_dict(const Message& message) {
  PARLEY_TRY(const Json dict, to_dict(message, Dialect::AgentScope));
  const auto member = [&](std::string_view key, std::string_view instead_of_null) {
    const Json value = dict.get(key).value_or(Json());
    return value.is_null() ? std::string(instead_of_null) : value.compact().text().str();
  };
  json::Writer w;
  w.begin_object().key("id").string(message.id() ? message.id()->str() : new_short_id());
  w.key("name").raw(member("name", "\"\"")).key("role").raw(member("role", "\"\""));
  w.key("content").raw(member("content", "[]")).key("metadata").raw(member("metadata", "{}"));
  w.key("timestamp").string(has_time(message) ? message.timestamp()->str() : local_timestamp(now_ms()));
  return w.end_object().take();
}

// The message, with an id and a time.
Result<Message> identified(const Message& message) {
  if (message.id() && has_time(message)) return message;
  PARLEY_TRY(const Json dict, original_dict(message));
  return from_dict(dict, Dialect::AgentScope);
}

Result<Message> message_in(const Json& dict, const std::string& path) {
  const auto content = dict.get("content");
  if (content && content->is_null()) return std::unexpected(wrong(path + "/content", "a string or a list"));
  Result<Message> message = from_dict(dict, Dialect::AgentScope);
  if (!message) return fail(message.error().code, message.error().message, path + message.error().path);
  return identified(*message);
}

Result<Marks> marks_in(const Json& list, const std::string& path) {
  if (!list.is_array()) return std::unexpected(wrong(path, "a list of marks"));
  Marks out;
  for (const Json& element : list.elements()) {
    auto mark = element.as_string();
    if (!mark) return std::unexpected(wrong(path + "/" + std::to_string(out.size()), "a string"));
    out.push_back(*std::move(mark));
  }
  return out;
}

}  // namespace

Result<void> AgentScopeMemory::add(std::span<const Message> messages, std::span<const Text> marks,
                                   bool allow_duplicates) {
  std::set<Text> known;
  if (!allow_duplicates) {
    for (const Entry& entry : content_) known.insert(*entry.message.id());
  }
  std::vector<Entry> added;
  for (const Message& message : messages) {
    if (const auto id = message.id(); id && known.contains(*id)) continue;
    PARLEY_TRY(Message kept, identified(message));
    added.push_back({std::move(kept), Marks(marks.begin(), marks.end())});
  }
  std::move(added.begin(), added.end(), std::back_inserter(content_));
  return {};
}

std::size_t AgentScopeMemory::delete_by_id(std::span<const Text> ids) {
  return std::erase_if(content_, [&](const Entry& entry) { return has(ids, *entry.message.id()); });
}

std::size_t AgentScopeMemory::delete_by_mark(std::span<const Text> marks) {
  return std::erase_if(content_, [&](const Entry& entry) { return has_any(entry.marks, marks); });
}

std::size_t AgentScopeMemory::update_messages_mark(const OptionalText& new_mark, const OptionalText& old_mark,
                                                   std::optional<std::span<const Text>> ids) {
  std::size_t changed = 0;
  for (Entry& entry : content_) {
    if (ids && !has(*ids, *entry.message.id())) continue;
    if (old_mark) {
      const auto old = std::find(entry.marks.begin(), entry.marks.end(), *old_mark);
      if (old == entry.marks.end()) continue;
      entry.marks.erase(old);
      if (!new_mark) ++changed;
    }
    if (new_mark && !has(entry.marks, *new_mark)) {
      entry.marks.push_back(*new_mark);
      ++changed;
    }
  }
  return changed;
}

std::vector<Message> AgentScopeMemory::get_memory(const Selection& selection) const {
  std::vector<Message> out;
  if (selection.prepend_summary && !summary_.empty()) {
    out.push_back(*MessageBuilder(Role::User).name("user").content(summary_).build());
  }
  for (const Entry& entry : content_) {
    if (selection.mark && !has(entry.marks, *selection.mark)) continue;
    if (selection.exclude_mark && has(entry.marks, *selection.exclude_mark)) continue;
    out.push_back(entry.message);
  }
  return out;
}

Result<Json> AgentScopeMemory::state_dict() const {
  json::Writer w;
  w.begin_object().key("_compressed_summary").string(summary_).key("content").begin_array();
  for (const Entry& entry : content_) {
    PARLEY_TRY(const Json dict, original_dict(entry.message));
    w.begin_array().value(dict).begin_array();
    for (const Text& mark : entry.marks) w.string(mark);
    w.end_array().end_array();
  }
  return w.end_array().end_object().take();
}

Result<void> AgentScopeMemory::load_state_dict(const Json& state, bool strict) {
  if (!state.is_object()) return std::unexpected(wrong("", "an object"));
  const auto content = state.get("content");
  if (strict && !content) return fail(Code::Missing, "the member 'content' is missing");
  if (content && !content->is_array()) return std::unexpected(wrong("/content", "a list"));
  const auto summary = state.get("_compressed_summary").value_or(Json::string("")).as_string();
  if (!summary) return std::unexpected(wrong("/_compressed_summary", "a string"));
  std::vector<Entry> loaded;
  for (const Json& element : content.value_or(Json()).elements()) {
    const std::string path = "/content/" + std::to_string(loaded.size());
    const std::vector<Json> pair = element.elements();
    if (!element.is_object() && pair.size() != 2) {
      return std::unexpected(wrong(path, "a message, or a message and its marks"));
    }
    const bool has_marks = !element.is_object();  // 1.0.10 has none
    PARLEY_TRY(Message message, has_marks ? message_in(pair[0], path + "/0") : message_in(element, path));
    Marks marks;
    if (has_marks) {
      PARLEY_TRY(marks, marks_in(pair[1], path + "/1"));
    }
    loaded.push_back({std::move(message), std::move(marks)});
  }
  content_ = std::move(loaded);
  summary_ = *summary;
  return {};
}

}  // namespace parley
