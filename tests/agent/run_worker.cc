// run_worker URI SESSION EFFECTS POLICY: runs, or resumes, a task of twenty steps, and tells one character
// per event on standard output. Every call appends a line to the file EFFECTS. POLICY: "interrupted" or
// "rerun".
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parley/agent/agent.h"
#include "parley/store/store.h"
#include "parley/tool/function_tool.h"

namespace parley {
namespace {

constexpr std::int64_t kSteps = 20;

// Says what follows from the conversation: a step calls, every second one twice, and after the last comes
// the answer. So it continues where the conversation ends.
class StepModel : public Model {
 public:
  const ModelInfo& info() const override { return info_; }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& /*options*/) override {
    const auto messages = request.conversation.messages();
    const auto step = std::count_if(messages.begin(), messages.end(),
                                    [](const Message& m) { return !m.tool_calls().empty(); });
    if (step >= kSteps) return ModelAnswer{.message = Message::assistant_message("finished"), .outcome = {}};
    std::vector<ToolCall> calls;
    for (int part = 0; part <= step % 2; ++part) {
      const std::string line = std::to_string(step) + "." + std::to_string(part);
      calls.push_back(
          {Text("call_" + line), Text("function"), {Text("effect"), Text(R"({"line":")" + line + "\"}")}});
    }
    return ModelAnswer{.message = Message::from_tool_calls(calls), .outcome = {}};
  }

 private:
  ModelInfo info_;
};

std::shared_ptr<ToolBox> effects_in(int file) {
  auto box = std::make_shared<ToolBox>();
  const auto added = box->add(function_tool(Text("effect"), Text("Appends a line."),
                                            {param(Text("line"), Text("Which.")).string().required()},
                                            [file](const Args& args) {
                                              const std::string line = args.string("line").str() + "\n";
                                              if (::write(file, line.data(), line.size()) < 0)
                                                return ToolOutput::failure(Text("cannot write"));
                                              return ToolOutput::text(Text("written"));
                                            },
                                            {.has_side_effects = false}));
  return added ? box : nullptr;
}

int run(const std::string& uri, const std::string& session, const char* effects, std::string_view policy) {
  Result<store::Store> opened = store::open_store(uri);
  if (!opened) return 3;
  const auto store = std::make_shared<store::Store>(*std::move(opened));
  Result<StoredMemory> memory = StoredMemory::open(store, {.session = session});
  if (!memory) return 4;
  const bool is_new = memory->memory().log_size() == 0;
  AgentOptions options;
  options.pending = policy == "rerun" ? PendingCalls::Rerun : PendingCalls::Interrupted;
  options.lease_mode = store::LeaseMode::TakeOver;  // the previous owner is dead
  options.on_event = [](const AgentEvent& event) {
    const char letter = static_cast<char>('a' + event.index());
    (void)!::write(STDOUT_FILENO, &letter, 1);
  };
  const int file = ::open(effects, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  auto agent =
      ToolCallAgent::open(std::make_shared<StepModel>(), effects_in(file), *std::move(memory), options);
  if (!agent) return 5;
  const auto report = is_new ? (*agent)->run(Message::user_message("go")) : (*agent)->resume();
  return report && report->end == RunEnd::Answered ? 0 : 6;
}

}  // namespace
}  // namespace parley

int main(int count, char** words) {
  if (count != 5) return 2;
  return parley::run(words[1], words[2], words[3], words[4]);
}
