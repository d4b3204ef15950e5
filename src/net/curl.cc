#include "net/curl.h"

#include "base/library.h"

namespace parley::net {
namespace {

Result<Curl> loaded() {
  PARLEY_TRY(const Library library, Library::load("libcurl.so.4", "libcurl4"));
  Curl out;
#define PARLEY_CURL_FIND(name) PARLEY_CHECK(library.find("curl_" #name, out.name));
  PARLEY_CURL_FUNCTIONS(PARLEY_CURL_FIND)
#undef PARLEY_CURL_FIND
  if (out.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return fail(Code::Unsupported, "libcurl could not be started");
  }
  return out;
}

const Result<Curl>& shared() {
  // Never destroyed: connections of static storage may be closed after everything else.
  static const auto& curl = *new Result<Curl>(loaded());
  return curl;
}

}  // namespace

Result<void> load_curl() {
  PARLEY_CHECK(shared());
  return {};
}

const Curl& curl() { return *shared(); }

}  // namespace parley::net
