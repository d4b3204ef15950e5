#include "parley/model/rehearsal.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "model/rehearsal_patterns.h"
#include "model/rehearsal_script.h"
#include "parley/dialect/dialect.h"
#include "parley/dialect/stream.h"
#include "parley/json/writer.h"
#include "parley/model/model.h"
#include "parley/net/server.h"

namespace parley {
namespace {

using rehearsal::Answer;
using rehearsal::Fault;
using rehearsal::Recorded;
using rehearsal::Script;
using rehearsal::Turn;

constexpr std::string_view kModel = kRehearsalName;
// The wire of OpenAI's Chat Completions, and DeepSeek's member for what a model thinks.
constexpr Dialect kDialect = Dialect::DeepSeek;

const std::vector<net::Header> kJsonHeaders = {{"Content-Type", "application/json"}};
const std::vector<net::Header> kStreamHeaders = {{"Content-Type", "text/event-stream"},
                                                 {"Cache-Control", "no-cache"}};

std::string error_body(std::string_view message, std::string_view type) {
  json::Writer w;
  w.begin_object().key("error").begin_object().key("message").string(Text(message));
  w.key("type").string(type).key("param").null().key("code").null().end_object().end_object();
  return w.take().text().str();
}

void refuse(net::ServerResponse& reply, int status, std::string_view message) {
  reply.whole(status, kJsonHeaders,
              error_body("rehearsal: " + std::string(message),
                         status < 500 ? "invalid_request_error" : "server_error"));
}

// What is asked for, as far as it matters.
struct Asked {
  Conversation conversation;
  bool is_stream = false;
  bool wants_usage = true;
  std::uint64_t seed = 0;  // of what is minted: the same request, the same names (REHEARSAL2)
  std::uint64_t bytes = 0;
};

bool is_true(const std::optional<Json>& json) { return json && json->as_bool().value_or(false); }

Result<Asked> read_request(const std::string& body) {
  PARLEY_TRY(const Json json, Json::parse(body));
  PARLEY_TRY(Reading reading, read(body, Dialect::OpenAI));
  Asked out;
  out.conversation = std::move(reading.conversation);
  out.is_stream = is_true(json.get("stream"));
  out.wants_usage = !out.is_stream || is_true(json.at("/stream_options/include_usage"));
  // The spelling of a request does not matter, and neither does whether it asks for a stream (REHEARSAL4).
  const std::string messages = json.get("messages").value_or(Json()).compact().text().str();
  out.seed = hash64(messages);
  out.bytes = messages.size();
  return out;
}

// An estimate: four bytes are one token.
std::uint64_t tokens(std::uint64_t bytes) { return (bytes + 3) / 4; }

Text minted(std::string_view prefix, std::uint64_t seed, std::size_t number) {
  return Text(std::string(prefix) + std::to_string(hash64(std::to_string(number), seed)));
}

struct Spoken {
  Message message;
  Outcome outcome;
};

Spoken spoken(const Answer& answer, const Asked& asked) {
  std::vector<Block> blocks;
  std::uint64_t bytes = answer.think.size() + answer.text.size();
  if (!answer.think.empty()) {
    blocks.emplace_back(ThinkingBlock{.thinking = answer.think, .origin = Text(to_string(kDialect))});
  }
  if (!answer.text.empty() || answer.calls.empty()) blocks.emplace_back(TextBlock{answer.text});
  for (std::size_t i = 0; i < answer.calls.size(); ++i) {
    const rehearsal::Call& call = answer.calls[i];
    const Text id = call.id.empty() ? minted("call_", asked.seed, i + 1) : call.id;
    blocks.emplace_back(ToolUseBlock{.id = id, .name = call.name, .arguments = call.arguments});
    bytes += call.name.size() + call.arguments.size();
  }
  Outcome outcome;
  outcome.id = minted("rehearsal_", asked.seed, 0);
  outcome.model = Text(kModel);
  outcome.finish = answer.finish;
  outcome.usage = answer.usage;
  if (outcome.finish == Finish::Unknown) {
    outcome.finish = answer.calls.empty() ? Finish::Stop : Finish::ToolCalls;
  }
  if (!outcome.usage.input) outcome.usage.input = tokens(asked.bytes);
  if (!outcome.usage.output) outcome.usage.output = tokens(bytes);
  // Building fails only for metadata and results, which this message does not have.
  return {MessageBuilder(Role::Assistant).anonymous().blocks(std::move(blocks)).build().value(), outcome};
}

const Text kNoTurn = "Rehearsal: the script has no turn for this request.";

// The body of an answer, in the pieces in which it is sent.
using Pieces = std::vector<std::string>;

Pieces stream_of(const Spoken& spoken, bool with_usage) {
  constexpr std::size_t kDeltaBytes = 16;  // a few words at a time, so that there is a stream to see
  Pieces pieces;
  StreamWriter writer = StreamWriter::of(kDialect).value();
  (void)to_events(
      spoken.message, spoken.outcome,
      [&](const StreamEvent& event) {
        if (!with_usage && std::holds_alternative<stream::UsageUpdate>(event)) return;
        std::string piece;
        writer.write(event, piece);
        if (!piece.empty()) pieces.push_back(std::move(piece));
      },
      kDeltaBytes);
  return pieces;
}

Result<std::string> whole_of(const Spoken& spoken) {
  Conversation answer({spoken.message});
  answer.set_shape(DocumentShape::Response);
  answer.set_outcome(spoken.outcome);
  PARLEY_TRY(const Writing writing, write(answer, kDialect));
  return writing.text.str();
}

// Sends pieces up to where they break, and breaks there.
void send_broken(net::ServerResponse& reply, const std::vector<net::Header>& headers, const Pieces& pieces,
                 const Fault& fault) {
  constexpr std::string_view kGarbage = "data: \xFF\xFE rehearsed garbage, neither JSON nor UTF-8 {]\n\n";
  if (fault.kind == Fault::Kind::Cut && fault.after == 0) return reply.cut();
  std::size_t left = fault.after;
  const bool is_silent = fault.kind == Fault::Kind::Stall && fault.after == 0;
  if (!is_silent) reply.start(200, headers);
  for (const std::string& piece : pieces) {
    const std::size_t size = std::min(left, piece.size());
    if (size > 0 && !reply.send(std::string_view(piece).substr(0, size))) return;
    left -= size;
  }
  if (fault.kind == Fault::Kind::Cut) return reply.cut();
  if (fault.kind == Fault::Kind::Garbage) {
    reply.send(kGarbage);
    return;
  }
  while (reply.wait(std::chrono::hours(1))) {
  }
  reply.cut();
}

void send_pieces(net::ServerResponse& reply, const Pieces& pieces) {
  reply.start(200, kStreamHeaders);
  for (const std::string& piece : pieces) {
    if (!reply.send(piece)) return;
  }
}

}  // namespace

struct Rehearsal::State {
  explicit State(Script a_script) : script(std::move(a_script)) {}

