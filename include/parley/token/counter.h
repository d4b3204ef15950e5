// TokenCounter counts the tokens of a conversation by a stated rule. docs/tokens.md compares the rules.
//
// Invariants (quoted by tests as COUNTER1..COUNTER7):
//   COUNTER1  No message, tool or image makes counting fail; the spelling of a special token is text.
//   COUNTER2  count(list) == list_cost() + the sum of count(message), whatever came before.
//   COUNTER3  A cached count equals a fresh one.
//   COUNTER4  Two counters that may give different counts have different tags; tags are never 0.
//   COUNTER5  A rule gives the same number as its original; docs/tokens.md lists the intended differences.
//   COUNTER6  Metadata, ids of messages and times cost nothing. Base64 is never counted as text.
//   COUNTER7  An exact counter is not changed by a calibration.
//
// The count of a message is cached in the message, for the counter that was used last, so that counting a
// history again costs a lookup per message. A calibration is applied to the cached count.
//
// Immutable; a copy shares everything; safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "parley/json/json.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/token/calibration.h"
#include "parley/token/encoding.h"
#include "parley/token/media.h"

namespace parley {

namespace token {
struct CountRule;
struct Meter;
}  // namespace token

// The estimate and the report for one request.
struct TokenUsage {
  std::size_t estimated = 0;  // this counter's count, uncorrected
  std::size_t reported = 0;   // the input tokens the provider reported, cached ones included
};

class TokenCounter {
 public:
  // What OpenManus' counter does with the image of a message.
  enum class Images : std::uint8_t {
    Unseen,     // its to_dict is counted, whose base64_image costs nothing
    Formatted,  // it is counted as format_messages sends it to a model that sees: a part of 1,024 tokens
  };

  // OpenManus' TokenCounter over the OpenManus form of each message. A tool is its compact JSON, where
  // OpenManus counts the spelling of Python, which is longer.
  static TokenCounter openmanus(const Encoding& encoding, Images images = Images::Unseen);

  // AgentScope's OpenAITokenCounter (OpenAI's published recipe) over each message as OpenAI's chat has it
  // (src/token/chat_form.h), media by the rule of the model. For a model whose encoding is not known this is
  // an estimate by o200k_base, corrected by `calibration`.
  static TokenCounter for_model(std::string_view model, const Calibration& calibration = {});
  // The same with the model's encoding, for instance from a file; exact.
  static TokenCounter for_model(std::string_view model, const Encoding& encoding);

  // Without a model: the code points of the chat form, like AgentScope's CharTokenCounter, which counts the
  // punctuation of Python's dictionaries too. Media cost four characters per token.
  static TokenCounter characters();

  std::size_t count(const Message& message) const;
  std::size_t count(std::span<const Message> messages) const;
  std::size_t count_tools(std::span<const Tool> tools) const;
  // The system part, the messages, the cost of the list, and the tools.
  std::size_t count(const Conversation& conversation) const;
  std::size_t count_text(std::string_view text) const;  // without any cost of a message

  // One message as a JSON object of the form the rule counts, OpenManus' or OpenAI's: what the originals
  // accept, list content and image parts included. Members of other types than the rule knows are counted by
  // their JSON; null costs nothing. The count is not cached.
  std::size_t count_dict(const Json& message) const;

  std::size_t list_cost() const;  // of a list, whatever is in it; never corrected
  // False for an estimate: the model's encoding is not known.
  bool is_exact() const { return is_exact_; }
  std::uint32_t tag() const { return tag_; }  // see COUNTER4; the same for all copies, calibrated or not
  const Calibration& calibration() const { return calibration_; }

  // The same counter after one more report: an estimate is corrected by it, an exact count stays (COUNTER7).
  TokenCounter calibrated(const TokenUsage& usage) const;

 private:
  TokenCounter(const token::CountRule& rule, std::optional<Encoding> encoding, const MediaRule& media,
               bool is_exact, const Calibration& calibration);

  token::Meter meter() const;

  const token::CountRule* rule_;
  std::optional<Encoding> encoding_;  // nothing: characters are counted
  const MediaRule* media_;
  Calibration calibration_;
  std::uint32_t tag_;
  bool is_exact_;
};

}  // namespace parley
