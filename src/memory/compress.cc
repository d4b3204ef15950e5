// Replacing the older part of a window by a summary.
#include <algorithm>

#include "base/shorten.h"
#include "memory/guarded.h"
#include "memory/shorten.h"
#include "memory/state.h"

namespace parley {
namespace memory {
namespace {

using Clock = std::chrono::steady_clock;

// Takes only an answer that is one.
Result<Text> asked(Compressor& compressor, const CompressionRequest& request) {
  Result<CompressionAnswer> answer = compressor.compress(request);
  if (!answer) return std::unexpected(std::move(answer).error());
  if (Clock::now() > request.deadline)
    return fail(Code::Timeout, "the compressor answered after its deadline");
  if (answer->text.empty()) return fail(Code::Invalid, "the compressor answered with nothing");
  if (answer->covered != request.messages.size()) {
    return fail(Code::Invalid, "the compressor speaks for " + std::to_string(answer->covered) +
                                   " messages instead of " + std::to_string(request.messages.size()));
  }
  if (answer->text.size() > request.most_bytes) {
    return fail(Code::LimitExceeded,
                "the summary is longer than " + std::to_string(request.most_bytes) + " bytes");
  }
  return std::move(answer->text);
}

// For who only reads: what cannot be read is named, also in results.
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
      out.push_back(TextBlock{Text::repaired("[" + std::string(to_string(block.type())) + "]")});
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

}  // namespace

// All that may go, but for the newest units.
Positions State::compressible() const {
  Positions units;
  view.each([&](Position position) {
    if (view.log[position].unit == position) units.push_back(position);
    return true;
  });
  units.resize(units.size() - std::min(units.size(), options->compression.keep_recent));
  std::erase_if(units, [&](Position unit) { return is_protected(unit); });
  return units;
}

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
  return fail(Code::LimitExceeded, "an exchange is too large for the compressor, however its texts are cut");
}

// In several requests if one would be too large for the compressor; each takes the summary so far along.
Result<Text> State::summarised(const Positions& units) const {
  const CompressionPolicy& policy = options->compression;
  Compressor& compressor = *options->compressor;
  const std::size_t window = std::max(compressor.window_bytes(), kLeastTextBytes);
  constexpr std::chrono::hours kForever{24 * 365};
  CompressionRequest question;
  question.most_bytes = policy.most_summary_bytes;
  question.deadline = policy.deadline < kForever
                          ? Clock::now() + std::max<std::chrono::milliseconds>(policy.deadline, -kForever)
                          : Clock::time_point::max();
  if (view.summary) question.previous = view.summary->message.get_text_content();
  std::vector<Message> chunk;
  std::size_t bytes = 0;
  const auto ask = [&]() -> Result<void> {
    if (chunk.empty()) return {};
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

Result<Compression> State::compressed() const {
  if (!options->compressor) return fail(Code::Unsupported, "this memory has no compressor");
  const Positions units = compressible();
  if (units.empty()) return fail(Code::NotFound, "there is nothing to compress");
  PARLEY_TRY(const Text text, summarised(units));
  Plan plan = without_units(units);
  Summary summary{Message::user_message(text), 0, 0, 0};
  const Totals cost = cost_of_message(summary.message);
  Totals after = plan.totals;
  after -= summary_cost;
  after += cost;
  if (!is_progress(after)) return fail(Code::Invalid, "the summary is no shorter than what it would replace");
  Positions all = *covered;
  all.insert(all.end(), units.begin(), units.end());
  std::sort(all.begin(), all.end());
  for (const Position unit : all) summary.count += unit_end(unit) - unit;
  summary.first = all.front();
  summary.last = unit_end(all.back()) - 1;
  return Compression{std::move(plan), std::move(summary), cost, std::move(all)};
}

std::vector<Message> State::apply(Compression compression) {
  std::vector<Message> evicted = apply(std::move(compression.plan));
  set_summary(std::move(compression.summary), compression.summary_cost);
  covered.set(std::move(compression.covered));
  return evicted;
}

bool State::compression_is_due() const {
  const CompressionPolicy& policy = options->compression;
  if (!options->compressor || view.log.size() < retry_at_) return false;
  const Budget& budget = options->budget;
  const auto above = [](std::size_t total, const std::optional<std::size_t>& limit) {
    return limit && total > *limit;
  };
  return above(totals.messages, policy.messages) || above(totals.tokens, policy.tokens) ||
         above(totals.messages, budget.messages) || above(totals.exchanges, budget.exchanges) ||
         above(totals.tokens, budget.tokens) || above(totals.bytes, budget.bytes);
}

// Trying again at every message would cost a request each time.
void State::delay_compression() {
  retry_at_ = view.log.size() + std::max<std::size_t>(totals.messages / 8, 1);
}

}  // namespace memory

Result<Change> Memory::compress() {
  return memory::guarded([&]() -> Result<Change> {
    PARLEY_TRY(memory::Compression compression, state_->compressed());
    std::vector<Message> evicted = state_->apply(std::move(compression));
    state_->compression_error.reset();
    return Change{evicted.size(), 0, std::move(evicted)};
  });
}

std::vector<Message> Memory::covered() const {
  const memory::State& s = *state_;
  std::vector<Message> out;
  for (const memory::Position unit : *s.covered) {
    for (memory::Position i = unit, end = s.unit_end(unit); i < end; ++i)
      out.push_back(s.view.log[i].message);
  }
  return out;
}

}  // namespace parley
