#include "net/curl.h"

namespace parley::net {
namespace {

Result<Curl> started() {
  PARLEY_TRY(const Curl out, find_curl());
  if (out.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return fail(Code::Unsupported, "cannot initialize libcurl");
  }
  return out;
}

const Result<Curl>& shared() {
  // Never destroyed: connections of static storage may be closed after everything else.
  static const auto& curl = *new Result<Curl>(started());
  return curl;
}

}  // namespace

Result<void> load_curl() {
  PARLEY_CHECK(shared());
  return {};
}

const Curl& curl() { return *shared(); }

}  // namespace parley::net
