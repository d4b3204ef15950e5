#include "cli/tool_choice.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

#include "parley/base/clock.h"
#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"
#include "parley/tool/plan.h"

namespace parley::cli {
namespace {

using Made = Result<std::shared_ptr<RunnableTool>>;

Made make_clock(const ToolContext& /*context*/) {
  return function_tool(
      Text("clock"), Text("Returns the current time."), {},
      [](const Args& /*args*/) {
        const auto now = static_cast<std::time_t>(now_ms() / 1000);
        return ToolOutput::text(Text(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))));
      },
      {.has_side_effects = false});
}

Made make_ask_human(const ToolContext& context) {
  if (!UserPrompt::is_available()) return nullptr;
  return ask_human_tool([&user = context.user](const Text& question, const std::stop_token& stop) {
    return user.answer(question, stop);
  });
}

struct Row {
  const char* name;
  bool is_default;
  Made (*make)(const ToolContext& context);
};

constexpr Row kTools[] = {
    {"clock", true, make_clock},
    {"bash", true, [](const ToolContext&) -> Made { return bash_tool(); }},
    {"files", true, [](const ToolContext&) -> Made { return files_tool("."); }},
    {"python", true, [](const ToolContext&) -> Made { return python_tool(); }},
    {"plan", true, [](const ToolContext&) -> Made { return std::make_shared<PlanTool>(); }},
    {"recall", true,
     [](const ToolContext& context) -> Made { return recall_tool(context.store, context.tenant); }},
    {"ask_human", true, make_ask_human},
    {"terminate", false, [](const ToolContext&) -> Made { return terminate_tool(); }},
};

const Row* row_of(std::string_view name) {
  return std::ranges::find_if(kTools, [&](const Row& each) { return each.name == name; });
}

}  // namespace

std::vector<std::string> all_tools() {
  std::vector<std::string> out;
  for (const Row& row : kTools) {
    if (row.is_default) out.emplace_back(row.name);
  }
  return out;
}

std::vector<std::string> names_in(std::string_view typed) {
  if (typed == "none" || typed.empty()) return {};
  if (typed == "all") return all_tools();
  std::vector<std::string> out;
  while (true) {
    const std::size_t comma = typed.find(',');
    out.emplace_back(typed.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    typed.remove_prefix(comma + 1);
  }
}

Result<void> check_tool_name(std::string_view name) {
  if (row_of(name) != std::end(kTools)) return {};
  std::vector<std::string_view> names;
  for (const Row& each : kTools) names.emplace_back(each.name);
  return fail(Code::NotFound,
              fmt::format("unknown tool '{}': expected one of {}", name, fmt::join(names, ", ")));
}

Made tool_named(std::string_view name, const ToolContext& context) {
  PARLEY_CHECK(check_tool_name(name));
  return row_of(name)->make(context);
}

}  // namespace parley::cli
