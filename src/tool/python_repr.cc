#include "tool/python_repr.h"

#include <utf8proc.h>

#include <array>
#include <cstdio>

namespace parley {
namespace {

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

// The end of the string that begins at `at`. REQUIRES: valid JSON.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

}  // namespace

std::string python_repr(std::string_view utf8) {
  std::string out;
  append_repr(out, utf8);
  return out;
}

std::string python_repr(const Json& value) {
  const Json compact = value.compact();
  const std::string_view json = compact.text();
  std::string out;
  for (std::size_t i = 0; i < json.size();) {
    switch (json[i]) {
      case '"': {
        const std::size_t end = string_end(json, i);
        const Text text = Text::repaired(json.substr(i, end - i));
        append_repr(out, *Json::trusted(text).as_string());
        i = end;
        break;
      }
      case ',':
      case ':':
        out += json[i];
        out += ' ';
        ++i;
        break;
      case 't':
        out += "True";
        i += 4;
        break;
      case 'f':
        out += "False";
        i += 5;
        break;
      case 'n':
        out += "None";
        i += 4;
        break;
      default:
        out += json[i];
        ++i;
        break;
    }
  }
  return out;
}

}  // namespace parley
