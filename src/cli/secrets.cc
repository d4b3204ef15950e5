#include "cli/secrets.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cli/diagnostics.h"
#include "json/strings.h"
#include "parley/base/secret.h"
#include "parley/base/url.h"

namespace parley::cli {
namespace {

constexpr std::string_view kMarker = "[redacted: secret]";
// Shorter secrets may be ordinary words, so they are replaced only inside their URL.
constexpr std::size_t kShortestPart = 6;
constexpr std::size_t kShortestKey = 12;  // "ollama" and "lm-studio" are not keys

// A secret, and what is printed in its place.
struct Known {
  Secret text;
  std::string shown;
};

struct Register {
  std::mutex mutex;
  std::vector<Known> known;  // the longest first: a URL before its password
};

Register& secrets() {
  static Register all;
  return all;
}

void note(std::string_view text, std::string_view shown) {
  Register& all = secrets();
  const std::lock_guard lock(all.mutex);
  const auto bytes = [](const Known& each) { return each.text.reveal(); };
  if (std::ranges::find(all.known, text, bytes) != all.known.end()) return;
  const auto is_shorter = [&](const Known& each) { return each.text.reveal().size() < text.size(); };
  all.known.insert(std::ranges::find_if(all.known, is_shorter), {Secret(text), std::string(shown)});
}

// Unchanged, and as visible() escapes it.
void note_spellings(std::string_view text, std::string_view shown) {
  note(text, shown);
  if (const std::string spelled = visible(text); spelled != text) note(spelled, visible(shown));
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c | 0x20 : c; });
  return out;
}

bool names_secret(std::string_view name) {
  std::string plain = lower(name);
  std::ranges::replace(plain, '-', '_');
  constexpr std::string_view kEnds[] = {"_key",  "apikey", "token", "secret", "password",     "passwd",
                                        "_pass", "_pwd",   "_pat",  "cookie", "authorization"};
  constexpr std::string_view kWhole[] = {"key", "pass", "pwd", "sig", "signature", "auth"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return plain.ends_with(end); }) ||
         std::ranges::find(kWhole, plain) != std::end(kWhole);
}

// ---- URLs

struct Range {
  std::size_t begin, end;
};

// The password, or a user without one; for HTTP both, because either may be a key. A password with a slash
// makes an invalid URL, but is still a password.
void find_user_info(std::string_view url, std::size_t authority, std::vector<Range>& out) {
  const std::size_t end = std::min(url.find_first_of("/?#", authority), url.size());
  const std::size_t colon = url.find(':', authority);
  std::size_t at = url.substr(0, end).rfind('@');
  if (at == std::string_view::npos && colon < end &&
      url.substr(colon + 1, end - colon - 1).find_first_not_of("0123456789") != std::string_view::npos) {
    at = url.rfind('@');  // the text after the colon is not a port
  }
  if (at == std::string_view::npos || at <= authority) return;
  const bool is_http = url.starts_with("http");
  if (colon >= at || (is_http && colon > authority)) out.push_back({authority, std::min(colon, at)});
  if (colon < at && colon + 1 < at) out.push_back({colon + 1, at});
}

void find_parameters(std::string_view url, std::size_t from, std::vector<Range>& out) {
  for (std::size_t at = url.find('?', from); at < url.size();) {
    const std::size_t name = at + 1;
    const std::size_t end = std::min(url.find_first_of("&#", name), url.size());
    const std::size_t equals = url.find('=', name);
    if (equals < end && equals + 1 < end && names_secret(url.substr(name, equals - name))) {
      out.push_back({equals + 1, end});
    }
    at = end;
  }
}

void note_url(std::string_view url, std::size_t authority) {
  std::vector<Range> parts;
  find_user_info(url, authority, parts);
  find_parameters(url, parts.empty() ? authority : parts.back().end, parts);
  if (parts.empty()) return;
  std::string shown;
  std::size_t copied = 0;
  for (const Range& part : parts) {
    shown.append(url.substr(copied, part.begin - copied)).append(kMarker);
    copied = part.end;
  }
  shown += url.substr(copied);
  note_spellings(url, shown);
  for (const Range& range : parts) {
    const std::string_view part = url.substr(range.begin, range.end - range.begin);
    for (const std::string& spelled : {std::string(part), percent_decode(part)}) {
      // A password that equals the user's name or the host is not a secret by itself.
      if (spelled.size() < kShortestPart || shown.find(spelled) != std::string::npos) continue;
      note_spellings(spelled, kMarker);
    }
  }
}

// ---- Options and headers: "--token=x", "authorization=Bearer x,api-key=y"

void note_assignments(std::string_view text) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::size_t name = std::min(part.find_first_not_of(" -"), equals);
    const std::string_view value = part.substr(equals + 1);
    if (names_secret(part.substr(name, equals - name))) register_secrets("secret", value);
  }
}

}  // namespace

void register_secrets(std::string_view name, std::string_view value) {
  if (const std::size_t scheme = value.find("://"); scheme != std::string_view::npos) {
    note_url(value, scheme + 3);
  } else if (names_secret(name)) {
    // "Bearer x": the scheme is not secret. The name of a file is not a key.
    const std::string_view key = value.substr(value.rfind(' ') + 1);
    if (key.size() >= kShortestKey && !key.starts_with('/')) note_spellings(key, kMarker);
  } else {
    note_assignments(value);
  }
}

void register_secrets_of_process(std::span<char*> arguments) {
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const std::size_t equals = std::min(variable.find('='), variable.size());
    register_secrets(variable.substr(0, equals), variable.substr(std::min(equals + 1, variable.size())));
  }
  for (const char* each : arguments) register_secrets("", each);
}

std::string without_secrets(std::string_view text) {
  std::string out(text);
  {
    Register& all = secrets();
    const std::lock_guard lock(all.mutex);
    for (const Known& each : all.known) {
      const std::string_view secret = each.text.reveal();
      for (std::size_t at = 0; (at = out.find(secret, at)) != std::string::npos; at += each.shown.size()) {
        out.replace(at, secret.size(), each.shown);
      }
    }
  }
  redact(out);
  return out;
}

std::string json_without_secrets(std::string_view json) {
  return json::with_strings(json, [](const Text& text, bool is_key) -> std::optional<std::string> {
    if (is_key) return std::nullopt;
    std::string shown = without_secrets(text.view());
    return shown == text.view() ? std::nullopt : std::optional(std::move(shown));
  });
}

}  // namespace parley::cli
