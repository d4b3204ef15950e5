// Replacing the older part of a window by a summary.
#include <algorithm>
#include <exception>

#include "memory/shorten.h"
#include "memory/state.h"

namespace parley {
namespace memory {
namespace {

using Clock = std::chrono::steady_clock;

// Asks a compressor that may do anything, and takes only an answer that is one.
Result<Text> asked(Compressor& compressor, const CompressionRequest& request) {
  Result<CompressionAnswer> answer;
  try {
    answer = compressor.compress(request);
  } catch (const std::exception& exception) {
    return fail(Code::Unavailable, std::string("the compressor threw: ") + exception.what());
  } catch (...) {
    return fail(Code::Unavailable, "the compressor threw something");
  }
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

// In several requests if one would be too large for the compressor; each takes the summary so far along.
Result<Text> State::summarised(const Positions& units) const {
  const CompressionPolicy& policy = options->compression;
  Compressor& compressor = *options->compressor;
  const std::size_t window = std::max<std::size_t>(compressor.window_bytes(), kLeastTextBytes);
  CompressionRequest question;
  question.most_bytes = policy.most_summary_bytes;
  question.deadline = Clock::now() + policy.deadline;
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
    for (Position i = unit, end = unit_end(unit); i < end; ++i) {
      // What is larger than all the compressor can take is cut for it.
      const Message& shown = view.shown(i);
      const std::size_t own = view.log[i].bytes;
      if (i == unit && bytes + cost_of(unit).bytes > window) PARLEY_CHECK(ask());
      chunk.push_back(own > window ? shortened(shown, window).value_or(shown) : shown);
      bytes += std::min(own, window);
    }
  }
  PARLEY_CHECK(ask());
  return *question.previous;
}

Result<std::vector<Message>> State::compress() {
  if (!options->compressor) return fail(Code::Unsupported, "this memory has no compressor");
  const Positions units = compressible();
  if (units.empty()) return fail(Code::Invalid, "there is nothing to compress");
  PARLEY_TRY(const Text text, summarised(units));
  Plan plan = without_units(units);
  const std::size_t old = view.summary ? view.summary->message.get_text_content()->size() : 0;
  if (text.size() >= old + (totals.bytes - plan.totals.bytes)) {
    return fail(Code::Invalid, "the summary is no shorter than what it would replace");
  }
  Summary summary{Message::user_message(text), units.front(), unit_end(units.back()) - 1, 0};
  for (const Span& span : plan.dropped) summary.count += span.last - span.first;
  if (view.summary && view.summary->count != 0) {
    summary.first = std::min(summary.first, view.summary->first);
    summary.last = std::max(summary.last, view.summary->last);
    summary.count += view.summary->count;
  }
  std::vector<Message> evicted = apply(std::move(plan));
  Positions all = *covered;
  all.insert(all.end(), units.begin(), units.end());
  std::sort(all.begin(), all.end());
  set_summary(std::move(summary));
  covered.set(std::move(all));
  return evicted;
}

bool State::compression_is_due() const {
  const CompressionPolicy& policy = options->compression;
  if (!options->compressor || totals.messages < retry_at_) return false;
  const Budget& budget = options->budget;
  const auto above = [](std::size_t total, const std::optional<std::size_t>& limit) {
    return limit && total > *limit;
  };
  return above(totals.messages, policy.messages) || above(totals.tokens, policy.tokens) ||
         above(totals.messages, budget.messages) || above(totals.exchanges, budget.exchanges) ||
         above(totals.tokens, budget.tokens) || above(totals.bytes, budget.bytes);
}

std::vector<Message> State::compress_if_due() {
  if (!compression_is_due()) return {};
  Result<std::vector<Message>> done = compress();
  if (done) {
    compression_error.reset();
    retry_at_ = 0;
    return *std::move(done);
  }
  // Trying again at every message would cost a failing request each time.
  compression_error = std::move(done).error();
  retry_at_ = totals.messages + std::max<std::size_t>(totals.messages / 8, 1);
  return {};
}

}  // namespace memory

Result<Change> Memory::compress() {
  PARLEY_TRY(std::vector<Message> evicted, state_->compress());
  Change change{evicted.size(), std::move(evicted)};
  return change;
}

std::vector<Message> Memory::covered() const {
  const memory::State& s = *state_;
  std::vector<Message> out;
  for (const memory::Position unit : *s.covered) {
    for (memory::Position i = unit; i < s.unit_end(unit); ++i) out.push_back(s.view.log[i].message);
  }
  return out;
}

}  // namespace parley
