// The libcurl that the program is linked with. A file of its own, so that a program that loads libcurl leaves
// it out.
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
