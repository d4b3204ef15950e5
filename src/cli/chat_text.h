// Messages of a chat in a few lines, for people. Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/token/counter.h"

namespace parley::cli {

// The last request of the user and everything after it; empty if there is no request.
std::span<const Message> last_exchange(std::span<const Message> messages);

// The text in one line of at most `most` columns: other white space is a space, and "..." ends a cut text.
std::string short_line(std::string_view text, std::size_t most);

// What a request to the model has.
struct TokenUse {
  std::string system;
  std::vector<Tool> tools;
  std::vector<Message> messages;
  std::optional<std::size_t> window;  // of the model, if it is known
  std::optional<std::size_t> budget;  // of the messages
};
// How many tokens it has, a line for the sum and one for each kind.
std::vector<std::string> token_lines(const TokenUse& use, const TokenCounter& counter);

// The last `count` messages, a line each: the number, the role, the text or the calls.
std::vector<std::string> history_lines(std::span<const Message> messages, std::size_t count,
                                       std::size_t columns);

// The last request and its answer, shortened to a few lines; empty if there is no request.
std::vector<std::string> recap_lines(std::span<const Message> messages, std::size_t columns);

}  // namespace parley::cli
