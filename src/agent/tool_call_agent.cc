#include <utility>

#include "agent/loop.h"
#include "parley/agent/agent.h"
#include "parley/tool/builtin.h"

namespace parley {

using agent::Loop;

namespace {

Result<void> check(const AgentOptions& options, const std::shared_ptr<Model>& model,
                   const std::shared_ptr<ToolBox>& tools, AgentProfile profile) {
  if (model == nullptr || tools == nullptr) return fail(Code::Invalid, "model or tools is null");
  if (options.profile != profile) {
    return fail(Code::Invalid,
                "the openmanus profile keeps its messages in an OpenManusMemory, others do not");
  }
  if (options.lease.count() <= 0) return fail(Code::Invalid, "invalid lease: expected more than 0 ms");
  return {};
}

Result<std::unique_ptr<Loop>> loop_of(std::shared_ptr<Model> model, std::shared_ptr<ToolBox> tools,
                                      std::unique_ptr<agent::History> history, AgentOptions options) {
  const agent::ProfileRow& row = agent::row_of(options.profile);
  std::optional<Schema> reply;
  if (options.reply) {
    PARLEY_TRY(reply, Schema::of(options.reply->schema));
  }
  return std::make_unique<Loop>(agent::LoopParts{.options = std::move(options),
                                                 .row = row,
                                                 .model = std::move(model),
                                                 .tools = std::move(tools),
                                                 .history = std::move(history),
                                                 .reply = std::move(reply)});
}

}  // namespace

AgentParts::AgentParts(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
AgentParts::AgentParts(AgentParts&&) noexcept = default;
AgentParts& AgentParts::operator=(AgentParts&&) noexcept = default;
AgentParts::~AgentParts() = default;

Result<AgentParts> AgentParts::of(std::shared_ptr<Model> model, std::shared_ptr<ToolBox> tools,
                                  StoredMemory memory, AgentOptions options) {
  PARLEY_CHECK(check(options, model, tools, AgentProfile::Default));
  PARLEY_TRY(auto loop, loop_of(std::move(model), std::move(tools), agent::history_in(std::move(memory)),
                                std::move(options)));
  return AgentParts(std::move(loop));
}

Result<AgentParts> AgentParts::of_openmanus(std::shared_ptr<Model> model, std::shared_ptr<ToolBox> tools,
                                            OpenManusMemory memory, AgentOptions options) {
  PARLEY_CHECK(check(options, model, tools, AgentProfile::OpenManus));
  PARLEY_TRY(auto loop, loop_of(std::move(model), std::move(tools), agent::history_in(std::move(memory)),
                                std::move(options)));
  return AgentParts(std::move(loop));
}

Result<std::unique_ptr<ToolCallAgent>> ToolCallAgent::open(std::shared_ptr<Model> model,
                                                           std::shared_ptr<ToolBox> tools,
                                                           StoredMemory memory, AgentOptions options) {
  PARLEY_TRY(AgentParts parts,
             AgentParts::of(std::move(model), std::move(tools), std::move(memory), std::move(options)));
  return std::make_unique<ToolCallAgent>(std::move(parts));
}

Result<std::unique_ptr<ToolCallAgent>> ToolCallAgent::open_openmanus(std::shared_ptr<Model> model,
                                                                     std::shared_ptr<ToolBox> tools,
                                                                     OpenManusMemory memory,
                                                                     AgentOptions options) {
  PARLEY_TRY(AgentParts parts, AgentParts::of_openmanus(std::move(model), std::move(tools), std::move(memory),
                                                        std::move(options)));
  return std::make_unique<ToolCallAgent>(std::move(parts));
}

AgentOptions openmanus_options() {
  AgentOptions options;
  options.profile = AgentProfile::OpenManus;
  options.name = Text("toolcall");
  options.system_prompt = Text("You are an agent that can execute tool calls");
  options.next_step_prompt = Text("If you want to stop interaction, use `terminate` tool/function call.");
  return options;
}

Result<bool> ToolCallAgent::think() { return loop_->row.think(*loop_); }
Result<Text> ToolCallAgent::act() { return loop_->row.act(*loop_); }

Text ToolCallAgent::execute_tool(const ToolUseBlock& use) {
  return openmanus_text(use.name, openmanus_run(*loop_->tools, use));
}

}  // namespace parley
