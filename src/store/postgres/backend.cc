// Sessions in a database of PostgreSQL, for more than one machine. The tables are in postgres_schema.h.
//
// What was removed is gone from the tables at once, and from the disk when the server next vacuums them,
// which it does by itself.
#include <chrono>
#include <thread>
#include <type_traits>
#include <utility>

#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "store/backends.h"
#include "store/pool.h"
#include "store/postgres/append.h"
#include "store/postgres/connection.h"
#include "store/postgres/leases.h"
#include "store/postgres/read.h"
#include "store/postgres/schema.h"
#include "store/postgres/session.h"
#include "store/rules.h"

namespace parley::store {
namespace {

constexpr int kMostTries = 20;         // of a call that loses races
constexpr std::int64_t kVoidDays = 1;  // how long a try of a batch may still be on its way
constexpr std::chrono::milliseconds kConnectTime{10'000};

constexpr Statement kHead{"head",
                          "SELECT size, created_ms, updated_ms, expires_ms FROM parley.sessions"
                          " WHERE tenant = $1 AND name = $2"
                          " AND (expires_ms IS NULL OR expires_ms > parley.now_ms())"};

// The session stays as long as the transaction, and so do all whose records it shares.
constexpr Statement kHold{"hold",
                          "SELECT id, size FROM parley.sessions WHERE tenant = $1 AND name = $2"
                          " AND (expires_ms IS NULL OR expires_ms > parley.now_ms()) FOR KEY SHARE"};
// The parent is the session that has the last shared record.
constexpr Statement kFork{
    "fork",
    "INSERT INTO parley.sessions (tenant, name, size, created_ms, updated_ms, parent, shared)"
    " SELECT $1, $2, $3, $4, coalesce(r.created_ms, $4), g.owner, $3 FROM (VALUES (1)) one"
    " LEFT JOIN parley.segments($5) g ON g.first < $3 AND $3 <= g.last"
    " LEFT JOIN parley.records r ON r.session = g.owner AND r.position = $3 - 1"
    " ON CONFLICT DO NOTHING RETURNING updated_ms"};

constexpr Statement kExpire{"expire",
                            "UPDATE parley.sessions SET expires_ms = $3 WHERE tenant = $1 AND name = $2"
                            " AND (expires_ms IS NULL OR expires_ms > parley.now_ms()) RETURNING id"};
constexpr Statement kExpired{"expired",
                             "SELECT tenant, name FROM parley.sessions"
                             " WHERE expires_ms <= parley.now_ms() LIMIT 100"};
constexpr Statement kForgetVoid{
    "forget_void",
    "DELETE FROM parley.batches WHERE void_us < (parley.now_ms() - $1::bigint * 24 * 3600 * 1000) * 1000"};

// An invisible write: no tenant has an empty name.
constexpr Statement kProbe{"probe",
                           "INSERT INTO parley.batches (tenant, session, batch, hash, first, count, void_us)"
                           " VALUES ('', '', $1, 0, 0, 0, 0)"};
constexpr Statement kUnprobe{"unprobe",
                             "DELETE FROM parley.batches WHERE tenant = '' AND session = '' AND batch = $1"};

Sql<void> probe_write(PostgresConnection& connection, Deadline deadline) {
  const std::string id = new_short_id();
  const Call group[] = {
      {kBegin}, {kProbe, Arguments().bytes(id)}, {kUnprobe, Arguments().bytes(id)}, {kCommit}};
  PARLEY_CHECK(connection.run(group, deadline));
  return {};
}

Arguments key_of(const SessionKey& key) {
  return std::move(Arguments().bytes(key.tenant).bytes(key.session));
}

Sql<SessionInfo> fork_session(PostgresConnection& connection, const SessionKey& from, const std::string& to,
                              Position size, Deadline deadline) {
  const Call hold[] = {{kBegin}, {kHold, key_of(from)}};
  PARLEY_TRY(const std::vector<Answer> held, connection.run(hold, deadline));
  if (held[1].empty()) return no_session(from);
  PARLEY_CHECK(check_fork(from, static_cast<Position>(held[1].number(0, 1)), size));
  SessionInfo out;
  out.session = to;
  out.size = size;
  out.created_ms = now_ms();
  const SessionKey made{from.tenant, to};
  const Call fork[] = {{kFork, key_of(made)
                                   .number(static_cast<std::int64_t>(size))
                                   .number(out.created_ms)
                                   .number(held[1].number(0, 0))},
                       {kCommit}};
  PARLEY_TRY(const std::vector<Answer> done, connection.commit(fork, deadline));
  if (!done[0].empty()) {
    out.updated_ms = done[0].number(0, 0);
    return out;
  }
  PARLEY_TRY(const bool had_expired, erase(connection, made, true, deadline));
  if (had_expired) return std::unexpected(try_again());
  return session_exists(to);
}

class PostgresBackend final : public Backend {
 public:
  PostgresBackend(Secret uri, const StoreOptions& options)
      : pool_([uri = std::move(uri),
               wanted = options.durability](Deadline deadline) { return connect(uri, wanted, deadline); },
              options) {}

  Result<Appended> append(const SessionKey& key, const RowBatch& batch, Deadline deadline) override {
    return with_connection(deadline,
                           [&](PostgresConnection& c) { return append_batch(c, key, batch, deadline); });
  }

  Result<std::optional<Appended>> find_batch(const SessionKey& key, std::string_view batch,
                                             Deadline deadline) override {
    return with_connection(deadline,
                           [&](PostgresConnection& c) { return store::find_batch(c, key, batch, deadline); });
  }

  Result<std::optional<Appended>> resolve(const SessionKey& key, std::string_view batch,
                                          Deadline deadline) override {
    return with_connection(deadline,
                           [&](PostgresConnection& c) { return resolve_batch(c, key, batch, deadline); });
  }

  Result<RowPage> read(const SessionKey& key, const Range& range, Deadline deadline) override {
    return with_connection(deadline,
                           [&](PostgresConnection& c) { return read_rows(c, key, range, deadline); });
  }

  Result<SessionInfo> head(const SessionKey& key, Deadline deadline) override {
    return with_connection(deadline, [&](PostgresConnection& c) -> Sql<SessionInfo> {
      const Call group[] = {{kHead, key_of(key)}};
      PARLEY_TRY(const std::vector<Answer> answers, c.run(group, deadline));
      const Answer& row = answers[0];
      if (row.empty()) return no_session(key);
      return SessionInfo{key.session, static_cast<Position>(row.number(0, 0)), row.number(0, 1),
                         row.number(0, 2), row.maybe_number(0, 3)};
    });
  }

  Result<SessionInfo> fork(const SessionKey& from, const std::string& to, Position size,
                           Deadline deadline) override {
    return with_connection(deadline,
                           [&](PostgresConnection& c) { return fork_session(c, from, to, size, deadline); });
  }

  Result<SessionList> list(const std::string& tenant, const ListOptions& options,
                           Deadline deadline) override {
    return with_connection(
        deadline, [&](PostgresConnection& c) { return list_sessions(c, tenant, options, deadline); });
  }

  Result<std::vector<Hit>> search(const std::string& tenant, const std::vector<std::string>& phrases,
                                  std::size_t count, Deadline deadline) override {
    return with_connection(
        deadline, [&](PostgresConnection& c) { return search_records(c, tenant, phrases, count, deadline); });
  }

  Result<void> remove(const SessionKey& key, Deadline deadline) override {
    PARLEY_TRY(const bool was_there, with_connection(deadline, [&](PostgresConnection& c) {
                 return erase(c, key, false, deadline);
               }));
    if (!was_there) return no_session(key);
    return {};
  }

  Result<void> expire(const SessionKey& key, std::optional<std::int64_t> at_ms, Deadline deadline) override {
    const Call group[] = {{kExpire, key_of(key).number(at_ms)}};
    PARLEY_TRY(const std::vector<Answer> answers,
               with_connection(deadline, [&](PostgresConnection& c) { return c.commit(group, deadline); }));
    if (answers[0].empty()) return no_session(key);
    return {};
  }

  Result<std::size_t> sweep(Deadline deadline) override {
    const Call look[] = {{kForgetVoid, Arguments().number(kVoidDays)}, {kExpired}};
    std::size_t swept = 0;
    while (true) {
      PARLEY_TRY(const std::vector<Answer> answers,
                 with_connection(deadline, [&](PostgresConnection& c) { return c.run(look, deadline); }));
      const Answer& expired = answers[1];
      if (expired.empty()) return swept;
      for (std::size_t i = 0; i < expired.rows(); ++i) {
        const SessionKey key{expired.text(i, 0), expired.text(i, 1)};
        PARLEY_TRY(const bool was_there, with_connection(deadline, [&](PostgresConnection& c) {
                     return erase(c, key, true, deadline);
                   }));
        swept += was_there ? 1 : 0;
      }
    }
  }

  Result<Lease> lease(const SessionKey& key, const LeaseRequest& request, Deadline deadline) override {
    return with_connection(deadline,
                           [&](PostgresConnection& c) { return take_lease(c, key, request, deadline); });
  }

  Result<Lease> checkpoint(const SessionKey& key, const LeaseRequest& request, std::string_view bytes,
                           Deadline deadline) override {
    return with_connection(
        deadline, [&](PostgresConnection& c) { return put_checkpoint(c, key, request, bytes, deadline); });
  }

  Result<std::optional<HeldLease>> holder(const SessionKey& key, Deadline deadline) override {
    return with_connection(deadline, [&](PostgresConnection& c) { return find_holder(c, key, deadline); });
  }

  Result<std::vector<HeldLease>> leases(const std::optional<std::string>& tenant, std::size_t count,
                                        Deadline deadline) override {
    return with_connection(deadline,
                           [&](PostgresConnection& c) { return find_leases(c, tenant, count, deadline); });
  }

  Result<void> release(const SessionKey& key, const std::string& token, Deadline deadline) override {
    const std::vector<Call> group = release_lease(key, token);
    PARLEY_CHECK(with_connection(deadline, [&](PostgresConnection& c) { return c.commit(group, deadline); }));
    return {};
  }

  Health health(Deadline deadline) override {
    Health out;
    out.backend = "postgresql";
    Result<PostgresFacts> server =
        with_connection(deadline, [&](PostgresConnection& c) -> Sql<PostgresFacts> {
          const auto start = Deadline::Clock::now();
          PARLEY_TRY(PostgresFacts found, describe_server(c, deadline));
          out.latency_us =
              std::chrono::duration_cast<std::chrono::microseconds>(Deadline::Clock::now() - start).count();
          if (found.takes_writes) PARLEY_CHECK(probe_write(c, deadline));
          return found;
        });
    out.circuit = pool_.circuit();
    if (!server) {
      out.error = std::move(server).error();
      return out;
    }
    out.is_ok = server->takes_writes;
    if (!out.is_ok) out.error = Error{Code::Unavailable, "the PostgreSQL server is a standby", {}};
    out.version = std::move(server->version);
    out.durability = server->durability;
    out.warnings = std::move(server->warnings);
    return out;
  }

 private:
  static Result<std::unique_ptr<PostgresConnection>> connect(const Secret& uri, Durability wanted,
                                                             Deadline deadline) {
    const Deadline soon = Deadline::in(std::min(deadline.left(), kConnectTime));
    PARLEY_TRY(std::unique_ptr<PostgresConnection> connection, PostgresConnection::open(uri, soon));
    PARLEY_CHECK(make_ready(*connection, wanted, deadline));
    return connection;
  }

  // Does the work on its own connection, and retries it if it lost a race. Rolls back a transaction that the
  // work leaves open; closes a connection that cannot do that.
  template <typename Work>
  auto with_connection(Deadline deadline, const Work& work)
      -> Result<typename std::invoke_result_t<Work, PostgresConnection&>::value_type> {
    for (int tries = 1; true; ++tries) {
      PARLEY_TRY(auto lent, pool_.take(deadline));
      auto done = work(*lent);
      if (lent->rollback(deadline)) std::move(lent).keep();
      if (done) return *std::move(done);
      if (!is_race(done.error()) || tries == kMostTries)
        return std::unexpected(Error(std::move(done).error()));
      const std::uint64_t most = std::uint64_t{1} << std::min(tries, 6);
      std::this_thread::sleep_for(std::chrono::milliseconds(random_uuid()[1] % most));
    }
  }

  Pool<PostgresConnection> pool_;
};

}  // namespace

Result<std::unique_ptr<Backend>> postgres_backend(Secret uri, const StoreOptions& options) {
  PARLEY_CHECK(check_postgres_uri(uri));
  return std::make_unique<PostgresBackend>(std::move(uri), options);
}

}  // namespace parley::store
