#include "media/mime_type.h"

#include <algorithm>

namespace parley::media {
namespace {

constexpr std::string_view kBlank = " \t\n\r";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower);
  return out;
}

bool is_token(std::string_view text) {
  constexpr std::string_view kSigns = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           kSigns.find(c) != std::string_view::npos;
  });
}

// What a parameter may hold: tab, printable ASCII, and Latin-1 above it.
bool is_value(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
  });
}

std::string_view trimmed_end(std::string_view text) {
  while (!text.empty() && kBlank.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && kBlank.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  return trimmed_end(text);
}

// Takes a string in quotes from the front; a backslash stands for the character after it.
std::string take_quoted(std::string_view& text) {
  std::string out;
  text.remove_prefix(1);
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c == '"') break;
    if (c != '\\') {
      out += c;
    } else if (text.empty()) {
      out += '\\';
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

// Each name is compared with those before it, so there is an end to them; nothing here needs any.
constexpr std::size_t kMaxParameters = 32;

void parse_parameters(std::string_view text, MimeType& out) {
  while (!text.empty() && out.parameters.size() < kMaxParameters) {
    text.remove_prefix(1);  // the semicolon
    while (!text.empty() && kBlank.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
    const std::size_t end = std::min(text.find_first_of(";="), text.size());
    const std::string name = lowered(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.starts_with('=')) continue;
    text.remove_prefix(1);
    if (text.empty()) return;
    std::string value;
    bool is_quoted = false;
    if (text.starts_with('"')) {
      is_quoted = true;
      value = take_quoted(text);
      text.remove_prefix(std::min(text.find(';'), text.size()));
    } else {
      const std::size_t stop = std::min(text.find(';'), text.size());
      value = trimmed_end(text.substr(0, stop));
      text.remove_prefix(stop);
    }
    const bool is_known =
        std::ranges::any_of(out.parameters, [&](const auto& parameter) { return parameter.first == name; });
    const bool is_good = is_token(name) && is_value(value) && (is_quoted || !value.empty());
    if (is_good && !is_known) out.parameters.emplace_back(name, std::move(value));
  }
}

}  // namespace

std::optional<MimeType> parse_mime_type(std::string_view text) {
  text = trimmed(text);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::size_t end = std::min(text.find(';', slash), text.size());
  const std::string_view type = text.substr(0, slash);
  const std::string_view subtype = trimmed_end(text.substr(slash + 1, end - slash - 1));
  if (!is_token(type) || !is_token(subtype)) return std::nullopt;
  MimeType out;
  out.essence = lowered(type) + '/' + lowered(subtype);
  parse_parameters(text.substr(end), out);
  return out;
}

bool is_media(std::string_view essence) {
  const std::string_view kind = essence.substr(0, essence.find('/'));
  return (kind == "image" || kind == "audio" || kind == "video") && essence != "image/svg+xml";
}

}  // namespace parley::media
