// What rehearsal says without a script: a few patterns of what a user says, for which it calls the tools that
// are offered, and then answers from their results. It understands nothing, and says so. Pure functions.
#pragma once

#include "model/rehearsal_script.h"
#include "parley/message/conversation.h"

namespace parley::rehearsal {

Answer answer_by_pattern(const Conversation& conversation);

}  // namespace parley::rehearsal
