// A request with an image becomes a message, the model is called, it calls a tool, the result is returned to
// the model, and the answer ends the run. Everything is stored, and shown in every dialect.
#include <parley/guard/request.h>
#include <parley/model/rehearsal.h>
#include <parley/parley.h>

#include <iostream>
#include <memory>
#include <string>

using namespace parley;

namespace {

// One pixel.
constexpr const char* kImage =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";

// The script of the offline model: it searches, and then reports the result.
constexpr const char* kScript = R"json({"turns": [
  {"text": "I will search for the OpenManus project.",
   "calls": [{"id": "call_123", "name": "web_search", "arguments": {"query": "OpenManus project"}}]},
  {"text": "OpenManus has a repository on GitHub."}
]})json";

// Uses HTTP and a stream, like any model; this one listens on the loopback address.
Result<std::shared_ptr<Model>> model_at(const std::string& url) {
  ModelConfig config;
  config.model = "openai/rehearsal";
  config.base_url = url;
  return open_model(std::move(config));
}

void show(const AgentEvent& event) {
  if (const auto* tool = std::get_if<agent_event::ToolStarted>(&event)) {
    std::cout << "-> " << tool->use.name.view() << ' ' << tool->use.arguments.view() << '\n';
  }
}

Result<RunReport> run(const std::shared_ptr<store::Store>& store, const store::SessionKey& key) {
  auto tools = std::make_shared<ToolBox>();
  PARLEY_CHECK(tools->add(
      function_tool("web_search", "Searches the web.", {param("query", "What for.").string().required()},
                    [](const Args&) { return ToolOutput::text("Found the GitHub repository of OpenManus."); },
                    {.has_side_effects = false})));
  PARLEY_TRY(const Rehearsal rehearsal, Rehearsal::start({.script = kScript}));
  PARLEY_TRY(std::shared_ptr<Model> model, model_at(rehearsal.url()));
  PARLEY_TRY(StoredMemory memory, StoredMemory::open(store, key));
  AgentOptions options;
  options.system_prompt = "You are a helpful assistant.";
  options.on_event = show;
  PARLEY_TRY(const std::unique_ptr<ToolCallAgent> agent,
             ToolCallAgent::open(std::move(model), tools, std::move(memory), options));
  PARLEY_TRY(const UserRequest request,
             parse_user_request("Please search for the OpenManus project.", kImage));
  return agent->run(request.message);
}

// Reads the stored conversation again.
Result<void> show_all(const std::shared_ptr<store::Store>& store, const store::SessionKey& key) {
  PARLEY_TRY(const StoredMemory stored, StoredMemory::open(store, key));
  const Conversation talk = stored.memory().snapshot().conversation();
  for (const DialectInfo& info : dialects()) {
    PARLEY_TRY(const Writing written, write(talk, info.dialect));
    std::cout << info.name << ": " << written.text.view() << '\n';
  }
  return {};
}

}  // namespace

int main() {
  Result<store::Store> opened = store::open_store("memory:");
  if (!opened) return 1;
  const auto store = std::make_shared<store::Store>(*std::move(opened));
  const store::SessionKey key{.session = "search"};
  const Result<RunReport> report = run(store, key);
  if (!report || report->end != RunEnd::Answered) return 1;
  std::cout << report->text.view() << '\n';
  return show_all(store, key) ? 0 : 1;
}
