// A memory as JSON. A span is [first, last], a run of positions in the log, `last` not included:
//
//   {"parley_memory": 2,
//    "size": count,                         of all messages that were added
//    "held": [span, ...],                   those that the log holds
//    "messages": [message, ...],            these, in the dialect parley
//    "added_ms": [milliseconds, ...],       when each of them was added
//    "window": [span, ...],
//    "pins": [position, ...], "marks": {"mark": [position, ...], ...},  positions where exchanges begin
//    "uncovered": [span, ...],
//    "summary": {"message": message, "covered": [span, ...]}}
//
// Version 1 is read too. It holds all messages, so that it has no "size" and no "held"; nor has it
// "uncovered", which is all that is neither in the window nor covered; and "covered" has positions where
// exchanges begin.
//
// AgentScope's forms are read too: {"content": [message, ...]} of 1.0.10 and {"content": [[message, [mark,
// ...]],
// ...], "_compressed_summary": "..."} of 1.0.21.
#include <algorithm>

#include "json/pointer.h"
#include "memory/delta.h"
#include "memory/guarded.h"
#include "memory/state.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"

namespace parley {
namespace memory {
namespace {

constexpr std::int64_t kVersion = 2;

Error wrong(std::string path, std::string_view expected) {
  return {Code::WrongType, "expected " + std::string(expected), std::move(path)};
}

// A number from 0 to `most`.
Result<Position> position_in(const Json& value, std::size_t most, const std::string& path) {
  const auto number = value.as_int64();
  if (!number) return std::unexpected(wrong(path, "a whole number"));
  if (*number < 0 || static_cast<std::uint64_t>(*number) > most) {
    return fail(Code::Invalid, "no message at position " + std::to_string(*number), path);
  }
  return static_cast<Position>(*number);
}

// Sorted positions of messages that begin a unit.
Result<Positions> units_in(const State& s, const Json& list, const std::string& path) {
  if (!list.is_array()) return std::unexpected(wrong(path, "a list"));
  Positions out;
  for (const Json& element : list.elements()) {
    const std::string here = path + "/" + std::to_string(out.size());
    if (s.view.log.size() == 0) return fail(Code::Invalid, "no messages", here);
    PARLEY_TRY(const Position unit, position_in(element, s.view.log.size() - 1, here));
    const bool is_next = out.empty() || unit > out.back();
    if (!is_next || !s.view.log.holds(unit) || s.view.log[unit].unit != unit) {
      return fail(Code::Invalid, "expected ascending positions where exchanges begin", here);
    }
    out.push_back(unit);
  }
  return out;
}

// Rising spans of positions below `size`.
Result<Spans> spans_in(const Json& list, std::size_t size, const std::string& path) {
  if (!list.is_array()) return std::unexpected(wrong(path, "a list"));
  Spans out;
  for (const Json& element : list.elements()) {
    const std::string here = path + "/" + std::to_string(out.size());
    const std::vector<Json> ends = element.is_array() ? element.elements() : std::vector<Json>();
    if (ends.size() != 2) return std::unexpected(wrong(here, "a pair of positions"));
    PARLEY_TRY(const Position first, position_in(ends[0], size, here + "/0"));
    PARLEY_TRY(const Position last, position_in(ends[1], size, here + "/1"));
    if (last <= first || (!out.empty() && first < out.back().last)) {
      return fail(Code::Invalid, "expected ascending spans", here);
    }
    out.push_back({first, last});
  }
  return joined_spans(out, {});
}

// Spans of whole exchanges, as far as the log holds them.
Result<Spans> whole_spans_in(const State& s, const Json& list, const std::string& path) {
  PARLEY_TRY(Spans out, spans_in(list, s.view.log.size(), path));
  const auto begins = [&](Position at) { return !s.view.log.holds(at) || s.view.log[at].unit == at; };
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (begins(out[i].first) && begins(out[i].last)) continue;
    return fail(Code::Invalid, "expected ascending spans of whole exchanges", path + "/" + std::to_string(i));
  }
  return out;
}

// Fills a fresh state message by message.
Result<void> take_message(State& s, const Json& dict, Dialect dialect, const std::string& path) {
  Result<Message> message = from_dict(dict, dialect);
  if (!message) return fail(message.error().code, message.error().message, path + message.error().path);
  const auto position = static_cast<Position>(s.view.log.size());
  const bool continues = s.open.is_open();
  if (auto followed = s.open.follow(*message, position); !followed) {
    return fail(followed.error().code, followed.error().message, path);
  }
  return s.append(*message, continues ? s.open.unit : position);
}

// What is not in the window is uncovered until the summary is read.
Result<void> take_window(State& s, const Json& list) {
  PARLEY_TRY(const Spans spans, whole_spans_in(s, list, "/window"));
  const Spans held = s.view.closed_spans();
  if (!without_spans(spans, held).empty()) {
    return fail(Code::Invalid, "the window has messages that the state does not hold", "/window");
  }
  if (s.open.is_open() && !contains(spans, s.open.unit)) {
    return fail(Code::BrokenHistory, "the open exchange is not in the window", "/window");
  }
  Positions outside;
  for (const Span& span : without_spans(held, spans)) {
    for (Position unit = span.first; unit < span.last; unit = s.unit_end(unit)) outside.push_back(unit);
  }
  s.apply(s.without_units(outside), Fate::Uncovered);
  return {};
}

Result<void> take_summary(State& s, const Json& summary, bool has_spans) {
  if (!summary.is_object()) return std::unexpected(wrong("/summary", "an object"));
  const auto member = [&](std::string_view name) -> Result<Json> {
    if (auto value = summary.get(name)) return *std::move(value);
    return fail(Code::Missing, "the member '" + std::string(name) + "' is missing", "/summary");
  };
  PARLEY_TRY(const Json dict, member("message"));
  Result<Message> message = from_dict(dict, Dialect::Parley);
  if (!message) return fail(message.error().code, message.error().message, "/summary/message");
  const std::vector<Block> blocks = message->blocks();
  const auto is_text = [](const Block& block) { return block.type() == BlockType::Text; };
  if (blocks.empty() || !std::all_of(blocks.begin(), blocks.end(), is_text)) {
    return fail(Code::Invalid, "a summary is a text", "/summary/message");
  }
  PARLEY_TRY(const Json list, member("covered"));
  Spans covered;
  if (has_spans) {
    PARLEY_TRY(covered, whole_spans_in(s, list, "/summary/covered"));
  } else {
    PARLEY_TRY(const Positions units, units_in(s, list, "/summary/covered"));
    for (const Position unit : units) covered = joined_spans(covered, {{unit, s.unit_end(unit)}});
  }
  if (!common_spans(covered, s.view.closed_spans()).empty()) {
    return fail(Code::Invalid, "covered messages are still in the window", "/summary/covered");
  }
  Summary out{*message, s.after_system(), s.after_system(), count_of(covered)};
  if (!covered.empty()) {
    out.first = covered.front().first;
    out.last = covered.back().last - 1;
  }
  s.set_summary(out, s.cost_of_message(out.message), std::move(covered));
  return {};
}

// What the log does not hold left the window in one of three ways.
Result<void> take_uncovered(State& s, const Json& list, const Spans& missing) {
  PARLEY_TRY(const Spans spans, whole_spans_in(s, list, "/uncovered"));
  const bool is_in_window = !common_spans(spans, s.view.closed_spans()).empty();
  if (is_in_window || !common_spans(spans, *s.covered).empty()) {
    return fail(Code::Invalid, "uncovered messages are still in the window or covered", "/uncovered");
  }
  if (!without_spans(*s.uncovered, spans).empty()) {
    return fail(Code::Invalid, "a message is neither in the window nor covered nor uncovered", "/uncovered");
  }
  s.set_uncovered(spans);
  s.removed.set(without_spans(without_spans(missing, spans), *s.covered));
  return {};
}

Result<void> take_marks(State& s, const Json& marks) {
  if (!marks.is_object()) return std::unexpected(wrong("/marks", "an object"));
  for (const Json::Member& member : marks.members()) {
    const std::string path = "/marks/" + json::escape_pointer(member.key);
    if (member.key.empty()) return fail(Code::Invalid, "mark is empty", path);
    PARLEY_TRY(const Positions units, units_in(s, member.value, path));
    s.add_mark(member.key, units);
  }
  return {};
}

// Which positions the messages of a state have.
Result<Spans> held_in(const Json& state, std::size_t messages, std::size_t size) {
  const auto list = state.get("held");
  if (!list) return messages == 0 ? Spans{} : Spans{{0, static_cast<Position>(messages)}};
  PARLEY_TRY(Spans held, spans_in(*list, size, "/held"));
  if (count_of(held) != messages) return fail(Code::Invalid, "expected a position for each message", "/held");
  return held;
}

Result<std::size_t> size_in(const Json& state, std::size_t messages) {
  const auto size = state.get("size");
  if (!size) return messages;
  return position_in(*size, kMostMessages, "/size");
}

// Nothing can be missing within an exchange.
Result<void> skip_to(State& s, Position position) {
  if (position != s.view.log.size() && s.open.is_open()) {
    return fail(Code::BrokenHistory, "an exchange is not held as a whole", "/held");
  }
  s.skip_to(position);
  return {};
}

Result<void> take_messages(State& s, const Json& state, const std::vector<Json>& dicts, const Spans& held) {
  std::vector<Json> times;
  if (const auto list = state.get("added_ms")) {
    if (!list->is_array()) return std::unexpected(wrong("/added_ms", "a list"));
    times = list->elements();
    if (times.size() != dicts.size())
      return fail(Code::Invalid, "expected a time for each message", "/added_ms");
  }
  std::size_t i = 0;
  for (const Span& span : held) {
    PARLEY_CHECK(skip_to(s, span.first));
    for (; s.view.log.size() < span.last; ++i) {
      if (!times.empty()) {
        const auto time = times[i].as_int64();
        if (!time) return std::unexpected(wrong("/added_ms/" + std::to_string(i), "a whole number"));
        s.added_ms = time;
      }
      PARLEY_CHECK(take_message(s, dicts[i], Dialect::Parley, "/messages/" + std::to_string(i)));
    }
  }
  s.added_ms.reset();
  return {};
}

Result<void> load_own(State& s, const Json& state) {
  const auto version = state.get("parley_memory")->as_int64();
  if (!version || *version < 1 || *version > kVersion) {
    return fail(Code::Unsupported,
                "unsupported state version: this build reads up to " + std::to_string(kVersion),
                "/parley_memory");
  }
  const auto messages = state.get("messages");
  if (!messages) return fail(Code::Missing, "the member 'messages' is missing");
  if (!messages->is_array()) return std::unexpected(wrong("/messages", "a list"));
  const std::vector<Json> dicts = messages->elements();
  PARLEY_TRY(const std::size_t size, size_in(state, dicts.size()));
  PARLEY_TRY(const Spans held, held_in(state, dicts.size(), size));
  PARLEY_CHECK(take_messages(s, state, dicts, held));
  PARLEY_CHECK(skip_to(s, static_cast<Position>(size)));
  if (const auto window = state.get("window")) PARLEY_CHECK(take_window(s, *window));
  if (const auto marks = state.get("marks")) PARLEY_CHECK(take_marks(s, *marks));
  if (const auto pins = state.get("pins")) {
    PARLEY_TRY(Positions units, units_in(s, *pins, "/pins"));
    s.pins.set(std::move(units));
  }
  if (const auto summary = state.get("summary")) PARLEY_CHECK(take_summary(s, *summary, *version > 1));
  const Spans all = size == 0 ? Spans{} : Spans{{0, static_cast<Position>(size)}};
  const Spans missing = without_spans(all, held);
  if (const auto uncovered = state.get("uncovered")) {
    PARLEY_CHECK(take_uncovered(s, *uncovered, missing));
  } else {
    s.removed.set(without_spans(missing, *s.covered));
  }
  return s.keep_from(held);
}

Result<void> load_agentscope(State& s, const Json& state) {
  const auto content = state.get("content");
  if (!content) return fail(Code::Missing, "expected 'parley_memory' or 'content'");
  if (!content->is_array()) return std::unexpected(wrong("/content", "a list"));
  std::size_t i = 0;
  for (const Json& element : content->elements()) {
    const std::string path = "/content/" + std::to_string(i++);
    std::vector<Json> pair = element.is_array() ? element.elements() : std::vector<Json>{element, Json()};
    if (pair.size() != 2) return std::unexpected(wrong(path, "a message, or a message and its marks"));
    const auto position = static_cast<Position>(s.view.log.size());
    PARLEY_CHECK(take_message(s, pair[0], Dialect::AgentScope, path));
    if (!element.is_array()) continue;
    if (!pair[1].is_array()) return std::unexpected(wrong(path + "/1", "a list of marks"));
    for (const Json& mark : pair[1].elements()) {
      const auto text = mark.as_string();
      if (!text) return std::unexpected(wrong(path + "/1", "a list of strings"));
      if (text->empty()) return fail(Code::Invalid, "mark is empty", path + "/1");
      s.add_mark(*text, {s.view.log[position].unit});
    }
  }
  if (const auto summary = state.get("_compressed_summary")) {
    const auto text = summary->as_string();
    if (!text) return std::unexpected(wrong("/_compressed_summary", "a string"));
    if (!text->empty()) {
      const Message message = Message::user_message(*text);
      s.set_summary(Summary{message, s.after_system(), s.after_system(), 0}, s.cost_of_message(message));
    }
  }
  return {};
}

}  // namespace
}  // namespace memory

