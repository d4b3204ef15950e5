#include "parley/memory/memory.h"

#include <algorithm>
#include <map>

#include "base/shorten.h"
#include "memory/guarded.h"
#include "memory/state.h"

namespace parley {

using memory::Compression;
using memory::Plan;
using memory::Position;
using memory::Positions;
using memory::State;

Memory::Memory() : state_(std::make_unique<State>(MemoryOptions{})) {}

Result<Memory> Memory::create(MemoryOptions options) {
  PARLEY_CHECK(validate(options.budget));
  const CompressionPolicy& policy = options.compression;
  if ((options.budget.tokens || policy.above_tokens) && !options.token_cost) {
    return fail(Code::Invalid, "a token limit needs MemoryOptions::token_cost");
  }
  if (policy.above_messages == 0U || policy.above_tokens == 0U) {
    return fail(Code::Invalid, "invalid compression trigger 0: use nullopt for none");
  }
  if (options.compressor && policy.most_summary_bytes == 0) {
    return fail(Code::Invalid, "invalid max summary bytes 0: expected more than 0");
  }
  if (!(policy.summary_share > 0 && policy.summary_share <= 1)) {
    return fail(Code::Invalid, "invalid summary_share: expected above 0 and at most 1");
  }
  if (options.text_bytes && *options.text_bytes < kLeastTextBytes) {
    return fail(Code::Invalid, "invalid text_bytes " + std::to_string(*options.text_bytes) +
                                   ": expected at least " + std::to_string(kLeastTextBytes));
  }
  Memory out;
  out.state_ = std::make_unique<State>(std::move(options));
  return out;
}

Memory::Memory(const Memory& other) : state_(std::make_unique<State>(*other.state_)) {}
Memory::Memory(Memory&&) noexcept = default;
Memory& Memory::operator=(Memory other) noexcept {
  state_ = std::move(other.state_);
  return *this;
}
Memory::~Memory() = default;

namespace {

// Adds all messages, whatever the budget says.
Result<Change> append_all(State& s, std::span<const Message> messages, Duplicates duplicates) {
  Change change;
  for (const Message& given : messages) {
    const std::optional<Message> other = s.options->add_filter ? s.options->add_filter(given) : std::nullopt;
    const Message& message = other ? *other : given;
    if (duplicates != Duplicates::Keep && s.knows(message)) {
      ++change.skipped;
      if (duplicates == Duplicates::Skip) continue;
      return fail(Code::Invalid, "duplicate message id '" + message.id()->str() + "'");
    }
    if (s.view.log.size() >= memory::kMostMessages) {
      return fail(Code::LimitExceeded, "a memory holds at most 4,294,967,000 messages");
    }
    const auto position = static_cast<Position>(s.view.log.size());
    const bool continues = s.open.is_open();
    PARLEY_CHECK(s.open.follow(message, position));
    PARLEY_CHECK(s.append(message, continues ? s.open.unit : position));
    ++change.count;
  }
  return change;
}

// Replaces the older part of the window by a summary, if that can be done. Why not, is kept.
std::vector<Message> try_compression(State& s) {
  Result<Compression> compression = memory::guarded([&] { return s.compressed(s.budget()); });
  const bool is_done = compression.has_value();
  std::vector<Message> evicted;
  if (is_done) {
    evicted = s.apply(*std::move(compression));
    s.compression_error.reset();
  } else if (compression.error().code != Code::NotFound) {
    s.compression_error = std::move(compression).error();
  }
  if (!is_done || s.compression_is_due()) s.delay_compression();
  return evicted;
}

// Brings the window within its budget, by a compression if one is due and helps. Appends what left it.
Result<void> fit(State& s, std::vector<Message>& evicted) {
  std::optional<State::Window> saved;
  if (s.options->compression.compress_on_add && s.compression_is_due()) {
    saved = s.window();
    evicted = try_compression(s);
  }
  Result<std::optional<Plan>> plan = s.trimmed();
  if (!plan) {
    if (saved) s.restore(*std::move(saved));
    return std::unexpected(std::move(plan).error());
  }
  if (*plan) {
    const std::vector<Message> dropped = s.apply(**std::move(plan), memory::Fate::Uncovered);
    evicted.insert(evicted.end(), dropped.begin(), dropped.end());
  }
  return {};
}

}  // namespace

Result<Change> Memory::add(std::initializer_list<Message> messages) {
  return add(std::span(messages.begin(), messages.size()));
}

Result<std::vector<Message>> Memory::add_messages(std::initializer_list<Message> messages) {
  return add_messages(std::span(messages.begin(), messages.size()));
}

Result<Change> Memory::add(std::span<const Message> messages, std::span<const Text> marks,
                           std::optional<Duplicates> duplicates) {
  State& s = *state_;
  for (const Text& mark : marks) {
    if (mark.empty()) return fail(Code::Invalid, "mark is empty");
  }
  const State::Before before = s.before();
  const std::size_t uncovered = uncovered_size();
  Result<Change> change =
      memory::guarded([&] { return append_all(s, messages, duplicates.value_or(s.options->duplicates)); });
  if (change) {
    const std::optional<Error> error = s.compression_error;
    if (auto fitted = fit(s, change->evicted); !fitted) {
      change = std::unexpected(std::move(fitted).error());
      s.compression_error = error;
    }
  }
  if (!change) {
    s.take_back(before);
    return change;
  }
  Positions units;
  for (std::size_t i = before.size; i < s.view.log.size() && !marks.empty(); ++i) {
    if (units.empty() || units.back() != s.view.log[i].unit) units.push_back(s.view.log[i].unit);
  }
  for (const Text& mark : marks) s.add_mark(mark, units);
  change->uncovered = uncovered_size() - uncovered;
  s.settle();
  return change;
}

Result<std::vector<Message>> Memory::add_messages(std::span<const Message> messages) {
  PARLEY_TRY(Change change, add(messages));
  return std::move(change.evicted);
}

Result<std::vector<Message>> Memory::get_recent_messages(std::int64_t n) const {
  if (n < 0) return fail(Code::Invalid, "invalid number of messages: expected 0 or more");
  const memory::View& view = state_->view;
  std::vector<Message> out;
  const auto& spans = *view.spans;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    for (Position i = view.end(*span); i-- > span->first;) {
      // Enough, unless this one belongs to the exchange that was begun.
      const bool is_begun = !out.empty() && view.log.holds(i + 1) && view.log[i + 1].unit == view.log[i].unit;
      if (out.size() >= static_cast<std::size_t>(n) && !is_begun) {
        std::reverse(out.begin(), out.end());
        return out;
      }
      out.push_back(view.shown(i));
    }
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<Json> Memory::to_dict_list(Dialect dialect, Form form) const {
  std::vector<Json> out;
  for (const Message& message : window()) {
    for (Json& dict : to_dicts(message, dialect, form)) out.push_back(std::move(dict));
  }
  return out;
}

Result<Change> Memory::complete_pending(const Text& reason) {
  const State& s = *state_;
  if (!s.open.is_open()) return Change{};
  std::map<std::string_view, Text> names;
  std::vector<Block> uses;
  for (Position i = s.open.unit, end = s.unit_end(s.open.unit); i < end; ++i) {
    for (Block& use : s.view.log[i].message.get_content_blocks({BlockType::ToolUse}))
      uses.push_back(std::move(use));
  }
  for (const Block& use : uses) names[use.as<ToolUseBlock>()->id] = use.as<ToolUseBlock>()->name;
  MessageBuilder builder(Role::Tool);
  for (const std::string& id : s.open.waiting.ids()) {
    builder.block(ToolResultBlock{Text(id), names[id], reason, true});
  }
  PARLEY_TRY(const Message message, builder.build());
  return add(message);
}

std::vector<Text> Memory::pending() const {
  std::vector<Text> out;
  for (const std::string& id : state_->open.waiting.ids()) out.push_back(Text(id));
  return out;
}

std::vector<Message> Memory::window() const { return state_->view.messages(); }
std::vector<std::size_t> Memory::window_positions() const {
  std::vector<std::size_t> out;
  state_->view.each([&](memory::Position position) {
    out.push_back(position);
    return true;
  });
  return out;
}
std::size_t Memory::size() const { return state_->totals.messages; }
std::size_t Memory::tokens() const { return state_->calibration.apply(state_->totals.tokens); }
std::size_t Memory::bytes() const { return state_->totals.bytes; }
const TokenCost& Memory::token_cost() const { return state_->options->token_cost; }

void Memory::calibrate(const Calibration& calibration) {
  const std::optional<TokenCounter>& counter = token_cost().counter();
  if (counter && !counter->is_exact()) state_->calibration = calibration;
}

Snapshot Memory::snapshot() const { return Snapshot(std::make_shared<const memory::View>(state_->view)); }

std::size_t Snapshot::size() const { return view_->size(); }
std::vector<Message> Snapshot::messages() const { return view_->messages(); }

std::vector<Message> Memory::get(const Selection& selection) {
  State& s = *state_;
  if (s.options->compression.compress_on_get && s.compression_is_due()) {
    try_compression(s);
    s.settle();
  }
  return s.view.messages(selection.prepend_summary, [&](Position position) {
    const Position unit = s.view.log[position].unit;
    const bool has = selection.mark.empty() || s.has_mark(selection.mark, unit);
    return has && (selection.exclude_mark.empty() || !s.has_mark(selection.exclude_mark, unit));
  });
}

const std::optional<Summary>& Memory::summary() const { return state_->view.summary; }
const std::optional<Error>& Memory::compression_error() const { return state_->compression_error; }

Result<Change> Memory::update_compressed_summary(const Text& text) {
  State& s = *state_;
  State::Window saved = s.window();
  const std::size_t uncovered = uncovered_size();
  const auto set = [&]() -> Result<Change> {
    if (text.empty()) {
      s.set_summary(std::nullopt);
      return Change{};
    }
    const Message message = Message::user_message(text);
    s.set_summary(Summary{message, s.after_system(), s.after_system(), 0}, s.cost_of_message(message));
    PARLEY_TRY(std::optional<Plan> plan, s.trimmed());
    Change change{1, 0, {}};
    if (plan && plan->drops_summary)
      return fail(Code::LimitExceeded, "the summary does not fit into the budget");
    if (plan) change.evicted = s.apply(*std::move(plan), memory::Fate::Uncovered);
    return change;
  };
  Result<Change> change = memory::guarded(set);
  if (!change) {
    s.restore(std::move(saved));
    return change;
  }
  change->uncovered = uncovered_size() - uncovered;
  s.settle();
  return change;
}

std::vector<Message> Memory::log() const { return state_->messages_in(state_->held()); }
std::size_t Memory::log_size() const { return state_->view.log.size(); }
std::size_t Memory::log_dropped() const { return log_size() - memory::count_of(state_->held()); }

void Memory::clear() {
  auto fresh = std::make_unique<State>(*state_->options);
  fresh->calibration = state_->calibration;
  fresh->clears = state_->clears + 1;
  fresh->is_stored = state_->is_stored;
  state_ = std::move(fresh);
}

}  // namespace parley
