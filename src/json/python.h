// JSON as Python spells it, for dialects that promise the bytes of Python programs.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace parley::json {

enum class Gaps : std::uint8_t {
  None,    // separators=(",", ":")
  Spaces,  // Python's default: a space after ',' and ':'
};

// Appends `json` as json.dumps(json.loads(json), ensure_ascii=False) spells it: strings with the escapes
// Python writes and no others, floating numbers with the digits of its repr(), integers without a sign before
// zero. A number beyond the range of a double keeps its spelling (Python writes "Infinity", which is not
// JSON), and duplicate members stay. REQUIRES: one valid JSON value. Linear; does not
// recurse.
void append_python(std::string& out, std::string_view json, Gaps gaps);

inline std::string python_json(std::string_view json, Gaps gaps = Gaps::None) {
  std::string out;
  append_python(out, json, gaps);
  return out;
}

}  // namespace parley::json
