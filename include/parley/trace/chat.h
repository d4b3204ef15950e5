// A request to a model and its answer as attributes of a `chat` span. Safe from any thread with different
// spans.
#pragma once

#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/message/outcome.h"
#include "parley/trace/tracer.h"

namespace parley::trace {

// The model and the settings; if content is captured, also the system part, the messages and the tools.
void set_request(Span& span, const Conversation& conversation);

// The ids, the finish reason, the token counts; if content is captured, also the message.
void set_answer(Span& span, const Message& message, const Outcome& outcome);

}  // namespace parley::trace
