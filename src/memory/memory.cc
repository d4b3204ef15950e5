#include "parley/memory/memory.h"

#include <algorithm>

#include "memory/shorten.h"
#include "memory/state.h"

namespace parley {

using memory::Entry;
using memory::Plan;
using memory::Position;
using memory::Positions;
using memory::Span;
using memory::State;

Memory::Memory() : state_(std::make_unique<State>(MemoryOptions{})) {}

Result<Memory> Memory::create(MemoryOptions options) {
  PARLEY_CHECK(validate(options.budget));
  const CompressionPolicy& policy = options.compression;
  if ((options.budget.tokens || policy.tokens) && !options.tokens) {
    return fail(Code::Invalid, "a limit of tokens needs a function that counts them");
  }
  if (policy.messages == 0U || policy.tokens == 0U) {
    return fail(Code::Invalid,
                "a compression above 0 messages or tokens would never end; no trigger is nullopt");
  }
  if (options.compressor && policy.most_summary_bytes == 0) {
    return fail(Code::Invalid, "a summary of at most 0 bytes says nothing");
  }
  if (options.text_bytes && *options.text_bytes < memory::kLeastTextBytes) {
    return fail(Code::Invalid,
                "a text cannot be cut to less than " + std::to_string(memory::kLeastTextBytes) + " bytes");
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

Result<Change> Memory::add(std::span<const Message> messages, std::span<const Text> marks) {
  State& s = *state_;
  for (const Text& mark : marks) {
    if (mark.empty()) return fail(Code::Invalid, "a mark cannot be empty");
  }
  const std::size_t before = s.view.log.size();
  const memory::OpenExchange open = s.open;
  const auto take_back = [&](Error error) {
    s.take_back(before);
    s.open = open;
    return std::unexpected(std::move(error));
  };
  for (const Message& message : messages) {
    if (s.is_duplicate(message)) {
      if (s.options->duplicates == Duplicates::Skip) continue;
      return take_back(
          {Code::Invalid, "a message of the id '" + message.id()->str() + "' is there already", {}});
    }
    if (s.view.log.size() >= memory::kMostMessages) {
      return take_back({Code::LimitExceeded, "a memory holds at most 4,294,967,000 messages", {}});
    }
    const auto position = static_cast<Position>(s.view.log.size());
    const bool continues = s.open.is_open();
    if (auto followed = s.open.follow(message, position); !followed)
      return take_back(std::move(followed.error()));
    s.append(message, continues ? s.open.unit : position);
  }
  Change change{s.view.log.size() - before, {}};
  // What the compression changes must not stay if the budget cannot be met afterwards.
  std::optional<State::Window> saved;
  if (s.options->compression.on_add && s.compression_is_due()) {
    saved = s.window();
    change.evicted = s.compress_if_due();
  }
  Result<std::optional<Plan>> plan = s.trimmed();
  if (!plan) {
    if (saved) s.restore(*std::move(saved));
    return take_back(std::move(plan.error()));
  }
  if (*plan) {
    const std::vector<Message> dropped = s.apply(**std::move(plan));
    change.evicted.insert(change.evicted.end(), dropped.begin(), dropped.end());
  }
  for (const Text& mark : marks) {
    for (std::size_t i = before; i < s.view.log.size(); ++i) s.add_mark(mark, s.view.log[i].unit);
  }
  return change;
}

Result<std::vector<Message>> Memory::add_messages(std::span<const Message> messages) {
  PARLEY_TRY(Change change, add(messages));
  return std::move(change.evicted);
}

Result<std::vector<Message>> Memory::get_recent_messages(std::int64_t n) const {
  if (n < 0) return fail(Code::Invalid, "a number of messages cannot be negative");
  const memory::View& view = state_->view;
  std::vector<Message> out;
  const auto& spans = *view.spans;
  for (auto span = spans.rbegin(); span != spans.rend(); ++span) {
    for (Position i = view.end(*span); i-- > span->first;) {
      // Enough, unless this one belongs to the exchange that was begun.
      const bool is_begun =
          !out.empty() && i + 1 < view.log.size() && view.log[i + 1].unit == view.log[i].unit;
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

Result<std::vector<Json>> Memory::to_dict_list(Dialect dialect) const {
  std::vector<Json> out;
  for (const Message& message : window()) {
    PARLEY_TRY(Json dict, to_dict(message, dialect));
    out.push_back(std::move(dict));
  }
  return out;
}

Result<Change> Memory::complete_pending(const Text& reason) {
  const State& s = *state_;
  std::vector<Message> results;
  if (s.open.is_open()) {
    for (Position i = s.open.unit; i < s.unit_end(s.open.unit); ++i) {
      for (const Block& block : s.view.log[i].message.get_content_blocks({BlockType::ToolUse})) {
        const auto& use = *block.as<ToolUseBlock>();
        if (std::count(s.open.waiting.begin(), s.open.waiting.end(), use.id.view()) == 0) continue;
        const Block result = ToolResultBlock{use.id, use.name, reason, true};
        PARLEY_TRY(Message message, MessageBuilder(Role::Tool).block(result).build());
        results.push_back(std::move(message));
      }
    }
  }
  return add(results);
}

std::vector<Text> Memory::pending() const {
  std::vector<Text> out;
  for (const std::string& id : state_->open.waiting) out.push_back(Text::repaired(id));
  return out;
}

std::vector<Message> Memory::window() const { return state_->view.messages(); }
std::size_t Memory::size() const { return state_->totals.messages; }
std::size_t Memory::tokens() const { return state_->totals.tokens; }
std::size_t Memory::bytes() const { return state_->totals.bytes; }
Snapshot Memory::snapshot() const { return Snapshot(std::make_shared<const memory::View>(state_->view)); }

std::size_t Snapshot::size() const { return view_->size(); }
std::vector<Message> Snapshot::messages() const { return view_->messages(); }

std::vector<Message> Memory::get(const Selection& selection) {
  State& s = *state_;
  if (s.options->compression.on_get) s.compress_if_due();
  if (selection.mark.empty() && selection.exclude_mark.empty() && selection.prepend_summary) return window();
  std::vector<Message> out;
  if (s.view.summary && selection.prepend_summary) out.push_back(s.view.summary->message);
  s.view.each([&](Position i) {
    const Position unit = s.view.log[i].unit;
    const bool has = selection.mark.empty() || s.has_mark(selection.mark, unit);
    if (has && !s.has_mark(selection.exclude_mark, unit)) out.push_back(s.view.shown(i));
    return true;
  });
  return out;
}

const std::optional<Summary>& Memory::summary() const { return state_->view.summary; }
const std::optional<Error>& Memory::compression_error() const { return state_->compression_error; }

void Memory::update_compressed_summary(const Text& text) {
  if (text.empty()) {
    state_->set_summary(std::nullopt);
  } else {
    state_->set_summary(Summary{Message::user_message(text), 0, 0, 0});
  }
}

std::vector<Message> Memory::log() const {
  const memory::Log& log = state_->view.log;
  std::vector<Message> out;
  out.reserve(log.size());
  for (std::size_t i = 0; i < log.size(); ++i) out.push_back(log[i].message);
  return out;
}

std::size_t Memory::log_size() const { return state_->view.log.size(); }

void Memory::clear() { state_ = std::make_unique<State>(*state_->options); }

}  // namespace parley
