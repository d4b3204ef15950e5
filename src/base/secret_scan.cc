// The forms of secrets, one row each. A row is found by a literal and then looked at by hand: every form is
// a run of one character set, and where a run ends is looked up once.
#include "base/secret_scan.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/literals.h"
#include "parley/base/secret.h"

namespace parley {
namespace {

enum Set : unsigned {
  kLower = 1,
  kUpper = 2,
  kDigit = 4,
  kDash = 8,        // - _
  kBase64 = 16,     // + / =
  kPoint = 32,      // .
  kToken = 64,      // ~ and what else RFC 6750 allows beside the above
  kPercent = 128,   // %
  kHex = 256,       // a-f 0-9
  kUserInfo = 512,  // what may stand between "://" and "@" without ending the URL
  kValue = 1024,    // the value of a connection string
  kAlnum = kLower | kUpper | kDigit,
  kWord = kAlnum | kDash,
};

constexpr std::array<std::uint16_t, 256> make_sets() {
  std::array<std::uint16_t, 256> sets = {};
  for (unsigned c = 0; c < 256; ++c) {
    unsigned set = 0;
    const auto is = [&](std::string_view any) { return any.find(static_cast<char>(c)) != any.npos; };
    if (c >= 'a' && c <= 'z') set |= kLower;
    if (c >= 'A' && c <= 'Z') set |= kUpper;
    if (c >= '0' && c <= '9') set |= kDigit | kHex;
    if (c >= 'a' && c <= 'f') set |= kHex;
    if (is("-_")) set |= kDash;
    if (is("+/=")) set |= kBase64;
    if (c == '.') set |= kPoint;
    if (c == '~') set |= kToken;
    if (c == '%') set |= kPercent;
    if (c > ' ' && c != 0x7F && !is("/?#\"'<>`\\")) set |= kUserInfo;
    if (c > ' ' && c != 0x7F && !is(";\"'<>`\\&,")) set |= kValue;
    sets[c] = static_cast<std::uint16_t>(set);
  }
  return sets;
}
constexpr std::array<std::uint16_t, 256> kSets = make_sets();

bool is_in(char c, unsigned set) { return (kSets[static_cast<unsigned char>(c)] & set) != 0; }

bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return is_in(c, kDigit); });
}

constexpr std::size_t kAny = 4096;  // longer runs are no keys

}  // namespace

struct SecretScan::Rule {
  enum How : std::uint8_t {
    Key,         // the literal and a run after it
    Value,       // the run after the literal and a separator
    Query,       // the same, and the literal ends the name of a URL's parameter
    Connection,  // the same, in a connection string
    Basic,       // the same, after "authorization"
    WebToken,
    Block,
    Url,
  };
  std::string_view literal;
  std::string_view kind;
  How how = Key;
  unsigned set = 0;
  std::size_t least = 0, most = kAny;  // length of the run
  bool any_case = false;
  bool needs_digit = false;  // so that words joined by dashes are no key
};

struct SecretRules {
  using Rule = SecretScan::Rule;

