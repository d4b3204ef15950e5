// Asking the model: the window it sees, and what to do if that is too much.
#include <algorithm>
#include <optional>
#include <utility>

#include "agent/loop.h"

namespace parley::agent {
namespace {

constexpr std::size_t kMostShortenings = 4;

// How much of the window stays when it was too much for the model: first what fits by the provider's counts,
// if it gives them, less a tenth for what no shortening shrinks; then at most half; and in the end only what
// must stay, so that the last try succeeds if any does.
double share_to_keep(std::size_t shortenings, const Overflow& overflow) {
  if (shortenings + 1 >= kMostShortenings) return 0;
  const std::optional<double> share = overflow.share();
  if (!share) return 0.5;
  return shortenings == 0 ? *share * 0.9 : std::min(0.5, *share * 0.9);
}

ModelRequest request_of(const Loop& loop) {
  const AgentOptions& options = loop.options;
  ModelRequest request{.conversation = Conversation(loop.history->window())};
  if (!options.system_prompt.empty()) {
    request.conversation.set_system(Message::system_message(options.system_prompt));
  }
  Settings settings = options.settings;
  std::vector<Tool> tools = loop.tools->specs();
  if (!tools.empty()) settings.set(Setting::ToolChoice, Json::string(to_string(options.tool_choice)));
  request.conversation.set_tools(std::move(tools));
  request.conversation.set_settings(std::move(settings));
  request.reply = options.reply;
  request.stream = loop.row.streams;
  return request;
}

std::unexpected<CallError> over_limit(const Loop& loop, std::size_t needed) {
  const ModelInfo& info = loop.model->info();
  std::string message = loop.row.over_limit(loop.ledger, needed);
  const Failure failure{.kind = FailureKind::ContextTooLong, .message = Text(message)};
  CallError error{{Code::LimitExceeded, std::move(message), {}}, failure, {}};
  error.call.provider = info.provider;
  error.call.model = info.name;
  error.call.failure = failure.kind;
  return std::unexpected(std::move(error));
}

// Counts an answer towards the limit, and corrects later estimates by what it cost.
void take_usage(Loop& loop, std::size_t estimate, const Usage& usage) {
  loop.ledger.update(usage.input.value_or(estimate), usage.output.value_or(0));
  if (!loop.counter || !usage.input) return;
  loop.counter = loop.counter->calibrated({.estimated = estimate, .reported = *usage.input});
  loop.history->calibrate(loop.counter->calibration());
}

}  // namespace

Called<ModelAnswer> ask(Loop& loop) {
  CallOptions call;
  call.stop = loop.run->stop.get_token();
  if (loop.options.on_event) {
    call.on_event = [&](const StreamEvent& event) { loop.emit(agent_event::Streaming{event}); };
  }
  for (std::size_t shortenings = 0;; ++shortenings) {
    const ModelRequest request = request_of(loop);
    const std::size_t estimate = loop.counter ? loop.counter->count(request.conversation) : 0;
    if (!loop.ledger.check(estimate)) return over_limit(loop, estimate);
    call.traceparent.clear();
    loop.emit(agent_event::Asking{request, call.traceparent});
    Called<ModelAnswer> answer = loop.model->complete(request, call);
    loop.run->report.calls.push_back(answer ? answer->call : answer.error().call);
    if (answer) loop.run->report.finish = answer->outcome.finish;
    if (answer) take_usage(loop, estimate, answer->outcome.usage);
    if (answer || answer.error().failure.kind != FailureKind::ContextTooLong) return answer;
    if (!loop.row.shortens || shortenings == kMostShortenings) return answer;
    const auto evicted = loop.history->shorten(share_to_keep(shortenings, answer.error().failure.overflow));
    if (!evicted) return answer;
    // Nothing leaves if only the summary becomes shorter.
    if (!evicted->empty()) loop.emit(agent_event::Shortened{*evicted});
  }
}

}  // namespace parley::agent