  void answer(const net::ServerRequest& request, net::ServerResponse& reply) {
    if (const Recorded* found = recorded(request)) return replay(*found, reply);
    if (request.path.ends_with("/models") && request.method == "GET") return list_models(reply);
    if (!request.path.ends_with("/chat/completions")) {
      return refuse(reply, 404, "not found: use /v1/chat/completions, /v1/models or a recorded path");
    }
    if (request.method != "POST") return refuse(reply, 405, "use POST for /v1/chat/completions");
    if (script.turns.empty() && !script.recorded.empty()) {
      return refuse(reply, 404, "the recording has no response to this request");
    }
    const Result<Asked> asked = read_request(request.body);
    if (!asked) {
      const Error& error = asked.error();
      return refuse(reply, 400, error.message + (error.path.empty() ? "" : " (" + error.path + ")"));
    }
    take_turn(*asked, reply);
  }

  void take_turn(const Asked& asked, net::ServerResponse& reply) {
    if (script.turns.empty()) return say(rehearsal::answer_by_pattern(asked.conversation), asked, {}, reply);
    for (const Turn& turn : next_turns(script.turns, asked.conversation.messages())) {
      const bool fails = turn.fault && counts(turn);
      if (fails && turn.fault->kind == Fault::Kind::Status) return fail_with(*turn.fault, reply);
      if (turn.answer) return say(*turn.answer, asked, fails ? turn.fault : std::nullopt, reply);
    }
    say({.text = kNoTurn}, asked, {}, reply);
  }

  // True if the fault of this turn happens once more.
  bool counts(const Turn& turn) {
    const std::lock_guard lock(mutex);
    std::uint64_t& done = faults[&turn];
    if (done >= turn.fault->times) return false;
    ++done;
    return true;
  }

  static void say(const Answer& answer, const Asked& asked, const std::optional<Fault>& fault,
                  net::ServerResponse& reply) {
    const Spoken words = spoken(answer, asked);
    if (asked.is_stream) {
      const Pieces pieces = stream_of(words, asked.wants_usage);
      return fault ? send_broken(reply, kStreamHeaders, pieces, *fault) : send_pieces(reply, pieces);
    }
    const Result<std::string> whole = whole_of(words);
    if (!whole) return refuse(reply, 500, whole.error().message);
    fault ? send_broken(reply, kJsonHeaders, {*whole}, *fault) : reply.whole(200, kJsonHeaders, *whole);
  }

  static void fail_with(const Fault& fault, net::ServerResponse& reply) {
    std::vector<net::Header> headers = fault.headers;
    const bool is_own = fault.body.empty();
    if (is_own) headers.insert(headers.end(), kJsonHeaders.begin(), kJsonHeaders.end());
    reply.whole(fault.status, headers,
                is_own ? error_body("rehearsal: this failure is in the script", "rehearsed") : fault.body);
  }

  static void list_models(net::ServerResponse& reply) {
    json::Writer w;
    w.begin_object().key("object").string("list").key("data").begin_array().begin_object();
    w.key("id").string(kModel).key("object").string("model").key("created").number(0);
    w.key("owned_by").string("parley").end_object().end_array().end_object();
    reply.whole(200, kJsonHeaders, w.take().text());
  }

