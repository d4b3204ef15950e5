#include "server/http/exchange.h"

#include <algorithm>
#include <utility>

#include "parley/base/text.h"
#include "parley/base/url.h"
#include "parley/json/writer.h"
#include "server/http/glob.h"

namespace parley::server {
namespace {

constexpr std::string_view kRetryAfterSeconds = "1";

bool matches_any(const std::vector<std::string>& patterns, std::string_view name) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const auto& p) { return matches(p, name); });
}

// A part of a query, as forms encode it.
std::string decoded_form(std::string_view text) {
  std::string plus(text);
  std::ranges::replace(plus, '+', ' ');
  return repair_utf8(percent_decode(plus));
}

// Calls `visit` with each name and value that is decoded, until it returns false.
template <typename Visit>
void each_parameter(std::string_view query, Visit visit) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!visit(decoded_form(pair.substr(0, equals)),
               decoded_form(pair.substr(std::min(equals + 1, pair.size()))))) {
      return;
    }
  }
}

void put_optional(json::Writer& w, std::string_view key, const std::optional<std::string>& value) {
  w.key(key);
  if (value) {
    w.string(repair_utf8(*value));
  } else {
    w.null();
  }
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "/messages/0/role" is "messages[0].role" at OpenAI.
std::optional<std::string> param_of(std::string_view pointer) {
  constexpr std::size_t kMostBytes = 200;  // a longer path is no help
  if (pointer.size() < 2 || pointer.size() > kMostBytes) return std::nullopt;
  std::string out;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string_view part = pointer.substr(0, end);
    pointer.remove_prefix(end);
    if (is_number(part)) {
      out.append("[").append(part).append("]");
    } else {
      if (!out.empty()) out += '.';
      out += part;
    }
  }
  return out;
}

// "no such record" becomes "No such record."
std::string sentence(std::string text) {
  if (text.empty()) return text;
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  if (text.back() != '.') text += '.';
  return text;
}

ApiError not_found(const Error& error, std::string_view what) {
  ApiError out{.status = 404, .message = sentence(error.message), .param = param_of(error.path)};
  if (error.path == "/model") what = "model";
  if (what.empty()) return out;
  if (what != "model") out.message = sentence(std::string(what) + " not found");
  std::string code(what);
  std::ranges::replace(code, ' ', '_');
  out.code = code + "_not_found";
  return out;
}

ApiError server_error(int status, std::string message, std::string_view code) {
  return {.status = status,
          .type = "server_error",
          .message = std::move(message),
          .code = code.empty() ? std::nullopt : std::optional<std::string>(code)};
}

std::optional<std::string> code_or(const std::string& code, std::string_view otherwise) {
  if (!code.empty()) return code;
  return otherwise.empty() ? std::nullopt : std::optional<std::string>(otherwise);
}

}  // namespace

bool Identity::may_ask(std::string_view model) const { return matches_any(models, model); }
bool Identity::may_open(std::string_view session) const { return matches_any(conversations, session); }

std::optional<std::string> Exchange::query(std::string_view name) const {
  std::optional<std::string> out;
  each_parameter(request.query, [&](const std::string& key, std::string value) {
    if (key != name) return true;
    out = std::move(value);
    return false;
  });
  return out;
}

std::vector<std::string> Exchange::query_all(std::string_view name) const {
  std::vector<std::string> out;
  each_parameter(request.query, [&](const std::string& key, std::string value) {
    if (key == name) out.push_back(std::move(value));
    return true;
  });
  return out;
}

std::vector<std::pair<std::string, std::string>> Exchange::query_pairs() const {
  std::vector<std::pair<std::string, std::string>> out;
  each_parameter(request.query, [&](std::string key, std::string value) {
    out.emplace_back(std::move(key), std::move(value));
    return true;
  });
  return out;
}

