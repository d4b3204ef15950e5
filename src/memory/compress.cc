// Replacing the older part of a window by a summary.
#include <algorithm>
#include <string>

#include "base/shorten.h"
#include "memory/guarded.h"
#include "memory/shorten.h"
#include "memory/state.h"

namespace parley {
namespace memory {
namespace {

using Clock = std::chrono::steady_clock;

// Calls the compressor and validates its summary.
Result<Text> asked(Compressor& compressor, const CompressionRequest& request) {
  Result<CompressionAnswer> answer = compressor.compress(request);
  if (!answer) return std::unexpected(std::move(answer).error());
  if (Clock::now() > request.deadline)
    return fail(Code::Timeout, "the compressor returned after its deadline");
  if (answer->text.empty()) return fail(Code::Invalid, "the compressor returned an empty summary");
  if (answer->covered != request.messages.size()) {
    return fail(Code::Invalid, "the compressor covered " + std::to_string(answer->covered) +
                                   " messages instead of " + std::to_string(request.messages.size()));
  }
  if (answer->text.size() > request.most_bytes) {
    return fail(Code::LimitExceeded,
                "the summary is longer than " + std::to_string(request.most_bytes) + " bytes");
  }
  return std::move(answer->text);
}

// A text-only form for the compressor: media are replaced by their name, also in results.
std::vector<Block> without_media(const std::vector<Block>& blocks) {
  std::vector<Block> out;
  for (const Block& block : blocks) {
    const auto* result = block.as<ToolResultBlock>();
    if (result != nullptr) {
      ToolResultBlock copy = *result;
      if (auto* parts = std::get_if<std::vector<Block>>(&copy.output)) *parts = without_media(*parts);
      out.push_back(std::move(copy));
    } else if (block.type() == BlockType::Text || block.type() == BlockType::ToolUse) {
      out.push_back(block);
    } else if (block.type() != BlockType::Thinking) {
      out.push_back(TextBlock{Text("[" + std::string(to_string(block.type())) + "]")});
    }
  }
  return out;
}

std::size_t count_strings(const Message& message) {
  std::size_t count = 0;
  for (const Block& block : message.blocks()) {
    const auto* result = block.as<ToolResultBlock>();
    const auto* parts = result != nullptr ? std::get_if<std::vector<Block>>(&result->output) : nullptr;
    count += parts != nullptr ? parts->size() : 1;
  }
  return count;
}

Clock::time_point deadline_after(std::chrono::milliseconds time) {
  constexpr std::chrono::hours kForever{24 * 365};
  if (time >= kForever) return Clock::time_point::max();
  return Clock::now() + std::max<std::chrono::milliseconds>(time, -kForever);
}

// About how many bytes of a summary have so many tokens, judged by messages of this cost. `frame` is the cost
// of an empty message, which is most of the cost of a short one and says nothing about texts.
std::size_t bytes_in(std::size_t tokens, const Totals& messages, std::size_t frame) {
  constexpr std::size_t kMost = 4;          // bytes of a token, in English; other texts have fewer
  constexpr std::size_t kLeastSample = 16;  // messages of fewer bytes say little about other texts
  if (tokens > kNoLimit / kMost) return kNoLimit;
  const auto at_least_1 = [](std::size_t from, std::size_t less) { return from > less ? from - less : 1; };
  const std::size_t words = at_least_1(messages.tokens, frame * messages.messages);
  const bool is_sample = messages.bytes >= kLeastSample * messages.messages;
  const std::size_t each = is_sample ? std::clamp<std::size_t>(messages.bytes / words, 1, kMost) : kMost;
  return at_least_1(tokens, frame) * each;
}

// How many bytes to ask for after a summary of `most` bytes turned out to cost more than there is room for.
std::size_t shorter(std::size_t most, const Totals& cost, const Totals& room) {
  constexpr double kMargin = 0.9;
  const auto part = [](std::size_t may, std::size_t takes) {
    return takes > may ? static_cast<double>(may) / static_cast<double>(takes) : 1;
  };
  const double share = std::min(part(room.tokens, cost.tokens), part(room.bytes, cost.bytes)) * kMargin;
  return std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(most) * share));
}

Error too_large(const Totals& cost, const Totals& room) {
  const bool is_tokens = cost.tokens > room.tokens;
  const auto number = [&](const Totals& of) { return std::to_string(is_tokens ? of.tokens : of.bytes); };
  return {Code::LimitExceeded,
          "the summary needs " + number(cost) + (is_tokens ? " tokens" : " bytes") + ", the budget allows " +
              number(room),
          {}};
}

}  // namespace

