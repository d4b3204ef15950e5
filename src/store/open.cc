// One row per kind of store: what its URI begins with, and what opens it.
#include <string>
#include <string_view>

#include "parley/store/store.h"
#include "store/backends.h"

namespace parley::store {
namespace {

using Opened = Result<std::unique_ptr<Backend>>;

struct Scheme {
  std::string_view name;                                                // with its colon
  Opened (*open)(const std::string& uri, const StoreOptions& options);  // what follows, or null: left out
  std::string_view needs = {};                                          // the library of one that may be
};

Opened open_memory(const std::string& rest, const StoreOptions&) {
  if (!rest.empty()) return fail(Code::Invalid, "memory: takes no path");
  return memory_backend();
}

#ifdef PARLEY_HAS_POSTGRES
Opened open_postgres(const std::string& rest, const StoreOptions& options) {
  return postgres_backend(Secret::take("postgresql:" + rest), options);
}
#else
constexpr Opened (*open_postgres)(const std::string&, const StoreOptions&) = nullptr;
#endif

#ifdef PARLEY_HAS_REDIS
Opened open_redis(const std::string& rest, const StoreOptions& options) {
  return redis_backend(Secret::take("redis:" + rest), options);
}
Opened open_redis_socket(const std::string& rest, const StoreOptions& options) {
  return redis_backend(Secret::take("redis+unix:" + rest), options);
}
#else
constexpr Opened (*open_redis)(const std::string&, const StoreOptions&) = nullptr;
constexpr Opened (*open_redis_socket)(const std::string&, const StoreOptions&) = nullptr;
#endif

Opened refuse_tls(const std::string&, const StoreOptions&) {
  return fail(Code::Unsupported,
              "rediss: is not supported: put a TLS tunnel (stunnel, ssh -L) in front of the server, "
              "and use its local end, redis://127.0.0.1:PORT");
}

Opened refuse_server(const std::string&, const StoreOptions&) {
  return fail(Code::Unsupported,
              "servers are not supported yet: use sqlite:PATH, postgresql://... or redis://...");
}

constexpr Scheme kSchemes[] = {
    {"memory:", open_memory},
    {"sqlite:", sqlite_backend},
    {"postgresql:", open_postgres, "libpq"},
    {"postgres:", open_postgres, "libpq"},
    {"redis:", open_redis, "hiredis"},
    {"redis+unix:", open_redis_socket, "hiredis"},
    {"rediss:", refuse_tls},
    {"http:", refuse_server},
    {"https:", refuse_server},
};

}  // namespace

Result<std::unique_ptr<Backend>> open_backend(std::string_view uri, const StoreOptions& options) {
  for (const Scheme& scheme : kSchemes) {
    if (!uri.starts_with(scheme.name)) continue;
    if (scheme.open == nullptr) {
      return fail(Code::Unsupported, "this build has no support for '" + std::string(scheme.name) +
                                         "': it was built without " + std::string(scheme.needs));
    }
    return scheme.open(std::string(uri.substr(scheme.name.size())), options);
  }
  return fail(Code::Invalid, "unknown store: expected memory:, sqlite:PATH, postgresql://... or redis://...");
}

Result<Store> open_store(std::string_view uri, StoreOptions options) {
  PARLEY_TRY(std::unique_ptr<Backend> backend, open_backend(uri, options));
  return Store(std::move(backend), options);
}

}  // namespace parley::store
