// The rules of Chat Completions, for OpenAI and for the servers that imitate it: a row for what is different.
#pragma once

#include "dialect/rules/report.h"

namespace parley::rules {

// Each rule is null if the server has none.
struct ChatRules {
  std::size_t most_id = 64;                 // characters in the id of a call
  std::string_view cache_mark = {};         // the member of a block; at most 4 of them
  bool has_files = true;                    // blocks of the type file
  bool takes_any_audio = false;             // also URLs, in any format
  bool has_native_form = false;             // the messages may stand in "input" or "output"
  bool system_brings_tools = false;         // a message with tools needs no content
  const Rule* empty_message = nullptr;      // of the assistant; else that of OpenAI
  const Rule* empty_answer = nullptr;       // the assistant's content is an empty string, without calls
  const Rule* missing_reasoning = nullptr;  // a message with calls, while the model thinks
  const Rule* forced_tool = nullptr;        // while the model thinks
  const Rule* schema_type = nullptr;        // a schema without a type
  const Rule* result_blocks = nullptr;      // a result that is a list of blocks
  const Rule* null_content = nullptr;
  const Rule* empty_content = nullptr;  // a string, of others than the assistant
  const Rule* empty_text = nullptr;     // a block
};

inline constexpr std::string_view kMissingReasoning =
    "with thinking on, a message with calls carries 'reasoning_content'";
inline constexpr Rule kResultBlocks = {"d_result_blocks", kWarning,
                                       "the content of a result is a string here"};

void check_chat(Report& report, const Json& document, const ChatRules& rules);

}  // namespace parley::rules
