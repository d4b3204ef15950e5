// Structural validation: what is wrong with a conversation whatever dialect it came in.
//
// Every finding has a code, a place and a sentence. The codes:
//
//   error    orphan_result      a result answers no call of the conversation
//   error    missing_result     a call was never answered, and the conversation went on
//   error    misplaced_result   a result does not follow directly upon its call
//   error    duplicate_result   a call was answered twice
//   error    missing_field      a block lacks a member it needs
//   error    tool_use_role      a message that is not the assistant's asks for tools
//   error    invalid_base64     inline data is not base64
//   error    invalid_url        a URL is empty or holds spaces or control characters
//   error    too_large          a text, an inline file or a list is over its limit
//   warning  pending_call       the last step asks for tools and nothing followed yet
//   warning  duplicate_call     a call id was used before; results answer the calls of an id in order
//   warning  arguments_not_json the arguments of a call are not JSON
//   warning  empty_name         a tool has an empty name
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/message/message.h"

namespace parley {

enum class FindingLevel : std::uint8_t { Error, Warning };

struct Finding {
  std::string code;
  FindingLevel level = FindingLevel::Error;
  std::size_t message = 0;           // 0-based index
  std::optional<std::size_t> block;  // 0-based index in the message
  std::string path;                  // JSON Pointer into the document the message was read from
  std::string sentence;
  bool operator==(const Finding&) const = default;
};

struct ValidationLimits {
  std::size_t text_bytes = std::size_t{4} * 1024 * 1024;    // one text
  std::size_t media_bytes = std::size_t{10} * 1024 * 1024;  // one inline image or document, decoded
  std::size_t audio_bytes = std::size_t{25} * 1024 * 1024;
  std::size_t video_bytes = std::size_t{50} * 1024 * 1024;
  std::size_t blocks = 1000;         // in one message
  std::size_t messages = 1'000'000;  // in one conversation
};

// All findings, in the order of the messages.
std::vector<Finding> validate(std::span<const Message> messages, const ValidationLimits& limits = {});

// Only what concerns calls and results: orphan, missing, misplaced and duplicate ones, and pending calls.
std::vector<Finding> validate_history(std::span<const Message> messages);

}  // namespace parley
