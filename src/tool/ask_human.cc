#include "parley/tool/builtin.h"
#include "parley/tool/function_tool.h"

namespace parley {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::shared_ptr<RunnableTool> ask_human_tool(AskHuman ask) {
  return function_tool(
      "ask_human", "Asks the person you work for. Use it when you cannot continue without an answer.",
      {param("inquire", "The question.").string().required()},
      [ask = std::move(ask)](const Args& args) {
        const auto answer = ask(args.string("inquire"), args.context().stop);
        if (args.context().stop.stop_requested()) {
          return ToolOutput::of(ToolStatus::Interrupted, "the call was stopped before there was an answer");
        }
        if (!answer) return ToolOutput::failure("no answer was given");
        return ToolOutput::text(Text(trimmed(*answer)));
      },
      {.has_side_effects = false, .is_parallel = false, .timeout = std::chrono::hours(24)});
}

}  // namespace parley
