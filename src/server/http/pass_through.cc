#include "server/http/pass_through.h"

#include <algorithm>
#include <array>
#include <expected>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "net/async_client.h"
#include "net/fields.h"
#include "parley/base/url.h"
#include "server/http/model_field.h"
#include "server/openai/models.h"

namespace parley::server {
namespace {

constexpr std::size_t kPauseBacklog = std::size_t{256} * 1024;
constexpr std::size_t kMostSearchedOnLoop = std::size_t{256} * 1024;
constexpr auto kSentHeaders = std::to_array<std::string_view>({"Content-Type", "Accept", "OpenAI-Beta"});
constexpr auto kReturnedHeaders = std::to_array<std::string_view>(
    {"Content-Type", "Content-Disposition", "Retry-After", "openai-processing-ms"});

bool is_listed_name(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view each) { return net::same_name(each, name); });
}

// A request on its way to the provider and back. It holds itself while it runs.
class Passage : public std::enable_shared_from_this<Passage> {
 public:
  explicit Passage(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

  void begin(net::Request request) {
    const auto with_self = [weak = weak_from_this()](void (Passage::*call)()) {
      return [weak, call] {
        if (const auto self = weak.lock()) (*self.*call)();
      };
    };
    exchange_->responder->on_gone(with_self(&Passage::gone));
    exchange_->responder->on_drained(with_self(&Passage::drained));
    request.on_start = [this](int status, const std::vector<net::Header>& headers) {
      return start(status, headers);
    };
    request.on_body = [this](std::string_view chunk) { return take(chunk); };
    request_ = exchange_->loop->client().send(
        std::move(request),
        [self = shared_from_this()](const Result<net::Response>& response) { self->end(response); });
  }

 private:
  Result<void> start(int status, const std::vector<net::Header>& headers) {
    is_refused_ = status == 401 || status == 403;
    if (is_refused_) return {};
    std::vector<net::Header> out = std::move(exchange_->headers);
    for (const net::Header& header : headers) {
      if (is_listed_name(kReturnedHeaders, header.name)) out.push_back(header);
    }
    out.push_back({"x-request-id", exchange_->request_id});
    is_started_ = true;
    exchange_->responder->start(status, std::move(out));
    return {};
  }

  Result<void> take(std::string_view chunk) {
    if (is_refused_) return {};
    exchange_->responder->send(std::string(chunk));
    if (!is_paused_ && exchange_->responder->backlog() > kPauseBacklog && request_) {
      is_paused_ = true;
      request_->pause();
    }
    return {};
  }

  void end(const Result<net::Response>& response) {
    request_.reset();
    if (is_refused_) return fail_with("upstream_auth", "The provider refused the key of this server.");
    if (response) return exchange_->responder->end();
    if (is_started_) return exchange_->responder->cut();
    fail_with("upstream_unreachable", "The provider did not respond: " + response.error().message + ".");
  }

  void fail_with(std::string code, std::string message) {
    answer(*exchange_,
           {.status = 502, .type = "server_error", .message = std::move(message), .code = std::move(code)});
  }

  void gone() {
    if (const auto request = std::exchange(request_, {})) request->cancel();
  }
  void drained() {
    if (std::exchange(is_paused_, false) && request_) request_->resume();
  }

  std::shared_ptr<Exchange> exchange_;
  std::shared_ptr<net::AsyncRequest> request_ = {};
  bool is_started_ = false, is_refused_ = false, is_paused_ = false;
};

// "/embeddings" of "/v1/embeddings".
std::string_view path_at_provider(std::string_view path) {
  constexpr std::string_view kVersion = "/v1";
  return path.starts_with(kVersion) ? path.substr(kVersion.size()) : path;
}

// PASS6
bool is_plain_path(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string part = percent_decode(path.substr(0, end));
    if (part == "." || part == ".." || part.find_first_of("/\\") != std::string::npos) return false;
    path.remove_prefix(end);
  }
  return true;
}

using Field = Result<std::optional<ModelField>>;

Field field_of(const Exchange& exchange) {
  return model_field(exchange.request.body, exchange.request.header("Content-Type").value_or(""));
}

struct Destination {
  net::Request request;
  std::string model;  // as the provider names it
};

