// The signature of thinking as "encrypted_content" of a reasoning item. A signature goes back only to its
// origin, and a client sends the item back without saying what that was: it is part of the text.
//
//   SIGNATURE                 of OpenAI's Responses
//   parley:ORIGIN:SIGNATURE   of any other dialect, for instance "anthropic"
//
// Pure functions; safe from any thread.
#pragma once

#include <string>
#include <string_view>

#include "parley/message/message.h"

namespace parley::server {

// "" for no signature.
std::string sealed_signature(std::string_view origin, std::string_view signature);

// The message with the signatures and origins that its thinking had before sealed_signature(). A message
// without sealed signatures is returned as it is.
Message with_open_signatures(const Message& message);

}  // namespace parley::server
