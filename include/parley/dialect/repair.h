// Repair makes a broken history whole: every call answered once, right after it, and no result without a
// call. What was changed is noted.
//
// The rules, in order:
//   1  A call whose id is empty gets a fresh one, and so does one whose id was used before if the history is
//      broken, if two calls of a step share it, or if the target finds calls by their ids alone; the results
//      of that id are given to its calls in order (id_rewritten).
//   2  Of two results for one call the last stays; what earlier ones say otherwise is appended to it
//      (duplicate_result).
//   3  A result that does not follow its call directly is moved there (result_moved).
//   4  A result without a call becomes a user's text, media included; a call is never made up
//      (orphan_result).
//   5  A call without a result gets one that says so, as an error (missing_result). Calls of the last step
//      are left pending unless complete_pending.
//   6  An assistant's message that says nothing, in no member of its wire either, is left out
//   (empty_dropped);
//      one that says what has no place in the target is, too (message_dropped). Anybody else's says that it
//      is empty, if the target refuses one that does not (empty_filled).
//   7  Of more media than the target takes the oldest become texts that say so, and so does what is larger
//      than it takes (media_over_limit).
//   8  Reasoning of Responses that is not followed by what it led to is left out, and so is reasoning that is
//      not encrypted if nothing is stored (thinking_dropped). What followed reasoning that is not there goes
//      without its id (id_dropped).
//   9  Thinking that its maker wants back signed, and that is not, is left out (thinking_dropped).
//  10  Where the model thinks, DeepSeek wants thinking in every message of the assistant and Moonshot beside
//      calls: what has none gets one that is empty (thinking_minted).
//  11  If the target does not continue with the assistant's last message, a user says "Continue."
//      (prefill_unsupported). This is for requests that name a model: lines of files for training do not.
//  12  If thinking is on by "thinking": {"type": "enabled"}, and the step whose calls were answered last, or
//      that the assistant said last, starts without thinking, it is switched off where that is refused
//      (thinking_disabled); else a forced choice of tools becomes a free one where that is refused
//      (tool_choice_downgraded), the limit of tokens is raised above the budget for thinking, and other
//      sampling than the default is left out (setting_clamped).
//  13  For a target, what an assistant says around results in one message becomes messages of their own
//      (message_split), a message that asks for tools is an assistant's, and a tool's message without a
//      result a user's (role_mapped).
//  14  What was read in the target's own dialect and its rules refuse (rules.h) is written anew, only that
//      message if that is enough (message_rewritten, envelope_rewritten); a block that is refused then is
//      left out (raw_dropped).
//  15  If the target has no message to answer, a user's says that it is empty (user_added).
//  16  A request of Anthropic's that names a model and no max_tokens gets one (max_tokens_minted). One of
//      Converse's whose history has calls that the provider ran, and no tools, declares them (tools_added).
//
// Invariants (quoted by tests as R1..R6):
//   R1  A repaired conversation has no error of validate_history().
//   R2  Repairing it again changes nothing.
//   R3  A message that needs no change is the same message, wire and all.
//   R4  The same conversation is always repaired the same way.
//   R5  What was repaired for a target, written and read again, needs no repair.
//   R6  What was repaired for a target has no error of check_rules(), if it is a request or a list.
//
// A pure function; safe from any thread.
#pragma once

#include <optional>
#include <vector>

#include "parley/dialect/dialect.h"
#include "parley/message/conversation.h"

namespace parley {

struct RepairOptions {
  bool history = true;                 // all rules; without it a history that is broken stays as it is
  bool complete_pending = false;       // rule 5 for the last step, too
  std::optional<Dialect> target = {};  // the dialect that takes it: rules 7 and following
};

struct Repairing {
  Conversation conversation;
  std::vector<Note> notes;
};

Repairing repair(const Conversation& conversation, const RepairOptions& options = {});

}  // namespace parley
