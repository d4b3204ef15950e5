// A memory as JSON:
//
//   {"parley_memory": 1,
//    "messages": [message, ...],            the log, in the dialect parley
//    "added_ms": [milliseconds, ...],       when each was added
//    "window": [[first, last], ...],        spans of positions in the log, `last` not included
//    "pins": [position, ...], "marks": {"mark": [position, ...], ...},
//    "summary": {"message": message, "covered": [position, ...]}}    positions where exchanges begin
//
// AgentScope's forms are read too: {"content": [message, ...]} of 1.0.10 and {"content": [[message, [mark,
// ...]],
// ...], "_compressed_summary": "..."} of 1.0.21.
#include <algorithm>

#include "memory/guarded.h"
#include "memory/state.h"
#include "parley/dialect/dialect.h"
#include "parley/json/pointer.h"
#include "parley/json/writer.h"

namespace parley {
namespace memory {
namespace {

constexpr std::int64_t kVersion = 1;

void put_positions(json::Writer& w, const Positions& positions) {
  w.begin_array();
  for (const Position position : positions) w.number(static_cast<std::int64_t>(position));
  w.end_array();
}

Error wrong(std::string path, std::string_view expected) {
  return {Code::WrongType, "expected " + std::string(expected), std::move(path)};
}

// A number from 0 to `most`.
Result<Position> position_in(const Json& value, std::size_t most, const std::string& path) {
  const auto number = value.as_int64();
  if (!number) return std::unexpected(wrong(path, "a whole number"));
  if (*number < 0 || static_cast<std::uint64_t>(*number) > most) {
    return fail(Code::Invalid, "there is no message " + std::to_string(*number), path);
  }
  return static_cast<Position>(*number);
}

// Sorted positions of messages that begin a unit.
Result<Positions> units_in(const State& s, const Json& list, const std::string& path) {
  if (!list.is_array()) return std::unexpected(wrong(path, "a list"));
  Positions out;
  for (const Json& element : list.elements()) {
    const std::string here = path + "/" + std::to_string(out.size());
    if (s.view.log.size() == 0) return fail(Code::Invalid, "there are no messages", here);
    PARLEY_TRY(const Position unit, position_in(element, s.view.log.size() - 1, here));
    const bool is_next = out.empty() || unit > out.back();
    if (!is_next || s.view.log[unit].unit != unit) {
      return fail(Code::Invalid, "expected rising positions where exchanges begin", here);
    }
    out.push_back(unit);
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

Result<void> take_window(State& s, const Json& list) {
  if (!list.is_array()) return std::unexpected(wrong("/window", "a list"));
  const std::size_t size = s.view.log.size();
  std::vector<Span> spans;
  Positions outside;
  Position done = 0;
  for (const Json& element : list.elements()) {
    const std::string path = "/window/" + std::to_string(spans.size());
    const std::vector<Json> ends = element.is_array() ? element.elements() : std::vector<Json>();
    if (ends.size() != 2) return std::unexpected(wrong(path, "a pair of positions"));
    PARLEY_TRY(const Position first, position_in(ends[0], size, path + "/0"));
    PARLEY_TRY(const Position last, position_in(ends[1], size, path + "/1"));
    const auto begins = [&](Position at) { return at == size || s.view.log[at].unit == at; };
    if (first < done || last <= first || !begins(first) || !begins(last)) {
      return fail(Code::Invalid, "expected rising spans of whole exchanges", path);
    }
    for (Position unit = done; unit < first; unit = s.unit_end(unit)) outside.push_back(unit);
    spans.push_back({first, last});
    done = last;
  }
  for (Position unit = done; unit < size; unit = s.unit_end(unit)) outside.push_back(unit);
  if (s.open.is_open() && std::binary_search(outside.begin(), outside.end(), s.open.unit)) {
    return fail(Code::BrokenHistory, "the open exchange is not in the window", "/window");
  }
  s.apply(s.without_units(outside));
  return {};
}

Result<void> take_summary(State& s, const Json& summary) {
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
  PARLEY_TRY(Positions covered, units_in(s, list, "/summary/covered"));
  Summary out{*message, 0, 0, 0};
  for (const Position unit : covered) {
    if (s.view.holds(unit))
      return fail(Code::Invalid, "what is covered is not in the window", "/summary/covered");
    out.count += s.unit_end(unit) - unit;
  }
  if (!covered.empty()) {
    out.first = covered.front();
    out.last = s.unit_end(covered.back()) - 1;
  }
  s.set_summary(out, s.cost_of_message(out.message));
  s.covered.set(std::move(covered));
  return {};
}

Result<void> take_marks(State& s, const Json& marks) {
  if (!marks.is_object()) return std::unexpected(wrong("/marks", "an object"));
  for (const Json::Member& member : marks.members()) {
    const std::string path = "/marks/" + json::escape_pointer(member.key);
    if (member.key.empty()) return fail(Code::Invalid, "a mark cannot be empty", path);
    PARLEY_TRY(const Positions units, units_in(s, member.value, path));
    s.add_mark(member.key, units);
  }
  return {};
}

Result<void> load_own(State& s, const Json& state) {
  const auto version = state.get("parley_memory")->as_int64();
  if (version != kVersion) {
    return fail(Code::Unsupported, "the state is of another version; this one is " + std::to_string(kVersion),
                "/parley_memory");
  }
  const auto messages = state.get("messages");
  if (!messages) return fail(Code::Missing, "the member 'messages' is missing");
  if (!messages->is_array()) return std::unexpected(wrong("/messages", "a list"));
  const std::vector<Json> dicts = messages->elements();
  std::vector<Json> times;
  if (const auto list = state.get("added_ms")) {
    if (!list->is_array()) return std::unexpected(wrong("/added_ms", "a list"));
    times = list->elements();
    if (times.size() != dicts.size())
      return fail(Code::Invalid, "expected a time for each message", "/added_ms");
  }
  for (std::size_t i = 0; i < dicts.size(); ++i) {
    if (!times.empty()) {
      const auto time = times[i].as_int64();
      if (!time) return std::unexpected(wrong("/added_ms/" + std::to_string(i), "a whole number"));
      s.added_ms = time;
    }
    PARLEY_CHECK(take_message(s, dicts[i], Dialect::Parley, "/messages/" + std::to_string(i)));
  }
  s.added_ms.reset();
  if (const auto window = state.get("window")) PARLEY_CHECK(take_window(s, *window));
  if (const auto marks = state.get("marks")) PARLEY_CHECK(take_marks(s, *marks));
  if (const auto pins = state.get("pins")) {
    PARLEY_TRY(Positions units, units_in(s, *pins, "/pins"));
    s.pins.set(std::move(units));
  }
  if (const auto summary = state.get("summary")) PARLEY_CHECK(take_summary(s, *summary));
  return {};
}

Result<void> load_agentscope(State& s, const Json& state) {
  const auto content = state.get("content");
  if (!content) return fail(Code::Missing, "neither 'parley_memory' nor 'content' is there");
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
      if (text->empty()) return fail(Code::Invalid, "a mark cannot be empty", path + "/1");
      s.add_mark(*text, {s.view.log[position].unit});
    }
  }
  if (const auto summary = state.get("_compressed_summary")) {
    const auto text = summary->as_string();
    if (!text) return std::unexpected(wrong("/_compressed_summary", "a string"));
    if (!text->empty()) {
      const Message message = Message::user_message(*text);
      s.set_summary(Summary{message, s.behind_system(), s.behind_system(), 0}, s.cost_of_message(message));
    }
  }
  return {};
}

}  // namespace
}  // namespace memory

using memory::Position;
using memory::put_positions;
using memory::Span;
using memory::State;

Result<Json> Memory::state_dict() const {
  const State& s = *state_;
  json::Writer w;
  w.begin_object().key("parley_memory").number(memory::kVersion).key("messages").begin_array();
  for (std::size_t i = 0; i < s.view.log.size(); ++i) {
    PARLEY_TRY(const Json dict, to_dict(s.view.log[i].message, Dialect::Parley));
    w.value(dict);
  }
  w.end_array().key("added_ms").begin_array();
  for (std::size_t i = 0; i < s.view.log.size(); ++i) w.number(s.view.log[i].added_ms);
  w.end_array().key("window").begin_array();
  for (const Span& span : *s.view.spans) {
    const Position end = s.view.end(span);
    if (end != span.first) put_positions(w, {span.first, end});
  }
  w.end_array().key("pins");
  put_positions(w, *s.pins);
  w.key("marks").begin_object();
  for (const auto& [mark, units] : *s.marks) put_positions(w.key(mark), *units);
  w.end_object();
  if (s.view.summary) {
    PARLEY_TRY(const Json dict, to_dict(s.view.summary->message, Dialect::Parley));
    w.key("summary").begin_object().key("message").value(dict).key("covered");
    put_positions(w, *s.covered);
    w.end_object();
  }
  return w.end_object().take();
}

Result<Change> Memory::load_state_dict(const Json& state) {
  if (!state.is_object()) return std::unexpected(memory::wrong("", "an object"));
  auto fresh = std::make_unique<State>(*state_->options);
  Change change;
  PARLEY_CHECK(memory::guarded([&]() -> Result<void> {
    PARLEY_CHECK(state.get("parley_memory") ? memory::load_own(*fresh, state)
                                            : memory::load_agentscope(*fresh, state));
    PARLEY_TRY(auto plan, fresh->trimmed());
    if (plan) change.evicted = fresh->apply(*std::move(plan));
    return {};
  }));
  change.count = fresh->view.log.size();
  fresh->clears = state_->clears + 1;
  state_ = std::move(fresh);
  return change;
}

}  // namespace parley
