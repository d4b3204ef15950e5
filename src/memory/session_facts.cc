#include "memory/session_facts.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace parley::memory {
namespace {

constexpr std::string_view kModel = "model", kUsage = "usage", kSession = "session", kTurns = "turns",
                           kTokens = "tokens", kTitle = "title";

void put_count(json::Writer& w, std::string_view name, std::uint64_t count) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  w.key(name).number(static_cast<std::int64_t>(std::min(count, kMost)));
}

void put_usage(json::Writer& w, const Usage& usage) {
  if (usage == Usage()) return;
  w.key(kUsage).begin_object();
  const auto put = [&](std::string_view name, const std::optional<std::uint64_t>& count) {
    if (count) put_count(w, name, *count);
  };
  put("input", usage.input);
  put("cache_read", usage.cache_read);
  put("cache_write", usage.cache_write);
  put("output", usage.output);
  put("reasoning", usage.reasoning);
  w.end_object();
}

std::string string_in(const Json& object, std::string_view name) {
  const std::optional<Json> value = object.get(name);
  return value ? value->as_string().value_or(Text()).str() : std::string();
}

std::uint64_t count_in(const Json& object, std::string_view name) {
  const std::optional<Json> value = object.get(name);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value ? value->as_int64().value_or(0) : 0, 0));
}

// Most records have none, and long ones are not parsed for nothing.
std::optional<SessionFacts> facts_of(const store::Record& record) {
  const bool is_change = record.kind == store::RecordKind::Change;
  const bool is_answer = record.kind == store::RecordKind::Message && record.role == "assistant";
  if (!(is_change || is_answer) || !record.body.contains("\"session\"")) return std::nullopt;
  const Result<Json> body = Json::parse(record.body);
  if (!body) return std::nullopt;  // opening the session reports it
  if (is_change) return facts_in(*body);
  const std::optional<Json> metadata = body->get("metadata");
  return metadata ? facts_in(*metadata) : std::nullopt;
}

// The last facts in the records, with the requests after them; nullopt if there are none. Counts the requests
// that it passes.
std::optional<SessionFacts> last_facts(std::span<const store::StoredRecord> records,
                                       std::uint64_t& requests) {
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    if (std::optional<SessionFacts> facts = facts_of(*record)) {
      facts->turns += requests;
      return facts;
    }
    if (record->kind == store::RecordKind::Message && record->role == "user") ++requests;
  }
  return std::nullopt;
}

}  // namespace

void update_facts(SessionFacts& facts, std::span<const store::StoredRecord> next) {
  std::uint64_t requests = 0;
  if (std::optional<SessionFacts> last = last_facts(next, requests)) {
    facts = *std::move(last);
  } else {
    facts.turns += requests;
  }
}

void put_facts(json::Writer& w, const SessionFacts& facts, const std::optional<Usage>& usage) {
  w.key(kModel).string(facts.model);
  if (usage) put_usage(w, *usage);
  w.key(kSession).begin_object();
  put_count(w, kTurns, facts.turns);
  put_count(w, kTokens, facts.tokens);
  if (!facts.title.empty()) w.key(kTitle).string(facts.title);
  w.end_object();
}

std::optional<SessionFacts> facts_in(const Json& metadata) {
  const std::optional<Json> session = metadata.get(kSession);
  if (!session || !session->is_object()) return std::nullopt;
  return SessionFacts{.model = string_in(metadata, kModel),
                      .turns = count_in(*session, kTurns),
                      .tokens = count_in(*session, kTokens),
                      .title = string_in(*session, kTitle)};
}

store::Record facts_record(const SessionFacts& facts) {
  json::Writer w;
  w.begin_object();
  put_facts(w, facts);
  store::Record out;
  out.kind = store::RecordKind::Change;
  out.body = w.end_object().take_string();
  return out;
}

Result<SessionFacts> read_facts(store::Store& store, const store::SessionKey& key, store::Position size) {
  PARLEY_TRY(std::optional<SessionFacts> facts, read_facts(store, key, size, size));
  return std::move(facts).value_or(SessionFacts());
}

Result<std::optional<SessionFacts>> read_facts(store::Store& store, const store::SessionKey& key,
                                               store::Position size, store::Position most) {
  const store::Position first = size - std::min(size, most);
  std::uint64_t requests = 0;  // after the records that are read next
  // An answer is mostly the last record, or there is one result after it.
  for (store::Position end = size, step = 2; end > first; step *= 8) {
    const store::Position begin = end - std::min(step, end - first);
    std::vector<store::StoredRecord> records;
    while (begin + records.size() < end) {
      PARLEY_TRY(store::Page page,
                 store.read(key, {.first = begin + records.size(),
                                  .count = static_cast<std::size_t>(end - begin - records.size())}));
      if (page.records.empty()) return fail(Code::Conflict, "the session became shorter while it was read");
      std::ranges::move(page.records, std::back_inserter(records));
    }
    if (std::optional<SessionFacts> facts = last_facts(records, requests)) return facts;
    end = begin;
  }
  return first == 0 ? std::optional(SessionFacts{.turns = requests}) : std::nullopt;
}

}  // namespace parley::memory
