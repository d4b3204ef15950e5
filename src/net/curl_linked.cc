// The libcurl that the program is linked with. A file of its own, so that a program that loads libcurl leaves
// it out. libpq has the same files (src/store/postgres/libpq.h): they share nothing but the form, because the
// rooms do not know each other and each library has its own list of functions.
#include "net/curl.h"

namespace parley::net {

Result<Curl> find_curl() {
  Curl out;
#define PARLEY_CURL_TAKE(name) out.name = &::curl_##name;
  PARLEY_CURL_FUNCTIONS(PARLEY_CURL_TAKE)
#undef PARLEY_CURL_TAKE
  return out;
}

}  // namespace parley::net
