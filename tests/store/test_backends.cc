#include "test_backends.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#ifdef PARLEY_HAS_POSTGRES
#include "postgres_server.h"
#endif
#ifdef PARLEY_HAS_REDIS
#include "redis_server.h"
#endif

namespace parley::store {
namespace {

// A machine that is busy with other tests is slow, not broken: bodies of 64 MiB take their time.
const StoreOptions kPatient{.timeout = std::chrono::minutes(5)};

class MemoryPlace final : public TestBackend {
 public:
  explicit MemoryPlace(Store store) : store_(std::make_shared<Store>(std::move(store))) {}
  Result<std::shared_ptr<Store>> open() override { return store_; }

 private:
  std::shared_ptr<Store> store_;
};

Result<std::unique_ptr<TestBackend>> memory_place() {
  PARLEY_TRY(Store store, open_store("memory:", kPatient));
  return std::make_unique<MemoryPlace>(std::move(store));
}

// A database in a folder of its own, which goes with the place.
class SqlitePlace final : public TestBackend {
 public:
  explicit SqlitePlace(std::string folder) : folder_(std::move(folder)) {}
  ~SqlitePlace() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  Result<std::shared_ptr<Store>> open() override {
    PARLEY_TRY(Store store, open_store(uri(), kPatient));
    return std::make_shared<Store>(std::move(store));
  }
  std::string uri() const override { return "sqlite:" + folder_ + "/store.db"; }

 private:
  std::string folder_;
};

Result<std::unique_ptr<TestBackend>> sqlite_place() {
  std::string folder = (std::filesystem::temp_directory_path() / "parley-store-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return fail(Code::Unavailable, "cannot make a temporary folder");
  return std::make_unique<SqlitePlace>(std::move(folder));
}

#if defined(PARLEY_HAS_POSTGRES) || defined(PARLEY_HAS_REDIS)
// A server, which goes with the last place that has it.
template <typename Server>
class ServerPlace final : public TestBackend {
 public:
  explicit ServerPlace(std::shared_ptr<Server> server) : server_(std::move(server)) {}
  Result<std::shared_ptr<Store>> open() override {
    PARLEY_TRY(Store store, open_store(uri(), kPatient));
    return std::make_shared<Store>(std::move(store));
  }
  std::string uri() const override { return server_->uri(); }

 private:
  std::shared_ptr<Server> server_;
};
#endif

#ifdef PARLEY_HAS_POSTGRES
Result<std::unique_ptr<TestBackend>> postgres_place() {
  PARLEY_TRY(std::shared_ptr<PostgresServer> server, PostgresServer::shared());
  return std::make_unique<ServerPlace<PostgresServer>>(std::move(server));
}
#endif

#ifdef PARLEY_HAS_REDIS
Result<std::unique_ptr<TestBackend>> redis_place() {
  PARLEY_TRY(std::unique_ptr<RedisServer> server, RedisServer::start());
  return std::make_unique<ServerPlace<RedisServer>>(std::move(server));
}
#endif

constexpr TestBackendKind kKinds[] = {
    {"memory", memory_place},
    {"sqlite", sqlite_place},
#ifdef PARLEY_HAS_POSTGRES
    {"postgres", postgres_place},
#endif
#ifdef PARLEY_HAS_REDIS
    {"redis", redis_place},
#endif
};

}  // namespace

std::span<const TestBackendKind> test_backend_kinds() { return kKinds; }

}  // namespace parley::store
