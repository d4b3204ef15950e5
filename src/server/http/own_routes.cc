#include "server/http/own_routes.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "parley/base/clock.h"
#include "parley/base/log.h"
#include "parley/json/writer.h"
#include "server/http/blocking.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

Json status_object(std::string_view status) {
  json::Writer w;
  return w.begin_object().key("status").string(status).end_object().take();
}

constexpr std::string_view kWelcome =
    "This is parley serve. Set the base URL of a client to this address and /v1:\n"
    "\n"
    "  OpenAI's SDKs and tools   OPENAI_BASE_URL=<this address>/v1\n"
    "\n"
    "Paths: /v1/responses, /v1/conversations, /v1/chat/completions, /v1/models, /health, /ready.\n"
    "Every conversation is stored: 'parley sessions list' shows it.\n";

void welcome(Service&, const std::shared_ptr<Exchange>& exchange) {
  std::vector<net::Header> headers = exchange->headers;
  headers.push_back({"Content-Type", "text/plain; charset=utf-8"});
  headers.push_back({"x-request-id", exchange->request_id});
  exchange->responder->whole(200, std::move(headers), std::string(kWelcome));
}

void health(Service&, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer(200, status_object("ok"));
}

ApiError not_ready(std::string message) {
  return {
      .status = 503, .type = "server_error", .message = std::move(message), .param = {}, .code = "not_ready"};
}

using Look = std::function<store::Health(store::Store& store)>;

store::Health look_at(store::Store& store) { return store.health(Deadline::in(std::chrono::seconds(5))); }

void answer_ready(Exchange& exchange, bool is_ready) {
  if (is_ready) return exchange.answer(200, status_object("ready"));
  answer(exchange, not_ready("the store does not work"));
}

// What is known of the store (OWN_ROUTES1). Safe from any thread.
class Readiness : public std::enable_shared_from_this<Readiness> {
 public:
  explicit Readiness(Look look) : look_(std::move(look)) {}

  void answer_to(Service& service, const std::shared_ptr<Exchange>& exchange) {
    bool is_ready = false;
    {
      const std::lock_guard lock(mutex_);
      if (!fresh_until_ || fresh_until_->has_passed()) {
        waiting_.push_back(exchange);
        if (!std::exchange(is_looking_, true)) look(service, *exchange->loop);
        return;
      }
      is_ready = is_ready_;
    }
    answer_ready(*exchange, is_ready);
  }

 private:
  static constexpr std::chrono::seconds kFresh{1};

  void look(Service& service, net::EventLoop& loop) {
    const auto health = std::make_shared<store::Health>();
    service.engine.run(
        loop,
        [self = shared_from_this(), &service, health] { *health = self->look_(service.engine.store()); },
        [self = shared_from_this(), health] { self->take(*health); });
  }

  void take(const store::Health& health) {
    if (!health.is_ok) {
      log(LogLevel::Error, "the store does not work: " + (health.error ? health.error->message : "unknown"));
    }
    std::vector<std::shared_ptr<Exchange>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting = std::exchange(waiting_, {});
      is_looking_ = false;
      is_ready_ = health.is_ok;
      fresh_until_ = Deadline::in(kFresh);
    }
    for (const std::shared_ptr<Exchange>& exchange : waiting) {
      exchange->loop->run([exchange, is_ready = health.is_ok] { answer_ready(*exchange, is_ready); });
    }
  }

  const Look look_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Exchange>> waiting_;
  bool is_looking_ = false;
  bool is_ready_ = false;
  std::optional<Deadline> fresh_until_;
};

std::optional<TurnId> turn_named(std::string_view id) {
  if (auto turn = turn_id_of(kResponsePrefix, id)) return turn;
  return turn_id_of(kCompletionPrefix, id);
}

Json request_object(std::string_view id, const SentRequest& sent) {
  json::Writer w;
  w.begin_object().key("id").string(id).key("object").string("parley.request");
  w.key("model").string(sent.model).key("dialect").string(sent.dialect);
  w.key("sha256");
  if (sent.sha256.empty()) {
    w.null();
  } else {
    w.string(sent.sha256);
  }
  w.key("identical").boolean(sent.is_identical);
  w.key("body").string(sent.body).key("recipe").value(sent.recipe);
  return w.end_object().take();
}

// What the model was sent for a response or a completion: rebuilt, and compared with what was sent.
void sent_request(Service& service, const std::shared_ptr<Exchange>& exchange) {
  answer_with(service, exchange, [&service, exchange]() -> Reply {
    const std::string& id = exchange->parameters.front();
    const std::optional<TurnId> turn = turn_named(id);
    const Error missing{Code::NotFound, "no request has the id '" + id + "'", {}};
    if (!turn || !exchange->identity.may_open(turn->session)) return refuse(missing, "request");
    const auto sent = service.engine.read_request({exchange->session(turn->session), turn->turn});
    if (!sent) return refuse(sent.error().code == Code::NotFound ? missing : sent.error(), "request");
    return request_object(id, *sent);
  });
}

}  // namespace

std::vector<Route> own_routes(const std::shared_ptr<const std::atomic<bool>>& is_draining, Look look) {
  const auto readiness = std::make_shared<Readiness>(look ? std::move(look) : Look(look_at));
  return {{"GET", "/", welcome},
          {"GET", "/health", health},
          {"GET", "/ready",
           [is_draining, readiness](Service& service, const std::shared_ptr<Exchange>& exchange) {
             if (*is_draining) return answer(*exchange, not_ready("the server is stopping"));
             readiness->answer_to(service, exchange);
           }},
          {"GET", "/v1/parley/requests/{}", sent_request}};
}

}  // namespace parley::server
