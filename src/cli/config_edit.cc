#include "cli/config_edit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "parley/base/text.h"

namespace parley::cli {
namespace {

constexpr const char* kNoFile = "the configuration";  // in errors of texts that were not read from a file

// ---- Spelling

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_key(const std::string& name) {
  const bool is_bare = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return is_bare ? name : toml_string(name);
}

struct Spelling {
  std::string operator()(const std::string& text) const { return toml_string(text); }
  std::string operator()(const std::vector<std::string>& list) const {
    std::vector<std::string> items;
    items.reserve(list.size());
    for (const std::string& item : list) items.push_back(toml_string(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::string operator()(auto value) const { return fmt::format("{}", value); }
};

// ---- Places

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  if (!out.empty() && !out.back().ends_with('\n')) out.back() += '\n';
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

// The offset in bytes of a line and a column, which counts code points.
std::size_t offset_of(const std::string& text, std::size_t line, std::size_t column) {
  std::size_t at = 0;
  for (; line > 1; --line) at = std::min(text.find('\n', at), text.size() - 1) + 1;
  for (; column > 1 && at < text.size(); --column)
    at += std::max<std::size_t>(utf8_sequence_length(text, at), 1);
  return std::min(at, text.size());
}

bool is_header(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '[';
}

// "[tools.policy]" without spaces and comments.
std::string header_of(std::string_view line) {
  std::string out;
  for (const char c : line.substr(0, line.find(']') + 1)) {
    if (c != ' ' && c != '\t') out += c;
  }
  return out;
}

const ConfigEntry* entry_at(const std::vector<ConfigEntry>& entries, const std::vector<std::string>& path) {
  const auto found = std::ranges::find(entries, path, &ConfigEntry::path);
  return found == entries.end() ? nullptr : &*found;
}

// ---- Changes

std::string with_new_line(const std::string& text, const ConfigEntry& entry) {
  std::vector<std::string> lines = lines_of(text);
  const std::string line =
      fmt::format("{} = {}\n", toml_key(entry.path.back()), std::visit(Spelling{}, entry.value));
  if (entry.path.size() == 1) {
    // After the last line of the first part, and before the empty lines and comments of the first table.
    auto place = std::ranges::find_if(lines, is_header);
    while (place != lines.begin() && place != lines.end() &&
           ((place - 1)->starts_with('#') || *(place - 1) == "\n")) {
      --place;
    }
    lines.insert(place, place != lines.end() && is_header(*place) ? line + "\n" : line);
    return joined(lines);
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < entry.path.size(); ++i) names.push_back(toml_key(entry.path[i]));
  const std::string header = fmt::format("[{}]", fmt::join(names, "."));
  const auto place = std::ranges::find_if(
      lines, [&](const std::string& each) { return is_header(each) && header_of(each) == header; });
  if (place != lines.end()) {
    lines.insert(place + 1, line);
    return joined(lines);
  }
  return fmt::format("{}{}{}\n{}", joined(lines), lines.empty() ? "" : "\n", header, line);
}

// The same entries but for the one that was changed.
Result<std::string> checked(std::vector<ConfigEntry> before, std::string text,
                            const std::vector<std::string>& path, const ConfigEntry* wanted) {
  Result<std::vector<ConfigEntry>> after = parse_config(text, kNoFile);
  bool is_good = after.has_value();
  if (is_good) {
    const ConfigEntry* now = entry_at(*after, path);
    is_good = (now != nullptr) == (wanted != nullptr) && (now == nullptr || now->value == wanted->value);
    const auto is_changed = [&](const ConfigEntry& each) { return each.path == path; };
    std::erase_if(before, is_changed);
    std::erase_if(*after, is_changed);
    std::ranges::sort(before, {}, &ConfigEntry::path);
    std::ranges::sort(*after, {}, &ConfigEntry::path);
    is_good = is_good && std::ranges::equal(before, *after, [](const ConfigEntry& a, const ConfigEntry& b) {
                return a.path == b.path && a.value == b.value;
              });
  }
  if (is_good) return text;
  return fail(Code::Unsupported,
              fmt::format("cannot change '{}' in this file: use 'parley config edit'", fmt::join(path, ".")));
}

}  // namespace

Result<std::string> with_entry(const std::string& text, const ConfigEntry& entry) {
  PARLEY_TRY(std::vector<ConfigEntry> before, parse_config(text, kNoFile));
  std::string changed;
  if (const ConfigEntry* old = entry_at(before, entry.path)) {
    const std::size_t begin = offset_of(text, old->span.line, old->span.column);
    const std::size_t end = offset_of(text, old->span.end_line, old->span.end_column);
    changed = text;
    changed.replace(begin, std::max(begin, end) - begin, std::visit(Spelling{}, entry.value));
  } else {
    changed = with_new_line(text, entry);
  }
  return checked(std::move(before), std::move(changed), entry.path, &entry);
}

Result<std::string> without_entry(const std::string& text, const std::vector<std::string>& path) {
  PARLEY_TRY(std::vector<ConfigEntry> before, parse_config(text, kNoFile));
  const ConfigEntry* old = entry_at(before, path);
  if (old == nullptr) {
    return fail(Code::NotFound, fmt::format("'{}' is not set in the file", fmt::join(path, ".")));
  }
  std::vector<std::string> lines = lines_of(text);
  const auto first = static_cast<std::ptrdiff_t>(old->span.line) - 1;
  const auto last = static_cast<std::ptrdiff_t>(std::min(old->span.end_line, lines.size()));
  lines.erase(lines.begin() + first, lines.begin() + last);
  return checked(std::move(before), joined(lines), path, nullptr);
}

}  // namespace parley::cli
