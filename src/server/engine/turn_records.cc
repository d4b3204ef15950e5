#include "server/engine/turn_records.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "memory/stored_message.h"
#include "parley/json/writer.h"
#include "parley/media/data_url.h"

namespace parley::server {
namespace {

constexpr std::string_view kTurn = "{\"turn\":", kTurnEnd = "{\"turn_end\":";
constexpr std::string_view kEndSuffix = ".end", kRemovedSuffix = ".removed";

// ---- Writing

void put_string(json::Writer& w, std::string_view key, std::string_view value) {
  if (!value.empty()) w.key(key).string(value);
}

void put_count(json::Writer& w, std::string_view key, const std::optional<std::uint64_t>& count) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (count) w.key(key).number(static_cast<std::int64_t>(std::min(*count, kMost)));
}

void put_outcome(json::Writer& w, const Outcome& outcome) {
  w.begin_object();
  put_string(w, "id", outcome.id);
  put_string(w, "model", outcome.model);
  put_string(w, "finish", to_string(outcome.finish));
  put_string(w, "raw_finish", outcome.raw_finish);
  put_count(w, "input", outcome.usage.input);
  put_count(w, "cache_read", outcome.usage.cache_read);
  put_count(w, "cache_write", outcome.usage.cache_write);
  put_count(w, "output", outcome.usage.output);
  put_count(w, "reasoning", outcome.usage.reasoning);
  w.end_object();
}

store::Record change_record(std::string body) {
  store::Record out;
  out.kind = store::RecordKind::Change;
  out.body = std::move(body);
  return out;
}

// ---- Reading

std::string string_in(const Json& object, std::string_view key) {
  const std::optional<Json> value = object.get(key);
  return value ? value->as_string().value_or(Text()).str() : std::string();
}

std::int64_t number_in(const Json& object, std::string_view key) {
  const std::optional<Json> value = object.get(key);
  return value ? value->as_int64().value_or(0) : 0;
}

std::optional<std::uint64_t> count_in(const Json& object, std::string_view key) {
  const std::optional<Json> value = object.get(key);
  const std::optional<std::int64_t> count = value ? value->as_int64() : std::nullopt;
  return count && *count >= 0 ? std::optional(static_cast<std::uint64_t>(*count)) : std::nullopt;
}

Outcome outcome_in(const Json& object) {
  Outcome out{.id = string_in(object, "id"),
              .model = string_in(object, "model"),
              .finish = finish_named(string_in(object, "finish")).value_or(Finish::Unknown),
              .raw_finish = string_in(object, "raw_finish"),
              .usage = {.input = count_in(object, "input"),
                        .cache_read = count_in(object, "cache_read"),
                        .cache_write = count_in(object, "cache_write"),
                        .output = count_in(object, "output"),
                        .reasoning = count_in(object, "reasoning")}};
  return out;
}

FailureKind kind_named(std::string_view name) {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(FailureKind::Transport); ++i) {
    if (to_string(static_cast<FailureKind>(i)) == name) return static_cast<FailureKind>(i);
  }
  return FailureKind::Server;
}

std::unexpected<Error> damaged(const store::StoredRecord& record) {
  return fail(Code::Damaged, "record " + std::to_string(record.position) + " of the session is not a turn",
              "/" + std::to_string(record.position));
}

// The object after the prefix; nullopt if the record is another one.
Result<std::optional<Json>> object_in(const store::StoredRecord& record, std::string_view prefix,
                                      std::string_view key) {
  if (record.kind != store::RecordKind::Change || !record.body.starts_with(prefix)) return std::nullopt;
  const Result<Json> body = Json::parse(record.body);
  std::optional<Json> object = body ? body->get(key) : std::nullopt;
  if (!object || !object->is_object()) return damaged(record);
  return object;
}

Result<std::vector<Message>> read_input(store::Store& store, const TurnKey& key, const std::string& turn) {
  PARLEY_TRY(const auto batch, store.find_batch(key.session, turn));
  if (!batch) return fail(Code::NotFound, "the input of the turn is not in its session");
  PARLEY_TRY(const store::Page page, store.read(key.session, {.first = batch->first, .count = batch->count}));
  return to_messages(page.records);
}

}  // namespace

std::string end_batch(const std::string& turn) { return turn + std::string(kEndSuffix); }
std::string removed_batch(const std::string& turn) { return turn + std::string(kRemovedSuffix); }

