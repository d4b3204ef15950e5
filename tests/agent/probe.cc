// Runs the model client and the agent against a server that speaks a provider's language, and prints what
// came of it: for tests/judges/agent.sh. What is printed does not depend on the provider.
//
//   probe PROVIDER URL KEY
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/agent/agent.h"
#include "parley/model/http_model.h"
#include "parley/store/store.h"
#include "parley/tool/function_tool.h"

namespace {

using namespace parley;

struct Peer {
  std::string provider, url, key;
};

void print(std::string_view what, std::string_view value) {
  std::printf("%.*s: %.*s\n", static_cast<int>(what.size()), what.data(), static_cast<int>(value.size()),
              value.data());
}

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "probe: %s\n", error.message.c_str());
  std::exit(3);
}

void must(const Result<void>& result) {
  if (!result) give_up(result.error());
}
template <typename T>
T must(Result<T> result) {
  if (!result) give_up(result.error());
  return *std::move(result);
}

std::shared_ptr<Model> model_of(const Peer& peer, std::string_view test) {
  ModelConfig config;
  config.model = peer.provider + "/peer-model";
  config.base_url = peer.url;
  config.key = Secret(peer.key);
  config.headers = {
      {"X-Test-Id", peer.provider + " " + std::string(test)}};  // answers that differ by turns count in it
  config.retry.first = std::chrono::milliseconds(1);
  return must(open_model(std::move(config)));
}

// ---- One question

Conversation question(std::span<const std::string_view> talk, std::string_view system) {
  std::vector<Message> messages;
  for (std::size_t i = 0; i < talk.size(); ++i) {
    const Text text = Text(talk[i]);
    messages.push_back(i % 2 == 0 ? Message::user_message(text) : Message::assistant_message(text));
  }
  Conversation conversation(std::move(messages));
  if (!system.empty()) conversation.set_system(Message::system_message(Text(system)));
  return conversation;
}

std::string usage_of(const Usage& usage) {
  const auto number = [](const std::optional<std::uint64_t>& count) {
    return count ? std::to_string(*count) : std::string("?");
  };
  return number(usage.input) + " in, " + number(usage.output) + " out";
}

struct Ask {
  const char* title;
  std::vector<std::string_view> talk;
  bool stream = true;
  bool shows_usage = false;
  std::string_view system = {};
  std::string_view key = {};  // another one than the right one
};

// How much of a broken answer came depends on how the peer cuts it in pieces.
bool is_beginning(std::string_view text) {
  constexpr std::string_view kWhole =
      "The first words come, and then the line goes dead before the sentence has an end.";
  return !text.empty() && text.size() < kWhole.size() && kWhole.starts_with(text);
}

void print_answer(const Ask& ask, const ModelAnswer& answer, std::size_t deltas, std::string_view streamed) {
  const std::string text = answer.message.get_text_content("").value_or(Text()).str();
  if (answer.cut) {
    print("cut", to_string(answer.cut->kind));
    print("kept", is_beginning(text) ? "a beginning" : text);
  } else {
    print("text", text);
    print("finish", to_string(answer.outcome.finish));
  }
  if (ask.shows_usage) print("usage", usage_of(answer.outcome.usage));
  if (!ask.stream || answer.cut) return;
  print("streamed", streamed == text ? "the same" : streamed);
  print("pieces", deltas > 1 ? "several" : std::to_string(deltas));
}

void run(const Peer& peer, const Ask& ask) {
  std::printf("== %s\n", ask.title);
  Peer there = peer;
  if (!ask.key.empty()) there.key = ask.key;
  std::string streamed;
  std::size_t deltas = 0;
  CallOptions options;
  options.on_event = [&](const StreamEvent& event) {
    const auto* delta = std::get_if<stream::Delta>(&event);
    if (delta == nullptr || delta->kind != stream::DeltaKind::Text) return;
    streamed += delta->text;
    ++deltas;
  };
  const auto answer =
      model_of(there, ask.title)
          ->complete({.conversation = question(ask.talk, ask.system), .stream = ask.stream}, options);
  if (answer) {
    print_answer(ask, *answer, deltas, streamed);
    print("attempts", std::to_string(answer->call.attempts));
    return;
  }
  print("failure", to_string(answer.error().failure.kind));
  print("attempts", std::to_string(answer.error().call.attempts));
}

