// For tests: a model that says what a test wrote down, tools that are functions, and an agent of both.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "parley/agent/agent.h"
#include "parley/store/store.h"

namespace parley::agent {

using Turn = std::function<Called<ModelAnswer>(const ModelRequest&, const CallOptions&)>;

inline Turn says(Message message, Finish finish = Finish::Stop) {
  return [=](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
    ModelAnswer answer{.message = message, .outcome = {}};
    answer.outcome.finish = finish;
    return answer;
  };
}
inline Turn says(const char* text) { return says(Message::assistant_message(Text(text))); }

inline Turn calls(const std::vector<ToolCall>& list, const char* text = "") {
  return says(Message::from_tool_calls(list, Text(text)), Finish::ToolCalls);
}
inline ToolCall call(const char* id, const char* name, const char* arguments = "{}") {
  return {Text(id), Text("function"), {Text(name), Text(arguments)}};
}

inline Turn fails(FailureKind kind, Code code, const char* words) {
  return [=](const ModelRequest&, const CallOptions&) -> Called<ModelAnswer> {
    CallError error;
    error.code = code;
    error.message = words;
    error.failure.kind = kind;
    return std::unexpected(error);
  };
}

// Says its turns one after the other, and the last one again and again.
class ScriptedModel : public Model {
 public:
  explicit ScriptedModel(std::vector<Turn> turns) : turns_(std::move(turns)) {
    info_.provider = Text("scripted");
    info_.name = Text("test");
  }
  const ModelInfo& info() const override { return info_; }
  void set_provider(Text name) { info_.provider = std::move(name); }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options) override {
    asked.push_back(request);
    const Turn& turn = turns_[std::min(asked.size(), turns_.size()) - 1];
    return turn(request, options);
  }
  std::vector<ModelRequest> asked;

 private:
  ModelInfo info_;
  std::vector<Turn> turns_;
};

class FunctionTool : public RunnableTool {
 public:
  using Function = std::function<ToolOutput(const Json&, const ToolContext&)>;
  FunctionTool(const char* name, Function function, bool parallel = true)
      : function_(std::move(function)), parallel_(parallel) {
    spec_.name = Text(name);
    spec_.parameters = *Json::parse(R"json({"type":"object"})json");
  }
  const Tool& spec() const override { return spec_; }
  bool has_side_effects(const Json&) const override { return false; }
  bool is_parallel() const override { return parallel_; }
  ToolOutput run(const Json& arguments, const ToolContext& context) override {
    return function_(arguments, context);
  }

 private:
  Tool spec_;
  Function function_;
  bool parallel_;
};

// Tools that note in which order they ran: "look" and "terminate" succeed, "fail" says no, "throw" throws.
struct Tools {
  std::shared_ptr<ToolBox> box = std::make_shared<ToolBox>();
  std::shared_ptr<std::vector<std::string>> ran = std::make_shared<std::vector<std::string>>();
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();  // of `ran`, while tools run

  Tools() {
    add("look", [](const Json&, const ToolContext&) { return ToolOutput::text(Text("seen")); });
    add("fail", [](const Json&, const ToolContext&) { return ToolOutput::failure(Text("cannot")); });
    add("throw", [](const Json&, const ToolContext&) -> ToolOutput { throw std::runtime_error("boom"); });
    add("terminate", [](const Json&, const ToolContext&) { return ToolOutput::text(Text("done")); });
  }
  void add(const char* name, FunctionTool::Function function, bool parallel = true) {
    auto noted = [=, name = std::string(name), ran = ran, mutex = mutex](const Json& a,
                                                                         const ToolContext& c) {
      {
        const std::lock_guard lock(*mutex);
        ran->push_back(name);
      }
      return function(a, c);
    };
    const auto added = box->add(std::make_shared<FunctionTool>(name, noted, parallel));
    EXPECT_TRUE(added) << added.error().message;
  }
};

inline std::shared_ptr<store::Store> new_store() {
  return std::make_shared<store::Store>(*store::open_store("memory:"));
}

// An agent, and what it is made of.
struct Scene {
  explicit Scene(std::vector<Turn> turns, AgentOptions options = {}, MemoryOptions memory = {})
      : model(std::make_shared<ScriptedModel>(std::move(turns))) {
    open(std::move(options), std::move(memory));
  }
  void open(AgentOptions options = {}, MemoryOptions memory = {}) {
    agent.reset();
    auto opened = StoredMemory::open(store, key, std::move(memory));
    ASSERT_TRUE(opened) << opened.error().message;
    auto made = ToolCallAgent::open(model, tools.box, *std::move(opened), std::move(options));
    ASSERT_TRUE(made) << made.error().message;
    agent = *std::move(made);
  }
  RunReport run(const char* request = "do it") {
    auto report = agent->run(Message::user_message(Text(request)));
    EXPECT_TRUE(report) << report.error().message;
    return report ? *std::move(report) : RunReport{};
  }
  std::vector<Message> stored() const {
    auto opened = StoredMemory::open(store, key);
    EXPECT_TRUE(opened);
    return opened ? opened->log().value() : std::vector<Message>{};
  }

  std::shared_ptr<store::Store> store = new_store();
  store::SessionKey key = {.session = "s"};
  std::shared_ptr<ScriptedModel> model;
  Tools tools;
  std::unique_ptr<ToolCallAgent> agent;
};

// "user: do it", "assistant: ... +look", "tool: seen", "tool! cannot": one line a message.
inline std::string line_of(const Message& message) {
  std::string out(to_string(message.role()));
  bool is_error = false;
  std::string rest;
  for (const Block& block : message.blocks()) {
    if (const auto* text = block.as<TextBlock>()) rest += text->text.view();
    if (const auto* use = block.as<ToolUseBlock>()) rest += " +" + use->name.str();
    if (const auto* result = block.as<ToolResultBlock>()) {
      is_error = is_error || result->is_error.value_or(false);
      if (const auto* text = std::get_if<Text>(&result->output)) rest += text->view();
      if (const auto* parts = std::get_if<std::vector<Block>>(&result->output)) {
        for (const Block& part : *parts)
          rest += part.as<TextBlock>() ? part.as<TextBlock>()->text.str() : "[media]";
      }
    }
  }
  return out + (is_error ? "! " : ": ") + rest;
}
inline std::vector<std::string> lines_of(std::span<const Message> messages) {
  std::vector<std::string> out;
  for (const Message& message : messages) out.push_back(line_of(message));
  return out;
}

}  // namespace parley::agent
