// The tools that come with Parley. Each is made by one function, and none is in a ToolBox by itself.
// What they do is in docs/tools.md; what all tools promise, in parley/tool/tool.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "parley/base/error.h"
#include "parley/base/text.h"
#include "parley/store/store.h"
#include "parley/tool/tool.h"

namespace parley {

// Says that the task is done, or cannot be: agents end their run with it (AgentOptions::special_tools).
std::shared_ptr<RunnableTool> terminate_tool();

// Asks a person, who answers with a line; nothing if nobody does. Called by one thread at a time; should end
// soon after a stop.
using AskHuman = std::function<std::optional<std::string>(const Text& question, const std::stop_token& stop)>;
std::shared_ptr<RunnableTool> ask_human_tool(AskHuman ask);

// Where programs run, and what they are told of the world. They do not get the environment of this process,
// which may hold keys.
struct ProgramOptions {
  std::string folder = {};  // empty: where this process runs
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
};

// Runs a command in a new shell; nothing is kept between calls. The command ends with all that it started.
std::shared_ptr<RunnableTool> bash_tool(ProgramOptions options = {});

// Runs a program in Python, in a process of its own.
std::shared_ptr<RunnableTool> python_tool(ProgramOptions options = {});

// Looks at files and edits them, beneath `root` and nowhere else, whatever a path or a link says. Fails with
// NotFound if there is no such folder.
Result<std::shared_ptr<RunnableTool>> files_tool(const std::string& root, Text name = Text("files"));

// Searches the conversations of one tenant. The model cannot name another.
std::shared_ptr<RunnableTool> recall_tool(std::shared_ptr<store::Store> store, std::string tenant);

}  // namespace parley
