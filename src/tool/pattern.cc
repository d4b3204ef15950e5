#include "tool/pattern.h"

#include <re2/re2.h>

#include <cctype>
#include <string>

namespace parley {
namespace {

bool is_hex(std::string_view digits) {
  for (const char c : digits) {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return false;
  }
  return true;
}

// RE2 reads what ECMA-262 writes, but for \uXXXX, \u{X...} and \cX.
std::string for_re2(std::string_view ecma) {
  std::string out;
  for (std::size_t i = 0; i < ecma.size(); ++i) {
    if (ecma[i] != '\\' || i + 1 == ecma.size()) {
      out += ecma[i];
      continue;
    }
    const std::string_view digits = ecma.substr(i + 2, 4);
    if (ecma[i + 1] == 'u' && digits.size() == 4 && is_hex(digits)) {
      out += "\\x{" + std::string(digits) + "}";
      i += 5;
    } else if (ecma[i + 1] == 'u' && digits.starts_with('{')) {
      out += "\\x";
      i += 1;
    } else if (ecma[i + 1] == 'c' && i + 2 < ecma.size()) {
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto control = static_cast<unsigned char>(ecma[i + 2]) % 32U;
      out += std::string("\\x") + kHex[control / 16] + kHex[control % 16];
      i += 2;
    } else {
      out.append(ecma.substr(i, 2));
      i += 1;
    }
  }
  return out;
}

}  // namespace

Result<Pattern> Pattern::of(std::string_view ecma) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingUTF8);
  auto engine = std::make_shared<re2::RE2>(for_re2(ecma), options);
  if (engine->ok()) return Pattern(std::move(engine));
  // RE2 does not tell what it cannot from what nobody can.
  switch (engine->error_code()) {
    case re2::RE2::ErrorBadPerlOp:
    case re2::RE2::ErrorBadEscape:
    case re2::RE2::ErrorRepeatSize:
    case re2::RE2::ErrorPatternTooLarge:
    case re2::RE2::ErrorBadNamedCapture:
    case re2::RE2::ErrorBadCharRange:
      return fail(Code::Unsupported, "a pattern is beyond what can be matched in linear time");
    default:
      return fail(Code::Invalid, "a pattern is no regular expression");
  }
}

bool Pattern::is_in(std::string_view utf8) const {
  return re2::RE2::PartialMatch(re2::StringPiece(utf8.data(), utf8.size()), *engine_);
}

}  // namespace parley
