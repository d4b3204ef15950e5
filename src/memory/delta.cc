#include "memory/delta.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "memory/stored_message.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley::memory {
namespace {

using Marks = std::map<std::string, CopyOnWrite<Positions>, std::less<>>;
using Moved = std::map<std::string, Positions>;  // units, by mark

// ---- From states to records

// What could be in the window of `after`: what was in the window before, and what is new.
Spans known_spans(const State& before, const State& after) {
  Spans out = before.view.closed_spans();
  const auto old_size = static_cast<Position>(before.view.log.size());
  const auto size = static_cast<Position>(after.view.log.size());
  return old_size < size ? joined_spans(out, {{old_size, size}}) : out;
}

Positions difference(const Positions& a, const Positions& b) {
  Positions out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// The units that have marks in `a` which they have not in `b`. Lists that both share are not looked at.
Moved moved(const Marks& a, const Marks& b) {
  Moved out;
  for (const auto& [mark, units] : a) {
    const auto other = b.find(mark);
    if (other != b.end() && &*other->second == &*units) continue;
    Positions only = other == b.end() ? *units : difference(*units, *other->second);
    if (!only.empty()) out.emplace(mark, std::move(only));
  }
  return out;
}

using memory::put;  // beside the one for marks

void put(json::Writer& w, const Moved& moved) {
  w.begin_object();
  for (const auto& [mark, units] : moved) put(w.key(mark), units);
  w.end_object();
}

template <typename Value>
void put_member(json::Writer& w, std::string_view name, const Value& value) {
  if (!value.empty()) put(w.key(name), value);
}

bool is_same_summary(const State& a, const State& b) {
  if (!a.view.summary || !b.view.summary) return a.view.summary.has_value() == b.view.summary.has_value();
  return a.view.summary->message.id() == b.view.summary->message.id();
}

Result<store::Record> summary_record(const State& s) {
  PARLEY_TRY(store::Record out, to_record(s.view.summary->message));
  json::Writer w;
  w.begin_object().key("message").value(*Json::parse(out.body)).key("covered");
  put(w, *s.covered);
  out.kind = store::RecordKind::Summary;
  out.body = w.end_object().take().text().str();
  return out;
}

constexpr std::string_view kClear = R"({"clear":true})";

store::Record record_of_change(std::string body) {
  store::Record out;
  out.kind = store::RecordKind::Change;
  out.body = std::move(body);
  return out;
}

// Nothing if there is nothing to say.
std::optional<store::Record> change_record(const State& before, const State& after) {
  json::Writer w;
  w.begin_object();
  const Spans out = without_spans(known_spans(before, after), after.view.closed_spans());
  put_member(w, "out", out);
  put_member(w, "removed", common_spans(out, *after.removed));
  put_member(w, "pins", difference(*after.pins, *before.pins));
  put_member(w, "unpins", difference(*before.pins, *after.pins));
  put_member(w, "marks", moved(*after.marks, *before.marks));
  put_member(w, "unmarks", moved(*before.marks, *after.marks));
  if (before.view.summary && !after.view.summary) w.key("summary").null();
  const Text body = w.end_object().take().text();
  if (body.view() == "{}") return std::nullopt;
  return record_of_change(body.str());
}

// ---- From records to a state

Error damaged(const store::StoredRecord& record, std::string_view what) {
  return {Code::Damaged, "record " + std::to_string(record.position) + " " + std::string(what),
          "/" + std::to_string(record.position)};
}

// Reads numbers of one record. What is not there is empty.
class Member {
 public:
  Member(const store::StoredRecord& record, std::size_t size) : record_(record), size_(size) {}

  Result<Position> position(const Json& value) const {
    const auto number = value.as_int64();
    if (number && *number >= 0 && static_cast<std::uint64_t>(*number) <= size_) {
      return static_cast<Position>(*number);
    }
    return std::unexpected(damaged(record_, "names a message that does not exist"));
  }

  Result<Positions> positions(const std::optional<Json>& list) const {
    Positions out;
    if (!list) return out;
    if (!list->is_array()) return std::unexpected(damaged(record_, "has a value that is not a list"));
    for (const Json& element : list->elements()) {
      PARLEY_TRY(const Position at, position(element));
      if (!out.empty() && at <= out.back()) return std::unexpected(damaged(record_, "is out of order"));
      out.push_back(at);
    }
    return out;
  }

  Result<Spans> spans(const std::optional<Json>& list) const {
    Spans out;
    if (!list) return out;
    if (!list->is_array()) return std::unexpected(damaged(record_, "has a value that is not a list"));
    for (const Json& element : list->elements()) {
      PARLEY_TRY(const Positions ends, positions(element));
      if (ends.size() != 2)
        return std::unexpected(damaged(record_, "has a span that is not a pair of positions"));
      if (!out.empty() && ends[0] < out.back().last) {
        return std::unexpected(damaged(record_, "has spans that are out of order"));
      }
      out.push_back({ends[0], ends[1]});
    }
    return joined_spans(out, {});
  }

  Result<Moved> moved(const std::optional<Json>& marks) const {
    Moved out;
    if (!marks) return out;
    if (!marks->is_object()) return std::unexpected(damaged(record_, "has marks that are not an object"));
    for (const Json::Member& member : marks->members()) {
      PARLEY_TRY(out[member.key.str()], positions(member.value));
    }
    return out;
  }

 private:
  const store::StoredRecord& record_;
  std::size_t size_;  // of the log
};

// The units of spans of the window.
Result<Positions> units_in(const State& s, const Spans& spans, const store::StoredRecord& record) {
  if (!without_spans(spans, s.view.closed_spans()).empty()) {
    return std::unexpected(damaged(record, "removes messages that are not in the window"));
  }
  Positions out;
  for (const Span& span : spans) {
    Position unit = span.first;
    while (unit < span.last && s.view.log[unit].unit == unit) {
      out.push_back(unit);
      unit = s.unit_end(unit);
    }
    if (unit != span.last) return std::unexpected(damaged(record, "splits an exchange"));
  }
  return out;
}

Result<Json> object_in(const store::StoredRecord& record) {
  Result<Json> body = Json::parse(record.body);
  if (!body || !body->is_object()) return std::unexpected(damaged(record, "is not a JSON object"));
  return body;
}

Result<void> replay_summary(State& s, const store::StoredRecord& record) {
  PARLEY_TRY(const Json body, object_in(record));
  const auto dict = body.get("message");
  if (!dict) return std::unexpected(damaged(record, "has no message"));
  Result<Message> message = from_dict(*dict, Dialect::Parley);
  if (!message) return std::unexpected(damaged(record, "has no message: " + message.error().message));
  PARLEY_TRY(const Spans covered, Member(record, s.view.log.size()).spans(body.get("covered")));
  if (!without_spans(covered, joined_spans(*s.covered, *s.uncovered)).empty()) {
    return std::unexpected(damaged(record, "covers messages that did not leave the window"));
  }
  Summary summary{*message, s.after_system(), s.after_system(), count_of(covered)};
  if (!covered.empty()) {
    summary.first = covered.front().first;
    summary.last = covered.back().last - 1;
  }
  s.set_summary(summary, s.cost_of_message(*message), covered);
  return {};
}

Result<void> replay_change(State& s, const store::StoredRecord& record) {
  PARLEY_TRY(const Json body, object_in(record));
  const Member member(record, s.view.log.size());
  PARLEY_TRY(const Spans out, member.spans(body.get("out")));
  PARLEY_TRY(const Spans removed, member.spans(body.get("removed")));
  PARLEY_TRY(const Positions taken, units_in(s, removed, record));
  PARLEY_TRY(const Positions evicted, units_in(s, without_spans(out, removed), record));
  if (!taken.empty()) s.apply(s.without_units(taken), Fate::Removed);
  if (!evicted.empty()) s.apply(s.without_units(evicted), Fate::Uncovered);
  PARLEY_TRY(const Positions pins, member.positions(body.get("pins")));
  PARLEY_TRY(const Positions unpins, member.positions(body.get("unpins")));
  if (!pins.empty() || !unpins.empty()) {
    Positions all;
    std::set_union(s.pins->begin(), s.pins->end(), pins.begin(), pins.end(), std::back_inserter(all));
    s.pins.set(difference(all, unpins));
  }
  PARLEY_TRY(const Moved marks, member.moved(body.get("marks")));
  for (const auto& [mark, units] : marks) s.add_mark(Text(mark), units);
  PARLEY_TRY(const Moved unmarks, member.moved(body.get("unmarks")));
  for (const auto& [mark, units] : unmarks) s.remove_mark(Text(mark), units);
  if (const auto summary = body.get("summary"); summary && summary->is_null()) s.set_summary(std::nullopt);
  return {};
}

Result<void> replay_message(State& s, const Message& message, const store::StoredRecord& record) {
  const auto position = static_cast<Position>(s.view.log.size());
  const bool continues = s.open.is_open();
  if (auto followed = s.open.follow(message, position); !followed) {
    return fail(followed.error().code, followed.error().message, "/" + std::to_string(record.position));
  }
  s.added_ms = record.created_ms;
  Result<void> appended = s.append(message, continues ? s.open.unit : position);
  s.added_ms.reset();
  return appended;
}

}  // namespace

void put(json::Writer& w, const Positions& units) {
  w.begin_array();
  for (const Position unit : units) w.number(static_cast<std::int64_t>(unit));
  w.end_array();
}

void put(json::Writer& w, const Spans& spans) {
  w.begin_array();
  for (const Span& span : spans) put(w, Positions{span.first, span.last});
  w.end_array();
}

bool is_clear(const store::Record& record) {
  return record.kind == store::RecordKind::Change && record.body == kClear;
}

Result<std::vector<store::Record>> records_between(const State& before, const State& after) {
  const bool clears = before.clears != after.clears;
  const State nothing(*after.options);
  const State& from = clears ? nothing : before;
  std::vector<store::Record> out;
  if (clears && before.view.log.size() > 0) out.push_back(record_of_change(std::string(kClear)));
  for (std::size_t i = from.view.log.size(); i < after.view.log.size(); ++i) {
    if (!after.view.log.holds(i)) {
      return fail(Code::Unsupported,
                  "a state whose log has dropped messages cannot be stored: add those that it "
                  "holds (Memory::log()) instead");
    }
    PARLEY_TRY(store::Record record, to_record(after.view.log[i].message));
    record.created_ms = after.view.log[i].added_ms;
    out.push_back(std::move(record));
  }
  if (auto change = change_record(from, after)) out.push_back(*std::move(change));
  if (after.view.summary && !is_same_summary(from, after)) {
    PARLEY_TRY(store::Record record, summary_record(after));
    out.push_back(std::move(record));
  }
  return out;
}

Result<void> replay(std::unique_ptr<State>& state, std::span<const store::StoredRecord> records) {
  // Only what came after the last clear is shown.
  for (std::size_t i = records.size(); i-- > 0;) {
    if (!is_clear(records[i])) continue;
    const bool is_stored = state->is_stored;
    state = std::make_unique<State>(*state->options);
    state->is_stored = is_stored;
    records = records.subspan(i + 1);
    break;
  }
  State& s = *state;
  PARLEY_TRY(const std::vector<Message> messages, to_messages(records));
  auto message = messages.begin();
  for (const store::StoredRecord& record : records) {
    switch (record.kind) {
      case store::RecordKind::Message:
        PARLEY_CHECK(replay_message(s, *message++, record));
        break;
      case store::RecordKind::Summary:
        PARLEY_CHECK(replay_summary(s, record));
        break;
      case store::RecordKind::Change:
        PARLEY_CHECK(replay_change(s, record));
        break;
    }
  }
  return {};
}

}  // namespace parley::memory