// An exchange too large for a compressor, cut so that it fits. What is cut is only read: the calls in it are
// never run.
Result<std::vector<Message>> State::readable(Position unit, std::size_t most_bytes) const {
  std::vector<Message> whole;
  std::size_t strings = 1;
  for (Position i = unit, end = unit_end(unit); i < end; ++i) {
    const Message& shown = view.shown(i);
    PARLEY_TRY(Message message, MessageBuilder::like(shown).blocks(without_media(shown.blocks())).build());
    strings += count_strings(message);
    whole.push_back(std::move(message));
  }
  // Ids, names and escapes take room too; how much, shows when it is done.
  for (std::size_t each = most_bytes / strings; each >= kLeastTextBytes; each /= 2) {
    std::vector<Message> out;
    std::size_t bytes = 0;
    for (const Message& message : whole) {
      out.push_back(shortened(message, each, Calls::Edit).value_or(message));
      bytes += content_bytes(out.back());
    }
    if (bytes <= most_bytes) return out;
  }
  return fail(Code::LimitExceeded, "an exchange is too large for the compressor, even with its texts cut");
}

// In several requests if one would be too large for the compressor; each takes the summary so far along.
Result<Text> State::summarised(const Positions& units, std::size_t most_bytes, Deadline deadline) const {
  Compressor& compressor = *options->compressor;
  const std::size_t window = std::max(compressor.window_bytes(), kLeastTextBytes);
  CompressionRequest question;
  question.most_bytes = most_bytes;
  question.deadline = deadline;
  if (view.summary) question.previous = view.summary->message.get_text_content();
  std::vector<Message> chunk;
  std::size_t bytes = 0;
  const auto ask = [&]() -> Result<void> {
    if (chunk.empty() && !units.empty()) return {};
    question.messages = chunk;
    PARLEY_TRY(question.previous, asked(compressor, question));
    chunk.clear();
    bytes = 0;
    return {};
  };
  for (const Position unit : units) {
    const std::size_t own = cost_of(unit).bytes;
    if (bytes + own > window) PARLEY_CHECK(ask());
    if (own > window) {
      PARLEY_TRY(chunk, readable(unit, window));
      PARLEY_CHECK(ask());
      continue;
    }
    for (Position i = unit, end = unit_end(unit); i < end; ++i) chunk.push_back(view.shown(i));
    bytes += own;
  }
  PARLEY_CHECK(ask());
  return *question.previous;
}

// Bytes are what a compressor is asked for; what they are in tokens shows when the answer is there, and then
// fewer are asked for.
Result<Message> State::fitting_summary(const Positions& units, const Totals& room) const {
  constexpr int kMostTries = 3;
  const Deadline deadline = deadline_after(options->compression.deadline);
  Totals given = summary_cost;
  for (const Position unit : units) given += cost_of(unit);
  const std::size_t frame = cost_of_message(Message::user_message("")).tokens;
  std::size_t most = std::min(room.bytes, bytes_in(room.tokens, given, frame));
  for (int tries = 1;; ++tries) {
    PARLEY_TRY(const Text text, summarised(units, most, deadline));
    Message message = Message::user_message(text);
    const Totals cost = cost_of_message(message);
    if (cost.tokens <= room.tokens && cost.bytes <= room.bytes) return message;
    if (tries == kMostTries) return std::unexpected(too_large(cost, room));
    most = shorter(most, cost, room);
  }
}

