// Sends a run of an agent as spans, for tests/judges/traces.sh: every attribute there is, and what is hard to
// spell.
//
//   send_spans ENDPOINT   prints the ids of the agent's span as a traceparent
#include <cstdio>
#include <string>
#include <vector>

#include "parley/trace/tracer.h"

namespace {

using namespace parley;
using namespace parley::trace;

// One value of each type, none of them easy.
Json example(KeyType type) {
  switch (type) {
    case KeyType::Int:
      return *Json::parse("9223372036854775807");
    case KeyType::Double:
      return *Json::parse("1");
    case KeyType::Bool:
      return Json::boolean(true);
    case KeyType::Texts:
      return *Json::parse(R"(["stop", "", "\u0000\"\\"])");
    case KeyType::Content:
      return *Json::parse(
          R"([{"role":"user","parts":[{"type":"text","content":"\ud83d\ude00 \"quoted\"\n"}]}])");
    case KeyType::Text:
      break;
  }
  return *Json::parse(R"("\u0001 \u2028 \ud83d\ude00 </script>")");
}

Conversation request() {
  Conversation conversation({Message::user_message("What is the weather in Oslo?")});
  conversation.set_system(Message::system_message("Be brief."));
  conversation.set_tools({{"weather", "looks outside", *Json::parse(R"({"type":"object"})")}});
  Settings settings;
  settings.set(Setting::Model, Json::string("gpt-4o"));
  settings.set(Setting::Temperature, Json::number(1));
  conversation.set_settings(settings);
  return conversation;
}

std::string run(const Tracer& tracer) {
  Span agent = tracer.start(Operation::InvokeAgent, "manus");
  for (const KeyInfo& key : keys()) agent.set(key.key, example(key.type));
  Span chat = tracer.start_child(Operation::Chat, "gpt-4o", agent);
  set_request(chat, request());
  const ToolCall call{.id = Text("call_1"), .function = {Text("weather"), Text(R"({"city":"Oslo"})")}};
  Outcome outcome;
  outcome.id = Text("resp_1");
  outcome.finish = Finish::ToolCalls;
  outcome.usage.input = 12;
  set_answer(chat, Message::from_tool_calls({&call, 1}), outcome);
  chat.end();
  Span tool = tracer.start_child(Operation::ExecuteTool, "weather", agent);
  tool.set(Key::ToolName, "weather").set(Key::ToolCallResult, Message::user_message("12 degrees"));
  tool.fail("failed", "no window");
  tool.end();
  return to_traceparent(agent.context());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Result<Tracer> tracer = Tracer::open({.endpoint = argv[1], .capture_content = true});
  if (!tracer) return 2;
  const std::string ids = run(*tracer);
  const Result<void> flushed = tracer->flush(std::chrono::milliseconds(30'000));
  if (!flushed) {
    std::fprintf(stderr, "send_spans: %s\n", flushed.error().message.c_str());
    return 3;
  }
  std::printf("%s\n", ids.c_str());
  return 0;
}
