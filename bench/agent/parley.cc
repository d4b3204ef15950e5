// The streams as Parley's API takes them: a call of a model blocks, so each has a thread.
#include <atomic>
#include <thread>
#include <vector>

#include "agent/streams.h"
#include "agent/task.h"
#include "parley/model/http_model.h"

namespace bench::agent_task {

using namespace ::parley;

std::size_t take_by_parley(const std::string& url) {
  ModelConfig config;
  config.model = "compatible/m";
  config.base_url = url;
  const auto model = open_model(std::move(config));
  check(model.has_value(), "opening a model");
  std::atomic<std::size_t> tokens = 0;
  const auto take = [&] {
    ModelRequest request;
    request.conversation = Conversation({Message::user_message(Text("Go on."))});
    std::size_t count = 0;
    const auto answer = (*model)->complete(request, {.on_event = [&](const StreamEvent& event) {
                                             count += std::holds_alternative<stream::Delta>(event) ? 1 : 0;
                                           }});
    check(answer.has_value() && !answer->cut, "a stream of Parley");
    tokens += count;
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(kStreams);
    for (std::size_t i = 0; i < kStreams; ++i) threads.emplace_back(take);
  }
  return tokens;
}

}  // namespace bench::agent_task
