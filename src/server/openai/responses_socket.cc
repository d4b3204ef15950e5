#include "server/openai/responses_socket.h"

#include <deque>
#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "parley/base/clock.h"
#include "parley/json/writer.h"
#include "parley/net/websocket.h"
#include "server/http/body.h"
#include "server/openai/models.h"
#include "server/openai/responses_events.h"
#include "server/openai/responses_local.h"
#include "server/openai/responses_object.h"
#include "server/openai/responses_request.h"

namespace parley::server {
namespace {

constexpr std::size_t kMostWaitingCreates = 16;
constexpr std::size_t kMostFrameBytes = std::size_t{16} << 20;
constexpr std::size_t kMostWaitingBytes = std::size_t{16} << 20;
constexpr std::size_t kMostUnreadBytes = std::size_t{1} << 20;
// Larger messages are parsed on another thread, so that the loop serves its other connections meanwhile.
constexpr std::size_t kMostFrameOnLoop = std::size_t{256} * 1024;
constexpr int kNormalClosure = 1000, kGoingAway = 1001, kPolicyViolation = 1008;

std::string error_frame(const ApiError& error) {
  json::Writer w;
  w.begin_object().key("type").string("error").key("status").number(error.status).key("error").begin_object();
  w.key("type").string(error.type).key("code").string(error.code.value_or(error.type));
  w.key("message").string(repair_utf8(error.message)).key("param");
  if (error.param) {
    w.string(*error.param);
  } else {
    w.null();
  }
  return w.end_object().end_object().take_string();
}

// The object with another value of a member.
Json with_member(const Json& object, std::string_view name, const std::optional<Json>& value) {
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : object.members()) {
    if (member.key != name) w.key(member.key).value(member.value);
  }
  if (value) w.key(name).value(*value);
  return w.end_object().take();
}

// A "response.create" on its way.
struct Create {
  std::string text = {};  // the message, until it is parsed
  Json body = {};
  std::optional<ApiError> fault = {};        // of the message
  std::string stream_id = {};                // as JSON; empty: none
  std::string previous = {};                 // previous_response_id; empty: none
  std::string continued = {};                // the response of this connection that it continues
  std::optional<LocalHistory> history = {};  // of that
  bool generates = true;
  std::optional<ApiResult<ResponsesCall>> call = {};
};

// Parses the message. Pure, but for what it is given.
std::expected<void, ApiError> read_frame(Create& create) {
  const auto json = Json::parse(std::exchange(create.text, {}), {.depth = kMostDepth});
  if (!json) return std::unexpected(api_error(json.error()));
  if (!json->is_object()) return std::unexpected(invalid_type("message", "an object"));
  const Members body(*json);
  if (body.find("type").value_or(Json()).as_string() != "response.create")
    return std::unexpected(invalid_value("type", "expected 'response.create'"));
  if (body.find("background").value_or(Json()).as_bool().value_or(false))
    return std::unexpected(invalid_value("background", "not on a WebSocket"));
  create.generates = body.find("generate").value_or(Json()).as_bool().value_or(true);
  if (const auto stream_id = body.find("stream_id")) create.stream_id = stream_id->compact().text().str();
  create.previous = body.find("previous_response_id").value_or(Json()).as_string().value_or(Text()).str();
  create.body = *json;
  return {};
}

void take_frame(Create& create) {
  if (auto good = read_frame(create); !good) create.fault = std::move(good).error();
}

// What the request asks for. May read the store.
ApiResult<ResponsesCall> read_call_of(const Create& create, const Exchange& exchange, TurnEngine& engine) {
  Json body = create.body;
  if (create.history) {
    if (Members(body).find("conversation")) return std::unexpected(two_histories());
    body = with_member(body, "previous_response_id", std::nullopt);
  }
  if (!create.generates) body = with_member(body, "store", Json::boolean(false));
  EngineLookup lookup(engine);
  return read_responses_call(Members(body), exchange, lookup);
}

class ResponsesSocket : public TurnFollower, public std::enable_shared_from_this<ResponsesSocket> {
 public:
  ResponsesSocket(Service& service, std::shared_ptr<Exchange> exchange,
                  std::shared_ptr<net::WebSocket> socket)
      : service_(service), exchange_(std::move(exchange)), socket_(std::move(socket)) {}

