// In place of curl_linked.cc in a program that is linked with -static (parley::static). It cannot load a
// shared library either.
#include "net/curl.h"

namespace parley::net {

Result<Curl> find_curl() {
  return fail(Code::NotFound, "HTTP needs libcurl, which a program linked with -static does not have");
}

}  // namespace parley::net