Result<Compression> State::compressed(const Budget& asked) const {
  if (!options->compressor) return fail(Code::Unsupported, "no compressor is set in MemoryOptions");
  const Budget budget = allowed(asked);
  const bool is_forced = is_over(budget);
  // If nothing but the summary may go, it is made shorter.
  if (compressible(budget, {}).empty() && !(is_forced && view.summary)) {
    return fail(Code::NotFound, "nothing to compress");
  }
  PARLEY_TRY(const Totals room, room_for_summary(budget));
  const Positions units = compressible(budget, room);
  PARLEY_TRY(const Message message, fitting_summary(units, room));
  Plan plan = without_units(units);
  const Totals cost = cost_of_message(message);
  Totals after = plan.totals;
  after -= summary_cost;
  after += cost;
  // What must leave leaves in any case. What need not, only if the window becomes smaller.
  if (!is_forced && !is_progress(after)) {
    return fail(Code::Invalid, "the summary is not shorter than the messages it replaces");
  }
  const Spans all = joined_spans(*covered, plan.dropped);
  Summary summary = view.summary.value_or(Summary{message, 0, 0, 0});
  summary.message = message;
  summary.count = count_of(all);
  if (!all.empty()) {
    summary.first = all.front().first;
    summary.last = all.back().last - 1;
  }
  return Compression{std::move(plan), std::move(summary), cost};
}

std::vector<Message> State::apply(Compression compression) {
  std::vector<Message> evicted = apply(std::move(compression.plan), Fate::Covered);
  set_summary(std::move(compression.summary), compression.summary_cost, Spans(*covered));
  return evicted;
}

bool State::compression_is_due() const {
  const CompressionPolicy& policy = options->compression;
  if (!options->compressor) return false;
  const bool waits = view.log.size() < retry_at_;
  // Unless it failed a moment ago, what must leave is summarised.
  if (is_over(budget())) return !(waits && compression_error);
  const auto above = [](std::size_t total, const std::optional<std::size_t>& limit) {
    return limit && total > *limit;
  };
  return !waits && (above(totals.messages, policy.above_messages) ||
                    above(calibration.apply(totals.tokens), policy.above_tokens));
}

// Trying again at every message would cost a request each time.
void State::delay_compression() {
  retry_at_ = view.log.size() + std::max<std::size_t>(totals.messages / 8, 1);
}

}  // namespace memory

namespace {

Result<Change> compressed_to(memory::State& s, const Budget& budget) {
  return memory::guarded([&]() -> Result<Change> {
    PARLEY_TRY(memory::Compression compression, s.compressed(budget));
    std::vector<Message> evicted = s.apply(std::move(compression));
    s.compression_error.reset();
    s.settle();
    return Change{evicted.size(), 0, std::move(evicted)};
  });
}

}  // namespace

Result<Change> Memory::compress() { return compressed_to(*state_, state_->budget()); }

Result<Change> Memory::shrink(double share) {
  memory::State& s = *state_;
  if (!s.options->compressor || share <= 0) return evict(share);
  const auto goal =
      static_cast<std::size_t>(static_cast<double>(s.totals.bytes) * std::clamp(share, 0.0, 1.0));
  Budget budget = s.budget();
  budget.bytes = std::max<std::size_t>(1, std::min(goal, budget.bytes.value_or(goal)));
  budget.low_water = 1;
  Result<Change> change = compressed_to(s, budget);
  if (change) return change;
  const Error error = change.error();
  change = evict(share);
  if (change && error.code != Code::NotFound) s.compression_error = error;
  return change;
}

std::vector<Message> Memory::covered() const {
  const memory::State& s = *state_;
  return s.messages_in(memory::common_spans(*s.covered, s.held()));
}

std::size_t Memory::uncovered_size() const { return state_->uncovered_count; }

std::vector<Message> Memory::uncovered() const {
  const memory::State& s = *state_;
  return s.messages_in(memory::common_spans(*s.uncovered, s.held()));
}

}  // namespace parley