  // The callbacks hold this object until the connection ends.
  void open(std::chrono::milliseconds time) {
    socket_->on_message([self = shared_from_this()](std::string text) { self->received(std::move(text)); });
    socket_->on_drain([self = shared_from_this()] {
      self->is_draining_ = true;
      self->next();
    });
    socket_->on_drained([self = shared_from_this()] {
      if (self->turn_) self->turn_->drained();
    });
    socket_->on_closed([self = shared_from_this()](int, const std::string&) { self->closed(); });
    exchange_->loop->after(time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->expired();
    });
  }

  void refused(const Error& error) override {
    const bool is_model = error.code == Code::NotFound && error.path == "/model";
    fail(is_model ? no_model(model_) : refusal_error(error));
  }
  void begun(const TurnState& state) override {
    events_.emplace(std::vector<std::string>(),
                    [this](std::string_view, std::int64_t, std::string_view json) { send(json); });
    events_->begin(state);
  }
  void progress(const Journal& journal) override { events_->follow(journal); }
  void ended(const TurnState& state, const Journal& journal) override {
    events_->end(state, journal);
    if (response_failure(state)) {
      local_.forget(create_->continued);
    } else if (!state.is_stored) {
      keep(state);
    }
    done();
  }
  std::size_t backlog() const override { return socket_->backlog(); }

 private:
  // ---- Requests

  void received(std::string text) {
    if (socket_->backlog() > kMostUnreadBytes)
      return end_connection(kPolicyViolation, "the client does not read");
    if (waiting_.size() >= kMostWaitingCreates || text.size() > kMostWaitingBytes - waiting_bytes_) {
      return socket_->send(error_frame({.status = 429,
                                        .type = "rate_limit_error",
                                        .message = "Too many requests wait on this connection.",
                                        .code = "too_many_waiting_requests"}));
    }
    waiting_bytes_ += text.size();
    waiting_.push_back(std::move(text));
    next();
  }

  void next() {
    if (create_ || is_closed_) return;
    if (is_draining_) return end_connection(kGoingAway, "the server is stopping");
    if (is_expired_) return end_old_connection();
    if (waiting_.empty()) return;
    if (exchange_->is_still_allowed && !exchange_->is_still_allowed()) return end_for_key();
    create_ = std::make_shared<Create>();
    create_->text = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= create_->text.size();
    if (create_->text.size() > kMostFrameOnLoop) return parse_elsewhere();
    take_frame(*create_);
    frame_taken();
  }

  void parse_elsewhere() {
    service_.engine.run(
        *exchange_->loop, [create = create_] { take_frame(*create); },
        [self = shared_from_this()] {
          if (!self->is_closed_) self->frame_taken();
        });
  }

  void frame_taken() {
    if (create_->fault) return fail(*create_->fault);
    if (const LocalHistory* history = local_.find(create_->previous)) {
      create_->continued = create_->previous;
      create_->history = *history;
    }
    read_create();
  }

  // What the request refers to may have to be read from the store.
  void read_create() {
    service_.engine.run(
        *exchange_->loop,
        [create = create_, exchange = exchange_, &engine = service_.engine] {
          create->call = read_call_of(*create, *exchange, engine);
        },
        [self = shared_from_this(), create = create_] {
          if (!self->is_closed_) self->run_create(*create);
        });
  }

  void run_create(Create& create) {
    if (!*create.call) return fail(create.call->error());
    TurnRequest turn = std::move((*create.call)->turn);
    turn.is_streamed = true;
    model_ = turn.model;
    if (create.history) continue_local(*create.history, create.continued, turn);
    history_ = {.session = turn.after ? std::optional(turn.key.session) : std::nullopt,
                .after = turn.after,
                .messages = turn.input};
    if (!create.generates) return answer_without_model(turn);
    const auto started = service_.engine.begin(std::move(turn), *exchange_->loop, shared_from_this());
    if (create_.get() == &create) turn_ = started;
  }

