#include "server/openai/chat.h"

#include <memory>
#include <optional>
#include <utility>

#include "server/http/blocking.h"
#include "server/openai/chat_request.h"
#include "server/openai/chat_stored.h"
#include "server/openai/chat_turn.h"

namespace parley::server {
namespace {

// Larger bodies are read on another thread, so that the loop serves its other connections meanwhile.
constexpr std::size_t kMostReadOnLoop = std::size_t{256} * 1024;

using ReadChat = std::expected<ChatRequest, ApiError>;

void run_or_refuse(Service& service, const std::shared_ptr<Exchange>& exchange, ReadChat request) {
  if (exchange->is_gone) return;
  if (!request) return answer(*exchange, request.error());
  run_chat(service, exchange, *std::move(request));
}

void create_completion(Service& service, const std::shared_ptr<Exchange>& exchange) {
  if (exchange->request.body.size() <= kMostReadOnLoop) {
    return run_or_refuse(service, exchange, read_chat_request(*exchange));
  }
  const auto request = std::make_shared<std::optional<ReadChat>>();
  service.engine.run(
      *exchange->loop, [request, exchange] { request->emplace(read_chat_request(*exchange)); },
      [&service, request, exchange] { run_or_refuse(service, exchange, std::move(**request)); });
}

Handler stored_handler(const std::shared_ptr<ConversationBook>& book, Reply (StoredChatCall::*call)()) {
  return [book, call](Service& service, const std::shared_ptr<Exchange>& exchange) {
    answer_with(service, exchange, [book, call, &engine = service.engine, exchange] {
      return (StoredChatCall(*book, engine, *exchange).*call)();
    });
  };
}

}  // namespace

std::vector<Route> chat_routes() {
  const auto book = std::make_shared<ConversationBook>();
  const auto to = [&](Reply (StoredChatCall::*call)()) { return stored_handler(book, call); };
  return {
      {"POST", "/v1/chat/completions", create_completion},
      {"GET", "/v1/chat/completions", to(&StoredChatCall::list)},
      {"GET", "/v1/chat/completions/{}", to(&StoredChatCall::get)},
      {"GET", "/v1/chat/completions/{}/messages", to(&StoredChatCall::messages)},
      {"POST", "/v1/chat/completions/{}", to(&StoredChatCall::update)},
      {"DELETE", "/v1/chat/completions/{}", to(&StoredChatCall::remove)},
  };
}

}  // namespace parley::server
