// Replaces the strings of a JSON text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "parley/json/json.h"
#include "parley/json/writer.h"

namespace parley::json {

// Copies `text` with each string replaced by the result of replace(value, is_key), an
// std::optional<std::string>; a string without a result keeps its spelling. REQUIRES: `text` is valid,
// compact JSON.
template <typename Replace>
std::string with_strings(std::string_view text, const Replace& replace) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const std::size_t begin = std::min(text.find('"'), text.size());
    out += text.substr(0, begin);
    text.remove_prefix(begin);
    if (text.empty()) return out;
    std::size_t end = 1;
    while (text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    const std::string_view spelled = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const Text value = *Json::trusted(Text::trusted(nullptr, spelled)).as_string();
    const std::optional<std::string> other = replace(value, text.starts_with(':'));
    other ? append_string(out, *other) : void(out += spelled);
  }
}

}  // namespace parley::json
