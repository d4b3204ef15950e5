#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"
#include "tool/program_output.h"

namespace parley {

std::shared_ptr<RunnableTool> bash_tool(ProgramOptions options) {
  return function_tool(
      "bash",
      "Runs a command in a new bash and gives its output, its errors and its exit status. Nothing is kept "
      "between "
      "calls: change the folder and set variables in the command that needs them. There is no input and no "
      "terminal. What the command leaves running is killed when it ends.",
      {param("command", "The command; it may have several lines.").string().required()},
      [options = std::move(options)](const Args& args) {
        SubprocessOptions child;
        child.arguments = {"bash", "-c", args.string("command").str()};
        child.environment = options.environment;
        child.folder = options.folder;
        return run_program(child, {}, args.context());
      });
}

}  // namespace parley
