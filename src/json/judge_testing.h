// The judge: a naive reader of JSON for tests and fuzz targets, so that the scalar kernel and the cursor are
// judged too. It shares no code with the room: characters are numbers and arithmetic, documents are
// recursion. Slow, bounds-checked, and only for documents that are not deep. Pure; safe from any thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/kernel.h"

namespace parley::json::judge {

inline bool is_scalar_value(unsigned long code) {
  return code < 0x110000 && !(code >= 0xD800 && code < 0xE000);
}

inline std::string encoded(unsigned long code) {
  int continuations = code >= 65536 ? 3 : code >= 2048 ? 2 : code >= 128 ? 1 : 0;
  const unsigned long lead = continuations == 3   ? 240
                             : continuations == 2 ? 224
                             : continuations == 1 ? 192
                                                  : 0;
  std::string reversed;
  for (; continuations > 0; --continuations) {
    reversed += static_cast<char>(128 + code % 64);
    code /= 64;
  }
  reversed += static_cast<char>(lead + code);
  return {reversed.rbegin(), reversed.rend()};
}

// The length of the character at `at`, or 0 if it is invalid: its bytes must be the spelling of a number
// that is allowed.
inline std::size_t character(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned long { return static_cast<unsigned char>(bytes[i]); };
  for (std::size_t length = 1; length <= 4 && at + length <= bytes.size(); ++length) {
    unsigned long code = length == 1 ? byte(at) : byte(at) % (128UL >> length);
    for (std::size_t i = 1; i < length; ++i) code = code * 64 + byte(at + i) % 64;
    if (is_scalar_value(code) && encoded(code) == bytes.substr(at, length)) return length;
  }
  return 0;
}

inline bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = character(bytes, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

// What a string says, or the first thing that is wrong with it.
struct String {
  StringFault fault = StringFault::None;
  std::size_t at = 0;  // of the fault, or of the closing quote
  std::string text;
  std::vector<std::size_t> lone;  // the surrogates replaced by U+FFFD, if that was asked for
};

// The number that four hex digits at `at` spell, or -1.
inline long hex4(std::string_view bytes, std::size_t at) {
  if (at + 4 > bytes.size()) return -1;
  long number = 0;
  for (const char c : bytes.substr(at, 4)) {
    const std::size_t digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(c);
    if (digit == std::string_view::npos) return -1;
    number = number * 16 + static_cast<long>(digit % 16);
  }
  return number;
}

// Reads the string whose first byte after its opening quote is at `at`.
inline String read_string(std::string_view bytes, std::size_t at, bool replace_lone = false) {
  static const std::map<char, char> letters = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', '\b'},
                                               {'f', '\f'}, {'n', '\n'},  {'r', '\r'}, {'t', '\t'}};
  String out;
  const auto stop = [&](StringFault fault, std::size_t where) {
    out.fault = fault;
    out.at = where;
    return out;
  };
  while (at < bytes.size()) {
    const char c = bytes[at];
    if (c == '"') return stop(StringFault::None, at);
    if (c >= 0 && c < ' ') return stop(StringFault::Control, at);
    if (c != '\\') {
      const std::size_t length = character(bytes, at);
      if (length == 0) return stop(StringFault::BadUtf8, at);
      out.text += bytes.substr(at, length);
      at += length;
      continue;
    }
    const char letter = at + 1 < bytes.size() ? bytes[at + 1] : '\0';
    if (letters.contains(letter)) {
      out.text += letters.at(letter);
      at += 2;
      continue;
    }
    const long unit = letter == 'u' ? hex4(bytes, at + 2) : -1;
    if (unit < 0) return stop(StringFault::BadEscape, at);
    if (is_scalar_value(static_cast<unsigned long>(unit))) {
      out.text += encoded(static_cast<unsigned long>(unit));
      at += 6;
      continue;
    }
    const bool another = bytes.substr(at + 6, 2) == "\\u";
    const long second = another ? hex4(bytes, at + 8) : 0;
    if (unit < 0xDC00 && second < 0) return stop(StringFault::BadEscape, at + 6);
    if (unit < 0xDC00 && second >= 0xDC00 && second < 0xE000) {
      out.text += encoded(static_cast<unsigned long>(65536 + (unit - 0xD800) * 1024 + (second - 0xDC00)));
      at += 12;
      continue;
    }
    if (!replace_lone) return stop(StringFault::LoneSurrogate, at);
    out.lone.push_back(at);
    out.text += "\xEF\xBF\xBD";
    at += 6;
  }
  return stop(StringFault::Unterminated, bytes.size());
}

// The inside of the JSON string for `text`: the shortest escapes, lower-case numbers, nothing else.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::size_t named = std::string_view("\"\\\b\f\n\r\t").find(c);
    if (named != std::string_view::npos) {
      out += '\\';
      out += "\"\\bfnrt"[named];
    } else if (c >= 0 && c < ' ') {
      out += std::string("\\u00") + (c < 16 ? '0' : '1') + "0123456789abcdef"[c % 16];
    } else {
      out += c;
    }
  }
  return out;
}

