#include "server/openai/chat_turn.h"

#include <optional>
#include <string>
#include <utility>

#include "server/http/sse.h"
#include "server/openai/chat_object.h"
#include "server/openai/models.h"

namespace parley::server {
namespace {

// What both kinds of answers share: the headers, the refusals, the end of a turn without an answer.
class ChatFollower : public TurnFollower {
 public:
  ChatFollower(std::shared_ptr<Exchange> exchange, const ChatRequest& request)
      : exchange_(std::move(exchange)), model_(request.turn.model), notes_(request.notes) {}

  void follow(std::shared_ptr<Turn> turn) {
    if (!is_over_) turn_ = std::move(turn);
  }

  void refused(const Error& error) override {
    over();
    const bool is_model = error.code == Code::NotFound && error.path == "/model";
    answer(*exchange_, is_model ? no_model(model_) : refusal_error(error));
  }

 protected:
  void add_headers(const TurnState& state) {
    exchange_->add_header("x-parley-notes", std::to_string(state.notes + notes_));
    if (state.queued.count() > 0)
      exchange_->add_header("x-parley-queued-ms", std::to_string(state.queued.count()));
  }

  // Of a turn without an answer that can be shown.
  void answer_failure(const TurnState& state) {
    if (state.failure) return answer(*exchange_, api_error(*state.failure));
    const std::string why = state.reason.empty() ? std::string(to_string(state.status)) : state.reason;
    answer(*exchange_, {.status = 502,
                        .type = "server_error",
                        .message = "The answer is not whole: " + why + ".",
                        .code = why});
  }

  void leave() {
    if (turn_) turn_->leave();
    over();
  }
  // The turn holds its follower: this ends the cycle.
  void over() {
    is_over_ = true;
    turn_.reset();
  }

  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<Turn> turn_ = {};
  bool is_over_ = false;

 private:
  std::string model_;
  std::size_t notes_;
};

class WholeChat : public ChatFollower, public std::enable_shared_from_this<WholeChat> {
 public:
  using ChatFollower::ChatFollower;

  void watch() {
    exchange_->responder->on_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->leave();
    });
  }

  void begun(const TurnState&) override {}
  void progress(const Journal&) override {}
  void ended(const TurnState& state, const Journal&) override {
    over();
    add_headers(state);
    if (!is_presentable(state)) return answer_failure(state);
    exchange_->answer(200, to_completion(state, state.request.get("metadata").value_or(Json())));
  }
};

class StreamedChat : public ChatFollower, public std::enable_shared_from_this<StreamedChat> {
 public:
  StreamedChat(std::shared_ptr<Exchange> exchange, const ChatRequest& request, std::chrono::milliseconds ping)
      : ChatFollower(std::move(exchange), request), has_usage_(request.has_usage), ping_(ping) {}

  void watch() {
    const auto call = [weak = weak_from_this()](void (StreamedChat::*member)()) {
      return [weak, member] {
        if (const auto self = weak.lock()) (*self.*member)();
      };
    };
    stream_ = EventStream::of(
        exchange_, ping_, {.on_gone = call(&StreamedChat::gone), .on_drained = call(&StreamedChat::drained)});
  }

  // The answer starts with the first words, so that a failure before them has a status (CHAT_TURN1); but a
  // client does not wait for it longer than for a ping.
  void begun(const TurnState& state) override {
    writer_.emplace(state, has_usage_, [this](std::string_view json) { stream_->data(json); });
    add_headers(state);
    exchange_->loop->after(ping_, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self && !self->is_over_) self->start();
    });
  }

  void progress(const Journal& journal) override {
    if (journal.empty()) return;
    start();
    journal.replay(cursor_, [this](const StreamEvent& event) { writer_->write(event); });
    stream_->flush();
  }

  void ended(const TurnState& state, const Journal& journal) override {
    over();
    if (!is_presentable(state)) {
      if (!stream_->is_started()) return answer_failure(state);
      return stream_->cut();
    }
    start();
    journal.replay(cursor_, [this](const StreamEvent& event) { writer_->write(event); });
    writer_->end(state);
    stream_->text("[DONE]");
    stream_->end();
  }

  std::size_t backlog() const override { return stream_->backlog(); }

 private:
  void start() {
    if (stream_->is_started()) return;
    stream_->start();
    writer_->begin();
    stream_->flush();
  }
  void gone() { leave(); }
  void drained() {
    if (turn_) turn_->drained();
  }

  bool has_usage_;
  std::chrono::milliseconds ping_;
  std::shared_ptr<EventStream> stream_ = {};
  std::optional<ChunkWriter> writer_ = {};
  Journal::Cursor cursor_ = {};
};

template <typename Follower>
void begin_chat(Service& service, Follower follower, TurnRequest turn, net::EventLoop& loop) {
  follower->watch();
  follower->follow(service.engine.begin(std::move(turn), loop, follower));
}

}  // namespace

void run_chat(Service& service, const std::shared_ptr<Exchange>& exchange, ChatRequest request) {
  if (request.is_streamed) {
    const auto follower = std::make_shared<StreamedChat>(exchange, request, service.ping);
    return begin_chat(service, follower, std::move(request.turn), *exchange->loop);
  }
  const auto follower = std::make_shared<WholeChat>(exchange, request);
  begin_chat(service, follower, std::move(request.turn), *exchange->loop);
}

}  // namespace parley::server