  // The answer that was recorded for this; of several, each in its turn, and the last one from then on.
  const Recorded* recorded(const net::ServerRequest& request) {
    if (script.recorded.empty()) return nullptr;
    const std::string body = rehearsal::comparable(request.body);
    const Recorded* found = nullptr;
    const std::lock_guard lock(mutex);
    for (const Recorded& each : script.recorded) {
      if (each.method != request.method || each.path != request.path || each.body != body) continue;
      found = &each;
      if (replayed.insert(&each).second) break;
    }
    return found;
  }

  static void replay(const Recorded& each, net::ServerResponse& reply) {
    reply.start(each.status, each.headers);
    for (std::string_view rest = each.answer; !rest.empty();) {
      const std::size_t end = rest.find("\n\n");  // an event at a time
      const std::string_view piece = rest.substr(0, end == std::string_view::npos ? end : end + 2);
      if (!reply.send(piece)) return;
      rest.remove_prefix(piece.size());
    }
  }

  const Script script;
  std::mutex mutex;
  std::map<const Turn*, std::uint64_t> faults;
  std::set<const Recorded*> replayed;
  std::optional<net::Server> server;  // last: it stops before what it uses goes
};

Result<Rehearsal> Rehearsal::start(const RehearsalOptions& options) {
  Script script;
  if (options.script) {
    PARLEY_TRY(script, rehearsal::parse_script(*options.script));
  }
  auto state = std::make_unique<State>(std::move(script));
  PARLEY_TRY(state->server, net::Server::listen({.port = options.port, .connections = 512},
                                                [own = state.get()](const net::ServerRequest& request,
                                                                    net::ServerResponse& reply) {
                                                  own->answer(request, reply);
                                                }));
  return Rehearsal(std::move(state));
}

namespace {

// Rehearsal as a Model: the same requests, turns and answers, without HTTP.
class RehearsalModel : public Model {
 public:
  explicit RehearsalModel(Script script) : script_(std::move(script)) {
    info_.provider = Text(kModel);
    info_.name = Text(kModel);
  }

  const ModelInfo& info() const override { return info_; }

  Called<ModelAnswer> complete(const ModelRequest& request, const CallOptions& options) override {
    CallRecord call;
    call.purpose = request.purpose;
    call.provider = info_.provider;
    call.model = info_.name;
    call.attempts = 1;
    if (options.stop.stop_requested())
      return failed(Code::Cancelled, FailureKind::Transport, "stopped", call);
    Conversation conversation = request.conversation;
    conversation.set_shape(DocumentShape::Envelope);
    Result<Writing> written = write(conversation, Dialect::OpenAI);
    if (!written) return failed(written.error(), call);
    Result<Asked> asked = read_request(written->text.str());
    if (!asked) return failed(asked.error(), call);
    Accumulated said = heard(stream_of(spoken(answer_to(*asked), *asked), true), options.on_event);
    call.usage = said.outcome.usage;
    return ModelAnswer{std::move(said.message), std::move(said.outcome), {}, std::move(written->notes), call};
  }

 private:
  // The answer as a client of the server reads it.
  static Accumulated heard(const Pieces& pieces, const OnStreamEvent& on_event) {
    Accumulator accumulator(Dialect::OpenAI);
    StreamReader reader = StreamReader::of(Dialect::OpenAI).value();
    const auto take = [&](const StreamEvent& event) {
      accumulator.add(event);
      if (on_event) on_event(event);
    };
    for (const std::string& piece : pieces) reader.feed(piece, take);
    reader.finish(take);
    return accumulator.take();
  }

  Answer answer_to(const Asked& asked) const {
    if (script_.turns.empty()) return rehearsal::answer_by_pattern(asked.conversation);
    for (const Turn& turn : next_turns(script_.turns, asked.conversation.messages())) {
      if (turn.answer) return *turn.answer;
    }
    return {.text = kNoTurn};
  }

  static std::unexpected<CallError> failed(const Error& error, CallRecord call) {
    return failed(error.code, FailureKind::InvalidRequest, error.message, std::move(call));
  }
  static std::unexpected<CallError> failed(Code code, FailureKind kind, const std::string& message,
                                           CallRecord call) {
    call.failure = kind;
    Failure failure{.kind = kind, .message = Text(message)};
    return std::unexpected(CallError{fail(code, message).error(), std::move(failure), std::move(call)});
  }

  const Script script_;
  ModelInfo info_;
};

}  // namespace

Result<std::shared_ptr<Model>> rehearsal_model(const std::optional<std::string>& script) {
  Script parsed;
  if (script) {
    PARLEY_TRY(parsed, rehearsal::parse_script(*script));
  }
  return std::make_shared<RehearsalModel>(std::move(parsed));
}

Rehearsal::Rehearsal(std::unique_ptr<State> state) : state_(std::move(state)) {}
Rehearsal::Rehearsal(Rehearsal&&) noexcept = default;
Rehearsal& Rehearsal::operator=(Rehearsal&&) noexcept = default;
Rehearsal::~Rehearsal() = default;

std::string Rehearsal::url() const { return state_->server->url("/v1"); }

}  // namespace parley
