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
#include "parley/media/media_type.h"
#include "parley/message/block.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/token/encoding.h"
#include "parley/token/ledger.h"

namespace parley {

// The tokens of images, audio and video: the rules that providers published, one row per family of models.
// docs/tokens.md gives the source and the date of each row.
//
// Invariants (quoted by tests as MEDIA_COST1..MEDIA_COST4):
//   MEDIA_COST1  Every image costs at least one token, whatever its size, and no size makes a rule fail.
//   MEDIA_COST2  Where a provider published an example, the rule gives its number.
//   MEDIA_COST3  What is not known (a URL, a broken header) is counted by a stated default, never as nothing.
//   MEDIA_COST4  Nothing is fetched, and nothing is decoded but headers.
//
// Immutable values and pure functions; safe from any thread.
enum class ImageDetail : std::uint8_t { Low, High };

// How a family counts the pixels of an image.
enum class ImageMethod : std::uint8_t {
  Tiles,    // see tile_tokens(): `base`, and `each` for every tile
  Patches,  // `factor` for every 32 x 32 pixels begun, at most `most` of them
  Area,     // the long side at most `side`, one token for every `each` pixels, at most `most` tokens
  Crops,    // `each` for an image within 384 x 384, else for every crop; a crop has 256 to 768 pixels a side
  Grid,     // both sides rounded to multiples of `side`, one token a cell, 4 to `most` of them, and `base`
  Flat,     // `base`
};

struct MediaRule {
  std::string_view family;  // how the names of its models start; "" is every model
  ImageMethod method = ImageMethod::Flat;
  std::uint32_t base = 0;
  std::uint32_t each = 0;
  std::uint32_t side = 0;
  std::uint32_t most = 0;
  double factor = 1;
  double audio_second = 0;  // tokens for a second
  double video_second = 0;
};

// The first row whose family `model` starts with; a provider's name before a '/' and the mark "ft:" of a
// tuned model are left out. The last row takes every model: an unknown one has the images of gpt-4o, and
// audio and video at the most expensive known rate.
const MediaRule& media_rule(std::string_view model);

// The cost of an image of this size. Only Tiles has a cheaper low detail, `base`. A side of 0 means that the
// size is not known.
std::size_t image_tokens(const MediaRule& rule, ImageSize size, ImageDetail detail = ImageDetail::High);

// The tile formula of OpenManus and AgentScope, in doubles and in their order, so that it meets theirs to the
// token: fit into 2048 x 2048, make the short side 768 (up or down), count tiles of 512 x 512. An image of
// more than 2048 to 1, for which theirs divides by zero, is counted as it is after the first step, with a
// side of one pixel and not enlarged. REQUIRES: no side is 0.
std::size_t tile_tokens(ImageSize size, std::uint32_t base, std::uint32_t tile);

// The cost of a block of media, inline or not. Defaults where the cost is not known: an image of 1024 x 1024;
// a minute for audio or video by URL; 16,000 bytes a second for inline audio other than WAV, and 250,000 for
// video; of documents, a token for every four bytes of inline text, else 1,500 for every 100,000 bytes begun.
// Blocks of other types cost nothing.
std::size_t media_tokens(const MediaRule& rule, const Block& block);

namespace token {
struct CountRule;
struct Meter;
}  // namespace token

// The estimate and the report for one request.
struct TokenUsage {
  std::size_t estimated = 0;  // this counter's count of the request
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
  // The same counter without any report.
  TokenCounter uncalibrated() const;

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
