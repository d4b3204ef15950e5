// Asks a server that speaks a provider's language for a short answer, whole, and for a reply by a schema, and
// prints what came: for tests/judges/real_model.sh.
//
//   reply_probe PROVIDER URL KEY
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "parley/agent/agent.h"
#include "parley/model/http_model.h"
#include "parley/store/store.h"

namespace {

using namespace parley;

template <typename T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "reply_probe: %s\n", result.error().message.c_str());
  std::exit(3);
}

std::shared_ptr<Model> model_of(char** argv) {
  ModelConfig config;
  config.model = argv[1] + std::string("/any");
  config.base_url = argv[2];
  config.key = Secret(argv[3]);
  return must(open_model(std::move(config)));
}

void ask_whole(Model& model) {
  Conversation conversation({Message::user_message(Text("Tell me about the sea."))});
  Settings settings;
  settings.set(Setting::MaxTokens, Json::number(8));
  conversation.set_settings(settings);
  const auto answer = model.complete({.conversation = conversation, .stream = false}, {});
  if (!answer) {
    std::printf("whole: failed: %s\n", answer.error().message.c_str());
    return;
  }
  const auto output = answer->outcome.usage.output;
  std::printf("whole: %s tokens, %s\n", output ? std::to_string(*output).c_str() : "?",
              std::string(to_string(answer->outcome.finish)).c_str());
}

void ask_by_schema(std::shared_ptr<Model> model) {
  const Json schema = must(Json::parse(R"({"type": "object", "additionalProperties": false,
    "properties": {"name": {"type": "string", "maxLength": 12}, "legs": {"enum": [2, 4, 6, 8]}},
    "required": ["name", "legs"]})"));
  AgentOptions options;
  options.reply = ReplySchema{.schema = schema};
  options.settings.set(Setting::MaxTokens, Json::number(64));
  auto store = std::make_shared<store::Store>(must(store::open_store("memory:")));
  auto agent = must(ToolCallAgent::open(std::move(model), std::make_shared<ToolBox>(),
                                        must(StoredMemory::open(store, {.session = "s"})), options));
  const RunReport report = must(agent->run(Message::user_message(Text("Describe a spider."))));
  const std::string text = report.reply ? report.reply->compact().text().str() : report.text.str();
  std::printf("reply: %s, %zu asked: %s\n", std::string(to_string(report.end)).c_str(), report.calls.size(),
              text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::shared_ptr<Model> model = model_of(argv);
  ask_whole(*model);
  ask_by_schema(model);
  return 0;
}
