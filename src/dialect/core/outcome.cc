#include "dialect/core/outcome.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "dialect/format.h"

namespace parley::dialect {
namespace {

bool says(std::string_view pattern, std::string_view word) {
  return pattern.ends_with('*') ? word.starts_with(pattern.substr(0, pattern.size() - 1)) : word == pattern;
}

// The rows of a dialect, its own before those of the dialect it is like; calls each(words) until it is true.
template <typename Each>
bool any_words(Dialect dialect, Each each) {
  const Format& format = format_of(dialect);
  if (format.words != nullptr && each(*format.words)) return true;
  return format.like != nullptr && each(*format.like->words);
}

template <typename IsMeant>
const FinishWord* first_finish(Dialect dialect, IsMeant is_meant) {
  const FinishWord* found = nullptr;
  any_words(dialect, [&](const AnswerWords& words) {
    const auto row = std::ranges::find_if(words.finishes, is_meant);
    if (row != words.finishes.end()) found = &*row;
    return found != nullptr;
  });
  return found;
}

// ---- Usage

// The row's value, if it can be said: counters are whole numbers from 0 to 2^63 - 1.
std::optional<std::int64_t> value_of(const UsageMember& row, const Usage& usage) {
  std::uint64_t value = 0;
  for (const Counter counter : row.plus) {
    if (counter == nullptr) continue;
    const auto& known = usage.*counter;
    if (!known && (row.needs_all || counter == row.plus[0])) return std::nullopt;
    value += std::min(known.value_or(0), std::numeric_limits<std::uint64_t>::max() - value);
  }
  for (const Counter counter : row.minus) {
    if (counter != nullptr) value -= std::min(value, (usage.*counter).value_or(0));
  }
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// The sums of a dialect, numbered.
template <typename Each>
void for_sums(Dialect dialect, Each each) {
  std::size_t number = 0;
  any_words(dialect, [&](const AnswerWords& words) {
    for (const UsageSum& row : words.sums) {
      assert(number < UsageReader::kSums);
      each(row, number++);
    }
    return false;
  });
}

}  // namespace

Finish finish_of(Dialect dialect, std::string_view word, bool has_calls) {
  const auto* row = first_finish(dialect, [&](const FinishWord& each) { return says(each.word, word); });
  const Finish finish = row == nullptr ? Finish::Unknown : row->finish;
  return finish == Finish::Stop && has_calls ? Finish::ToolCalls : finish;
}

std::string_view finish_word(Dialect dialect, Finish finish) {
  const auto* row = first_finish(dialect, [&](const FinishWord& each) { return each.finish == finish; });
  return row == nullptr ? std::string_view() : row->word;
}

void UsageReader::add(const Json& object) {
  for_sums(dialect_, [&](const UsageSum& row, std::size_t number) {
    for (std::size_t i = 0; i < row.of.size() && !row.of[i].empty(); ++i) {
      const auto member = object.at(row.of[i]);
      const auto value = member ? member->as_int64() : std::nullopt;
      if (value && *value >= 0) counted_[number][i] = static_cast<std::uint64_t>(*value);
    }
  });
}

Usage UsageReader::usage() const {
  Usage usage;
  for_sums(dialect_, [&](const UsageSum& row, std::size_t number) {
    auto& counter = usage.*row.counter;
    if (counter) return;
    for (const auto& addend : counted_[number]) {
      const std::uint64_t so_far = counter.value_or(0);
      if (addend) counter = so_far + std::min(*addend, std::numeric_limits<std::uint64_t>::max() - so_far);
    }
  });
  return usage;
}

Usage read_usage(Dialect dialect, const Json& object) {
  UsageReader reader(dialect);
  reader.add(object);
  return reader.usage();
}

void write_usage(json::Writer& out, Dialect dialect, const Usage& usage) {
  std::string_view open;
  const auto enter = [&](std::string_view object) {
    if (object == open) return;
    if (!open.empty()) out.end_object();
    if (!object.empty()) out.key(object).begin_object();
    open = object;
  };
  const auto put = [&](const Format* format) {
    if (format == nullptr || format->words == nullptr) return;
    for (const UsageMember& row : format->words->members) {
      const auto value = value_of(row, usage);
      if (!value) continue;
      enter(row.object);
      out.key(row.name).number(*value);
    }
  };
  put(format_of(dialect).like);
  put(&format_of(dialect));
  enter("");
}

void write_usage_object(json::Writer& out, std::string_view key, Dialect dialect, const Usage& usage) {
  out.key(key).begin_object();
  write_usage(out, dialect, usage);
  out.end_object();
}

}  // namespace parley::dialect
