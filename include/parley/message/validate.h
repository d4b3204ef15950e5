// Structural validation: what is wrong with a conversation whatever dialect it came in.
//
// Every finding has a code, a place and a sentence. The codes:
//
//   error    orphan_result      a result names no tool use of the conversation
//   error    missing_result     a tool use has no result, and the conversation continues
//   error    misplaced_result   a result does not directly follow its tool use
//   error    duplicate_result   a tool use has two results
//   error    missing_field      a block lacks a required member
//   error    tool_use_role      a tool use in a message that is not the assistant's
//   error    invalid_base64     inline data is not base64
//   error    invalid_url        a URL is empty or contains spaces or control characters
//   error    too_large          a text, an inline file or a list is over its limit
//   warning  pending_call       a tool use of the last step has no result yet
//   warning  duplicate_call     an earlier tool use has the same id; results are assigned in order
//   warning  arguments_not_json the arguments of a tool use are not JSON
//   warning  empty_name         a tool has an empty name
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
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
  std::size_t message_index = 0;           // 0-based
  std::optional<std::size_t> block_index;  // 0-based, in the message
  std::string path;                        // JSON Pointer into the document the message was read from
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

// "error /1: ..." or "warning /1/content/0: ...", with the sentence.
std::string to_line(const Finding& finding);
std::ostream& operator<<(std::ostream& out, const Finding& finding);

// All findings, in the order of the messages.
std::vector<Finding> validate(std::span<const Message> messages, const ValidationLimits& limits = {});

// Only the findings about tool uses and results: orphan, missing, misplaced, duplicate and pending ones.
std::vector<Finding> validate_history(std::span<const Message> messages);

}  // namespace parley
