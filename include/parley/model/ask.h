// OpenManus' three requests to any Model: a text, a text about images, and a step that may call tools.
//
// Invariants (quoted by tests as ASK1..ASK4):
//   ASK1  A text is the model's output, byte for byte. An incomplete answer (a broken stream, the output
//         limit, a filter) and an empty answer are errors. With AskOptions::openmanus a text that the model
//         or its provider ended early is a success, as in OpenManus.
//   ASK2  The answer of ask_tool() has everything: thinking, finish reason, usage, calls.
//   ASK3  No message that was passed in is changed or left out.
//   ASK4  An image is checked before it is sent, and its media type is that of its bytes. URLs are not
//         fetched.
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
  std::span<const Message> system = {};  // before the messages
  std::optional<double> temperature = {};
  bool stream = true;
  CallOptions call = {};
  // Errors have OpenManus' texts.
  bool openmanus = false;
  // OpenManus' limit on the input tokens of all requests together: a request that would exceed it fails with
  // LimitExceeded; the cost of others is added. One thread at a time.
  TokenLedger* limit = nullptr;
};

// Fails like the model; an incomplete answer fails with its cause, an empty answer with Unavailable.
Called<Text> ask(Model& model, std::span<const Message> messages, const AskOptions& options = {});

// Adds the images (base64, data URLs, http or https URLs) after the text of the last message, which must be a
// user message. Fails with Unsupported if the model does not accept images, with Invalid if the last message
// is not a user message, and like parse_user_request() for an invalid image.
Called<Text> ask_with_images(Model& model, std::span<const Message> messages,
                             std::span<const std::string_view> images, const AskOptions& options = {});

Called<ModelAnswer> ask_tool(Model& model, std::span<const Message> messages, std::span<const Tool> tools,
                             ToolChoice choice = ToolChoice::Auto, const AskOptions& options = {});

}  // namespace parley
