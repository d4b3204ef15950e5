#include "parley/model/http_model.h"

#include <algorithm>
#include <utility>

#include "model/attempt.h"
#include "model/rate_limiter.h"
#include "model/request.h"
#include "model/retry.h"
#include "parley/base/log.h"
#include "parley/token/counter.h"

namespace parley {
namespace {

using model::Attempt;
using model::Attempted;
using model::Question;
using std::chrono::milliseconds;

// What all calls of a model share.
struct Client {
  Client(ModelConfig given, const ModelName& name)
      : config(std::move(given)), provider(*name.provider), limiter(config.rate) {
    info.provider = Text(provider.name);
    info.name = name.name;
    info.dialect = provider.dialect;
    info.window = config.window;
    info.sees_images = config.sees_images;
    if (config.key_variable.empty()) config.key_variable = provider.key_variable;
  }

  ModelConfig config;
  const Provider& provider;
  ModelInfo info;
  model::RateLimiter limiter;
  net::Connections connections;
};

// One call: attempts, and the waits between them.
class Call {
 public:
  Call(Client& client, const ModelRequest& asked, const CallOptions& options)
      : client_(client),
        timer_(*client.config.timer),
        asked_(asked),
        traceparent_(options.traceparent),
        question_{client.info.dialect, asked.stream, options.on_event,  options.stop,
                  client.config.key,   timer_,       client.connections},
        started_(timer_.now()) {
    record_.purpose = asked.purpose;
    record_.provider = client.info.provider;
    record_.model = model::name_of(asked, client.info.name);
  }

  Called<ModelAnswer> run() {
    Result<model::WireRequest> request =
        model::request_of(asked_, client_.info.name, client_.provider, client_.config, notes_);
    if (!request) {
      return error({.kind = FailureKind::InvalidRequest, .message = Text(request.error().message)},
                   Code::Invalid, request.error().path);
    }
    if (!traceparent_.empty()) request->http.headers.push_back({"traceparent", traceparent_});
    for (;;) {
      if (question_.stop.stop_requested()) return stopped();
      if (auto refusal = wait_for_turn()) return *std::move(refusal);
      Attempted attempted = attempt(request->http);
      if (attempted.said) return answer(std::move(attempted));
      const milliseconds left = time_left();
      const auto wait = attempted.code == Code::Cancelled
                            ? std::nullopt
                            : model::retry_wait(client_.config.retry, record_.attempts, *attempted.failure,
                                                left, timer_.chance());
      record_.usage = attempted.usage;
      if (!wait) return error(*std::move(attempted.failure), attempted.code);
      log_retry(*attempted.failure, *wait);
      if (!timer_.wait(*wait, question_.stop)) return stopped();
    }
  }

 private:
  void log_retry(const Failure& failure, milliseconds wait) const {
    if (!is_logging()) return;
    log(LogLevel::Debug, client_.info.provider.str() + ": attempt " + std::to_string(record_.attempts) +
                             " failed (" + std::string(to_string(failure.kind)) + "): " +
                             failure.message.str() + "; retry in " + std::to_string(wait.count()) + " ms");
  }

  milliseconds time_left() const {
    const auto passed = std::chrono::duration_cast<milliseconds>(timer_.now() - started_);
    return std::max(milliseconds(0), client_.config.timeouts.total - passed);
  }

  // Waits as the limits on requests and tokens want it.
  std::optional<std::unexpected<CallError>> wait_for_turn() {
    model::RateLimiter& limiter = client_.limiter;
    if (limiter.counts_tokens() && !tokens_) {
      tokens_ = TokenCounter::for_model(record_.model).count(asked_.conversation);
    }
    const milliseconds wait = limiter.take(tokens_.value_or(0), timer_.now());
    const bool fits = wait < time_left();
    if (fits && (wait.count() == 0 || timer_.wait(wait, question_.stop))) return std::nullopt;
    limiter.give_back(tokens_.value_or(0));
    if (fits) return stopped();
    return error(
        {.kind = FailureKind::RateLimit,
         .retryable = true,
         .wait = wait,
         .message = "the rate limit (requests or tokens per minute) allows no request before the deadline"},
        Code::Unavailable);
  }

  Attempted attempt(net::Request& request) {
    ++record_.attempts;
    request.timeout = time_left();
    Attempt attempt(question_);
    Attempted attempted = attempt.run(request);
    if (const auto first = attempt.first_delta()) {
      record_.first_token = std::chrono::duration_cast<std::chrono::microseconds>(*first - started_);
    }
    return attempted;
  }

  Called<ModelAnswer> answer(Attempted attempted) {
    Accumulated& said = *attempted.said;
    record_.usage = said.outcome.usage;
    if (attempted.failure) record_.failure = attempted.failure->kind;
    if (tokens_ && record_.usage.input) {
      client_.limiter.correct(*tokens_, *record_.usage.input + record_.usage.output.value_or(0));
    }
    close();
    notes_.insert(notes_.end(), said.notes.begin(), said.notes.end());
    return ModelAnswer{std::move(said.message), std::move(said.outcome), std::move(attempted.failure),
                       std::move(notes_), record_};
  }

  std::unexpected<CallError> stopped() {
    return error({.kind = FailureKind::Transport, .message = "the call was stopped"}, Code::Cancelled);
  }

  std::unexpected<CallError> error(Failure failure, Code code, std::string path = {}) {
    record_.failure = failure.kind;
    close();
    return std::unexpected(
        CallError{fail(code, sentence(failure), std::move(path)).error(), std::move(failure), record_});
  }

  std::string sentence(const Failure& failure) const {
    std::string said = failure.message.str();
    if (failure.wait) {
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(*failure.wait).count();
      said += "; try again in " + std::to_string(seconds) + " s";
    }
    const std::string provider = client_.info.provider.str();
    if (failure.kind != FailureKind::Auth) return provider + ": " + said;
    const std::string& variable = client_.config.key_variable;
    const std::string what = client_.config.key.empty() ? "requires a key" : "rejected the key";
    return provider + " " + what + (variable.empty() ? "" : " (" + variable + ")") + ": " + said;
  }

  void close() {
    record_.latency = std::chrono::duration_cast<std::chrono::microseconds>(timer_.now() - started_);
    const ModelConfig& config = client_.config;
    record_.cost = config.prices.cost(record_.provider, record_.model, record_.usage);
    if (config.ledger) config.ledger->add(record_);
  }

  Client& client_;
  Timer& timer_;
  const ModelRequest& asked_;
  const std::string& traceparent_;
  Question question_;
  Timer::Time started_;
  CallRecord record_;
  std::vector<Note> notes_;
  std::optional<std::size_t> tokens_;  // an estimate, if tokens are limited
};

class HttpModel final : public Model {
 public:
  HttpModel(ModelConfig config, const ModelName& name) : client_(std::move(config), name) {}

  const ModelInfo& info() const override { return client_.info; }
  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options) override {
    return Call(client_, request, options).run();
  }

 private:
  Client client_;
};

}  // namespace

Result<std::shared_ptr<Model>> open_model(ModelConfig config) {
  PARLEY_TRY(const ModelName name, parse_model_name(config.model));
  PARLEY_CHECK(url_of(*name.provider, {config.base_url, config.api_version, name.name, false}));
  const Provider& provider = *name.provider;
  const bool is_own = config.base_url.empty() || provider.base_url.empty();
  if (is_own && config.key.empty() && !provider.key_variable.empty()) {
    return fail(Code::Missing,
                "no key for " + std::string(provider.name) + ": set " + std::string(provider.key_variable));
  }
  return std::make_shared<HttpModel>(std::move(config), name);
}

}  // namespace parley
