#include "net/openssl.h"

namespace parley::net {
namespace {

const Result<OpenSsl>& shared_openssl() {
  // Never destroyed: connections of static storage may be closed after everything else.
  static const auto& functions = *new Result<OpenSsl>(find_openssl());
  return functions;
}

}  // namespace

Result<void> load_openssl() {
  PARLEY_CHECK(shared_openssl());
  return {};
}

const OpenSsl& openssl() { return *shared_openssl(); }

}  // namespace parley::net
