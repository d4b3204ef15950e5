// The one file that includes libidn2.
//
// libidn2 implements IDNA 2008 on top of the mapping of UTS 46; browsers use the mapping and the weaker
// checks of UTS 46 alone. So libidn2 refuses hosts that browsers take. Where it accepts, the result is the
// same but for the characters below, whose mapping Unicode changed after libidn2's tables were made; they are
// refused.
#include <idn2.h>
#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "base/url_host.h"

namespace parley::url {
namespace {

std::unexpected<Error> refused() {
  return fail(Code::Invalid, "cannot convert a non-ASCII host reliably: write it in its xn-- form");
}

using Bytes = std::unique_ptr<char, void (*)(void*)>;

// Punycode may spell a character that has another spelling, such as an acute accent that stands alone:
// libidn2 lets those pass that stand for a space and a mark. What is its own compatible form passes.
bool is_normal(const std::string& punycode) {
  char* decoded = nullptr;
  if (idn2_to_unicode_8z8z(punycode.c_str(), &decoded, 0) != IDN2_OK) return false;
  const Bytes owner(decoded, idn2_free);
  utf8proc_uint8_t* normal = utf8proc_NFKC(reinterpret_cast<const utf8proc_uint8_t*>(decoded));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> normal_owner(normal, std::free);
  return normal != nullptr && std::string_view(decoded) == reinterpret_cast<const char*>(normal);
}

}  // namespace

Result<std::string> domain_to_ascii(std::string_view domain) {
  // U+1E9E, the capital sharp s: "ss" until Unicode 15, U+00DF since.
  if (domain.find("\u1E9E") != std::string_view::npos) return refused();

  bool is_ascii = true;
  for (const char c : domain) is_ascii = is_ascii && static_cast<unsigned char>(c) < 0x80;
  int flags = IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT;
  // Punycode is the user's choice of characters: it must decode to what UTS 46 allows, symbols included.
  if (is_ascii) flags |= IDN2_NO_ALABEL_ROUNDTRIP;
  char* converted = nullptr;
  const int status = idn2_to_ascii_8z(std::string(domain).c_str(), &converted, flags);
  const Bytes owner(converted, idn2_free);
  if (status == IDN2_MALLOC) throw std::bad_alloc();
  if (status != IDN2_OK || (is_ascii && !is_normal(converted))) {
    return is_ascii ? fail(Code::Invalid, "invalid host: a label that begins with xn-- is not valid Punycode")
                    : refused();
  }
  return std::string(converted);
}

}  // namespace parley::url
