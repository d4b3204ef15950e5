// Loads libcurl, OpenSSL and libpq when the command needs them, in place of linking them: most commands need
// none of them.
#include "cli/library.h"
#include "net/curl.h"
#include "net/openssl.h"
#ifdef PARLEY_HAS_POSTGRES
#include "store/postgres/libpq.h"
#endif

namespace parley::net {

Result<Curl> find_curl() {
  PARLEY_TRY(const cli::Library library, cli::Library::load("libcurl.so.4", "libcurl4"));
  Curl out;
#define PARLEY_CURL_FIND(name) PARLEY_CHECK(library.find("curl_" #name, out.name));
  PARLEY_CURL_FUNCTIONS(PARLEY_CURL_FIND)
#undef PARLEY_CURL_FIND
  return out;
}

// libssl needs libcrypto, and its functions are found in both.
Result<OpenSsl> find_openssl() {
  PARLEY_TRY(const cli::Library library, cli::Library::load("libssl.so.3", "libssl3"));
  OpenSsl out;
#define PARLEY_OPENSSL_FIND(name) PARLEY_CHECK(library.find(#name, out.name));
  PARLEY_OPENSSL_FUNCTIONS(PARLEY_OPENSSL_FIND)
#undef PARLEY_OPENSSL_FIND
  return out;
}

}  // namespace parley::net

#ifdef PARLEY_HAS_POSTGRES
namespace parley::store {

// Like find_curl(): only a macro could serve all lists of functions.
Result<Pq> find_pq() {
  PARLEY_TRY(const cli::Library library, cli::Library::load("libpq.so.5", "libpq5"));
  Pq out;
#define PARLEY_PQ_FIND(name) PARLEY_CHECK(library.find("PQ" #name, out.name));
  PARLEY_PQ_FUNCTIONS(PARLEY_PQ_FIND)
#undef PARLEY_PQ_FIND
  return out;
}

}  // namespace parley::store
#endif
