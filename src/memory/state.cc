#include "memory/state.h"

#include <algorithm>

#include "base/hash.h"
#include "memory/shorten.h"
#include "message/arena.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"

namespace parley::memory {
namespace {

// An id as it reads; most need no unescaping.
std::string_view plain(const Arena& arena, Slice slice, Text& kept) {
  const std::string_view spelled = arena.bytes(slice);
  if (spelled.find('\\') == std::string_view::npos) return spelled;
  kept = arena.string(slice);
  return kept;
}

std::string named(const std::vector<std::string>& ids) {
  constexpr std::size_t kShown = 5;
  std::string out;
  for (std::size_t i = 0; i < std::min(ids.size(), kShown); ++i) out += (i == 0 ? "'" : ", '") + ids[i] + "'";
  if (ids.size() > kShown) out += " and " + std::to_string(ids.size() - kShown) + " more";
  return out;
}

std::uint32_t clamped(std::size_t value) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(value, 0xFFFFFFFF));
}

// What a block says, as JSON spells it. The frame around it depends on the dialect and does not count.
std::size_t content_bytes(const Arena& arena, const BlockRecord& block) {
  const auto size = [](Slice slice) { return slice.present() ? std::size_t{slice.length} : 0; };
  switch (block.type) {
    case BlockType::Text:
      return size(block.text());
    case BlockType::Thinking:
      return size(block.text()) + size(block.signature());
    case BlockType::ToolUse:
      return size(block.id()) + size(block.name()) + std::max(size(block.arguments()), size(block.input()));
    case BlockType::ToolResult: {
      std::size_t all = size(block.id()) + size(block.name()) + (block.is_list ? 0 : size(block.output()));
      for (const BlockRecord& child : arena.children(block)) all += content_bytes(arena, child);
      return all;
    }
    case BlockType::Raw:
      return size(block.raw_value());
    default:
      return size(block.data());
  }
}

// An empty id counts as missing.
bool has_id(const MessageRecord& record) { return record.id.present() && record.id.length != 0; }

Totals cost_of_entry(const Entry& entry) { return {1, 0, entry.tokens, entry.bytes}; }

// Equal for all that exchanges are made of: the role, the calls and results, and their ids.
bool is_same_exchange(const Message& a, const Message& b) {
  const auto ids = [](const Message& message) {
    std::vector<std::pair<BlockType, Text>> out;
    const Arena& arena = Arena::of(message);
    for (const BlockRecord& block : arena.blocks(Arena::record_of(message))) {
      if (block.type != BlockType::ToolUse && block.type != BlockType::ToolResult) continue;
      out.emplace_back(block.type, arena.optional_string(block.id()).value_or(Text()));
    }
    return out;
  };
  return a.role() == b.role() && ids(a) == ids(b);
}

}  // namespace

std::size_t content_bytes(const Message& message) {
  const Arena& arena = Arena::of(message);
  std::size_t bytes = 0;
  for (const BlockRecord& block : arena.blocks(Arena::record_of(message)))
    bytes += content_bytes(arena, block);
  return bytes;
}

Totals& Totals::operator+=(const Totals& more) {
  messages += more.messages;
  exchanges += more.exchanges;
  tokens += more.tokens;
  bytes += more.bytes;
  return *this;
}

Totals& Totals::operator-=(const Totals& less) {
  messages -= less.messages;
  exchanges -= less.exchanges;
  tokens -= less.tokens;
  bytes -= less.bytes;
  return *this;
}

const Message& View::shown(Position position) const {
  if (!instead->empty()) {
    if (const auto found = instead->find(position); found != instead->end()) return found->second;
  }
  return log[position].message;
}

bool View::holds(Position position) const {
  const auto after = std::upper_bound(spans->begin(), spans->end(), position,
                                      [](Position at, const Span& span) { return at < span.first; });
  return after != spans->begin() && position < end(*(after - 1));
}

