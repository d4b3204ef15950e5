#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"

namespace parley {

std::shared_ptr<RunnableTool> terminate_tool() {
  return function_tool(
      "terminate", "Ends the work: call it when the task is done, or when you cannot continue.",
      {param("status", "Whether the task was done.").one_of({"success", "failure"}).required()},
      [](const Args& args) {
        return ToolOutput::text(
            Text("The interaction has been completed with status: " + args.string("status").str()));
      },
      {.has_side_effects = false});
}

}  // namespace parley