  // No kind may hold a word that makes something beside it a secret: the marker stays in the text.
  static const std::vector<Rule>& rules() {
    static const std::vector<Rule> all = {
        // Model providers.
        {"sk-ant-", "anthropic key", Rule::Key, kWord, 20},
        {"sk-proj-", "openai key", Rule::Key, kWord, 20},
        {"sk-svcacct-", "openai key", Rule::Key, kWord, 20},
        {"sk-admin-", "openai key", Rule::Key, kWord, 20},
        {"sk-or-v1-", "openrouter key", Rule::Key, kAlnum, 32},
        {"sk-lf-", "langfuse key", Rule::Key, kWord, 20},
        {"sk-", "api key", Rule::Key, kAlnum, 20, kAny, false, true},
        {"AIza", "google key", Rule::Key, kWord, 35, 35},
        {"ya29.", "google token", Rule::Key, kWord, 20},
        {"GOCSPX-", "google client secret", Rule::Key, kWord, 20},
        {"gsk_", "groq key", Rule::Key, kAlnum, 32},
        {"xai-", "xai key", Rule::Key, kAlnum, 40},
        {"hf_", "hugging face token", Rule::Key, kAlnum, 30},
        {"r8_", "replicate token", Rule::Key, kAlnum, 30},
        {"pplx-", "perplexity key", Rule::Key, kAlnum, 32},
        {"nvapi-", "nvidia key", Rule::Key, kWord, 40},
        {"csk-", "cerebras key", Rule::Key, kAlnum, 32},
        {"tgp_v1_", "together key", Rule::Key, kWord, 30},
        {"fw_", "fireworks key", Rule::Key, kAlnum, 22, kAny, false, true},
        {"tvly-", "tavily key", Rule::Key, kWord, 20, kAny, false, true},
        {"lsv2_", "langsmith key", Rule::Key, kWord, 30},
        {"pcsk_", "pinecone key", Rule::Key, kWord, 40},
        {"plk_", "parley key", Rule::Key, kAlnum, 52, 52},
        // Clouds.
        {"AKIA", "aws key id", Rule::Key, kUpper | kDigit, 16, 16},
        {"ASIA", "aws key id", Rule::Key, kUpper | kDigit, 16, 16},
        {"aws_secret_access_key", "aws secret key", Rule::Value, kAlnum | kBase64, 40, 40, true},
        {"AccountKey=", "azure storage key", Rule::Value, kAlnum | kBase64, 40},
        {"SharedAccessKey=", "azure shared key", Rule::Value, kAlnum | kBase64, 30},
        {"LTAI", "alibaba key id", Rule::Key, kAlnum, 12, 26, false, true},
        {"AKID", "tencent key id", Rule::Key, kAlnum, 32, 32},
        {"dop_v1_", "digitalocean token", Rule::Key, kHex, 64, 64},
        {"dapi", "databricks token", Rule::Key, kHex, 32, 34},
        {"HRKU-", "heroku key", Rule::Key, kWord, 30},
        // Code, packages, services.
        {"ghp_", "github token", Rule::Key, kAlnum, 36},
        {"gho_", "github token", Rule::Key, kAlnum, 36},
        {"ghu_", "github token", Rule::Key, kAlnum, 36},
        {"ghs_", "github token", Rule::Key, kAlnum, 36},
        {"ghr_", "github token", Rule::Key, kAlnum, 36},
        {"github_pat_", "github token", Rule::Key, kWord, 40},
        {"glpat-", "gitlab token", Rule::Key, kWord, 20},
        {"npm_", "npm token", Rule::Key, kAlnum, 36, 36},
        {"pypi-AgEI", "pypi token", Rule::Key, kWord, 50},
        {"dckr_pat_", "docker token", Rule::Key, kWord, 20},
        {"xoxb-", "slack token", Rule::Key, kWord, 20, kAny, false, true},
        {"xoxp-", "slack token", Rule::Key, kWord, 20, kAny, false, true},
        {"xoxa-", "slack token", Rule::Key, kWord, 20, kAny, false, true},
        {"xoxr-", "slack token", Rule::Key, kWord, 20, kAny, false, true},
        {"xoxs-", "slack token", Rule::Key, kWord, 20, kAny, false, true},
        {"xapp-", "slack token", Rule::Key, kWord, 20, kAny, false, true},
        {"hooks.slack.com/services/", "slack webhook", Rule::Value, kAlnum | kBase64, 30},
        {"sk_live_", "stripe key", Rule::Key, kAlnum, 16},
        {"sk_test_", "stripe key", Rule::Key, kAlnum, 16},
        {"rk_live_", "stripe key", Rule::Key, kAlnum, 16},
        {"rk_test_", "stripe key", Rule::Key, kAlnum, 16},
        {"whsec_", "stripe webhook secret", Rule::Key, kAlnum | kBase64, 24},
        {"SG.", "sendgrid key", Rule::Key, kWord | kPoint, 60, 70},
        {"shpat_", "shopify token", Rule::Key, kHex, 32},
        {"lin_api_", "linear key", Rule::Key, kAlnum, 32},
        {"ntn_", "notion token", Rule::Key, kAlnum, 40},
        {"figd_", "figma token", Rule::Key, kWord, 30},
        {"hvs.", "vault token", Rule::Key, kWord, 24},
        {"glsa_", "grafana token", Rule::Key, kWord, 32},
        {"PMAK-", "postman key", Rule::Key, kWord, 40},
        {"sbp_", "supabase token", Rule::Key, kHex, 40, 40},
        {"AGE-SECRET-KEY-1", "age key", Rule::Key, kUpper | kDigit, 50},
        // Forms.
        {"bearer ", "bearer token", Rule::Value, kWord | kBase64 | kPoint | kToken, 16, kAny, true, true},
        {"basic ", "basic credentials", Rule::Basic, kWord | kBase64, 8, kAny, true},
        {"x-api-key", "api key", Rule::Value, kWord | kPoint, 16, kAny, true},
        {"key=", "query parameter", Rule::Query, kWord | kPoint | kPercent, 8, kAny, true},
        {"token=", "query parameter", Rule::Query, kWord | kPoint | kPercent, 8, kAny, true},
        {"secret=", "query parameter", Rule::Query, kWord | kPoint | kPercent, 8, kAny, true},
        {"signature=", "query parameter", Rule::Query, kWord | kPoint | kPercent, 8, kAny, true},
        {"sig=", "query parameter", Rule::Query, kWord | kPoint | kPercent, 8, kAny, true},
        {"api-key", "api key", Rule::Value, kHex, 32, kAny, true},
        {"api_key", "api key", Rule::Value, kHex, 32, kAny, true},
        {"password=", "password", Rule::Connection, kValue, 2, SIZE_MAX, true},
        {"pwd=", "password", Rule::Connection, kValue, 2, SIZE_MAX, true},
        {"eyJ", "web token", Rule::WebToken},
        {"-----BEGIN ", "private key", Rule::Block},
        {"://", "password", Rule::Url},
    };
    return all;
  }

