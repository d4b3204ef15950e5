#include "server/openai/responses_turn.h"

#include <optional>
#include <utility>

#include "server/http/sse.h"
#include "server/openai/models.h"
#include "server/openai/responses_events.h"
#include "server/openai/responses_object.h"

namespace parley::server {
namespace {

class ResponseFollower : public TurnFollower {
 public:
  ResponseFollower(std::shared_ptr<Exchange> exchange, std::size_t notes)
      : exchange_(std::move(exchange)), notes_(notes) {}

  void follow(std::shared_ptr<Turn> turn) {
    if (has_left_) return turn->leave();
    if (!is_over_) turn_ = std::move(turn);
  }

  void refused(const Error& error) override {
    over();
    answer(*exchange_, refusal(error));
  }

 protected:
  virtual ApiError refusal(const Error& error) const { return refusal_error(error); }

  void add_headers(const TurnState& state) {
    exchange_->add_header("x-parley-turn", state.key.id);
    exchange_->add_header("x-parley-notes", std::to_string(state.notes + notes_));
    if (state.queued.count() > 0)
      exchange_->add_header("x-parley-queued-ms", std::to_string(state.queued.count()));
  }

  void leave() {
    has_left_ = true;
    if (const auto turn = turn_) turn->leave();
    over();
  }
  // The turn refers to its follower: without the handle both can be freed.
  void over() {
    is_over_ = true;
    turn_.reset();
  }

  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<Turn> turn_ = {};

 private:
  std::size_t notes_;
  bool is_over_ = false, has_left_ = false;
};

class WholeResponse : public ResponseFollower, public std::enable_shared_from_this<WholeResponse> {
 public:
  WholeResponse(std::shared_ptr<Exchange> exchange, const ResponsesCall& call)
      : ResponseFollower(std::move(exchange), call.notes),
        model_(call.turn.model),
        is_background_(call.is_background) {}

  void watch() {
    exchange_->responder->on_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->leave();
    });
  }

  void begun(const TurnState& state) override {
    if (!is_background_) return;
    add_headers(state);
    exchange_->answer(200, to_response(state, ResponseMoment::Created));
    leave();
  }
  void progress(const Journal&) override {}
  void ended(const TurnState& state, const Journal&) override {
    over();
    add_headers(state);
    if (const auto failure = response_failure(state)) return answer(*exchange_, api_error(*failure));
    exchange_->answer(200, to_response(state));
  }

 private:
  ApiError refusal(const Error& error) const override {
    const bool is_model = error.code == Code::NotFound && error.path == "/model";
    return is_model ? no_model(model_) : ResponseFollower::refusal(error);
  }

  std::string model_;
  bool is_background_;
};

class StreamedResponse : public ResponseFollower, public std::enable_shared_from_this<StreamedResponse> {
 public:
  StreamedResponse(std::shared_ptr<Exchange> exchange, std::size_t notes, std::string model)
      : ResponseFollower(std::move(exchange), notes), model_(std::move(model)) {}
  // A response that is there already.
  StreamedResponse(std::shared_ptr<Exchange> exchange, FollowedResponse response)
      : ResponseFollower(std::move(exchange), 0), followed_(std::move(response)) {}

  void watch(std::chrono::milliseconds ping) {
    const auto call = [weak = weak_from_this()](void (StreamedResponse::*member)()) {
      return [weak, member] {
        if (const auto self = weak.lock()) (*self.*member)();
      };
    };
    stream_ = EventStream::of(
        exchange_, ping,
        {.on_gone = call(&StreamedResponse::gone), .on_drained = call(&StreamedResponse::drained)});
  }

  void begun(const TurnState& state) override {
    add_headers(state);
    stream_->start();
    const std::int64_t after = followed_ ? followed_->after : -1;
    events_.emplace(
        followed_ ? followed_->include : std::vector<std::string>(),
        [stream = stream_, after](std::string_view type, std::int64_t sequence, std::string_view json) {
          if (sequence > after) stream->event(type, sequence, json);
        });
    events_->begin(state);
    stream_->flush();
  }
  void progress(const Journal& journal) override {
    events_->follow(journal);
    stream_->flush();
  }
  void ended(const TurnState& state, const Journal& journal) override {
    over();
    events_->end(state, journal);
    stream_->text("[DONE]");
    stream_->end();
  }
  std::size_t backlog() const override { return stream_->backlog(); }

 private:
  ApiError refusal(const Error& error) const override {
    if (error.code == Code::NotFound && followed_) return no_response(response_id(followed_->key));
    const bool is_model = error.code == Code::NotFound && error.path == "/model";
    return is_model ? no_model(model_) : ResponseFollower::refusal(error);
  }
  void gone() { leave(); }
  void drained() {
    if (turn_) turn_->drained();
  }

  std::string model_ = {};
  std::optional<FollowedResponse> followed_ = {};
  std::shared_ptr<EventStream> stream_ = {};
  std::optional<ResponsesEvents> events_ = {};
};

}  // namespace

ApiError no_response(std::string_view id) {
  return {.status = 404,
          .message = "Response with id '" + std::string(id) + "' not found.",
          .code = "response_not_found"};
}

void run_response(Service& service, const std::shared_ptr<Exchange>& exchange, ResponsesCall call) {
  if (call.is_streamed) {
    const auto follower = std::make_shared<StreamedResponse>(exchange, call.notes, call.turn.model);
    follower->watch(service.ping);
    return follower->follow(service.engine.begin(std::move(call.turn), *exchange->loop, follower));
  }
  const auto follower = std::make_shared<WholeResponse>(exchange, call);
  follower->watch();
  follower->follow(service.engine.begin(std::move(call.turn), *exchange->loop, follower));
}

void follow_response(Service& service, const std::shared_ptr<Exchange>& exchange, FollowedResponse response) {
  const TurnKey key = response.key;
  const auto follower = std::make_shared<StreamedResponse>(exchange, std::move(response));
  follower->watch(service.ping);
  follower->follow(service.engine.attach(key, *exchange->loop, follower));
}

}  // namespace parley::server
