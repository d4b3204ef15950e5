// Events and messages of streams as lines of text, to be compared and to be read.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parley/dialect/stream.h"

namespace parley::test {

// The text of what a stream said: a line for each event, and a line for each block of the message.
struct Transcript {
  std::string events, message;
  bool operator==(const Transcript&) const = default;
};

std::string to_line(const StreamEvent& event);
std::string to_lines(const Accumulated& accumulated);

// The stream `pieces`, joined, read as it comes.
Transcript transcript_of(Dialect dialect, const std::vector<std::string_view>& pieces,
                         const StreamLimits& limits = {});

// Any name of a dialect.
Dialect any_dialect_named(std::string_view name);

}  // namespace parley::test
