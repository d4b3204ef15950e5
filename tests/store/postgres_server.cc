#include "postgres_server.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "parley/base/ids.h"

namespace parley::store {
namespace {

Result<void> script(const std::string& verb, const std::string& folder) {
  const std::string command = std::string(PARLEY_SOURCE_DIR) + "/tests/store/postgres.sh " + verb + " " +
                              folder + " " + std::to_string(getpid());
  if (std::system(command.c_str()) == 0) return {};
  return fail(Code::Unavailable, "postgres.sh " + verb + " failed");
}

}  // namespace

Result<std::shared_ptr<PostgresServer>> PostgresServer::shared() {
  static std::shared_ptr<PostgresServer> server;
  if (server == nullptr) {
    std::shared_ptr<PostgresServer> of_ctest(new PostgresServer(PARLEY_POSTGRES_FOLDER, false));
    if (of_ctest->sql("SELECT 1")) {
      server = std::move(of_ctest);
    } else {
      PARLEY_TRY(server, start());
    }
  }
  // A new database for every test would take ten times as long.
  PARLEY_CHECK(server->sql("DROP SCHEMA IF EXISTS parley CASCADE"));
  return server;
}

Result<std::shared_ptr<PostgresServer>> PostgresServer::start() {
  const std::string folder = std::filesystem::temp_directory_path() / ("parley-" + new_short_id());
  PARLEY_CHECK(script("start", folder));
  return std::shared_ptr<PostgresServer>(new PostgresServer(folder, true));
}

PostgresServer::~PostgresServer() {
  if (is_own_) (void)script("stop", folder_);
}

Result<void> PostgresServer::kill() { return script("kill", folder_); }
Result<void> PostgresServer::restart() { return script("restart", folder_); }

Result<std::vector<std::string>> PostgresServer::sql(const std::string& statement) const {
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(PQconnectdb(uri().c_str()), PQfinish);
  PQsetNoticeReceiver(connection.get(), [](void*, const PGresult*) {}, nullptr);
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection.get(), statement.c_str()),
                                                              PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    return fail(Code::Unavailable, PQerrorMessage(connection.get()));
  }
  std::vector<std::string> out;
  for (int i = 0; i < PQntuples(result.get()); ++i) out.emplace_back(PQgetvalue(result.get(), i, 0));
  return out;
}

}  // namespace parley::store