// One value with the place it stands at.
struct Member;
struct Node {
  char type = 0;  // n null, t true, f false, 0 number, " string, [ array, { object
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;  // of a string
  std::vector<Member> members;
  std::vector<Node> elements;
};
struct Member {
  std::string name;
  Node value;
  std::size_t begin = 0;  // the opening quote of the name
};

class Document {
 public:
  bool accepted = false;
  bool too_deep = false;  // deeper than the judge likes to go: no verdict
  bool has_mark = false;  // a byte order mark
  Node root;
  std::size_t depth = 0;
  std::vector<std::size_t> lone;      // the lone surrogates
  std::vector<std::size_t> repeated;  // the opening quote's next byte of each name met before in its object

  explicit Document(std::string_view bytes, std::size_t depth_limit = 600)
      : bytes_(bytes), depth_limit_(depth_limit) {
    has_mark = bytes.starts_with("\xEF\xBB\xBF");
    if (has_mark) at_ = 3;
    space();
    accepted = value(root);
    space();
    accepted = accepted && at_ == bytes_.size();
  }

 private:
  char now() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }
  bool take(std::string_view word) {
    if (bytes_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void space() {
    while (at_ < bytes_.size() && std::string_view(" \t\r\n").find(now()) != std::string_view::npos) ++at_;
  }
  std::size_t digits() {
    const std::size_t from = at_;
    while (std::string_view("0123456789").find(now()) != std::string_view::npos && now() != '\0') ++at_;
    return at_ - from;
  }
  bool number() {
    take("-");
    if (!take("0") && digits() == 0) return false;
    if (take(".") && digits() == 0) return false;
    if (take("e") || take("E")) {
      if (!take("+")) take("-");
      return digits() != 0;
    }
    return true;
  }
  bool string(std::string& text) {
    if (!take("\"")) return false;
    String read = read_string(bytes_, at_, true);
    lone.insert(lone.end(), read.lone.begin(), read.lone.end());
    text = std::move(read.text);
    at_ = read.at + 1;
    return read.fault == StringFault::None;
  }
  bool object(Node& out) {
    std::map<std::string, int> met;
    take("{");
    space();
    if (take("}")) return true;
    for (;;) {
      space();
      std::string name;
      const std::size_t where = at_ + 1;
      if (!string(name)) return false;
      if (met[name]++ > 0) repeated.push_back(where);
      space();
      if (!take(":")) return false;
      space();
      out.members.push_back({std::move(name), Node(), where - 1});
      if (!value(out.members.back().value)) return false;
      space();
      if (take("}")) return true;
      if (!take(",")) return false;
    }
  }
  bool array(Node& out) {
    take("[");
    space();
    if (take("]")) return true;
    for (;;) {
      space();
      out.elements.emplace_back();
      if (!value(out.elements.back())) return false;
      space();
      if (take("]")) return true;
      if (!take(",")) return false;
    }
  }
  bool value(Node& out) {
    out.begin = at_;
    out.type = now();
    bool good = false;
    switch (out.type) {
      case 'n':
        good = take("null");
        break;
      case 't':
        good = take("true");
        break;
      case 'f':
        good = take("false");
        break;
      case '"':
        good = string(out.text);
        break;
      case '{':
      case '[':
        if (open_ == depth_limit_) {
          too_deep = true;
          return false;
        }
        depth = ++open_ > depth ? open_ : depth;
        good = out.type == '{' ? object(out) : array(out);
        --open_;
        break;
      default:
        out.type = '0';
        good = number();
        break;
    }
    out.end = at_;
    return good;
  }

  std::string_view bytes_;
  std::size_t depth_limit_;
  std::size_t at_ = 0;
  std::size_t open_ = 0;
};

}  // namespace parley::json::judge
