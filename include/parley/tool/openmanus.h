// OpenManus' tool names and texts, byte for byte, for conversations that started in OpenManus.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/tool/builtin.h"
#include "parley/tool/tool.h"

namespace parley {

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
