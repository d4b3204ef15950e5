// OpenManus' names and words for tools, to the byte: what a conversation that began there has.
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

// What OpenManus' agent puts into the conversation for a call of `name` that ended so. An output without a
// text shows its structured form as Python does; one of images alone is the error that OpenManus makes of it.
Text openmanus_text(std::string_view name, const ToolOutput& output);

// Runs a call as OpenManus does: the arguments are what Python's json.loads() takes, and arguments that
// execute() would not take are told in Python's words, with OpenManus' names for its classes. NaN and the
// infinities come to a tool as the strings "nan", "inf" and "-inf", which is what Python shows of them; half
// a surrogate pair as U+FFFD, because a Text is UTF-8. Otherwise as ToolBox::run().
ToolOutput openmanus_run(const ToolBox& tools, const ToolUseBlock& use, const ToolContext& context = {});

struct OpenManusToolsOptions {
  std::string root;  // of str_replace_editor
  ProgramOptions programs = {};
  AskHuman ask = {};  // without one there is no ask_human
};

// python_execute, bash, str_replace_editor, planning, ask_human and terminate, with the parameters and the
// outputs that they have there. They are Parley's own tools underneath: no shell is kept between calls of
// bash, an error of python_execute does not lose what was printed. Fails as files_tool() does.
Result<std::vector<std::shared_ptr<RunnableTool>>> openmanus_tools(const OpenManusToolsOptions& options);

}  // namespace parley
