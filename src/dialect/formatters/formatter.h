// What the files of the policies share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "parley/dialect/formatter.h"

namespace parley::dialect {

// What is to be formatted: messages that have a wire in the original's dialect. Where the conversation is not
// one message for one of them, `sources` are these messages themselves.
struct FormatterJob {
  Dialect target;
  const FormatterOptions& options;
  std::span<const Message> messages;
  DocumentShape shape;
  std::span<const Message> sources;  // the same messages as the conversation has them
  std::vector<Note>& notes;          // `message` is an index into `messages`

  // The JSON Pointer of a message.
  std::string path(std::size_t message) const {
    if (shape == DocumentShape::Single) return {};
    return (shape == DocumentShape::Envelope ? "/messages/" : "/") + std::to_string(message);
  }
};

// Each gives the JSON list. REQUIRES: the policy has a formatter for the target.
Result<std::string> format_agentscope_chat(const FormatterJob& job);
Result<std::string> format_agentscope_multi_agent(const FormatterJob& job);
Result<std::string> format_openmanus(const FormatterJob& job);

std::span<const Dialect> agentscope_targets();
std::span<const Dialect> openmanus_targets();

}  // namespace parley::dialect
