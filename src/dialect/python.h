// What Python makes of JSON, base64 and URLs, for policies, which promise the bytes of programs written in
// it.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parley::dialect {

enum class Gaps : std::uint8_t {
  None,    // separators=(",", ":")
  Spaces,  // Python's default: a space behind ',' and ':'
};

// Appends `json` as json.dumps(json.loads(json), ensure_ascii=False) spells it: strings with the escapes
// Python writes and no others, floating numbers with the digits of its repr(), integers without a sign before
// zero. A number beyond the range of a double keeps its spelling (Python writes "Infinity", which is no
// JSON), and members that stand twice in one object stay. REQUIRES: one valid JSON value. Linear; does not
// recurse.
void append_python(std::string& out, std::string_view json, Gaps gaps);

inline std::string python_json(std::string_view json, Gaps gaps = Gaps::None) {
  std::string out;
  append_python(out, json, gaps);
  return out;
}

// What base64.b64encode(base64.b64decode(text)) makes; nothing if it raises an exception. Python passes over
// every character outside the alphabet and whatever stands behind the padding.
std::optional<std::string> python_base64(std::string_view text);

// The scheme that urllib.parse.urlparse() finds, as spelled; "" if there is none.
std::string_view python_url_scheme(std::string_view url);

// ASCII letters in lower case: all that str.lower() matters for here.
std::string lower(std::string_view text);

}  // namespace parley::dialect
