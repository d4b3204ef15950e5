// The core: messages, dialects, memory, stores, models, tools and agents. The rest has its own header:
// parley/<room>/<subject>.h.
#pragma once

#if __cplusplus <= 202002L
#error "Parley needs C++23: compile with -std=c++23"
#endif

#include "parley/agent/agent.h"
#include "parley/dialect/dialect.h"
#include "parley/memory/memory.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/conversation.h"
#include "parley/message/message.h"
#include "parley/message/validate.h"
#include "parley/model/http_model.h"
#include "parley/model/model.h"
#include "parley/store/store.h"
#include "parley/tool/function_tool.h"
#include "parley/tool/tool.h"
