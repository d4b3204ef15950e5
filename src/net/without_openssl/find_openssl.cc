// In place of openssl_linked.cc in a program that is linked with -static (parley::static).
#include "net/openssl.h"

namespace parley::net {

Result<OpenSsl> find_openssl() {
  return fail(Code::NotFound, "TLS needs OpenSSL, which a program linked with -static does not have");
}

}  // namespace parley::net
