// The tools a command can offer a model, by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/user_prompt.h"
#include "parley/base/error.h"
#include "parley/store/store.h"
#include "parley/tool/tool.h"

namespace parley::cli {

struct ToolContext {
  std::shared_ptr<store::Store> store;
  std::string tenant;
  UserPrompt& user;  // must outlive the tool
};

std::vector<std::string> all_tools();  // the default tools

// "a,b" is two names, "none" no tool and "all" all_tools().
std::vector<std::string> names_in(std::string_view typed);

// Fails with NotFound, listing the names there are.
Result<void> check_tool_name(std::string_view name);

// Null for a tool that needs a terminal without one. Fails as check_tool_name() does.
Result<std::shared_ptr<RunnableTool>> tool_named(std::string_view name, const ToolContext& context);

}  // namespace parley::cli
