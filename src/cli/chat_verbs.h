// The commands of a chat: lines that begin with a slash. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "cli/attach.h"
#include "cli/chat_session.h"
#include "cli/complete_line.h"

namespace parley::cli {

// A chat and what its user has prepared for the next request.
struct ChatInput {
  ChatSession& chat;
  Attachments attachments;
  std::vector<std::string> attached;  // the names of their files

  // Sends a request with the attachments, which are then used up. Prints what is refused.
  ExitCode ask(const std::string& text);
  void clear_attachments();
};

enum class NextLine : bool { Comes, Ends };

// Runs the command that a line begins with. Prints its errors: the chat continues.
NextLine run_chat_verb(ChatInput& input, const std::string& line);

// The names of the commands, for a tab.
std::vector<LineWord> chat_verb_words();

// "1.2k/200.0k": the tokens that are used of the model's window.
std::string window_of(const ChatSession& chat);

}  // namespace parley::cli
