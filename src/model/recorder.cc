#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/rehearsal_script.h"
#include "parley/base/secret.h"
#include "parley/json/writer.h"
#include "parley/model/rehearsal.h"
#include "parley/net/http.h"
#include "parley/net/server.h"

namespace parley {
namespace {

using rehearsal::Recorded;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::ranges::find(names, lower(name)) != names.end();
}

// What is between two neighbours, or said anew by ours.
constexpr std::array<std::string_view, 12> kHopHeaders = {
    "host",   "connection", "keep-alive", "proxy-authorization", "proxy-connection", "te",
    "expect", "trailer",    "upgrade",    "transfer-encoding",   "content-length",   "accept-encoding"};
constexpr std::array<std::string_view, 5> kSecretHeaders = {"authorization", "x-api-key", "api-key",
                                                            "x-goog-api-key", "cookie"};
// Headers that clients use. Others may name an account and are not recorded (RECORDER2).
constexpr std::array<std::string_view, 6> kKeptHeaders = {"content-type",   "retry-after", "retry-after-ms",
                                                          "x-should-retry", "request-id",  "x-request-id"};

std::string path_at(const Url& target, const std::string& path) {
  std::string base = target.path;
  while (base.ends_with('/')) base.pop_back();
  if (path.starts_with(base + "/")) return path;
  constexpr std::string_view kOwn = "/v1/";
  return base + (path.starts_with(kOwn) ? path.substr(kOwn.size() - 1) : path);
}

net::Request request_to(const RecorderOptions& options, const net::ServerRequest& request) {
  const Url& target = options.target;
  net::Request out;
  out.method = request.method;
  out.url = target;
  out.url.path = path_at(target, request.path);
  if (!request.query.empty()) out.url.query = request.query;
  for (const net::Header& header : request.headers) {
    if (is_one_of(header.name, kHopHeaders)) continue;
    if (is_one_of(header.name, kSecretHeaders)) {
      out.secret_headers.push_back({header.name, "", Secret(header.value)});
    } else {
      out.headers.push_back(header);
    }
  }
  out.body = request.body;
  out.proxy = options.proxy;
  out.ca_file = options.ca_file;
  out.timeout = std::chrono::hours(1);  // models take their time
  out.idle_timeout = std::chrono::minutes(10);
  return out;
}

std::vector<net::Header> passed_on(const std::vector<net::Header>& headers) {
  std::vector<net::Header> out;
  for (const net::Header& header : headers) {
    // The body is decompressed by now.
    if (!is_one_of(header.name, kHopHeaders) && lower(header.name) != "content-encoding")
      out.push_back(header);
  }
  return out;
}

std::vector<net::Header> kept(const std::vector<net::Header>& headers) {
  std::vector<net::Header> out;
  for (const net::Header& header : headers) {
    if (is_one_of(header.name, kKeptHeaders)) out.push_back({header.name, redacted(header.value)});
  }
  return out;
}

void refuse(net::ServerResponse& reply, const Error& error) {
  json::Writer w;
  w.begin_object().key("error").begin_object().key("message");
  w.string(Text("recorder: " + error.message)).key("type").string("server_error");
  w.key("param").null().key("code").null().end_object().end_object();
  reply.whole(502, {{"Content-Type", "application/json"}}, w.take().text());
}

}  // namespace

struct Recorder::State {
  explicit State(const RecorderOptions& some) : options(some) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { stop.request_stop(); }  // or the server would wait for the provider

  void pass_on(const net::ServerRequest& request, net::ServerResponse& reply) {
    net::Request passed = request_to(options, request);
    passed.stop = stop.get_token();
    Recorded record;
    record.status = 0;  // until the answer starts
    passed.on_start = [&](int status, const std::vector<net::Header>& headers) -> Result<void> {
      record.status = status;
      record.headers = kept(headers);
      reply.start(status, passed_on(headers));
      return {};
    };
    passed.on_body = [&](std::string_view piece) -> Result<void> {
      record.answer += piece;
      if (!reply.send(piece)) return fail(Code::Cancelled, "the client is gone");
      return {};
    };
    const Result<net::Response> response = net::send(passed, connections);
    if (!response) {
      keep({});
      return record.status == 0 ? refuse(reply, response.error()) : reply.cut();
    }
    record.method = request.method;
    record.path = redacted(request.path);
    record.body = rehearsal::comparable(request.body);
    redact(record.answer);
    keep(std::move(record));
  }

  void keep(std::optional<Recorded> record) {
    const std::lock_guard lock(mutex);
    const std::size_t size = record ? record->body.size() + record->answer.size() + record->path.size() : 0;
    if (!record || size > options.max_bytes - bytes) {
      ++left_out;
      return;
    }
    bytes += size;
    recorded.push_back(*std::move(record));
  }

  const RecorderOptions options;
  net::Connections connections;
  std::stop_source stop;
  mutable std::mutex mutex;
  std::vector<Recorded> recorded;
  std::size_t bytes = 0, left_out = 0;
  std::optional<net::Server> server;  // last: it stops before what it uses goes
};

// A server in a State, as a Rehearsal is; what they answer has nothing in common.
Result<Recorder> Recorder::start(const RecorderOptions& options) {
  if (options.target.scheme != "http" && options.target.scheme != "https") {
    return fail(Code::Invalid, "invalid URL to record: expected http or https");
  }
  auto state = std::make_unique<State>(options);
  PARLEY_TRY(state->server, net::Server::listen({.port = options.port, .connections = 512},
                                                [own = state.get()](const net::ServerRequest& request,
                                                                    net::ServerResponse& reply) {
                                                  own->pass_on(request, reply);
                                                }));
  return Recorder(std::move(state));
}

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

std::string Recorder::url() const { return state_->server->url("/v1"); }

Recorder::Tally Recorder::tally() const {
  const std::lock_guard lock(state_->mutex);
  return {state_->recorded.size(), state_->left_out};
}

std::string Recorder::script() const {
  const std::lock_guard lock(state_->mutex);
  return rehearsal::write_script(state_->recorded);
}

}  // namespace parley