Spans View::closed_spans() const {
  Spans out;
  for (const Span& span : *spans) {
    if (const Position last = end(span); last != span.first) out.push_back({span.first, last});
  }
  return out;
}

std::size_t View::size() const {
  std::size_t size = summary ? 1 : 0;
  for (const Span& span : *spans) size += end(span) - span.first;
  return size;
}

std::size_t View::count_before(Position position) const {
  std::size_t count = 0;
  for (const Span& span : *spans) {
    if (span.first < position) count += std::min(end(span), position) - span.first;
  }
  return count;
}

std::optional<Position> View::at(std::size_t index) const {
  for (const Span& span : *spans) {
    const std::size_t size = end(span) - span.first;
    if (index < size) return span.first + static_cast<Position>(index);
    index -= size;
  }
  return std::nullopt;
}

Result<void> OpenExchange::follow(const Message& message, Position position) {
  const Arena& arena = Arena::of(message);
  const auto blocks = arena.blocks(Arena::record_of(message));
  const bool continues = message.continues_step();
  const auto still_waiting = [&] {
    return fail(Code::BrokenHistory,
                "the tool uses " + named(waiting.ids()) + " have no results yet: add those first");
  };
  if (blocks.empty() && is_open()) return still_waiting();
  if (!is_open()) unit = position;
  std::size_t older = waiting.size();
  for (const BlockRecord& block : blocks) {
    // Results come first in a message.
    if (block.type != BlockType::ToolResult && older != 0 && !continues) return still_waiting();
    if (block.type != BlockType::ToolUse && block.type != BlockType::ToolResult) continue;
    Text kept;
    const std::string_view id = block.id().present() ? plain(arena, block.id(), kept) : std::string_view();
    if (block.type == BlockType::ToolUse) {
      if (!id.empty()) waiting.add(id);  // what has no id cannot be answered
      continue;
    }
    if (!waiting.answer(id)) {
      return fail(Code::BrokenHistory, "result for unknown or answered tool use '" + std::string(id) + "'");
    }
    if (older != 0) --older;
  }
  return {};
}

// The seed is random, so that an attacker cannot choose ids with equal hashes.
std::uint64_t State::hash_of_id(std::string_view id) {
  static const std::uint64_t seed = random_uuid()[0];
  return hash64(id, seed);
}

State::State(MemoryOptions the_options)
    : options(std::make_shared<const MemoryOptions>(std::move(the_options))) {
  view.spans.set({{0, kNoEnd}});
  if (const auto& counter = options->token_cost.counter()) calibration = counter->calibration();
}

bool State::knows(const Message& message) const {
  if (!has_id(Arena::record_of(message))) return false;
  Text kept;
  return find(plain(Arena::of(message), Arena::record_of(message).id, kept)).has_value();
}

// What is shown in place of the message, if it is not shown as it is.
Result<std::optional<Message>> State::shown_instead(const Message& message) const {
  std::optional<Message> other;
  if (options->window_filter) other = options->window_filter(message);
  if (other && !is_same_exchange(message, *other)) {
    return fail(Code::Invalid, "a filter changed the role, the tool uses or the results of a message");
  }
  if (options->text_bytes) {
    std::optional<Message> cut = shortened(other ? *other : message, *options->text_bytes);
    if (cut) other = std::move(cut);
  }
  return other;
}

