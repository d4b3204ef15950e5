// Outcome is what a model's answer says beside its message: why it ended and what it cost. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "parley/base/text.h"
#include "parley/json/json.h"

namespace parley {

// Why a model stopped. Whether it asked for tools is decided by its blocks, never by this alone.
enum class Finish : std::uint8_t {
  Unsaid,         // the wire did not say, or said something unknown
  Stop,           // it had said what it wanted to say
  StopSequence,   // it came to a stop sequence
  ToolCalls,      // it waits for tools
  Length,         // it came to the limit of its output
  ContextFull,    // the window is full
  Filtered,       // a filter took the answer
  Refused,        // the model refused
  Paused,         // the provider wants the same conversation again
  MalformedCall,  // a call that could not be read
  Error,
};
std::string_view to_string(Finish finish);  // "", "stop", "stop_sequence", "tool_calls", "length", ...
std::optional<Finish> finish_named(std::string_view name);

// Tokens. What a provider does not say is unknown, not 0.
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
  Finish finish = Finish::Unsaid;
  Text raw_finish;  // the wire's word for it
  Usage usage;
  bool operator==(const Outcome&) const = default;
};

}  // namespace parley
