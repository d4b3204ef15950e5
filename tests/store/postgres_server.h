// A PostgreSQL for tests (postgres.sh).
//
// One thread at a time, but for sql().
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parley/base/error.h"

namespace parley::store {

class PostgresServer {
 public:
  // The one that ctest has started for all tests, which run one after the other; without it, one for the rest
  // of this process. Its database has no tables.
  static Result<std::shared_ptr<PostgresServer>> shared();
  // One that may be killed.
  static Result<std::shared_ptr<PostgresServer>> start();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  std::string socket() const { return folder_ + "/.s.PGSQL.5432"; }
  std::string uri() const { return "postgresql://parley@/postgres?host=" + folder_; }
  // The first column of what a statement gives, as text.
  Result<std::vector<std::string>> sql(const std::string& statement) const;

  Result<void> kill();     // all of its processes at once, with SIGKILL
  Result<void> restart();  // after kill()

 private:
  PostgresServer(std::string folder, bool is_own) : folder_(std::move(folder)), is_own_(is_own) {}
  std::string folder_;
  bool is_own_;
};

}  // namespace parley::store