using memory::Position;
using memory::put;
using memory::Span;
using memory::State;

Result<Json> Memory::state_dict() const {
  const State& s = *state_;
  const memory::Spans held = s.held();
  const std::vector<Message> messages = s.messages_in(held);
  json::Writer w;
  w.begin_object().key("parley_memory").number(memory::kVersion);
  w.key("size").number(static_cast<std::int64_t>(s.view.log.size())).key("held");
  put(w, held);
  w.key("messages").begin_array();
  for (const Message& message : messages) {
    PARLEY_TRY(const Json dict, to_dict(message, Dialect::Parley));
    w.value(dict);
  }
  w.end_array().key("added_ms").begin_array();
  for (const Span& span : held) {
    for (Position i = span.first; i < span.last; ++i) w.number(s.view.log[i].added_ms);
  }
  w.end_array().key("window");
  put(w, s.view.closed_spans());
  w.key("pins");
  put(w, *s.pins);
  w.key("marks").begin_object();
  for (const auto& [mark, units] : *s.marks) put(w.key(mark), *units);
  w.end_object().key("uncovered");
  put(w, *s.uncovered);
  if (s.view.summary) {
    PARLEY_TRY(const Json dict, to_dict(s.view.summary->message, Dialect::Parley));
    w.key("summary").begin_object().key("message").value(dict).key("covered");
    put(w, *s.covered);
    w.end_object();
  }
  return w.end_object().take();
}

Result<Change> Memory::load_state_dict(const Json& state) {
  if (!state.is_object()) return std::unexpected(memory::wrong("", "an object"));
  auto fresh = std::make_unique<State>(*state_->options);
  fresh->calibration = state_->calibration;
  fresh->is_stored = state_->is_stored;
  Change change;
  PARLEY_CHECK(memory::guarded([&]() -> Result<void> {
    PARLEY_CHECK(state.get("parley_memory") ? memory::load_own(*fresh, state)
                                            : memory::load_agentscope(*fresh, state));
    const std::size_t uncovered = fresh->uncovered_count;
    PARLEY_TRY(auto plan, fresh->trimmed());
    if (plan) change.evicted = fresh->apply(*std::move(plan), memory::Fate::Uncovered);
    change.uncovered = fresh->uncovered_count - uncovered;
    return {};
  }));
  change.count = memory::count_of(fresh->held());
  fresh->settle();
  fresh->clears = state_->clears + 1;
  state_ = std::move(fresh);
  return change;
}

}  // namespace parley
