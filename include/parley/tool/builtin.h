// The built-in tools: one function makes each; add them to a ToolBox. docs/tools.md describes them,
// parley/tool/tool.h has the contract of all tools.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/store/store.h"
#include "parley/tool/tool.h"

namespace parley {

// Reports that the task is done or failed, and ends the run of an agent (AgentOptions::special_tools).
std::shared_ptr<RunnableTool> terminate_tool();

// Asks the user and returns a line, or nullopt without an answer. Called by one thread at a time; should
// return soon after a stop.
using AskHuman = std::function<std::optional<std::string>(const Text& question, const std::stop_token& stop)>;
std::shared_ptr<RunnableTool> ask_human_tool(AskHuman ask);

// Working directory and environment of subprocesses. They do not inherit the environment of this process,
// which may contain keys.
struct ProgramOptions {
  std::string folder = {};  // empty: that of this process
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
};

// Runs a command in a new shell; no state is kept between calls. When it ends, its subprocesses are killed.
std::shared_ptr<RunnableTool> bash_tool(ProgramOptions options = {});

// Runs a Python program in a subprocess.
std::shared_ptr<RunnableTool> python_tool(ProgramOptions options = {});

// Views and edits files beneath `root` only; paths and links cannot leave it. Fails with NotFound if the
// folder does not exist.
Result<std::shared_ptr<RunnableTool>> files_tool(const std::string& root, Text name = Text("files"));

// Searches the conversations of one tenant. The model cannot select another.
std::shared_ptr<RunnableTool> recall_tool(std::shared_ptr<store::Store> store, std::string tenant);

// OpenManus' tool names and texts, byte for byte, for conversations that started in OpenManus.

// The text that OpenManus' agent adds to the conversation for this output of tool `name`. An output without
// text is its structured content as Python prints it; images alone are the error that OpenManus reports.
Text openmanus_text(std::string_view name, const ToolOutput& output);

// Runs a call like OpenManus: accepts the arguments that Python's json.loads() accepts, and reports arguments
// that execute() refuses with Python's texts and OpenManus' class names. A tool receives NaN and infinities
// as the strings "nan", "inf" and "-inf", as Python prints them, and a lone surrogate as U+FFFD, because Text
// is UTF-8. Otherwise like ToolBox::run().
ToolOutput openmanus_run(const ToolBox& tools, const ToolUseBlock& use, const ToolContext& context = {});

struct OpenManusToolsOptions {
  std::string root;  // of str_replace_editor
  ProgramOptions programs = {};
  AskHuman ask = {};  // if empty, there is no ask_human
};

// python_execute, bash, str_replace_editor, planning, ask_human and terminate, with OpenManus' parameters and
// outputs. They use Parley's tools: bash keeps no shell between calls, and an error of python_execute does
// not lose printed output. Fails like files_tool().
Result<std::vector<std::shared_ptr<RunnableTool>>> openmanus_tools(const OpenManusToolsOptions& options);

}  // namespace parley