ApiError no_such_path(std::string_view model, std::string_view path) {
  const std::string whose =
      model.empty() ? "No provider of this server" : "The provider of the model '" + std::string(model) + "'";
  return {.status = 404,
          .message = whose + " has " + (model.empty() ? "" : "no ") + std::string(path) + ".",
          .param = "model",
          .code = "unsupported_by_provider"};
}

std::expected<Destination, ApiError> named_destination(Service& service, const Exchange& exchange,
                                                       const std::string& name) {
  const auto model = exchange.identity.may_ask(name)
                         ? service.engine.models().find(name)
                         : Result<std::shared_ptr<Model>>(fail(Code::NotFound, "no such model"));
  if (!model) return std::unexpected(no_model(name));
  Result<net::Request> request = (*model)->request_to(path_at_provider(exchange.request.path));
  if (!request) return std::unexpected(no_such_path(name, exchange.request.path));
  return Destination{*std::move(request), (*model)->info().name.str()};
}

// Of a request that names no model: the first model that the key may ask and whose provider has the path.
std::expected<Destination, ApiError> any_destination(Service& service, const Exchange& exchange) {
  if (!exchange.identity.models.empty() && !exchange.request.body.empty()) {
    return std::unexpected(ApiError{.message = "This key may ask only some models: name one in 'model'.",
                                    .param = "model",
                                    .code = "missing_required_parameter"});
  }
  for (const ModelDirectory::Entry& entry : service.engine.models().list()) {
    if (auto out = named_destination(service, exchange, entry.id)) return out;
  }
  return std::unexpected(no_such_path("", exchange.request.path));
}

void pass(Service& service, const std::shared_ptr<Exchange>& exchange, const Field& field) {
  net::ServerRequest& given = exchange->request;
  if (!field) return answer(*exchange, api_error(field.error()));
  auto to =
      *field ? named_destination(service, *exchange, (*field)->name) : any_destination(service, *exchange);
  if (!to) return answer(*exchange, to.error());
  net::Request& request = to->request;
  request.method = given.method == "HEAD" ? "GET" : given.method;
  if (!given.query.empty()) {
    request.url.query = request.url.query ? *request.url.query + "&" + given.query : given.query;
  }
  for (const net::Header& header : given.headers) {
    if (is_listed_name(kSentHeaders, header.name)) request.headers.push_back(header);
  }
  const bool has_other_name = *field && (*field)->name != to->model;
  request.body = has_other_name ? (*field)->replaced(given.body, to->model) : std::move(given.body);
  // It is not kept: its size is the provider's affair.
  request.max_bytes = request.max_wire_bytes = std::numeric_limits<std::size_t>::max() / 2;
  std::make_shared<Passage>(exchange)->begin(std::move(request));
}

// A large body is searched on another thread, so that the loop serves its other connections meanwhile.
void pass_through(Service& service, const std::shared_ptr<Exchange>& exchange) {
  if (!is_plain_path(exchange->request.path)) {
    return answer(
        *exchange,
        {.status = 404, .message = "Unknown path: " + exchange->request.path, .code = "unknown_path"});
  }
  if (exchange->request.body.size() <= kMostSearchedOnLoop)
    return pass(service, exchange, field_of(*exchange));
  const auto field = std::make_shared<Field>();
  service.engine.run(
      *exchange->loop, [field, exchange] { *field = field_of(*exchange); },
      [&service, field, exchange] {
        if (!exchange->is_gone) pass(service, exchange, *field);
      });
}

}  // namespace

std::vector<Route> pass_through_routes(const std::vector<std::string>& more) {
  std::vector<Route> out;
  for (const std::string_view path :
       {"/v1/embeddings", "/v1/moderations", "/v1/completions", "/v1/audio/speech",
        "/v1/audio/transcriptions", "/v1/audio/translations", "/v1/images/generations", "/v1/images/edits",
        "/v1/images/variations"}) {
    out.push_back({"POST", path, pass_through});
  }
  // The routes refer to their patterns.
  const auto kept = std::make_shared<const std::vector<std::string>>(more);
  for (const std::string& path : *kept) {
    for (const std::string_view method : {"GET", "POST", "DELETE"}) {
      out.push_back({method, path, [kept](Service& service, const std::shared_ptr<Exchange>& exchange) {
                       pass_through(service, exchange);
                     }});
    }
  }
  return out;
}

}  // namespace parley::server
