#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "parley/agent/event.h"
#include "parley/trace/tracer.h"

namespace parley {
namespace {

using trace::Key;
using trace::Operation;
using trace::Span;

// What the conventions call an error that has no name.
constexpr std::string_view kOtherError = "_OTHER";

// The spans that are open. Events come from one thread at a time (EVENT4).
class Watcher {
 public:
  Watcher(trace::Tracer& tracer, SpanOptions options) : tracer_(tracer), options_(std::move(options)) {}

  void on(const agent_event::RunStarted&) {
    run_ =
        tracer_.start(Operation::InvokeAgent, options_.agent, trace::parse_traceparent(options_.traceparent));
    describe(run_);
    run_.set(Key::AgentName, options_.agent);
  }

  void on(const agent_event::Asking& asking) {
    if (chat_.context().is_valid()) chat_.fail(kOtherError);  // nothing came of the one before
    chat_ = tracer_.start_child(Operation::Chat, options_.model.name, run_);
    asking.traceparent = trace::to_traceparent(chat_.context());
    describe(chat_);
    if (options_.server) {
      chat_.set(Key::ServerAddress, options_.server->host);
      chat_.set(Key::ServerPort, options_.server->effective_port());
    }
    chat_.set(Key::RequestStream, asking.request.stream);
    if (asking.request.reply) chat_.set(Key::OutputType, "json");
    trace::set_request(chat_, asking.request.conversation);
  }

  void on(const agent_event::Answered& answered) {
    const ModelAnswer& answer = answered.answer;
    trace::set_answer(chat_, answer.message, answer.outcome);
    chat_.set(Key::ResponseTimeToFirstChunk, answer.call.first_token);
    if (answer.cut) chat_.fail(to_string(answer.cut->kind), answer.cut->message);
    chat_.end();
  }

  void on(const agent_event::ToolStarted& started) {
    const ToolUseBlock& use = started.use;
    Span span = tracer_.start_child(Operation::ExecuteTool, use.name, run_);
    span.set(Key::ToolName, use.name).set(Key::ToolType, "function");
    if (!use.id.empty()) span.set(Key::ToolCallId, use.id);
    if (span.wants(Key::ToolCallArguments)) {
      span.set(Key::ToolCallArguments, use.input().value_or(Json::string(use.arguments)));
    }
    tools_.push_back({use, std::move(span)});
  }

  void on(const agent_event::ToolEnded& ended) {
    const auto open = std::ranges::find(tools_, ended.use, &OpenTool::use);
    if (open == tools_.end()) return;
    Span span = std::move(open->span);
    tools_.erase(open);
    if (const auto& edited = ended.output.edited_arguments; edited && span.wants(Key::ToolCallArguments)) {
      span.set(Key::ToolCallArguments, Json::parse(edited->view()).value_or(Json::string(*edited)));
    }
    if (span.wants(Key::ToolCallResult)) {
      const ToolOutput& output = ended.output;
      span.set(Key::ToolCallResult, output.structured.value_or(Json::string(output.joined_text())));
    }
    if (ended.output.is_error()) span.fail(to_string(ended.output.status));
  }

  void on(const agent_event::RunEnded& ended) {
    const bool is_good = ended.end == RunEnd::Answered || ended.end == RunEnd::Terminated;
    const std::string_view type =
        ended.error != nullptr ? to_string(ended.error->code) : to_string(ended.end);
    const std::string_view sentence = ended.error != nullptr ? ended.error->message : std::string_view();
    if (chat_.context().is_valid()) chat_.fail(is_good ? kOtherError : type, sentence);
    chat_.end();
    tools_.clear();
    if (!is_good) run_.fail(type, sentence);
    run_.end();
  }

  template <typename Other>
  void on(const Other&) {}

 private:
  struct OpenTool {
    ToolUseBlock use;
    Span span;
  };

  void describe(Span& span) const {
    span.set(Key::ProviderName, trace::provider_word(options_.model.provider));
    if (!options_.model.name.empty()) span.set(Key::RequestModel, options_.model.name);
    if (!options_.conversation_id.empty()) span.set(Key::ConversationId, options_.conversation_id);
  }

  trace::Tracer& tracer_;
  SpanOptions options_;
  Span run_, chat_;
  std::vector<OpenTool> tools_;
};

}  // namespace

OnAgentEvent spans(trace::Tracer& tracer, SpanOptions options) {
  auto watcher = std::make_shared<Watcher>(tracer, std::move(options));
  return
      [watcher](const AgentEvent& event) { std::visit([&](const auto& each) { watcher->on(each); }, event); };
}

}  // namespace parley
