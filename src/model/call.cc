#include "model/call.h"

#include <algorithm>
#include <utility>

#include "model/retry.h"
#include "parley/base/log.h"
#include "parley/token/counter.h"

namespace parley::model {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Client::Client(ModelConfig given, const ModelName& name)
    : config(std::move(given)), provider(*name.provider), limiter(config.rate) {
  info.provider = Text(provider.name);
  info.name = name.name;
  info.dialect = provider.dialect;
  info.window = config.window;
  info.sees_images = config.sees_images;
  if (config.key_variable.empty()) config.key_variable = provider.key_variable;
}

Call::Call(Client& client, const ModelRequest& asked, const CallOptions& options)
    : client_(client),
      timer_(*client.config.timer),
      asked_(asked),
      options_(options),
      question_{client.info.dialect, asked.stream, options.on_event, options.stop, client.config.key, timer_},
      started_(timer_.now()) {
  record_.purpose = asked.purpose;
  record_.provider = client.info.provider;
  record_.model = name_of(asked, client.info.name);
}

Call::Step Call::begin() {
  Result<WireRequest> request =
      request_of(asked_, client_.info.name, client_.provider, client_.config, notes_);
  if (!request) {
    return fail_with({.kind = FailureKind::InvalidRequest, .message = Text(request.error().message)},
                     Code::Invalid, request.error().path);
  }
  request_ = *std::move(request);
  if (!options_.traceparent.empty()) {
    request_->http.headers.push_back({"traceparent", options_.traceparent});
  }
  return take_turn();
}

milliseconds Call::time_left() const {
  const auto passed = std::chrono::duration_cast<milliseconds>(timer_.now() - started_);
  return std::max(milliseconds(0), client_.config.timeouts.total - passed);
}

// Waits as the limits on requests and tokens want it.
Call::Step Call::take_turn() {
  if (question_.stop.stop_requested()) return stop();
  RateLimiter& limiter = client_.limiter;
  if (limiter.counts_tokens() && !tokens_) {
    tokens_ = TokenCounter::for_model(record_.model).count(asked_.conversation);
  }
  const milliseconds time = limiter.take(tokens_.value_or(0), timer_.now());
  if (time < time_left()) return time.count() == 0 ? send() : wait(Reason::Turn, time);
  limiter.give_back(tokens_.value_or(0));
  return fail_with(
      {.kind = FailureKind::RateLimit,
       .retryable = true,
       .wait = time,
       .message = "the rate limit (requests or tokens per minute) allows no request before the deadline"},
      Code::Unavailable);
}

Call::Step Call::wait(Reason reason, milliseconds time) {
  reason_ = reason;
  return Wait{time};
}

Call::Step Call::waited(bool was_stopped) {
  if (was_stopped) {
    if (reason_ == Reason::Turn) client_.limiter.give_back(tokens_.value_or(0));
    return stop();
  }
  return reason_ == Reason::Turn ? send() : take_turn();
}

Call::Step Call::send() {
  ++record_.attempts;
  request_->http.timeout = time_left();
  attempt_.emplace(question_);
  if (options_.on_request) options_.on_request(request_->document.pieces);
  if (auto failed = attempt_->begin(request_->http)) return take(*std::move(failed));
  return Send{&request_->http};
}

Call::Step Call::sent(const Result<net::Response>& response) { return take(attempt_->end(response)); }

Call::Step Call::take(Attempted attempted) {
  if (const auto first = attempt_->first_delta()) {
    record_.first_token = std::chrono::duration_cast<microseconds>(*first - started_);
  }
  if (attempted.said) return answer(std::move(attempted));
  record_.usage = attempted.usage;
  const milliseconds left = time_left();
  const auto time = attempted.code == Code::Cancelled ? std::nullopt
                                                      : retry_wait(client_.config.retry, record_.attempts,
                                                                   *attempted.failure, left, timer_.chance());
  if (!time) return fail_with(*std::move(attempted.failure), attempted.code);
  log_retry(*attempted.failure, *time);
  return wait(Reason::Retry, *time);
}

void Call::log_retry(const Failure& failure, milliseconds time) const {
  if (!is_logging()) return;
  log(LogLevel::Debug, client_.info.provider.str() + ": attempt " + std::to_string(record_.attempts) +
                           " failed (" + std::string(to_string(failure.kind)) + "): " +
                           failure.message.str() + "; retry in " + std::to_string(time.count()) + " ms");
}

Call::Step Call::answer(Attempted attempted) {
  Accumulated& said = *attempted.said;
  record_.usage = said.outcome.usage;
  if (attempted.failure) record_.failure = attempted.failure->kind;
  if (tokens_ && record_.usage.input) {
    client_.limiter.correct(*tokens_, *record_.usage.input + record_.usage.output.value_or(0));
  }
  close();
  notes_.insert(notes_.end(), said.notes.begin(), said.notes.end());
  result_ = ModelAnswer{std::move(said.message), std::move(said.outcome), std::move(attempted.failure),
                        std::move(notes_), record_};
  return End{};
}

Call::Step Call::stop() {
  return fail_with({.kind = FailureKind::Transport, .message = "the call was stopped"}, Code::Cancelled);
}

Call::Step Call::fail_with(Failure failure, Code code, std::string path) {
  record_.failure = failure.kind;
  close();
  Error error = fail(code, sentence(failure), std::move(path)).error();
  result_ = std::unexpected(CallError{std::move(error), std::move(failure), record_});
  return End{};
}

std::string Call::sentence(const Failure& failure) const {
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

void Call::close() {
  record_.latency = std::chrono::duration_cast<microseconds>(timer_.now() - started_);
  const ModelConfig& config = client_.config;
  record_.cost = config.prices.cost(record_.provider, record_.model, record_.usage);
  if (config.ledger) config.ledger->add(record_);
}

}  // namespace parley::model
