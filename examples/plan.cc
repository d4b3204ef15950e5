// A model makes a plan, two agents carry out its steps, and the model summarizes the results. The plan is
// printed when a step changes.
#include <parley/agent/flow.h>
#include <parley/model/rehearsal.h>
#include <parley/parley.h>

#include <iostream>
#include <memory>
#include <string>

using namespace parley;

namespace {

// The script of the offline model. "when" selects the answer by the text of the request.
constexpr const char* kScript = R"json({"turns": [
  {"calls": [{"name": "create_plan",
              "arguments": {"title": "A trip to Oslo", "steps": ["[research] find a train", "[writer] write the card"]}}]},
  {"when": "no other: [research] find a train", "text": "The train leaves at 9."},
  {"when": "no other: [writer] write the card", "text": "Greetings from Oslo!"},
  {"when": "Summarize the results", "text": "The train leaves at 9, and the card is written."}
]})json";

Result<std::shared_ptr<BaseAgent>> agent_of(const std::shared_ptr<Model>& model,
                                            const std::shared_ptr<store::Store>& store, std::string name) {
  PARLEY_TRY(StoredMemory memory, StoredMemory::open(store, {.session = std::move(name)}));
  return ToolCallAgent::open(model, std::make_shared<ToolBox>(), std::move(memory));
}

Result<FlowReport> run() {
  PARLEY_TRY(const Rehearsal rehearsal, Rehearsal::start({.script = kScript}));
  ModelConfig config;
  config.model = "openai/rehearsal";
  config.base_url = rehearsal.url();
  PARLEY_TRY(const std::shared_ptr<Model> model, open_model(std::move(config)));
  PARLEY_TRY(store::Store opened, store::open_store("memory:"));
  const auto store = std::make_shared<store::Store>(std::move(opened));
  PARLEY_TRY(std::shared_ptr<BaseAgent> research, agent_of(model, store, "research"));
  PARLEY_TRY(std::shared_ptr<BaseAgent> writer, agent_of(model, store, "writer"));
  FlowOptions options;
  options.on_plan = [](const FlowPlan& plan) { std::cout << plan.text().view() << "\n\n"; };
  PARLEY_TRY(PlanningFlow flow,
             PlanningFlow::create(model, {{"research", research}, {"writer", writer}}, std::move(options)));
  return flow.execute("Plan a trip to Oslo.");
}

}  // namespace

int main() {
  const Result<FlowReport> report = run();
  if (!report) {
    std::cerr << report.error().message << '\n';
    return 1;
  }
  std::cout << report->summary.view() << '\n';
  return 0;
}
