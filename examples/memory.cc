// A memory with the functions of OpenManus, then a tool-calling loop of 1,000 steps with a valid window at
// every step.
#include <parley/parley.h>

#include <iostream>
#include <string>

using namespace parley;

namespace {

Text text(const std::string& from) { return Text(from); }

bool small_talk() {
  Memory memory;
  const bool added = memory.add_message(Message::system_message("You are a helpful assistant")) &&
                     memory.add_message(Message::user_message("Hello, please write me a poem")) &&
                     memory.add_message(Message::assistant_message("Here is one about spring: ..."));
  if (!added) return false;
  const Result<std::vector<Message>> recent = memory.get_recent_messages(2);
  if (!recent) return false;
  for (const Message& message : *recent) {
    std::cout << to_string(message.role()) << ": " << message.content()->view() << '\n';
  }
  for (const Json& dict : memory.to_dict_list()) std::cout << dict.text().view() << '\n';
  memory.clear();
  return memory.size() == 0;
}

// Messages that leave the window go into a summary; no call is separated from its result.
bool long_run() {
  Result<Memory> made = Memory::create({.budget = {.messages = 12},
                                        .compressor = std::make_shared<ExtractiveCompressor>(),
                                        .compression = {.most_summary_bytes = 400}});
  if (!made) return false;
  Memory& memory = *made;
  if (!memory.add(Message::system_message("Use the tools.")) ||
      !memory.add(Message::user_message("Count to 1,000.")))
    return false;
  for (int step = 1; step <= 1000; ++step) {
    const ToolCall call{text("call_" + std::to_string(step)),
                        "function",
                        {"count", text("{\"to\":" + std::to_string(step) + "}")}};
    const Result<Change> asked = memory.add(Message::from_tool_calls({&call, 1}));
    const Result<Change> answered =
        memory.add(Message::tool_message(text(std::to_string(step)), "count", call.id));
    if (!asked || !answered || !validate_history(memory.window()).empty()) return false;
  }
  std::cout << "\nafter 1,000 steps: " << memory.log_size() << " messages in the log, " << memory.size()
            << " in the window; the summary speaks for " << memory.summary()->count << "\n";
  for (const Message& message : memory.window()) {
    std::cout << to_string(message.role()) << ":";
    for (const Block& block : message.blocks()) {
      if (const auto* said = block.as<TextBlock>()) std::cout << ' ' << said->text.view();
      if (const auto* use = block.as<ToolUseBlock>()) std::cout << " call " << use->id.view();
      if (const auto* result = block.as<ToolResultBlock>()) std::cout << " result of " << result->id.view();
    }
    std::cout << '\n';
  }
  return true;
}

}  // namespace

int main() { return small_talk() && long_run() ? 0 : 1; }
