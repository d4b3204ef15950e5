#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"
#include "tool/program_output.h"

namespace parley {

std::shared_ptr<RunnableTool> python_tool(ProgramOptions options) {
  return function_tool("python",
                       "Runs a program in Python 3, in a new process, and gives what it prints and its exit "
                       "status. Values are seen "
                       "only if they are printed. Nothing is kept between calls, and there is no input.",
                       {param("code", "The program.").string().required()},
                       [options = std::move(options)](const Args& args) {
                         SubprocessOptions child;
                         // Without buffers, so that what was printed is there when the program is killed. The
                         // program comes through a pipe, because an argument has at most 128 KiB.
                         child.arguments = {"python3", "-u", "-"};
                         child.environment = options.environment;
                         child.folder = options.folder;
                         child.has_input = true;
                         return run_program(child, args.string("code"), args.context());
                       });
}

}  // namespace parley
