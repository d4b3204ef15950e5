#include "parley/base/secret.h"

#include <sodium/core.h>
#include <sodium/crypto_generichash.h>
#include <sodium/randombytes.h>
#include <sodium/utils.h>

#include <array>
#include <cstring>
#include <new>

namespace parley {
namespace {

using Digest = std::array<unsigned char, crypto_generichash_BYTES>;
using Key = std::array<unsigned char, crypto_generichash_KEYBYTES>;

// Compares digests of equal length, because a loop over texts of different lengths would leak the length. The
// key is random per process, so that an attacker cannot prepare texts whose digests begin alike.
Digest digest(std::string_view bytes) {
  static const Key key = [] {
    Key made;
    randombytes_buf(made.data(), made.size());
    return made;
  }();
  Digest out;
  crypto_generichash(out.data(), out.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size(), key.data(), key.size());
  return out;
}

}  // namespace

Secret::Secret(std::string_view bytes) : size_(bytes.size()) {
  if (bytes.empty()) return;
  // sodium_malloc: locked, left out of core dumps, between guard pages; sodium_free wipes.
  if (sodium_init() < 0) throw std::bad_alloc();
  auto* memory = static_cast<char*>(sodium_malloc(bytes.size()));
  if (memory == nullptr) throw std::bad_alloc();
  std::memcpy(memory, bytes.data(), bytes.size());
  bytes_ = std::shared_ptr<const char>(memory, [](char* own) { sodium_free(own); });
}

Secret Secret::take(std::string& source) {
  Secret out{std::string_view(source)};
  source.resize(source.capacity());  // what was cut off earlier is wiped as well
  sodium_memzero(source.data(), source.size());
  source.clear();
  return out;
}

bool operator==(const Secret& a, const Secret& b) {
  const Digest one = digest(a.reveal());
  const Digest other = digest(b.reveal());
  return sodium_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace parley
