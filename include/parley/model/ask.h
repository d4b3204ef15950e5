// OpenManus' three questions over any Model: a text, a text about images, and a step that may call tools.
//
// Invariants (quoted by tests as ASK1..ASK4):
//   ASK1  A text is what the model said, byte for byte; what it did not finish (a stream that died, the limit
//       of its output, a filter), and nothing at all, is an error and no text. With AskOptions::openmanus a
//       text that the model or its provider ended early is a text, as there.
//   ASK2  The answer of ask_tool() has everything: thinking, finish reason, usage, calls.
//   ASK3  No message that was passed in is changed or left out.
//   ASK4  An image is checked before it is sent, and labelled by what its bytes are. A URL is passed on.
//
// Functions are safe from any thread.
#pragma once

#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "parley/base/text.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/message/role.h"
#include "parley/model/model.h"
#include "parley/token/ledger.h"

namespace parley {

struct AskOptions {
  std::span<const Message> system = {};  // in front of the messages
  std::optional<double> temperature = {};
  bool stream = true;
  CallOptions call = {};
  // Errors have OpenManus' texts.
  bool openmanus = false;
  // OpenManus' limit on the input of all questions together: a question that would exceed it is
  // LimitExceeded, and what it cost is added. Not used by several threads at once.
  TokenLedger* limit = nullptr;
};

// Fails as the model does: what was cut is an error of what cut it. With Unavailable if it said nothing.
Called<Text> ask(Model& model, std::span<const Message> messages, const AskOptions& options = {});

// The images, as base64, data URLs or http and https URLs, go behind what the last message says, which must
// be a user's. Fails with Unsupported if the model sees no images, with Invalid if nobody asks, and as
// parse_user_request() does for an image that is none.
Called<Text> ask_with_images(Model& model, std::span<const Message> messages,
                             std::span<const std::string_view> images, const AskOptions& options = {});

Called<ModelAnswer> ask_tool(Model& model, std::span<const Message> messages, std::span<const Tool> tools,
                             ToolChoice choice = ToolChoice::Auto, const AskOptions& options = {});

}  // namespace parley
