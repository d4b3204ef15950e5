// Reads errors of providers. Where they say what:
//
//   - OpenAI and compatible: {"error":{"message","type","param","code"}}, x-request-id
//   - Responses, in streams: {"type":"error","code","message"} or {"response":{"error":{"code","message"}}}
//   - Anthropic: {"type":"error","error":{"type","message","details":{"error_code"}},"request_id"}
//   - Gemini: {"error":{"code":429,"message","status","details":[...]}}, or a list with that in it
//   - Ollama: {"error":"text"}
//   - Bedrock: {"message"} with the name in x-amzn-errortype or "__type"
//   - DashScope: {"code","message","request_id"}
//
// Gateways mix these, so all places are looked at whatever the dialect; the rows then say what was meant.
#include "parley/dialect/failure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/shorten.h"
#include "dialect/core/overflow.h"
#include "dialect/format.h"
#include "parley/base/secret.h"
#include "parley/json/json.h"

namespace parley {
namespace {

using enum FailureKind;

constexpr json::Limits kLimits = {.bytes = 1024 * 1024, .string = 1024 * 1024, .depth = 64};
constexpr std::size_t kRead = 64 * 1024;      // of one text, to find phrases
constexpr std::size_t kRedacted = 32 * 1024;  // of one text, to be shown

using dialect::FailureRow;

constexpr FailureRow word(std::string_view word, FailureKind kind) { return {0, 999, word, {}, kind}; }
constexpr FailureRow status(int status, FailureKind kind) { return {status, status, {}, {}, kind}; }

// The first row that fits decides. These come before the phrases of overflow.cc and the rows of the dialect,
constexpr auto kFailureWords = std::to_array<FailureRow>({
    // Words that mean one thing, whatever the status is.
    word("insufficient_quota", Billing),
    word("credit_balance_exhausted", Billing),
    word("organization_spend_limit_exceeded", Billing),
    word("project_spend_limit_exceeded", Billing),
    word("organization_usage_limit_exceeded", Billing),
    word("billing_error", Billing),
    word("enforced_spend_limit_reached", Billing),
    word("exceeded_current_quota_error", Billing),  // Moonshot
    word("Arrearage", Billing),                     // DashScope
    word("ServiceQuotaExceededException", Billing),
    word("context_length_exceeded", ContextTooLong),
    word("exceed_context_size_error", ContextTooLong),         // llama.cpp
    word("model_max_prompt_tokens_exceeded", ContextTooLong),  // Copilot
    word("model_context_window_exceeded", ContextTooLong),     // Z.ai
    word("request_too_large", ContextTooLong),
    word("invalid_api_key", Auth),
    word("InvalidApiKey", Auth),
    word("API_KEY_INVALID", Auth),
    word("authentication_error", Auth),
    word("UNAUTHENTICATED", Auth),
    word("UnrecognizedClientException", Auth),
    word("InvalidSignatureException", Auth),
    word("ExpiredTokenException", Auth),
    word("permission_error", Permission),
    word("PERMISSION_DENIED", Permission),
    word("AccessDeniedException", Permission),
    word("content_policy_violation", Refused),
    word("image_content_policy_violation", Refused),
    word("bio_policy", Refused),
    word("content_filter", Refused),
    word("DataInspectionFailed", Refused),
    word("data_inspection_failed", Refused),
    word("promptFeedback", Refused),  // Gemini answers, without candidates
    {0, 999, "invalid_prompt", "flagged", Refused},
    word("slow_down", RateLimit),
    word("ThrottlingException", RateLimit),
    word("Throttling", RateLimit),
    word("Throttling.RateQuota", RateLimit),
    word("Throttling.AllocationQuota", RateLimit),
    word("ModelNotReadyException", Overloaded),
    word("engine_overloaded_error", Overloaded),  // Moonshot, with 429
    word("overloaded_error", Overloaded),
});

// and these after them.
constexpr auto kStatuses = std::to_array<FailureRow>({
    // The status.
    status(401, Auth),
    status(402, Billing),
    status(403, Permission),
    status(408, Server),
    status(409, Server),
    status(413, ContextTooLong),
    status(424, Server),
    status(429, RateLimit),
    {400, 499, {}, {}, InvalidRequest},
    status(503, Overloaded),
    status(529, Overloaded),
    {500, 599, {}, {}, Server},

    // Words for when the status says nothing: an error within a stream. Other words are the provider's fault.
    word("server_error", Server),
    word("invalid_request_error", InvalidRequest),
    word("invalid_parameter_error", InvalidRequest),
    word("InvalidParameter", InvalidRequest),
    word("invalid_prompt", InvalidRequest),
    word("data_residency_mismatch", InvalidRequest),
    {0, 999, {}, "_image", InvalidRequest},  // invalid_image_url, unsupported_image_media_type, ...
    {0, 999, {}, "image_", InvalidRequest},  // image_too_large, image_parse_error, ...
    word("not_found_error", InvalidRequest),
    word("INVALID_ARGUMENT", InvalidRequest),
    word("FAILED_PRECONDITION", InvalidRequest),
    word("NOT_FOUND", InvalidRequest),
    word("ValidationException", InvalidRequest),
    word("ConflictException", InvalidRequest),
    word("ResourceNotFoundException", InvalidRequest),
    word("AccessDenied", Permission),
    word("rate_limit_error", RateLimit),
    word("rate_limit_exceeded", RateLimit),
    word("rate_limit_reached_error", RateLimit),
    word("RESOURCE_EXHAUSTED", RateLimit),
    word("ServiceUnavailableException", Overloaded),
    word("UNAVAILABLE", Overloaded),
    {300, 399, {}, {}, InvalidRequest},  // redirects are not followed: the URL is wrong
    {1, 999, {}, {}, Server},
});

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Half a secret has no form that is known, so what a cut may have split is not shown.
Text shown(std::string_view bytes) {
  std::string text = redacted(bytes.substr(0, kRedacted));
  if (bytes.size() > kRedacted) text.resize(std::min(text.size(), kRedacted / 2));
  Text out = Text(text);
  return out.size() <= kFailureTextBytes ? out : Text(shortened_text(out, kFailureTextBytes));
}

// What an answer says, before it is judged.
struct Said {
  std::optional<int> status;       // in the body
  std::vector<std::string> words;  // the first one is what a person is shown
  std::optional<std::string> message;
  std::string request_id, delay;
  Overflow overflow = {};  // in members of its own: llama.cpp
};

std::optional<std::string> string_at(const Json& json, std::string_view pointer) {
  const auto value = json.at(pointer);
  const auto text = value ? value->as_string() : std::nullopt;
  if (!text || text->empty()) return std::nullopt;
  return text->slice(0, kRead).str();
}

std::optional<std::uint64_t> count_at(const Json& json, std::string_view pointer) {
  const auto value = json.at(pointer);
  const auto number = value ? value->as_int64() : std::nullopt;
  if (!number || *number <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

// "com.amazon.coral#ThrottlingException:http://..." -> "ThrottlingException".
std::string_view exception_name(std::string_view name) {
  name = name.substr(0, name.find(':'));
  return name.substr(name.rfind('#') + 1);
}

// Gemini's details: a reason, the quota that is used up, the time to wait.
void read_details(const Json& error, Said& said) {
  constexpr std::size_t kMost = 16;
  const auto details = error.get("details");
  const auto list = details ? details->elements() : std::vector<Json>();
  for (std::size_t i = 0; i < std::min(list.size(), kMost); ++i) {
    for (const std::string_view place : {"/reason", "/violations/0/quotaId", "/metadata/quota_limit"}) {
      if (auto word = string_at(list[i], place)) said.words.push_back(std::move(*word));
    }
    if (auto delay = string_at(list[i], "/retryDelay")) said.delay = std::move(*delay);
  }
}

Said read_body(const Json& body) {
  Said said;
  Json root = body.at("/0").value_or(body);  // Gemini's streams wrap it in a list
  Json error = root;
  for (const std::string_view place : {"/error", "/response/error"}) {
    if (auto inner = root.at(place); inner && inner->is_object()) error = *inner;
  }
  for (const std::string_view place :
       {"/details/error_code", "/code", "/status", "/type", "/__type", "/error_type"}) {
    auto word = string_at(error, place);
    if (word && *word != "error") said.words.emplace_back(exception_name(*word));
  }
  if (auto reason = string_at(root, "/promptFeedback/blockReason")) {
    said.words.insert(said.words.end(), {std::move(*reason), "promptFeedback"});
  }
  read_details(error, said);
  for (const std::string_view place : {"/message", "/Message", "/detail", "/error"}) {
    if (!said.message) said.message = string_at(error, place);
  }
  // OpenRouter passes on what the provider said, as the text it was.
  if (auto raw = string_at(error, "/metadata/raw")) said.message = said.message.value_or("") + ": " + *raw;
  said.overflow.limit = count_at(error, "/n_ctx");
  said.overflow.prompt = count_at(error, "/n_prompt_tokens");
  said.request_id = string_at(root, "/request_id").value_or("");
  for (const std::string_view place : {"/code", "/status_code"}) {
    const auto value = error.at(place);
    const auto number = value ? value->as_int64() : std::nullopt;
    if (number && *number >= 300 && *number <= 599) said.status = static_cast<int>(*number);
  }
  return said;
}

std::string without_words(int status, std::string_view body) {
  if (status == 0 && body.empty()) return "there was no answer";
  const std::string_view what = body.empty()                                     ? "nothing"
                                : body.starts_with('<')                          ? "a web page"
                                : body.starts_with('{') || body.starts_with('[') ? "no words"
                                                                                 : "";
  if (what.empty()) return std::string(body.substr(0, kRead));
  return "an answer of status " + std::to_string(status) + " with " + std::string(what) + " in it";
}

std::string_view header(std::span<const HeaderField> headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const HeaderField& field) { return same(field.name, name); });
  return found == headers.end() ? std::string_view() : found->value;
}

bool fits(const FailureRow& row, int status, const Said& said, std::string_view message) {
  if (status < row.from || status > row.to) return false;
  const auto any_word = [&](auto matches) {
    return std::any_of(said.words.begin(), said.words.end(), matches);
  };
  if (!row.word.empty() && !any_word([&](const std::string& word) { return same(word, row.word); })) {
    return false;
  }
  return row.phrase.empty() || message.find(row.phrase) != std::string_view::npos ||
         any_word(
             [&](const std::string& word) { return lowered(word).find(row.phrase) != std::string::npos; });
}

// Errors about permissions and rate limits may mention the context window, too.
bool can_be_too_long(int status, std::string_view message) {
  if (status == 429) return message.contains("request too large");  // one request has more than a minute may
  return status != 401 && status != 402 && status != 403;
}

FailureKind kind_of(Dialect dialect, int status, const Said& said) {
  const std::string message = lowered(said.message.value_or(""));
  const auto fits_this = [&](const FailureRow& row) { return fits(row, status, said, message); };
  if (const auto row = std::ranges::find_if(kFailureWords, fits_this); row != kFailureWords.end())
    return row->kind;
  if (can_be_too_long(status, message) && says_too_long(message)) return ContextTooLong;
  const auto own = dialect::format_of(dialect).failures;
  if (const auto row = std::ranges::find_if(own, fits_this); row != own.end()) return row->kind;
  const auto row = std::ranges::find_if(kStatuses, fits_this);
  return row == kStatuses.end() ? Transport : row->kind;
}

Overflow overflow_of(FailureKind kind, const Said& said) {
  if (kind != ContextTooLong) return {};
  return overflow_in(lowered(said.message.value_or("")), said.overflow);
}

// ---- Waiting

// A number that is not negative, and what stands after it.
std::optional<double> number_before(std::string_view& text) {
  double value = 0;
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;  // from_chars takes "inf" too
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// `text` is a number and `unit`, which has so many milliseconds.
std::optional<double> milliseconds(std::string_view text, std::string_view unit, double scale) {
  const auto value = number_before(text);
  if (!value || text != unit) return std::nullopt;
  return *value * scale;
}

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value >= 0 && value <= 9999 ? std::optional(value) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  constexpr std::size_t kMost = 8;  // a date has no more
  std::vector<std::string_view> words;
  words.reserve(kMost);
  while (words.size() < kMost) {
    const std::size_t begin = text.find_first_not_of(separators);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    words.push_back(text.substr(0, text.find_first_of(separators)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

// The three spellings of RFC 9110: "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" and
// "Sun Nov  6 08:49:37 1994". Words say which part they are: a time has colons, the first number is the day.
std::optional<std::int64_t> http_date(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
  std::optional<int> day_of_month, year_number, seconds_of_day;
  std::optional<unsigned> month_number;
  for (const std::string_view word : split(text, " ,-")) {
    const auto number = whole_number(word);
    const std::size_t month = word.size() == 3 ? kMonths.find(lowered(word)) : std::string_view::npos;
    if (number) {
      (day_of_month ? year_number : day_of_month) = number;
    } else if (month != std::string_view::npos && month % 3 == 0) {
      month_number = static_cast<unsigned>(month / 3 + 1);
    } else if (const auto clock = split(word, ":"); clock.size() == 3) {
      const auto h = whole_number(clock[0]), m = whole_number(clock[1]), s = whole_number(clock[2]);
      if (h && m && s && *h < 24 && *m < 60 && *s <= 60) seconds_of_day = (*h * 60 + *m) * 60 + *s;
    }
  }
  if (!day_of_month || !month_number || !year_number || !seconds_of_day) return std::nullopt;
  const int century = *year_number >= 100 ? 0 : 2000;  // a date to wait for is not in the last one
  const auto date =
      year(*year_number + century) / month(*month_number) / day(static_cast<unsigned>(*day_of_month));
  if (!date.ok()) return std::nullopt;
  return duration_cast<std::chrono::milliseconds>(
             (sys_days(date) + seconds(*seconds_of_day)).time_since_epoch())
      .count();
}

std::optional<std::chrono::milliseconds> wait_of(std::span<const HeaderField> headers, const Said& said,
                                                 std::int64_t now_ms) {
  const std::string_view after = header(headers, "retry-after");
  auto wait = milliseconds(header(headers, "retry-after-ms"), "", 1);
  if (!wait) wait = milliseconds(after, "", 1000);
  if (!wait) {
    if (const auto date = http_date(after)) wait = static_cast<double>(*date - now_ms);
  }
  if (!wait) wait = milliseconds(said.delay, "s", 1000);
  if (!wait || !(*wait > 0) || *wait >= 2147483648.0) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(*wait)));
}

}  // namespace

std::string_view to_string(FailureKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {
      "invalid_request", "context_too_long", "auth",   "permission", "billing",
      "rate_limit",      "overloaded",       "server", "refused",    "transport"};
  return kNames[static_cast<std::size_t>(kind)];
}

bool is_retryable(FailureKind kind) {
  return kind == RateLimit || kind == Overloaded || kind == Server || kind == Transport;
}

std::optional<FailureKind> failure_kind(Finish finish) {
  switch (finish) {
    case Finish::ContextFull:
      return ContextTooLong;
    case Finish::Filtered:
    case Finish::Refused:
      return Refused;
    case Finish::Error:
      return Server;
    default:
      return std::nullopt;
  }
}

std::optional<double> Overflow::share() const {
  if (!limit || !prompt || *prompt == 0) return std::nullopt;
  const std::uint64_t room = *limit - std::min(*limit, output.value_or(0));
  return std::min(1.0, static_cast<double>(room) / static_cast<double>(*prompt));
}

Failure failure_of(Dialect dialect, int status, std::span<const HeaderField> headers, std::string_view body,
                   std::int64_t now_ms) {
  const std::size_t begin = std::min(body.find_first_not_of(" \t\r\n"), body.size());
  body.remove_prefix(begin);
  Said said;
  if (const auto json = Json::parse(body, kLimits)) said = read_body(*json);
  for (const std::string_view name : {":exception-type", "x-amzn-errortype"}) {
    if (const std::string_view type = header(headers, name); !type.empty()) {
      said.words.insert(said.words.begin(), std::string(exception_name(type)));
    }
  }
  // A stream began well, and its error says what the status would have been.
  if (status < 300 && said.status) status = *said.status;

  Failure failure;
  failure.kind = kind_of(dialect, status, said);
  const std::string_view should_retry = header(headers, "x-should-retry");
  failure.retryable = should_retry == "true" || (should_retry != "false" && is_retryable(failure.kind));
  failure.wait = wait_of(headers, said, now_ms);
  failure.message = shown(said.message.value_or(without_words(status, body)));
  if (!said.words.empty()) failure.code = shown(said.words[0]);
  for (const std::string_view name : {"x-request-id", "request-id", "x-amzn-requestid"}) {
    if (said.request_id.empty()) said.request_id = header(headers, name);
  }
  failure.request_id = shown(said.request_id);
  failure.overflow = overflow_of(failure.kind, said);
  return failure;
}

Failure failure_of(Dialect dialect, const stream::Failed& failed) {
  constexpr int kStreamed = 200;  // a stream that began, whatever it came to
  Failure failure;
  failure.kind = Transport;
  if (failed.error.code == Code::Unavailable) {  // the provider's own words
    const Said said{whole_number(failed.kind), {failed.kind.str()}, failed.error.message, {}, {}};
    failure.kind = kind_of(dialect, said.status.value_or(kStreamed), said);
    failure.overflow = overflow_of(failure.kind, said);
  }
  // What is too long comes again as long.
  failure.retryable = is_retryable(failure.kind) && failed.error.code != Code::LimitExceeded;
  failure.message = shown(failed.error.message);
  failure.code = shown(failed.kind);
  return failure;
}

}  // namespace parley
