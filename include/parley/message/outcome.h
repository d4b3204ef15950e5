// Outcome is what a model's response says beside its message: why it ended and what it cost. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parley/base/text.h"
#include "parley/json/json.h"

namespace parley {

// Why a model stopped. Whether it asked for tools is decided by its blocks, never by this alone.
enum class Finish : std::uint8_t {
  Unknown,        // the wire has no reason, or an unknown one
  Stop,           // the response is complete
  StopSequence,   // it reached a stop sequence
  ToolCalls,      // it waits for the results of tools
  Length,         // it reached the output limit
  ContextFull,    // it reached the context limit
  Filtered,       // a content filter removed the response
  Refused,        // the model refused
  Paused,         // the provider expects the same conversation again
  MalformedCall,  // a tool use that the provider could not read
  Error,
};
std::string_view to_string(Finish finish);  // "", "stop", "stop_sequence", "tool_calls", "length", ...
std::optional<Finish> finish_named(std::string_view name);

// Tokens. A count that the provider does not report is absent, not 0.
struct Usage {
  std::optional<std::uint64_t> input;        // all of it, what came from a cache included
  std::optional<std::uint64_t> cache_read;   // part of input
  std::optional<std::uint64_t> cache_write;  // part of input
  std::optional<std::uint64_t> output;       // all of it, reasoning included
  std::optional<std::uint64_t> reasoning;    // part of output
  bool operator==(const Usage&) const = default;
};

struct Outcome {
  Text id, model;  // as the provider names the answer and the model; may be empty
  Finish finish = Finish::Unknown;
  Text raw_finish;  // the wire's word for it
  Usage usage;
  bool operator==(const Outcome&) const = default;
};

}  // namespace parley
