// Asking the model: what it is shown, and what to do if that is too much.
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
  ModelRequest request{.conversation = Conversation(loop.history->shown())};
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

}  // namespace

Called<ModelAnswer> ask(Loop& loop) {
  CallOptions call;
  call.stop = loop.run->stop.get_token();
  if (loop.options.on_event) {
    call.on_event = [&](const StreamEvent& event) { loop.emit(agent_event::Streaming{event}); };
  }
  for (std::size_t shortenings = 0;; ++shortenings) {
    const ModelRequest request = request_of(loop);
    call.traceparent.clear();
    loop.emit(agent_event::Asking{request, call.traceparent});
    Called<ModelAnswer> answer = loop.model->complete(request, call);
    loop.run->report.calls.push_back(answer ? answer->call : answer.error().call);
    if (answer) loop.run->report.finish = answer->outcome.finish;
    if (answer || answer.error().failure.kind != FailureKind::ContextTooLong) return answer;
    if (!loop.row.shortens || shortenings == kMostShortenings) return answer;
    const auto evicted = loop.history->shorten(share_to_keep(shortenings, answer.error().failure.overflow));
    if (!evicted) return answer;
    // Nothing leaves if only the summary becomes shorter.
    if (!evicted->empty()) loop.emit(agent_event::Shortened{*evicted});
  }
}

}  // namespace parley::agent
