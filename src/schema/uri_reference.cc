#include "schema/uri_reference.h"

#include <algorithm>
#include <array>

namespace parley {
namespace {

// scheme ":" "//" authority path "?" query; each with its delimiter, and empty if it is not there.
struct Parts {
  std::string_view scheme, authority, path, query;
};

bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

Parts parts_of(std::string_view uri) {
  Parts out;
  const auto take = [&](std::size_t length) {
    const std::string_view part = uri.substr(0, length);
    uri.remove_prefix(part.size());
    return part;
  };
  if (const std::size_t colon = uri.find(':'); colon != uri.npos && is_scheme(uri.substr(0, colon))) {
    out.scheme = take(colon + 1);
  }
  if (uri.starts_with("//")) out.authority = take(std::min(uri.find_first_of("/?", 2), uri.size()));
  out.path = take(std::min(uri.find('?'), uri.size()));
  out.query = uri;
  return out;
}

// Section 5.2.4.
std::string without_dot_segments(std::string_view path) {
  std::string out;
  while (path.starts_with("./") || path.starts_with("../")) path.remove_prefix(path.find('/') + 1);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    const bool is_last = end == path.size();
    path.remove_prefix(end);
    if (segment == "/." || segment == "/..") {
      if (segment == "/..") out.erase(out.find('/') == out.npos ? 0 : out.rfind('/'));
      if (is_last) out += '/';
    } else {
      out += segment;
    }
  }
  return out;
}

std::string joined(const std::array<std::string_view, 4>& parts) {
  std::string out;
  for (const std::string_view part : parts) out += part;
  return out;
}

}  // namespace

SplitUri split_fragment(std::string_view uri) {
  const std::size_t hash = uri.find('#');
  if (hash == std::string_view::npos) return {uri, {}};
  return {uri.substr(0, hash), uri.substr(hash + 1)};
}

std::string resolve_reference(std::string_view base, std::string_view reference) {
  const Parts b = parts_of(split_fragment(base).uri);
  const Parts r = parts_of(split_fragment(reference).uri);
  if (!r.scheme.empty()) return joined({r.scheme, r.authority, without_dot_segments(r.path), r.query});
  if (!r.authority.empty()) return joined({b.scheme, r.authority, without_dot_segments(r.path), r.query});
  if (r.path.empty()) {
    return joined({b.scheme, b.authority, b.path, r.query.empty() ? b.query : r.query});
  }
  if (r.path.starts_with('/')) {
    return joined({b.scheme, b.authority, without_dot_segments(r.path), r.query});
  }
  std::string path = !b.authority.empty() && b.path.empty() ? "/" : std::string(b.path);
  path.resize(path.rfind('/') + 1);  // npos + 1 is 0
  path += r.path;
  return joined({b.scheme, b.authority, without_dot_segments(path), r.query});
}

}  // namespace parley