store::Record to_record(const BeginRecord& begin) {
  json::Writer w;
  w.begin_object().key("turn").begin_object();
  w.key("id").string(begin.id);
  put_string(w, "shape", begin.shape);
  w.key("model")
      .string(begin.model)
      .key("dialect")
      .string(begin.dialect)
      .key("created_ms")
      .number(begin.created_ms);
  if (begin.queued_ms != 0) w.key("queued_ms").number(begin.queued_ms);
  put_string(w, "retry", begin.retry);
  put_string(w, "input_of", begin.input_of);
  if (begin.hidden != 0) w.key("hidden").number(static_cast<std::int64_t>(begin.hidden));
  w.key("recipe").value(begin.recipe);
  w.key("request").value(begin.request);
  return change_record(w.end_object().end_object().take_string());
}

store::Record to_record(const EndRecord& end, const memory::SessionFacts& facts) {
  json::Writer w;
  w.begin_object().key("turn_end").begin_object();
  w.key("id").string(end.id).key("status").string(to_string(end.status));
  put_string(w, "reason", end.reason);
  if (end.failure) {
    w.key("failure").begin_object().key("kind").string(to_string(end.failure->kind));
    put_string(w, "code", end.failure->code);
    put_string(w, "message", end.failure->message);
    w.end_object();
  }
  w.key("completed_ms").number(end.completed_ms).key("outcome");
  put_outcome(w, end.outcome);
  w.key("notes").number(static_cast<std::int64_t>(end.notes));
  if (end.hidden != 0) w.key("hidden").number(static_cast<std::int64_t>(end.hidden));
  w.key("journal").string(base64_encode(end.journal));
  if (end.sent) w.key("sent").value(*end.sent);
  w.end_object();
  memory::put_facts(w, facts, end.outcome.usage);
  return change_record(w.end_object().take_string());
}

Result<std::optional<BeginRecord>> begin_in(const store::StoredRecord& record) {
  PARLEY_TRY(const std::optional<Json> object, object_in(record, kTurn, "turn"));
  if (!object) return std::nullopt;
  BeginRecord out{.id = string_in(*object, "id"),
                  .shape = string_in(*object, "shape"),
                  .model = string_in(*object, "model"),
                  .dialect = string_in(*object, "dialect"),
                  .retry = string_in(*object, "retry"),
                  .input_of = string_in(*object, "input_of"),
                  .created_ms = number_in(*object, "created_ms"),
                  .queued_ms = number_in(*object, "queued_ms"),
                  .hidden = static_cast<std::size_t>(count_in(*object, "hidden").value_or(0)),
                  .recipe = object->get("recipe").value_or(Json()),
                  .request = object->get("request").value_or(Json())};
  if (out.id.empty()) return damaged(record);
  return out;
}

Result<std::optional<EndRecord>> end_in(const store::StoredRecord& record) {
  PARLEY_TRY(const std::optional<Json> object, object_in(record, kTurnEnd, "turn_end"));
  if (!object) return std::nullopt;
  const std::optional<TurnStatus> status = turn_status_named(string_in(*object, "status"));
  if (!status || !is_final(*status)) return damaged(record);
  EndRecord out{.id = string_in(*object, "id"),
                .status = *status,
                .reason = string_in(*object, "reason"),
                .completed_ms = number_in(*object, "completed_ms"),
                .outcome = outcome_in(object->get("outcome").value_or(Json())),
                .notes = static_cast<std::size_t>(count_in(*object, "notes").value_or(0)),
                .hidden = static_cast<std::size_t>(count_in(*object, "hidden").value_or(0))};
  if (const auto failure = object->get("failure")) {
    out.failure = {.kind = kind_named(string_in(*failure, "kind")),
                   .code = string_in(*failure, "code"),
                   .message = string_in(*failure, "message")};
  }
  Result<std::string> journal = base64_decode(string_in(*object, "journal"));
  if (!journal) return damaged(record);
  out.journal = *std::move(journal);
  out.sent = object->get("sent");
  return out;
}

bool is_replayable(TurnStatus status, std::string_view reason) {
  return status == TurnStatus::Completed ||
         (status == TurnStatus::Incomplete && (reason == "max_output_tokens" || reason == "content_filter"));
}

bool LastTurn::is_replayable() const { return status && server::is_replayable(*status, reason); }

