// Agent: the parts by their names.
#include <utility>

#include "parley/agent/agent.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/model/http_model.h"

namespace parley {
namespace {

Result<std::shared_ptr<Model>> model_of(const AgentSetup& setup) {
  return setup.model.object ? setup.model.object : open_model(setup.model.name);
}

Result<std::shared_ptr<store::Store>> store_of(const AgentSetup& setup) {
  if (setup.store.object) return setup.store.object;
  PARLEY_TRY(store::Store opened, store::open_store(setup.store.name));
  return std::make_shared<store::Store>(std::move(opened));
}

Result<std::shared_ptr<ToolBox>> tools_of(const AgentSetup& setup) {
  auto tools = std::make_shared<ToolBox>();
  for (const std::shared_ptr<RunnableTool>& each : setup.tools) PARLEY_CHECK(tools->add(each));
  tools->set_policy(setup.policy);
  if (setup.approve) tools->set_approve(setup.approve);
  return tools;
}

AgentOptions options_of(const AgentSetup& setup) {
  AgentOptions options = setup.options;
  if (!setup.on_text) return options;
  options.on_event = [on_text = setup.on_text, then = setup.options.on_event](const AgentEvent& event) {
    if (then) then(event);
    const auto* streaming = std::get_if<agent_event::Streaming>(&event);
    const auto* delta = streaming == nullptr ? nullptr : std::get_if<stream::Delta>(&streaming->event);
    if (delta != nullptr && delta->kind == stream::DeltaKind::Text) on_text(delta->text);
  };
  return options;
}

}  // namespace

Result<Agent> Agent::open(AgentSetup setup) {
  if (setup.session.empty()) setup.session = new_ulid(static_cast<std::uint64_t>(now_ms()));
  PARLEY_TRY(std::shared_ptr<Model> model, model_of(setup));
  PARLEY_TRY(std::shared_ptr<ToolBox> tools, tools_of(setup));
  PARLEY_TRY(std::shared_ptr<store::Store> store, store_of(setup));
  PARLEY_TRY(StoredMemory memory,
             StoredMemory::open(std::move(store), {.session = setup.session}, setup.memory));
  PARLEY_TRY(std::unique_ptr<ToolCallAgent> agent,
             ToolCallAgent::open(std::move(model), tools, std::move(memory), options_of(setup)));
  return Agent(std::move(setup.session), std::move(tools), std::move(agent));
}

Result<RunReport> Agent::run(const Text& request, std::stop_token stop) {
  return run(Message::user_message(request), std::move(stop));
}

Result<RunReport> Agent::run(const Message& request, std::stop_token stop) {
  return agent_->run(request, std::move(stop));
}

Result<RunReport> Agent::resume(std::stop_token stop) { return agent_->resume(std::move(stop)); }

}  // namespace parley
