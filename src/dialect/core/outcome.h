// Finish reasons and token counts in the words of each dialect. Pure functions over tables; safe from any
// thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dialect/rows.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "parley/message/outcome.h"

namespace parley::dialect {

// What a dialect's word means. Some providers say "stop" when they call: `has_calls` decides then.
//
// Responses has no word of this kind: its word is the status ("completed", "failed"), or the reason of
// incomplete_details if the status is "incomplete". Gemini's is finishReason, or promptFeedback.blockReason.
Finish finish_of(Dialect dialect, std::string_view word, bool has_calls);
// The dialect's word for it, "" if it has none.
std::string_view finish_word(Dialect dialect, Finish finish);

// Counters out of the dialect's usage object (Ollama: out of the response itself). Members that are missing,
// null or no whole number are unknown.
Usage read_usage(Dialect dialect, const Json& object);
// The members of the dialect's usage object, in the provider's order. What is unknown is left out.
void write_usage(json::Writer& out, Dialect dialect, const Usage& usage);
// The usage object itself, as a member.
void write_usage_object(json::Writer& out, std::string_view key, Dialect dialect, const Usage& usage);

// Usage out of several objects of one stream, where a later one says what changed. The wire's own counters
// are kept, because a canonical one may be a sum of several. One thread at a time.
class UsageReader {
 public:
  explicit UsageReader(Dialect dialect) : dialect_(dialect) {}
  void add(const Json& object);  // what it counts replaces what was counted before
  Usage usage() const;

  static constexpr std::size_t kSums = 8;  // no dialect has more

 private:
  Dialect dialect_;
  std::array<std::array<std::optional<std::uint64_t>, UsageSum::kAddends>, kSums> counted_;
};

}  // namespace parley::dialect
