#include "tool/python_repr.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "json/python.h"
#include "json/walk.h"

namespace parley {
namespace {

constexpr auto kWords = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"true", "True"}, {"false", "False"}, {"null", "None"}});

// What str.isprintable() says of a character.
bool is_printable(utf8proc_int32_t point) {
  if (point == ' ') return true;
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

void append_escaped(std::string& out, utf8proc_int32_t point) {
  std::array<char, 16> text{};
  const char* const format = point < 0x100 ? "\\x%02x" : point < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(text.data(), text.size(), format, static_cast<unsigned>(point));
  out += text.data();
}

void append_repr(std::string& out, std::string_view utf8) {
  const bool has_single = utf8.find('\'') != std::string_view::npos;
  const char quote = has_single && utf8.find('"') == std::string_view::npos ? '"' : '\'';
  out += quote;
  while (!utf8.empty()) {
    utf8proc_int32_t point = 0;
    const auto length =
        static_cast<std::size_t>(utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()),
                                                  static_cast<utf8proc_ssize_t>(utf8.size()), &point));
    const std::string_view character = utf8.substr(0, length);
    utf8.remove_prefix(length);
    if (point == quote || point == '\\') {
      out += '\\';
      out += character;
    } else if (point == '\n') {
      out += "\\n";
    } else if (point == '\r') {
      out += "\\r";
    } else if (point == '\t') {
      out += "\\t";
    } else if (is_printable(point)) {
      out += character;
    } else {
      append_escaped(out, point);
    }
  }
  out += quote;
}

}  // namespace

std::string python_repr(std::string_view utf8) {
  std::string out;
  append_repr(out, utf8);
  return out;
}

std::string python_repr(const Json& value) {
  const std::string spelled = json::python_json(value.text(), json::Gaps::Spaces);
  const std::string_view in = spelled;
  std::string out;
  for (std::size_t i = 0; i < in.size();) {
    const std::size_t end = in[i] == ' ' ? i + 1 : json::token_end(in, i);
    const std::string_view token = in.substr(i, end - i);
    if (token.front() == '"') {
      append_repr(out, *Json::trusted(Text(token)).as_string());
    } else {
      const auto word =
          std::ranges::find(kWords, token, &std::pair<std::string_view, std::string_view>::first);
      out += word != kWords.end() ? word->second : token;
    }
    i = end;
  }
  return out;
}

}  // namespace parley
