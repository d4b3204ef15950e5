// Messages too long to be shown whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parley/message/message.h"

namespace parley::memory {

// Below this there is no room for the words that say what was cut.
inline constexpr std::size_t kLeastTextBytes = 64;

// The beginning and the end of a text with "[... 1234 characters cut ...]" between them, at most `most_bytes`
// in all and cut between graphemes only; the text itself if it is short enough. REQUIRES: most_bytes >=
// kLeastTextBytes.
std::string shortened_text(std::string_view text, std::size_t most_bytes);

// Whether the arguments of calls may be cut: they may for who only reads them.
enum class Calls : std::uint8_t { Keep, Cut };

// The message with every text and output that is too long cut that way; nothing if none is. Calls and
// thinking stay as they are: cut arguments would be other arguments, and thinking is signed.
std::optional<Message> shortened(const Message& message, std::size_t most_bytes, Calls calls = Calls::Keep);

}  // namespace parley::memory
