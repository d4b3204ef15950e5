// The tools that come with Parley. Each is made by one function, and none is in a ToolBox by itself.
#pragma once

#include <memory>

#include "parley/tool/tool.h"

namespace parley {

// Says that the task is done, or cannot be: agents end their run with it (AgentOptions::special_tools).
std::shared_ptr<RunnableTool> terminate_tool();

}  // namespace parley