Result<void> State::append(const Message& message, Position unit) {
  PARLEY_TRY(std::optional<Message> instead, shown_instead(message));
  const bool is_known = knows(message);
  const auto position = static_cast<Position>(view.log.size());
  const Arena& arena = Arena::of(message);
  const MessageRecord& record = Arena::record_of(message);
  const auto blocks = arena.blocks(record);
  std::uint32_t flags = 0;
  if (record.role == Role::System || record.role == Role::Developer) flags |= Entry::kSystem;
  if (record.role == Role::User) flags |= Entry::kRequest;
  const auto is_call = [](const BlockRecord& block) { return block.type == BlockType::ToolUse; };
  if (std::any_of(blocks.begin(), blocks.end(), is_call)) flags |= Entry::kCalls;

  const Totals cost = cost_of_message(instead ? *instead : message);
  // Times never fall, whatever the clock does.
  newest_ms_ = std::max(newest_ms_, added_ms.value_or(now_ms()));
  const Entry entry{message, unit, flags, clamped(cost.tokens), clamped(cost.bytes), newest_ms_};
  totals += cost_of_entry(entry);
  if (unit == position && entry.has(Entry::kCalls)) ++totals.exchanges;
  if (entry.has(Entry::kRequest)) request = unit;
  view.log.push_back(entry);
  if (instead) view.instead.own().emplace(position, *std::move(instead));
  has_repeated_ids_ = has_repeated_ids_ || is_known;
  if (has_id(record) && !is_known) {
    Text kept;
    ids_.insert(hash_of_id(plain(arena, record.id, kept)), position);
  }
  return {};
}

void State::take_back(const Before& before) {
  for (std::size_t i = view.log.size(); i-- > before.size;) {
    const Entry& entry = view.log[i];
    const auto position = static_cast<Position>(i);
    totals -= cost_of_entry(entry);
    if (entry.unit == position && entry.has(Entry::kCalls)) --totals.exchanges;
    if (view.instead->contains(position)) view.instead.own().erase(position);
    Text kept;
    const MessageRecord& record = Arena::record_of(entry.message);
    if (has_id(record)) ids_.erase(hash_of_id(plain(Arena::of(entry.message), record.id, kept)), position);
  }
  view.log.shrink_to(before.size);
  newest_ms_ = before.newest_ms;
  request = before.request;
  open = before.open;
}

void State::find_request() {
  request = kNoEnd;
  for (auto span = view.spans->rbegin(); span != view.spans->rend(); ++span) {
    for (Position i = view.end(*span); i-- > span->first;) {
      if (!view.log[i].has(Entry::kRequest)) continue;
      request = view.log[i].unit;
      return;
    }
  }
}

Position State::unit_end(Position unit) const {
  Position end = unit + 1;
  while (view.log.holds(end) && view.log[end].unit == unit) ++end;
  return end;
}

Totals State::cost_of(Position unit) const {
  Totals cost;
  if (view.log[unit].has(Entry::kCalls)) cost.exchanges = 1;
  for (Position i = unit, end = unit_end(unit); i < end; ++i) cost += cost_of_entry(view.log[i]);
  return cost;
}

State::Window State::window() const {
  return {view.spans, view.instead,    view.summary, summary_cost, covered,
          uncovered,  uncovered_count, totals,       kept_,        to_forget_};
}

void State::restore(Window window) {
  view.spans = std::move(window.spans);
  view.instead = std::move(window.instead);
  view.summary = std::move(window.summary);
  summary_cost = window.summary_cost;
  covered = std::move(window.covered);
  uncovered = std::move(window.uncovered);
  uncovered_count = window.uncovered_count;
  totals = window.totals;
  kept_ = window.kept;
  to_forget_ = std::move(window.to_forget);
}

Totals State::cost_of_message(const Message& message) const {
  return {1, 0, options->token_cost ? options->token_cost(message) : 0, content_bytes(message)};
}

std::size_t State::after_system() const {
  std::size_t position = 0;
  while (view.log.holds(position) && view.log[position].has(Entry::kSystem)) ++position;
  return position;
}

void State::set_summary(std::optional<Summary> summary, Totals cost, Spans covers) {
  totals -= summary_cost;
  totals += cost;
  summary_cost = cost;
  view.summary = std::move(summary);
  set_uncovered(without_spans(joined_spans(*uncovered, without_spans(*covered, covers)), covers));
  covered.set(std::move(covers));
}

}  // namespace parley::memory
