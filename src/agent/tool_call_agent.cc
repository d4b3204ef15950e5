#include <utility>

#include "agent/loop.h"
#include "parley/agent/agent.h"
#include "parley/tool/openmanus.h"

namespace parley {
namespace {

Result<void> check(const AgentOptions& options, const std::shared_ptr<Model>& model,
                   const std::shared_ptr<ToolBox>& tools, Profile profile) {
  if (model == nullptr || tools == nullptr) return fail(Code::Invalid, "an agent needs a model and tools");
  if (options.profile != profile) {
    return fail(Code::Invalid,
                "the openmanus profile keeps its messages in an OpenManusMemory, others do not");
  }
  if (options.lease.count() <= 0) return fail(Code::Invalid, "a lease must be more than 0 ms");
  return {};
}

}  // namespace

Result<std::unique_ptr<ToolCallAgent>> ToolCallAgent::open(std::shared_ptr<Model> model,
                                                           std::shared_ptr<ToolBox> tools,
                                                           StoredMemory memory, AgentOptions options) {
  PARLEY_CHECK(check(options, model, tools, Profile::Default));
  return make(std::move(model), std::move(tools), agent::history_in(std::move(memory)), std::move(options));
}

Result<std::unique_ptr<ToolCallAgent>> ToolCallAgent::open_openmanus(std::shared_ptr<Model> model,
                                                                     std::shared_ptr<ToolBox> tools,
                                                                     OpenManusMemory memory,
                                                                     AgentOptions options) {
  PARLEY_CHECK(check(options, model, tools, Profile::OpenManus));
  return make(std::move(model), std::move(tools), agent::history_in(std::move(memory)), std::move(options));
}

Result<std::unique_ptr<ToolCallAgent>> ToolCallAgent::make(std::shared_ptr<Model> model,
                                                           std::shared_ptr<ToolBox> tools,
                                                           std::unique_ptr<agent::History> history,
                                                           AgentOptions options) {
  const agent::ProfileRow& row = agent::row_of(options.profile);
  std::optional<Schema> reply;
  if (options.reply) {
    PARLEY_TRY(reply, Schema::of(options.reply->schema));
  }
  std::unique_ptr<Inside> inside(new Inside{
      {std::move(options), row, std::move(model), std::move(tools), std::move(history), std::move(reply)}});
  return std::unique_ptr<ToolCallAgent>(new ToolCallAgent(std::move(inside)));
}

AgentOptions openmanus_options() {
  AgentOptions options;
  options.profile = Profile::OpenManus;
  options.name = Text("toolcall");
  options.system_prompt = Text("You are an agent that can execute tool calls");
  options.next_step_prompt = Text("If you want to stop interaction, use `terminate` tool/function call.");
  return options;
}

Result<bool> ToolCallAgent::think() { return inside_->loop.row.think(inside_->loop); }
Result<Text> ToolCallAgent::act() { return inside_->loop.row.act(inside_->loop); }

Text ToolCallAgent::execute_tool(const ToolUseBlock& use) {
  return openmanus_text(use.name, inside_->loop.tools->run(use));
}

}  // namespace parley