void Exchange::answer(int status, const Json& body) {
  std::vector<net::Header> all = std::move(headers);
  all.push_back({"Content-Type", "application/json"});
  if (!request_id.empty()) all.push_back({"x-request-id", request_id});
  responder->whole(status, std::move(all), body.text().str());
}

std::vector<net::Header> Exchange::stream_headers(std::string_view content_type) const {
  std::vector<net::Header> out = headers;
  out.push_back({"Content-Type", std::string(content_type)});
  out.push_back({"Cache-Control", "no-cache, no-transform"});
  out.push_back({"X-Accel-Buffering", "no"});
  if (!request_id.empty()) out.push_back({"x-request-id", request_id});
  return out;
}

Json to_json(const ApiError& error) {
  json::Writer w;
  w.begin_object().key("error").begin_object();
  w.key("message").string(repair_utf8(error.message));
  w.key("type").string(error.type);
  put_optional(w, "param", error.param);
  put_optional(w, "code", error.code);
  w.end_object().end_object();
  return w.take();
}

void answer(Exchange& exchange, const ApiError& error) {
  const bool is_retryable = error.status == 409 || error.status == 429 || error.status == 503;
  if (is_retryable && std::ranges::none_of(exchange.headers, [](const net::Header& header) {
        return header.name == "Retry-After";
      })) {
    exchange.add_header("Retry-After", std::string(kRetryAfterSeconds));
  }
  exchange.answer(error.status, to_json(error));
}

ApiError api_error(const Error& error, std::string_view what) {
  switch (error.code) {
    case Code::NotFound:
      return not_found(error, what);
    case Code::Conflict:
      return {.status = 409, .message = sentence(error.message), .code = "conversation_locked"};
    case Code::Unavailable:
    case Code::Cancelled:
      return server_error(503, sentence(error.message), "unavailable");
    case Code::Timeout:
      return server_error(503, sentence(error.message), "timeout");
    case Code::Unresolved:
      return server_error(500, sentence(error.message), "unresolved");
    case Code::Damaged:
      return server_error(500, sentence(error.message), "damaged");
    case Code::Malformed:
    case Code::InvalidUtf8:
    case Code::LoneSurrogate:
    case Code::DuplicateKey:
    case Code::WrongType:
    case Code::Missing:
    case Code::UnknownRole:
    case Code::WrongDialect:
    case Code::LimitExceeded:
    case Code::Invalid:
    case Code::BrokenHistory:
    case Code::Lossy:
    case Code::Unsupported:
      break;
  }
  return {.status = 400,
          .message = sentence(error.message),
          .param = param_of(error.path),
          .code = std::string(to_string(error.code))};
}

ApiError refusal_error(const Error& error) {
  ApiError out = api_error(error);
  if (error.code == Code::LimitExceeded) out.code = "context_length_exceeded";
  return out;
}

ApiError api_error(const TurnFailure& failure) {
  const std::string message = sentence(failure.message);
  switch (failure.kind) {
    case FailureKind::InvalidRequest:
      return {.status = 400, .message = message, .code = code_or(failure.code, "")};
    case FailureKind::ContextTooLong:
      return {.status = 400, .message = message, .code = "context_length_exceeded"};
    case FailureKind::Refused:
      return {.status = 400, .message = message, .code = code_or(failure.code, "content_filter")};
    case FailureKind::RateLimit:
      return {.status = 429, .type = "rate_limit_error", .message = message, .code = "rate_limit_exceeded"};
    case FailureKind::Overloaded:
      return server_error(503, message, "overloaded");
    case FailureKind::Auth:
    case FailureKind::Permission:
    case FailureKind::Billing:
      return server_error(502, message, "upstream_" + std::string(to_string(failure.kind)));
    case FailureKind::Transport:
      return server_error(502, message, "upstream_unreachable");
    case FailureKind::Server:
      break;
  }
  const bool is_ours = failure.code.starts_with("server_");
  return server_error(is_ours ? 500 : 502, message, failure.code.empty() ? "upstream_error" : failure.code);
}

}  // namespace parley::server