// ---- A run of the agent

// "assistant: words +tool {...}", "tool: words": one line a message.
std::string line_of(const Message& message) {
  std::string line(to_string(message.role()));
  line += ':';
  for (const Block& block : message.blocks()) {
    if (const auto* text = block.as<TextBlock>(); text != nullptr && !text->text.empty()) {
      line += ' ' + text->text.str();
    }
    if (const auto* use = block.as<ToolUseBlock>()) {
      line += " +" + use->name.str() + ' ' + must(use->input()).compact().text().str();
    }
    const auto* result = block.as<ToolResultBlock>();
    if (result == nullptr) continue;
    if (result->is_error.value_or(false)) line += " (error)";
    if (const auto* text = std::get_if<Text>(&result->output)) line += ' ' + text->str();
    if (const auto* parts = std::get_if<std::vector<Block>>(&result->output)) {
      for (const Block& part : *parts) {
        if (const auto* text = part.as<TextBlock>()) line += ' ' + text->text.str();
      }
    }
  }
  return line;
}

std::shared_ptr<ToolBox> tools() {
  auto box = std::make_shared<ToolBox>();
  must(box->add(function_tool(
      Text("get_weather"), Text("Says how the weather is."),
      {param(Text("city"), Text("Where.")).string().required(),
       param(Text("days"), Text("When.")).integers()},
      [](const Args& args) { return ToolOutput::text(Text("12 degrees in " + args.string("city").str())); },
      {.has_side_effects = false})));
  return box;
}

void run_agent(const Peer& peer, const char* request) {
  std::printf("== agent: %s\n", request);
  auto store = std::make_shared<store::Store>(must(store::open_store("memory:")));
  const store::SessionKey key = {.session = "s"};
  auto agent =
      must(ToolCallAgent::open(model_of(peer, request), tools(), must(StoredMemory::open(store, key)),
                               {.system_prompt = Text("You are an agent.")}));
  const RunReport report = must(agent->run(Message::user_message(Text(request))));
  const StoredMemory stored = must(StoredMemory::open(store, key));
  const std::vector<Message> log = stored.log().value();
  for (const Message& message : log) std::printf("%s\n", line_of(message).c_str());
  print("end", to_string(report.end));
  print("steps", std::to_string(report.steps));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Peer peer = {argv[1], argv[2], argv[3]};
  const Ask asks[] = {
      {.title = "hello, whole", .talk = {"say hello"}, .stream = false, .shows_usage = true},
      {.title = "hello, streamed", .talk = {"say hello"}, .shows_usage = true},
      {.title = "a system part", .talk = {"who are you"}, .system = "You are a parrot."},
      {.title = "the third turn", .talk = {"one", "1", "two", "2", "what did I say"}},
      {.title = "cut by the limit, whole", .talk = {"run out of room"}, .stream = false},
      {.title = "cut by the limit, streamed", .talk = {"run out of room"}},
      {.title = "too many requests, then too busy", .talk = {"take your time"}},
      {.title = "an error every time", .talk = {"always fail"}},
      {.title = "a bad request", .talk = {"a bad request"}},
      {.title = "a wrong key", .talk = {"say hello"}, .key = "wrong"},
      {.title = "no JSON, whole", .talk = {"garbage"}, .stream = false},
      {.title = "no JSON, streamed", .talk = {"garbage"}},
      {.title = "broken off", .talk = {"break off"}},
      {.title = "hung up", .talk = {"hang up"}},
  };
  for (const Ask& ask : asks) run(peer, ask);
  for (const char* request :
       {"weather in Oslo", "compare two towns", "use a tool nobody has", "always fail"}) {
    run_agent(peer, request);
  }
  return 0;
}