  static void continue_local(const LocalHistory& history, const std::string& id, TurnRequest& turn) {
    std::vector<Message> all = history.messages;
    for (Message& message : turn.input) all.push_back(std::move(message));
    turn.input = std::move(all);
    if (history.session) turn.key.session = *history.session;
    turn.after = history.after;
    turn.retry_key.clear();  // an equal request of another connection continues something else
    turn.request = with_member(turn.request, "previous_response_id", Json::string(id));
  }

  // "generate": false. The state is that of a turn that had nothing to say.
  void answer_without_model(const TurnRequest& turn) {
    TurnState state;
    state.key = turn.key;
    state.shape = turn.shape;
    state.request = turn.request;
    state.model = turn.model;
    state.created_ms = state.completed_ms = now_ms();
    state.status = TurnStatus::Completed;
    state.is_stored = false;
    begun(state);
    ended(state, Journal());
  }

  // ---- Answers

  void send(std::string_view json) {
    if (create_->stream_id.empty()) return socket_->send(std::string(json));
    std::string frame(json.substr(0, json.size() - 1));
    socket_->send(frame.append(",\"stream_id\":").append(create_->stream_id).append("}"));
  }

  void fail(const ApiError& error) {
    local_.forget(create_->continued);
    socket_->send(error_frame(error));
    done();
  }

  void keep(const TurnState& state) {
    LocalHistory history = std::move(history_);
    if (state.answer) history.messages.push_back(*state.answer);
    local_.add(response_id(state.key), std::move(history));
  }

  void done() {
    create_.reset();
    turn_.reset();
    events_.reset();
    history_ = {};
    exchange_->loop->post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->next();
    });
  }

  // ---- The connection

  void expired() {
    is_expired_ = true;
    if (!create_) end_old_connection();
  }

  void end_old_connection() {
    socket_->send(error_frame({.message = "This connection is 60 minutes old: open a new one.",
                               .code = "websocket_connection_limit_reached"}));
    end_connection(kNormalClosure, "websocket_connection_limit_reached");
  }

  void end_for_key() {
    socket_->send(error_frame(
        {.status = 401, .message = "The API key is not valid any more.", .code = "invalid_api_key"}));
    end_connection(kPolicyViolation, "invalid_api_key");
  }

  void end_connection(int code, const std::string& reason) {
    if (is_closed_) return;
    closed();
    socket_->close(code, reason);
  }

  void closed() {
    is_closed_ = true;
    if (const auto turn = std::exchange(turn_, nullptr)) turn->leave();
    waiting_.clear();
    waiting_bytes_ = 0;
  }

  Service& service_;
  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<net::WebSocket> socket_;
  std::deque<std::string> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::shared_ptr<Create> create_;  // that runs
  std::shared_ptr<Turn> turn_;
  std::optional<ResponsesEvents> events_;
  std::string model_;
  LocalHistory history_;  // with the input of the turn that runs
  LocalResponses local_;
  bool is_closed_ = false, is_expired_ = false, is_draining_ = false;
};

}  // namespace

void open_responses_socket(Service& service, const std::shared_ptr<Exchange>& exchange) {
  open_responses_socket_for(service, exchange, kSocketTime);
}

void open_responses_socket_for(Service& service, const std::shared_ptr<Exchange>& exchange,
                               std::chrono::milliseconds time) {
  if (!net::is_websocket_request(exchange->request)) {
    exchange->add_header("Upgrade", "websocket");
    return answer(*exchange,
                  {.status = 426,
                   .message = "GET /v1/responses is a WebSocket. A response has its id in the path.",
                   .code = "upgrade_required"});
  }
  if (!exchange->identity.may_write()) {
    return answer(*exchange,
                  {.status = 403, .message = "This key may only read.", .code = "insufficient_permissions"});
  }
  net::WebSocketOptions options{.headers = {{"x-request-id", exchange->request_id}},
                                .max_message_bytes = kMostFrameBytes};
  const auto socket = exchange->responder->upgrade(exchange->request, options);
  if (!socket) return answer(*exchange, {.message = "The request cannot become a WebSocket."});
  std::make_shared<ResponsesSocket>(service, exchange, socket)->open(time);
}

}  // namespace parley::server
