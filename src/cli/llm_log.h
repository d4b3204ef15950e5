// The logs of `llm`, a command-line tool that keeps its talks in a SQLite file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/message/message.h"

namespace parley::cli {

struct LlmTalk {
  std::string id;
  std::vector<Message> messages;
};

// True if a file begins as SQLite's do.
bool is_sqlite_file(const std::string& path);

// Gives every conversation, in order of their ids, which is that of time: of each response the system prompt
// if it is another one than before, the prompt, and the answer. Fails with Invalid if the file has no such
// tables.
Result<void> each_llm_talk(const std::string& path, const std::function<Result<void>(const LlmTalk&)>& visit);

}  // namespace parley::cli
