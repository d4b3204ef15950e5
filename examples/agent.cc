// The sequence of the design documents: a request with a picture becomes a message, the model is asked, it
// calls a tool, the result goes back, and the answer ends the run. All of it is stored, and shown in every
// dialect.
#include <parley/parley.h>

#include <iostream>
#include <memory>

using namespace parley;

namespace {

// One pixel.
constexpr const char* kImage =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";

// In place of a model on a network: it searches, and then says what was found.
class Actor : public Model {
 public:
  const ModelInfo& info() const override { return info_; }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& /*options*/) override {
    if (request.conversation.messages().back().role() == Role::Tool) {
      return ModelAnswer{.message = Message::assistant_message("OpenManus has a repository on GitHub."),
                         .outcome = {}};
    }
    const ToolCall call{"call_123", "function", {"web_search", "{\"query\": \"OpenManus project\"}"}};
    return ModelAnswer{
        .message = Message::from_tool_calls({&call, 1}, "I will search for the OpenManus project."),
        .outcome = {}};
  }

 private:
  ModelInfo info_{.provider = Text("example"), .name = Text("actor")};
};

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
                    {.changes_world = false})));
  PARLEY_TRY(StoredMemory memory, StoredMemory::open(store, key));
  AgentOptions options;
  options.system_prompt = "You are a helpful assistant.";
  options.on_event = show;
  PARLEY_TRY(const std::unique_ptr<ToolCallAgent> agent,
             ToolCallAgent::open(std::make_shared<Actor>(), tools, std::move(memory), options));
  PARLEY_TRY(const UserRequest request,
             parse_user_request("Please search for the OpenManus project.", kImage));
  return agent->run(request.message);
}

// What was stored, by whoever asks for it later.
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
