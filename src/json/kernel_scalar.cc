// The scalar kernel: the definition of what the others must do, and the fallback on every machine.
#include <array>
#include <cstring>

#include "json/escapes.h"
#include "json/kernel.h"
#include "parley/base/text.h"

namespace parley::json {
namespace {

// True for the bytes a string may hold as they are: ASCII but for quote, backslash and controls.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> table{};
  for (std::size_t i = 0x20; i < 0x80; ++i) table[i] = i != '"' && i != '\\';
  return table;
}();

bool always() { return true; }

// A NUL is a control character, no escape, no hex digit and no continuation byte, so nothing here passes
// the NUL after the document by more than the padding.
StringReport examine(const char* p) {
  for (;;) {
    while (kPlain[as_byte(*p)]) ++p;
    if (*p == '"') return {StringFault::None, p};
    if (*p == '\\') {
      if (p[1] != 'u') {
        if (kSpelled[as_byte(p[1])] == 0) return {StringFault::BadEscape, p};
        p += 2;
        continue;
      }
      const int unit = decode_hex4(p + 2);
      if (unit < 0) return {StringFault::BadEscape, p};
      if (unit < 0xD800 || unit > 0xDFFF) {
        p += 6;
        continue;
      }
      if (unit > 0xDBFF || p[6] != '\\' || p[7] != 'u') return {StringFault::LoneSurrogate, p};
      const int low = decode_hex4(p + 8);
      // A second escape that is malformed itself is the worse fault: it cannot be repaired.
      if (low < 0) return {StringFault::BadEscape, p + 6};
      if (low < 0xDC00 || low > 0xDFFF) return {StringFault::LoneSurrogate, p};
      p += 12;
      continue;
    }
    if (as_byte(*p) < 0x20) return {StringFault::Control, p};
    const std::size_t length = utf8_sequence_length({p, 4}, 0);
    if (length == 0) return {StringFault::BadUtf8, p};
    p += length;
  }
}

const char* scan(const char* p) {
  const StringReport report = examine(p);
  return report.fault == StringFault::None ? report.at : nullptr;
}

char* escape(const char* in, std::size_t size, char* out) {
  for (const char* const end = in + size; in != end; ++in) escape_one(*in, out);
  return out;
}

char* unescape(const char* in, std::size_t size, char* out) {
  const char* const end = in + size;
  while (in != end) {
    const void* found = std::memchr(in, '\\', static_cast<std::size_t>(end - in));
    const char* backslash = found != nullptr ? static_cast<const char*>(found) : end;
    const auto plain = static_cast<std::size_t>(backslash - in);
    std::memcpy(out, in, plain);
    out += plain;
    in += plain;
    // Escapes come in runs, so the ones that follow at once are taken here.
    while (in != end && *in == '\\') unescape_one(in, out);
  }
  return out;
}

}  // namespace

StringReport examine_string(const char* p, const char* end) {
  StringReport report = examine(p);
  // The NUL after the document is seen as a control character.
  if (report.at == end && report.fault == StringFault::Control) report.fault = StringFault::Unterminated;
  return report;
}

const Kernel kScalarKernel = {"scalar", always, scan, escape, unescape};

}  // namespace parley::json