  static const LiteralSet& literals() {
    static const LiteralSet set = [] {
      std::vector<Literal> made;
      for (const Rule& rule : rules()) made.push_back({rule.literal, rule.any_case});
      return LiteralSet(made);
    }();
    return set;
  }
};

std::optional<FoundSecret> SecretScan::next() {
  if (!waiting_.empty()) {
    const FoundSecret waiting = waiting_.back();
    waiting_.pop_back();
    last_end_ = waiting.end;
    return waiting;
  }
  FoundSecret found;
  const std::vector<Rule>& rules = SecretRules::rules();
  const std::size_t at =
      SecretRules::literals().find(text_, last_end_, steps_, [&](std::size_t place, std::size_t index) {
        found.kind = rules[index].kind;
        return match(place, rules[index], found);
      });
  if (at == text_.size()) return std::nullopt;
  last_end_ = found.end;
  return found;
}

bool SecretScan::match(std::size_t at, const Rule& rule, FoundSecret& found) {
  switch (rule.how) {
    case Rule::Key:
      return match_key(at, rule, found);
    case Rule::Value:
      return match_value(at, rule, found);
    case Rule::Query:
      return is_query_name(at) && match_value(at, rule, found);
    case Rule::Connection:
      return is_connection_name(at) && match_value(at, rule, found);
    case Rule::Basic:
      return is_authorization(at) && match_value(at, rule, found);
    case Rule::WebToken:
      return match_web_token(at, rule, found);
    case Rule::Block:
      return match_block(at, rule, found);
    case Rule::Url:
      return match_url(at, rule, found);
  }
  return false;
}

// A key begins where a word does. Texts are often escaped once more than they look: "\n" and "%3D" end words
// too. What follows a secret directly would follow a marker when scanned again, so it begins a word.
bool SecretScan::begins_word(std::size_t at) const {
  if (at == last_end_ || !is_in(text_[at - 1], kAlnum | kDash)) return true;
  if (at >= 2 && text_[at - 2] == '\\')
    return std::string_view("nrt").find(text_[at - 1]) != std::string_view::npos;
  return at >= 3 && text_[at - 3] == '%';
}

