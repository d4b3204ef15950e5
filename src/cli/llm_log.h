// The logs of `llm`, a command-line tool that keeps its conversations in a SQLite file. Two schemas exist:
//
//   up to 0.35   responses(id, conversation_id, system, prompt, response, datetime_utc, ...): a row is a
//   prompt
//                and its answer.
//   from 0.36    threads(id, tip_message_hash), messages(hash, parent_hash, role), parts(message_hash,
//   position,
//                type, text, payload): a thread names its last message, and each message the one before it.
//                Text is in `text`, or in `payload` as {"text_ref": [{"literal"} or {"fragment": id}]}; the
//                bytes of attachments are in a table of their own. A file that 0.36 took over has the older
//                tables, too, with older conversations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/dialect/dialect.h"
#include "parley/message/message.h"

namespace parley::cli {

struct LlmConversation {
  std::string id;
  std::vector<Message> messages;
  std::vector<Note> notes;  // what is left out
};

// True if a file begins as SQLite's do.
bool is_sqlite_file(const std::string& path);

// Gives every conversation: those of the older tables, then the threads, each in the order of their ids,
// which is that of time. Of an older response: the system prompt if it is another one than before, the
// prompt, and the answer. Fails with Invalid if the file has no such tables or no conversation in them, and
// with Damaged, naming the row, if a thread cannot be read.
Result<void> for_each_llm_conversation(const std::string& path,
                                       const std::function<Result<void>(const LlmConversation&)>& visit);

}  // namespace parley::cli
