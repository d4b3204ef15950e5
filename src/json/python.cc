#include "json/python.h"

#include <array>
#include <charconv>
#include <system_error>

#include "json/walk.h"
#include "parley/json/writer.h"

namespace parley::json {
namespace {

void append_number(std::string& out, std::string_view spelled) {
  if (spelled.find_first_of(".eE") == std::string_view::npos) {
    out += spelled == "-0" ? "0" : spelled;
    return;
  }
  double value = 0;
  const auto read = std::from_chars(spelled.data(), spelled.data() + spelled.size(), value);
  if (read.ec != std::errc()) {
    out += spelled;
    return;
  }
  // The shortest digits that give the number back, as repr() has them: with an exponent below 1e-4 and from
  // 1e16 on, else with a point.
  const double size = value < 0 ? -value : value;
  const bool has_exponent = size != 0 && (size < 1e-4 || size >= 1e16);
  std::array<char, 64> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                     has_exponent ? std::chars_format::scientific : std::chars_format::fixed);
  const std::string_view text(digits.data(), static_cast<std::size_t>(written.ptr - digits.data()));
  out += text;
  if (!has_exponent && text.find('.') == std::string_view::npos) out += ".0";
}

void append_respelled(std::string& out, std::string_view quoted) {
  if (quoted.find('\\') == std::string_view::npos) {
    out += quoted;
    return;
  }
  const std::string_view inside = quoted.substr(1, quoted.size() - 2);
  append_string(out, unescaped(Text::trusted(nullptr, inside)));
}

}  // namespace

void append_python(std::string& out, std::string_view json, Gaps gaps) {
  for (std::size_t i = skip_space(json, 0); i < json.size(); i = skip_space(json, i)) {
    const std::size_t end = token_end(json, i);
    const std::string_view token = json.substr(i, end - i);
    const char first = token.front();
    if (first == '"') {
      append_respelled(out, token);
    } else if ((first >= '0' && first <= '9') || first == '-') {
      append_number(out, token);
    } else {
      out += token;
      if ((first == ',' || first == ':') && gaps == Gaps::Spaces) out += ' ';
    }
    i = end;
  }
}

}  // namespace parley::json