// Where a run of characters ends is looked up once for all that begins inside of it.
std::size_t SecretScan::run_end(std::size_t at, unsigned set, std::size_t most) {
  auto* known = std::ranges::find(runs_, set, &Run::set);
  if (known == runs_.end()) known = std::ranges::find(runs_, 0U, &Run::set);
  if (known == runs_.end()) known = runs_.begin();
  if (known->set != set || at < known->begin || at >= known->end) {
    *known = {set, at, at};
    while (known->end < text_.size() && is_in(text_[known->end], set)) ++known->end;
    steps_ += known->end - at;
  }
  return most < known->end - at ? at + most : std::max(known->end, at);
}

bool SecretScan::match_key(std::size_t at, const Rule& rule, FoundSecret& found) {
  if (!begins_word(at)) return false;
  const std::size_t run = at + rule.literal.size();
  const std::size_t end = run_end(run, rule.set, rule.most);
  if (end - run < rule.least || (end < text_.size() && is_in(text_[end], kAlnum))) return false;
  if (rule.needs_digit && !has_digit(text_.substr(run, end - run))) return false;
  found.begin = at;
  found.end = end;
  return true;
}

// What may stand between a name and its value: ="x", ': "x"', \":\"x.
bool SecretScan::match_value(std::size_t at, const Rule& rule, FoundSecret& found) {
  std::size_t run = at + rule.literal.size();
  constexpr std::size_t kSeparators = 8;
  for (std::size_t i = 0; i < kSeparators && run < text_.size(); ++i, ++run) {
    if (std::string_view(" \t:=\"'\\").find(text_[run]) == std::string_view::npos) break;
  }
  if (text_.substr(run).starts_with(kRedactedOpen)) return false;
  const std::size_t end = run_end(run, rule.set, rule.most);
  if (end - run < rule.least || (end < text_.size() && is_in(text_[end], kAlnum))) return false;
  if (rule.needs_digit && !has_digit(text_.substr(run, end - run))) return false;
  found.begin = run;
  found.end = end;
  return true;
}

// eyJ... . ... . ...: a header and a payload, both objects in base64 ("eyJ" is '{"'), and a signature.
bool SecretScan::match_web_token(std::size_t at, const Rule&, FoundSecret& found) {
  if (!begins_word(at) || (at != last_end_ && at > 0 && text_[at - 1] == '.')) return false;
  const std::size_t header = run_end(at, kWord, text_.size());
  if (header - at < 12 || header == text_.size() || text_[header] != '.') return false;
  if (!text_.substr(header + 1).starts_with("eyJ")) return false;
  const std::size_t payload = run_end(header + 1, kWord, text_.size());
  if (payload == text_.size() || text_[payload] != '.') return false;
  found.begin = at;
  found.end = run_end(payload + 1, kWord, text_.size());
  return true;
}

// -----BEGIN ... PRIVATE KEY----- to -----END ...-----. A block whose end was cut off ends with its base64.
bool SecretScan::match_block(std::size_t at, const Rule& rule, FoundSecret& found) {
  constexpr std::string_view kName = "PRIVATE KEY";
  constexpr std::string_view kEnd = "-----END ";
  constexpr std::string_view kDashes = "-----";
  constexpr std::size_t kLongestName = 64;
  constexpr std::size_t kLongestBlock = 64 * 1024;
  // A label is capitals, digits and spaces, and the dashes after it.
  const auto label_end = [&](std::size_t from) {
    std::size_t end = from;
    while (end < text_.size() && end - from < kLongestName &&
           (is_in(text_[end], kUpper | kDigit) || text_[end] == ' '))
      ++end;
    steps_ += end - from;
    return end;
  };
  const std::size_t label = at + rule.literal.size();
  const std::size_t dashes = label_end(label);
  if (text_.substr(label, dashes - label).find(kName) == std::string_view::npos) return false;
  if (!text_.substr(dashes).starts_with(kDashes)) return false;
  const std::size_t body = dashes + kDashes.size();
  // Looked up once for all blocks before it: many beginnings without an end cost no more than one.
  if (next_block_end_ < body) {
    next_block_end_ = std::min(text_.find(kEnd, body), text_.size());
    steps_ += next_block_end_ - body;
  }
  found.begin = at;
  if (next_block_end_ < text_.size() && next_block_end_ - body <= kLongestBlock) {
    found.end = label_end(next_block_end_ + kEnd.size());
    if (text_.substr(found.end).starts_with(kDashes)) found.end += kDashes.size();
    return true;
  }
  found.end = body;
  while (found.end < text_.size()) {
    const char c = text_[found.end];
    if (!is_in(c, kAlnum | kBase64) && std::string_view(" \t\r\n\\").find(c) == std::string_view::npos) break;
    ++found.end;
    ++steps_;
  }
  return true;
}

