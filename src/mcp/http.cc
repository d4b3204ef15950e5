// Streamable HTTP: each message is a POST. The response to a request is JSON, or a stream of events that may
// contain requests and notifications of the server; a GET, which a server may refuse, returns those that
// belong to no request.
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "mcp/transport.h"
#include "parley/base/framing.h"

namespace parley {
namespace {

constexpr std::chrono::milliseconds kToReply{10'000};     // to answer a request of the server
constexpr std::chrono::milliseconds kToEndSession{1000};  // to end the session
constexpr std::chrono::milliseconds kPause{1000};  // before listening again, unless the server says when
constexpr std::chrono::milliseconds kLongestReconnectPause{10'000};
constexpr int kSilences = 5;  // streams without an event before it stops listening

bool is_good(int status) { return status >= 200 && status < 300; }

// The status for an unknown session: 404 by the standard, 400 by many servers that follow the example of the
// TypeScript SDK. 400 can have other causes, but a new session costs little.
bool is_forgetful(int status) { return status == 404 || status == 400; }

// The response to one request: events or JSON. The first byte decides, because the header is available only
// at the end: every JSON message starts with a bracket, no event does.
class Incoming {
 public:
  using OnMessage = std::function<void(const McpMessage& message)>;

  Incoming(std::size_t max_bytes, OnMessage on_message)
      : max_bytes_(max_bytes), on_message_(std::move(on_message)), framer_(max_bytes) {}

  Result<void> feed(std::string_view piece) {
    if (!is_known_) {
      const std::size_t first = piece.find_first_not_of(" \t\r\n");
      if (first == std::string_view::npos) return {};
      is_json_ = piece[first] == '{' || piece[first] == '[';
      is_known_ = true;
    }
    if (is_json_) {
      body_ += piece;
      return {};
    }
    return framer_.feed(piece, [this](const SseEvent& event) {
      id_ = event.id;
      take(event.data);
    });
  }

  void finish() {
    if (is_json_) take(body_);
  }

  const std::string& last_id() const { return id_; }
  // How long to wait before the stream is asked for again: what the server says, within reason.
  std::chrono::milliseconds pause() const {
    const auto longest = static_cast<std::uint64_t>(kLongestReconnectPause.count());
    const auto shortest = static_cast<std::uint64_t>(kPause.count());
    return std::chrono::milliseconds(std::min(framer_.retry().value_or(shortest), longest));
  }

 private:
  void take(std::string_view text) {
    const Result<std::vector<McpMessage>> messages = read_mcp_messages(text, max_bytes_);
    if (!messages) return;  // MCP4
    for (const McpMessage& message : *messages) on_message_(message);
  }

  std::size_t max_bytes_;
  OnMessage on_message_;
  SseFramer framer_;
  std::string body_, id_;
  bool is_known_ = false, is_json_ = false;
};

class HttpTransport final : public McpTransport {
 public:
  HttpTransport(const McpServer& server, const McpOptions& options, OnMessage on_message)
      : server_(server), max_bytes_(options.max_message_bytes), on_message_(std::move(on_message)) {}
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;
  ~HttpTransport() override {
    listener_ = {};
    if (!is_open() || !has_session()) return;
    (void)net::send(request("DELETE", Deadline::in(kToEndSession), {}));
  }

  Result<McpMessage> exchange(std::int64_t id, const std::string& message, Deadline deadline,
                              const std::stop_token& stop) override {
    std::optional<McpMessage> answer;
    std::optional<McpError> refusal;
    const Incoming::OnMessage on_message = [&](const McpMessage& taken) {
      if (taken.answers(id)) answer = taken;
      if (taken.kind == McpMessage::Kind::Answer && taken.error && taken.id.is_null()) refusal = taken.error;
      take(taken);
    };
    Incoming incoming(max_bytes_, on_message);
    // The header of the first answer names the session, and is there when the answer has ended; later ones
    // need not be waited for once they have said what was asked.
    const bool must_end = !has_begun();
    const auto is_done = [&] { return answer && !must_end; };
    net::Request post = posting(message, deadline, stop);
    post.on_body = until(is_done, incoming);
    const Result<net::Response> response = net::send(post);
    incoming.finish();
    const bool has_broken = response ? is_good(response->status) : response.error().code == Code::Unavailable;
    if (has_broken && !answer && !must_end) {
      PARLEY_CHECK(resume({incoming.last_id(), incoming.pause()}, on_message, is_done, deadline, stop));
    }
    if (answer && response && must_end) begin_session(*response);
    if (answer && (!must_end || response)) return *std::move(answer);
    if (!response) return std::unexpected(broken(response.error()));
    return std::unexpected(refused(response->status, refusal));
  }

  Result<void> post(const std::string& message, Deadline deadline) override {
    const Result<net::Response> response = net::send(posting(message, deadline, {}));
    if (!response) return std::unexpected(broken(response.error()));
    if (!is_good(response->status)) return std::unexpected(refused(response->status, {}));
    return {};
  }

  Result<void> begin(const std::string& version, const std::string& initialized, Deadline deadline) override {
    {
      const std::lock_guard lock(mutex_);
      version_ = version;
    }
    PARLEY_CHECK(post(initialized, deadline));
    listener_ = std::jthread([this](const std::stop_token& stop) { listen(stop); });
    return {};
  }

  bool is_open() const override {
    const std::lock_guard lock(mutex_);
    return is_open_;
  }

 private:
  bool has_begun() const {
    const std::lock_guard lock(mutex_);
    return !version_.empty();
  }
  bool has_session() const {
    const std::lock_guard lock(mutex_);
    return !session_.empty();
  }
  void begin_session(const net::Response& response) {
    const std::lock_guard lock(mutex_);
    session_ = response.header("Mcp-Session-Id").value_or("");
  }

  net::Request request(std::string method, Deadline deadline, const std::stop_token& stop) const {
    net::Request request;
    request.method = std::move(method);
    request.url = *server_.url;
    request.secret_headers = server_.headers;
    request.stop = stop;
    request.timeout = deadline.left();
    request.max_bytes = request.max_wire_bytes = 2 * max_bytes_;
    const std::lock_guard lock(mutex_);
    if (!session_.empty()) request.headers.push_back({"Mcp-Session-Id", session_});
    if (!version_.empty()) request.headers.push_back({"MCP-Protocol-Version", version_});
    return request;
  }

  net::Request posting(const std::string& message, Deadline deadline, const std::stop_token& stop) const {
    net::Request post = request("POST", deadline, stop);
    post.headers.push_back({"Content-Type", "application/json"});
    post.headers.push_back({"Accept", "application/json, text/event-stream"});
    post.body = message;
    return post;
  }

  // The errors of net::send as those of a transport.
  Error broken(const Error& error) {
    if (error.code != Code::Unavailable) return error;
    const std::lock_guard lock(mutex_);
    is_open_ = false;
    return {Code::Unresolved, "the server '" + server_.name + "' disconnected: " + error.message, {}};
  }

  Error refused(int status, const std::optional<McpError>& refusal) const {
    std::string sentence = "the server '" + server_.name + "' ";
    sentence += is_good(status) ? "sent no response" : "answered " + std::to_string(status);
    if (refusal && !refusal->message.empty()) sentence += ": " + refusal->message.str();
    Code code = Code::Invalid;
    if (is_forgetful(status) && has_session()) code = Code::NotFound;
    if (is_good(status) || status >= 500) code = Code::Unresolved;
    return fail(code, std::move(sentence)).error();
  }

  // A request or notification of the server.
  void take(const McpMessage& message) {
    if (message.kind == McpMessage::Kind::Answer) return;
    const std::optional<std::string> reply = on_message_(message);
    if (reply) (void)post(*reply, Deadline::in(kToReply));
  }

  // A stream of the server, which may have several parts.
  struct Stream {
    std::string last_id = {};  // of its last event; "": the server sends no ids
    std::chrono::milliseconds pause = kPause;
    int silences = 0;  // parts without an event in a row
  };

  // Requests the next part of a stream and reads it until it ends or `is_done`. False if there is none left.
  bool receive(Stream& stream, const Incoming::OnMessage& on_message, const std::function<bool()>& is_done,
               Deadline deadline, const std::stop_token& stop) const {
    bool has_come = false;
    Incoming incoming(max_bytes_, [&](const McpMessage& message) {
      has_come = true;
      on_message(message);
    });
    net::Request get = request("GET", deadline, stop);
    get.max_bytes = get.max_wire_bytes = SIZE_MAX;  // of all events together; each has its limit
    get.headers.push_back({"Accept", "text/event-stream"});
    if (!stream.last_id.empty()) get.headers.push_back({"Last-Event-ID", stream.last_id});
    get.on_body = until(is_done, incoming);
    const Result<net::Response> response = net::send(get);
    if (response && (!is_good(response->status) || !is_stream(*response))) return false;
    const bool is_further = !incoming.last_id().empty() && incoming.last_id() != stream.last_id;
    if (is_further) stream.last_id = incoming.last_id();
    stream.silences = has_come || is_further ? 0 : stream.silences + 1;
    stream.pause = incoming.pause();
    return true;
  }

  // Resumes a stream that ended too soon until `is_done`. This does not repeat a call (MCP1).
  Result<void> resume(Stream stream, const Incoming::OnMessage& on_message,
                      const std::function<bool()>& is_done, Deadline deadline,
                      const std::stop_token& stop) const {
    while (!is_done() && !stream.last_id.empty() && stream.silences < kSilences) {
      rest(std::min(stream.pause, deadline.left()), stop);
      if (stop.stop_requested()) return fail(Code::Cancelled, "the call was stopped");
      if (deadline.has_passed()) {
        return fail(Code::Timeout, "the server '" + server_.name + "' did not answer in time");
      }
      if (!receive(stream, on_message, is_done, deadline, stop)) break;
    }
    return {};
  }

  // Feeds the chunks, and ends the request once it is done.
  static std::function<Result<void>(std::string_view piece)> until(std::function<bool()> is_done,
                                                                   Incoming& incoming) {
    return [is_done = std::move(is_done), &incoming](std::string_view piece) -> Result<void> {
      PARLEY_CHECK(incoming.feed(piece));
      if (is_done()) return fail(Code::Conflict, "complete");
      return {};
    };
  }

  void listen(const std::stop_token& stop) {
    const auto never = [] { return false; };
    Stream stream;
    while (stream.silences < kSilences && !stop.stop_requested()) {
      const auto on_message = [this](const McpMessage& message) { take(message); };
      if (!receive(stream, on_message, never, Deadline::in(std::chrono::hours(24)), stop)) return;
      rest(std::max(kPause, stream.pause), stop);
    }
  }

  static bool is_stream(const net::Response& response) {
    return response.header("Content-Type").value_or("").starts_with("text/event-stream");
  }

  static void rest(std::chrono::milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
  }

  const McpServer server_;
  const std::size_t max_bytes_;
  const OnMessage on_message_;

  mutable std::mutex mutex_;
  bool is_open_ = true;
  std::string session_, version_;
  std::jthread listener_;  // last: it ends before what it uses
};

}  // namespace

std::unique_ptr<McpTransport> make_mcp_http(const McpServer& server, const McpOptions& options,
                                            McpTransport::OnMessage on_message) {
  return std::make_unique<HttpTransport>(server, options, std::move(on_message));
}

}  // namespace parley