TurnState StoredTurn::state(const TurnKey& key) const {
  TurnState out{.key = key,
                .shape = begin.shape,
                .request = begin.request,
                .model = begin.model,
                .created_ms = begin.created_ms,
                .status = TurnStatus::InProgress,
                .input = input,
                .answer = answer,
                .dialect = begin.dialect,
                .queued = std::chrono::milliseconds(begin.queued_ms),
                .first = first};
  if (!end) return out;
  out.completed_ms = end->completed_ms;
  out.status = end->status;
  out.reason = end->reason;
  out.failure = end->failure;
  out.outcome = end->outcome;
  out.notes = end->notes;
  out.end = after_end;
  return out;
}

Result<StoredTurn> read_turn(store::Store& store, const TurnKey& key) {
  PARLEY_TRY(const auto batch, store.find_batch(key.session, key.id));
  if (!batch) return fail(Code::NotFound, "no turn has this id");
  // The answer mostly follows its request at once.
  constexpr std::size_t kAhead = 4;
  StoredTurn out;
  out.first = batch->first;
  out.after_input = batch->first + batch->count;
  PARLEY_TRY(store::Page page,
             store.read(key.session, {.first = batch->first, .count = batch->count + kAhead}));
  if (page.records.size() < batch->count) return fail(Code::Damaged, "the turn lacks records of its request");
  PARLEY_TRY(auto begin, begin_in(page.records.front()));
  if (!begin) return fail(Code::NotFound, "no turn has this id");
  out.begin = *std::move(begin);
  const auto input_end = page.records.begin() + static_cast<std::ptrdiff_t>(batch->count);
  PARLEY_TRY(out.input, to_messages(std::span(page.records.begin(), input_end)));
  if (!out.begin.input_of.empty()) {
    PARLEY_TRY(out.input, read_input(store, key, out.begin.input_of));
  }

  page.records.erase(page.records.begin(), input_end);
  const std::string batch_id = end_batch(key.id);
  const auto is_of_end = [&](const store::StoredRecord& record) { return record.batch == batch_id; };
  std::erase_if(page.records, [&](const store::StoredRecord& record) { return !is_of_end(record); });
  if (page.records.empty() || !page.records.back().body.starts_with(kTurnEnd)) {
    PARLEY_TRY(const auto ended, store.find_batch(key.session, batch_id));
    if (!ended) return out;
    PARLEY_TRY(page, store.read(key.session, {.first = ended->first, .count = ended->count}));
  }
  if (page.records.empty()) return fail(Code::Damaged, "the turn lacks records of its answer");
  PARLEY_TRY(out.end, end_in(page.records.back()));
  if (!out.end) return fail(Code::Damaged, "the turn lacks the record of its end");
  out.after_end = page.records.back().position + 1;
  PARLEY_TRY(const std::vector<Message> answer, to_messages(page.records));
  if (!answer.empty() && answer.front().role() == Role::Assistant) out.answer = answer.front();
  const Result<Journal> journal =
      out.answer ? Journal::decode_beside(out.end->journal, *out.answer) : Journal::decode(out.end->journal);
  // Without the journal the answer is still there; it only has no events of its own.
  if (journal) out.journal = *journal;
  return out;
}

Result<std::optional<LastTurn>> last_turn(store::Store& store, const store::SessionKey& key,
                                          store::Position size, store::Position most) {
  LastTurn out;
  const store::Position first = size - std::min(size, most);
  for (store::Position end = size, step = 8; end > first; step *= 8) {
    const store::Position begin = end - std::min(step, end - first);
    PARLEY_TRY(const store::Page page, store.read(key, {.first = begin,
                                                        .count = static_cast<std::size_t>(end - begin),
                                                        .bytes = std::numeric_limits<std::size_t>::max()}));
    if (page.records.size() != end - begin) {
      return fail(Code::Conflict, "the session became shorter while it was read");
    }
    for (auto record = page.records.rbegin(); record != page.records.rend(); ++record) {
      PARLEY_TRY(auto ended, end_in(*record));
      if (ended && !out.status) {
        out.status = ended->status;
        out.reason = ended->reason;
        out.completed_ms = ended->completed_ms;
        out.after = record->position + 1;
        out.hidden = ended->hidden;
      }
      PARLEY_TRY(auto begun, begin_in(*record));
      if (!begun) continue;
      out.begin = *std::move(begun);
      out.first = record->position;
      out.hidden += out.begin.hidden;
      if (!out.status) out.after = size;
      return out;
    }
    end = begin;
  }
  return std::nullopt;
}

}  // namespace parley::server