// scheme://user:password@host: the password. A user's name may hold keys, which come before it.
bool SecretScan::match_url(std::size_t at, const Rule& rule, FoundSecret& found) {
  if (at == 0 || !is_in(text_[at - 1], kAlnum)) return false;
  const std::size_t user = at + rule.literal.size();
  const std::size_t end = run_end(user, kUserInfo, text_.size());
  const std::string_view authority = text_.substr(user, end - user);
  const std::size_t host = authority.rfind('@');
  const std::size_t colon = authority.find(':');
  if (host == std::string_view::npos || colon == std::string_view::npos || colon + 1 >= host) return false;
  const std::string_view password = authority.substr(colon + 1, host - colon - 1);
  // A placeholder is not a password: ${PASSWORD}, {password}, ***.
  if (password.front() == '$' || password.front() == '{' || password.starts_with("[redacted:")) return false;
  if (password.find_first_not_of('*') == std::string_view::npos) return false;
  found.begin = user + colon + 1;
  found.end = user + host;
  SecretScan name(authority.substr(0, colon));
  while (const std::optional<FoundSecret> key = name.next()) {
    waiting_.push_back({user + key->begin, user + key->end, key->kind});
  }
  waiting_.push_back(found);
  std::ranges::reverse(waiting_);
  found = waiting_.back();
  waiting_.pop_back();
  steps_ += name.steps();
  return true;
}

// The literal ends the name of a parameter: ?key=, &access_token=.
bool SecretScan::is_query_name(std::size_t at) const {
  constexpr std::size_t kLongestName = 24;
  for (std::size_t i = 0; i < kLongestName && at > last_end_; ++i) {
    const char c = text_[--at];
    if (c == '?' || c == '&') return true;
    if (!is_in(c, kAlnum | kDash)) return false;
  }
  return false;
}

// The literal follows another part: "Server=x;Password=", "host=x password=", "?password=".
bool SecretScan::is_connection_name(std::size_t at) const {
  constexpr std::size_t kLongestPart = 64;
  std::size_t i = at;
  while (i > last_end_ && text_[i - 1] == ' ') {
    if (at - --i > kLongestPart) return false;
  }
  if (i > last_end_ && std::string_view(";?&").find(text_[i - 1]) != std::string_view::npos) return true;
  if (i == at) return false;
  for (; i > last_end_ && at - i <= kLongestPart; --i) {
    const char c = text_[i - 1];
    if (c == '=') return true;
    if (!is_in(c, kValue) || c == ']' || c == '(') return false;
  }
  return false;
}

// Authorization: Basic, "authorization": "Basic.
bool SecretScan::is_authorization(std::size_t at) const {
  constexpr std::string_view kName = "authorization";
  constexpr std::size_t kSeparators = 8;
  for (std::size_t i = 0; i < kSeparators && at > last_end_ && !is_in(text_[at - 1], kAlnum); ++i) --at;
  if (at < last_end_ + kName.size()) return false;
  return std::ranges::equal(text_.substr(at - kName.size(), kName.size()), kName, {},
                            [](char c) { return is_in(c, kUpper) ? static_cast<char>(c | 0x20) : c; });
}

std::string redacted(std::string_view text) {
  SecretScan scan(text);
  std::string out;
  std::size_t copied = 0;
  while (const std::optional<FoundSecret> found = scan.next()) {
    out.append(text.substr(copied, found->begin - copied));
    out.append(kRedactedOpen).append(found->kind).append(kRedactedClose);
    copied = found->end;
  }
  return out.append(text.substr(copied));
}

bool redact(std::string& text) {
  if (!SecretScan(text).next()) return false;
  text = redacted(text);
  return true;
}

}  // namespace parley
