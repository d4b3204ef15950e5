// The OpenSSL that the program is linked with. A file of its own, so that a program that loads OpenSSL leaves
// it out.
#include "net/openssl.h"

namespace parley::net {

Result<OpenSsl> find_openssl() {
  OpenSsl out;
#define PARLEY_OPENSSL_TAKE(name) out.name = &::name;
  PARLEY_OPENSSL_FUNCTIONS(PARLEY_OPENSSL_TAKE)
#undef PARLEY_OPENSSL_TAKE
  return out;
}

}  // namespace parley::net
