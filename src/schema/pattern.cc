#include "schema/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace parley {
namespace {

// What \s matches, and what it does not; '.' matches all but line ends.
constexpr std::string_view kSpace =
    "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
constexpr std::string_view kNoSpace =
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
constexpr std::string_view kNoLineEnd = "[^\\n\\r\\x{2028}\\x{2029}]";

// RE2 knows the short names of general categories.
struct Category {
  std::string_view long_name, name;
};
constexpr auto kCategories = std::to_array<Category>({
    {"Letter", "L"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Private_Use", "Co"},
});

// ECMA-262 as RE2 reads it. What RE2 does not know stays as it is, to be refused.
class Translator {
 public:
  explicit Translator(std::string_view ecma) : rest_(ecma) {}

  std::string run() {
    while (!rest_.empty()) step();
    return std::move(out_);
  }

 private:
  void step() {
    if (rest_[0] == '\\' && rest_.size() > 1) {
      escape();
    } else if (is_in_class_) {
      // A '[' here may begin one of POSIX's classes for RE2, and is a character for ECMA-262.
      if (rest_[0] == '[') out_ += '\\';
      is_in_class_ = rest_[0] != ']';
      copy(1);
    } else if (rest_[0] == '.') {
      replace(1, kNoLineEnd);
    } else if (rest_.starts_with("(?<") && !rest_.starts_with("(?<=") && !rest_.starts_with("(?<!")) {
      replace(3, "(?P<");
    } else {
      is_in_class_ = rest_[0] == '[';
      copy(1);
    }
  }

  void escape() {
    switch (rest_[1]) {
      case 's':
        return replace(2, is_in_class_ ? std::string(kSpace) : "[" + std::string(kSpace) + "]");
      case 'S':
        return replace(2, is_in_class_ ? std::string(kNoSpace) : "[" + std::string(kNoSpace) + "]");
      case 'b':
        return is_in_class_ ? replace(2, "\\x08") : copy(2);
      case 'c':
        return rest_.size() > 2 ? replace(3, code(static_cast<unsigned char>(rest_[2]) % 32U)) : copy(2);
      case 'u':
        return unicode_escape();
      case 'p':
      case 'P':
        return property();
      default:
        return copy(2);
    }
  }

  // \uXXXX, a pair of them for one character, or \u{X...}.
  void unicode_escape() {
    const auto first = unit_at(0);
    const auto second = unit_at(6);
    if (!first) {
      rest_.starts_with("\\u{") ? replace(2, "\\x") : copy(2);
    } else if (*first >= 0xD800 && *first < 0xDC00 && second && *second >= 0xDC00 && *second < 0xE000) {
      replace(12, code(0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00)));
    } else {
      replace(6, code(*first));
    }
  }

  std::optional<std::uint32_t> unit_at(std::size_t at) const {
    if (rest_.size() < at + 6 || rest_[at] != '\\' || rest_[at + 1] != 'u') return std::nullopt;
    std::uint32_t unit = 0;
    const char* const end = rest_.data() + at + 6;
    const auto [last, error] = std::from_chars(rest_.data() + at + 2, end, unit, 16);
    return error == std::errc() && last == end ? std::optional(unit) : std::nullopt;
  }

  // \p{Letter}, \p{General_Category=L}, \p{Script=Greek}; RE2 wants \p{L} and \p{Greek}.
  void property() {
    const std::size_t end = rest_.find('}');
    if (rest_.size() < 3 || rest_[2] != '{' || end == rest_.npos) return copy(2);
    std::string_view name = rest_.substr(3, end - 3);
    for (const std::string_view kind : {"General_Category=", "gc=", "Script=", "sc="}) {
      if (name.starts_with(kind)) name.remove_prefix(kind.size());
    }
    const auto* const known = std::ranges::find(kCategories, name, &Category::long_name);
    if (known != kCategories.end()) name = known->name;
    replace(end + 1, std::string(rest_.substr(0, 3)).append(name) + "}");
  }

  static std::string code(std::uint32_t point) {
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), point, 16).ptr;
    return "\\x{" + std::string(digits.data(), end) + "}";
  }

  void copy(std::size_t size) { replace(size, std::string(rest_.substr(0, size))); }
  void replace(std::size_t size, std::string_view by) {
    out_ += by;
    rest_.remove_prefix(size);
  }

  std::string_view rest_;
  std::string out_;
  bool is_in_class_ = false;
};

}  // namespace

Result<Pattern> Pattern::of(std::string_view ecma) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingUTF8);
  auto engine = std::make_shared<re2::RE2>(Translator(ecma).run(), options);
  if (engine->ok()) return Pattern(std::move(engine));
  // RE2 reports unsupported and invalid patterns alike.
  switch (engine->error_code()) {
    case re2::RE2::ErrorBadPerlOp:
    case re2::RE2::ErrorBadEscape:
    case re2::RE2::ErrorRepeatSize:
    case re2::RE2::ErrorPatternTooLarge:
    case re2::RE2::ErrorBadNamedCapture:
    case re2::RE2::ErrorBadCharRange:
      return fail(Code::Unsupported,
                  "unsupported pattern (no look-ahead, no back-references): " + engine->error());
    default:
      return fail(Code::Invalid, "invalid pattern: " + engine->error());
  }
}

bool Pattern::is_in(std::string_view utf8) const {
  return re2::RE2::PartialMatch(re2::StringPiece(utf8.data(), utf8.size()), *engine_);
}

}  // namespace parley
