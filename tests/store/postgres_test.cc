// What is PostgreSQL's own: connections that are cut, tables that are damaged, servers of another kind. What
// all backends have in common is in conformance_test.cc; kills are in postgres_kill_test.cc.
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "cut_proxy.h"
#include "parley/base/ids.h"
#include "parley/store/store.h"
#include "postgres_server.h"
#include "store/lease_owner.h"

namespace parley::store {
namespace {

using std::chrono::milliseconds;

class Postgres : public testing::Test {
 protected:
  void SetUp() override {
    Result<std::shared_ptr<PostgresServer>> started = PostgresServer::shared();
    ASSERT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }

  Store open(StoreOptions options = {}) const { return *open_store(server->uri(), options); }
  std::string sql(const std::string& statement) const {
    const auto rows = server->sql(statement);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows && !rows->empty() ? rows->front() : std::string();
  }

  std::shared_ptr<PostgresServer> server;
  const SessionKey key{"tenant", "session"};
};

Record said(const std::string& text) {
  return {.dialect = "openai", .body = text, .role = "user", .text = text};
}

// What is stored as one medium.
std::string picture(char c) { return std::string(10'000, c); }

// ---- The database

TEST_F(Postgres, ManyWhoFindNoTablesMakeThemOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      Store store = open();
      const auto done = store.append({"t", "s" + std::to_string(i)}, Batch({said("hello")}));
      EXPECT_TRUE(done) << done.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sql("SELECT count(*) FROM parley.version"), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM parley.sessions"), "8");
}

TEST_F(Postgres, RefusesTheTablesOfANewerVersion) {
  ASSERT_TRUE(open().append(key, Batch({said("hello")})));
  sql("UPDATE parley.version SET number = number + 1");
  const auto refused = open().head(key);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Unsupported);
  EXPECT_TRUE(refused.error().message.contains("newer")) << refused.error().message;
}

TEST_F(Postgres, TakesOnlyTheStepsThatAreMissing) {
  Batch first({said("hello")});
  first.take_lease = LeaseTerms{"me", std::chrono::hours(1)};
  ASSERT_TRUE(open().append(key, first));
  ASSERT_TRUE(open().append({"tenant", "free"}, Batch({said("hello")})));
  // The last three steps: as it was before there were checkpoints.
  sql("DROP TABLE parley.leases");
  sql("UPDATE parley.version SET number = number - 3");
  Store store = open();
  const auto leases = store.leases();
  ASSERT_TRUE(leases) << leases.error().message;
  ASSERT_EQ(leases->size(), 1U);
  EXPECT_EQ(leases->front().key, key);
  EXPECT_EQ(leases->front().lease.token, first.id);
  ASSERT_TRUE(store.checkpoint(key, leases->front().lease, std::chrono::hours(1), "progress"));
  EXPECT_EQ((*store.holder(key))->checkpoint, "progress");
  EXPECT_EQ(store.head(key)->size, 1U);
}

// Where the server has written its log up to, and where it has synced it.
TEST_F(Postgres, DoesNotWaitForTheDiskForACheckpoint) {
  Store store = open();
  const auto lease = store.lease(key, "me", std::chrono::hours(1));
  ASSERT_TRUE(lease) << lease.error().message;
  const auto is_ahead = [&] {
    return sql("SELECT pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()") == "t";
  };
  bool was_ahead = false;
  for (int i = 0; i < 100 && !was_ahead; ++i) {  // the server syncs by itself five times a second
    ASSERT_TRUE(store.checkpoint(key, *lease, std::chrono::hours(1), std::to_string(i)));
    was_ahead = is_ahead();
  }
  EXPECT_TRUE(was_ahead);
  // The setting ends with the checkpoint: the same connection waits for an append.
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(store.checkpoint(key, *lease, std::chrono::hours(1), std::to_string(i)));
    const std::string before = sql("SELECT pg_current_wal_insert_lsn()");
    Batch batch({said("hello")});
    batch.lease = lease->token;
    const auto appended = store.append(key, batch);
    ASSERT_TRUE(appended) << appended.error().message;
    EXPECT_EQ(appended->durability, Durability::Full);
    EXPECT_EQ(sql("SELECT pg_current_wal_flush_lsn() > '" + before + "'"), "t");
  }
}

TEST_F(Postgres, SaysHowDurableTheServerIs) {
  Store store = open();
  EXPECT_EQ(store.append(key, Batch({said("hello")}))->durability, Durability::Full);
  Health health = store.health();
  EXPECT_TRUE(health.is_ok);
  EXPECT_EQ(health.backend, "postgresql");
  EXPECT_TRUE(health.version.starts_with("1")) << health.version;
  EXPECT_EQ(health.durability, Durability::Full);
  EXPECT_GT(health.latency_us, 0);
  EXPECT_EQ(health.circuit, Circuit::Closed);
  EXPECT_TRUE(health.warnings.empty());

  // What a caller asks for is more than what the server does by itself.
  sql("ALTER ROLE parley SET synchronous_commit = off");
  EXPECT_EQ(open().health().durability, Durability::Full);
  sql("ALTER ROLE parley RESET synchronous_commit");
  Store quick = open({.durability = Durability::None});
  EXPECT_EQ(quick.append(key, Batch({said("hello")}))->durability, Durability::None);
  EXPECT_EQ(quick.health().warnings.size(), 1U);
}

TEST_F(Postgres, MakesDoWithTheConnectionsThatItGets) {
  ASSERT_TRUE(open().append(key, Batch({said("hello")})));
  const std::string role = "few" + std::to_string(random_uuid()[0] % 1'000'000);
  sql("CREATE ROLE " + role + " LOGIN SUPERUSER");
  sql("ALTER ROLE " + role + " NOSUPERUSER CONNECTION LIMIT 2");
  sql("GRANT ALL ON SCHEMA parley TO " + role);
  sql("GRANT ALL ON ALL TABLES IN SCHEMA parley TO " + role);
  sql("GRANT ALL ON ALL SEQUENCES IN SCHEMA parley TO " + role);
  std::string uri = server->uri();
  uri.replace(uri.find("parley@"), 6, role);
  {
    Store store = *open_store(uri, {.connections = 8});
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const auto done = store.append({"few", "s" + std::to_string(t)}, Batch({said("hello")}));
          EXPECT_TRUE(done) << done.error().message;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(store.health().circuit, Circuit::Closed);
  }
  sql("DROP OWNED BY " + role);
  sql("DROP ROLE " + role);
}

TEST_F(Postgres, IsUnwellIfTheServerTakesNoWrites) {
  ASSERT_TRUE(open().append(key, Batch({said("hello")})));
  EXPECT_TRUE(open().health().is_ok);
  sql("ALTER DATABASE postgres SET default_transaction_read_only = on");
  const Health health = open().health();
  sql("BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT");
  EXPECT_FALSE(health.is_ok);
  ASSERT_TRUE(health.error);
  EXPECT_TRUE(open().health().is_ok);
  EXPECT_EQ(sql("SELECT count(*) FROM parley.batches"), "1");
}

TEST_F(Postgres, FreesTheLeaseOfAProcessThatHasEndedAndBoundsOthers) {
  Store store = open();
  ASSERT_TRUE(store.lease(key, "me", std::chrono::hours(1)));
  const auto set_owner = [&](const std::string& process) {
    const LeaseOwner owner{"the dead", milliseconds(50), process};
    sql("UPDATE parley.sessions SET lease_owner = '" + owner.text() + "' RETURNING 1");
  };
  const std::string me = this_process();
  EXPECT_EQ(store.append(key, Batch({said("early")})).error().code, Code::Conflict);
  set_owner(me + "0");  // it began at another time
  const auto appended = store.append(key, Batch({said("late")}));
  EXPECT_TRUE(appended) << appended.error().message;
  ASSERT_TRUE(store.lease(key, "me", std::chrono::hours(1)));
  set_owner(me + "0");
  EXPECT_TRUE(store.lease(key, "you", std::chrono::hours(1)));
  set_owner(me);
  EXPECT_EQ(store.lease(key, "you", std::chrono::hours(1)).error().message,
            "the session is leased by 'the dead'");
  EXPECT_TRUE(store.lease(key, "you", std::chrono::hours(1), LeaseMode::Wait));
}

TEST_F(Postgres, SaysWhyItCannotBeReached) {
  auto store = open_store("postgresql://parley:hunter2hunter2@127.0.0.1:1/postgres");
  ASSERT_TRUE(store);
  const Health health = store->health();
  EXPECT_FALSE(health.is_ok);
  ASSERT_TRUE(health.error);
  EXPECT_EQ(health.error->code, Code::Unavailable);
  EXPECT_FALSE(health.error->message.contains("hunter2"));
  EXPECT_NE(health.circuit, Circuit::Closed);
  const auto refused = open_store("postgresql://parley:hunter2hunter2@[::1/postgres?nonsense");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::Invalid);
  EXPECT_FALSE(refused.error().message.contains("hunter2"));
}

// ---- Damage (P6)

TEST_F(Postgres, NamesARecordThatIsDamagedOrLost) {
  Store store = open();
  const std::string talk = R"({"image":")" + picture('A') + "\"}";
  ASSERT_TRUE(store.append(key, Batch({said("0"), said("1"), said("2"), said(talk), said("4")})));
  const auto damage_at = [&](Position position) {
    const auto page = store.read(key);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, Code::Damaged);
    EXPECT_EQ(page.error().path, "/" + std::to_string(position));
  };
  sql("UPDATE parley.records SET body = 'other' WHERE position = 4");
  damage_at(4);
  sql("ALTER TABLE parley.uses DROP CONSTRAINT uses_tenant_hash_fkey");
  sql("DELETE FROM parley.media");
  damage_at(3);
  sql("DELETE FROM parley.records WHERE position = 1");
  damage_at(1);
  const auto all = store.read(key, {.with_damaged = true});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->records.size(), 5U);
  for (const Position at : {0U, 2U}) EXPECT_FALSE(all->records[at].damage) << at;
  for (const Position at : {1U, 3U, 4U}) EXPECT_TRUE(all->records[at].damage) << at;
  // Where the lost ones are the last.
  sql("DELETE FROM parley.records WHERE position > 0");
  const auto rest = store.read(key, {.first = 1});
  ASSERT_FALSE(rest);
  EXPECT_EQ(rest.error().code, Code::Damaged);
}

// ---- Erasing

TEST_F(Postgres, ErasesEveryTrace) {
  Store store = open();
  const auto with_picture = [](char c) { return said(R"({"image":")" + picture(c) + "\"}"); };
  ASSERT_TRUE(store.append(key, Batch({with_picture('A'), with_picture('B'), with_picture('A')})));
  ASSERT_TRUE(store.append({"tenant", "other"}, Batch({with_picture('B')})));
  EXPECT_EQ(sql("SELECT count(*) FROM parley.media"), "2");
  ASSERT_TRUE(store.fork(key, "fork", 1));
  ASSERT_TRUE(store.fork({"tenant", "fork"}, "fork of fork", 1));
  const auto lease = store.lease(key, "me", std::chrono::hours(1));
  ASSERT_TRUE(lease && store.checkpoint(key, *lease, std::chrono::hours(1), picture('C')));
  ASSERT_TRUE(store.append({"tenant", "fork"}, Batch({said("more")})));

  ASSERT_TRUE(store.remove(key));
  EXPECT_EQ(sql("SELECT count(*) FROM parley.records"), "3");  // one is shared
  EXPECT_EQ(sql("SELECT count(*) FROM parley.media"), "2");
  EXPECT_EQ(sql("SELECT count(*) FROM parley.batches WHERE session = 'session'"), "0");
  ASSERT_TRUE(store.remove({"tenant", "fork"}));
  EXPECT_EQ(sql("SELECT count(*) FROM parley.records"), "2");
  EXPECT_EQ(store.read({"tenant", "fork of fork"})->records.size(), 1U);
  ASSERT_TRUE(store.remove({"tenant", "fork of fork"}));
  EXPECT_EQ(sql("SELECT count(*) FROM parley.records"), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM parley.media"), "1");
  ASSERT_TRUE(store.remove({"tenant", "other"}));
  for (const char* table : {"sessions", "records", "batches", "leases", "media", "uses"}) {
    EXPECT_EQ(sql(std::string("SELECT count(*) FROM parley.") + table), "0") << table;
  }
}

TEST_F(Postgres, KeepsMediaThatOneRemovesWhileAnotherAppends) {
  Store store = open();
  const Record record = said(R"({"image":")" + picture('A') + "\"}");
  std::thread remover([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(store.append({"tenant", "brief"}, Batch({record})));
      EXPECT_TRUE(store.remove({"tenant", "brief"}));
    }
  });
  for (int i = 0; i < 50; ++i) {
    const SessionKey mine{"tenant", "session " + std::to_string(i)};
    const auto done = store.append(mine, Batch({record}));
    ASSERT_TRUE(done) << done.error().message;
    const auto page = store.read(mine);
    ASSERT_TRUE(page) << page.error().message;
    EXPECT_EQ(page->records[0].body, record.body);
    ASSERT_TRUE(store.remove(mine));
  }
  remover.join();
  EXPECT_EQ(sql("SELECT count(*) FROM parley.media"), "0");
}

// ---- Time (P10)

TEST_F(Postgres, EndsAtTheDeadlineAndKnowsThatNothingHappened) {
  Store store = open();
  ASSERT_TRUE(store.append(key, Batch({said("0")})));
  const std::string sleeps = " FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
  std::thread holder([&] {
    EXPECT_FALSE(server->sql("BEGIN; SELECT 1 FROM parley.sessions FOR UPDATE; SELECT pg_sleep(600)"));
  });
  while (sql("SELECT count(*)" + sleeps) != "1") std::this_thread::yield();
  const Batch batch({said("1")});
  const auto late = store.append(key, batch, Deadline::in(milliseconds(2'000)));
  EXPECT_EQ(sql("SELECT count(pg_terminate_backend(pid, 5000))" + sleeps), "1");
  holder.join();
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::Timeout) << late.error().message;
  EXPECT_EQ(store.head(key)->size, 1U);
  EXPECT_EQ(store.append(key, batch)->first, 1U);
}

TEST_F(Postgres, ContinuesAfterTheServerClosedItsConnections) {
  Store store = open();
  ASSERT_TRUE(store.append(key, Batch({said("0")})));
  sql("SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
      " WHERE application_name = 'parley'");
  const auto done = store.append(key, Batch({said("1")}));
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->first, 1U);
}

// A batch that was resolved as missing is refused if it arrives late, unless it is retried.
TEST_F(Postgres, VoidsABatchThatWasNotFound) {
  Store store = open();
  const Batch batch("batch", {said("0")});
  EXPECT_EQ(*store.resolve(key, "batch"), std::nullopt);
  EXPECT_EQ(store.head(key).error().code, Code::NotFound);
  EXPECT_EQ(sql("SELECT count(*) FROM parley.batches WHERE void_us IS NOT NULL"), "1");
  const auto done = store.append(key, batch);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(done->repeated);
  EXPECT_EQ((*store.resolve(key, "batch"))->first, 0U);
  EXPECT_EQ(sql("SELECT count(*) FROM parley.batches"), "1");

  EXPECT_EQ(*store.resolve(key, "another"), std::nullopt);
  ASSERT_TRUE(store.sweep());
  EXPECT_EQ(sql("SELECT count(*) FROM parley.batches"), "2");
  sql("UPDATE parley.batches SET void_us = void_us - 86400000000");  // a day
  ASSERT_TRUE(store.sweep());
  EXPECT_EQ(sql("SELECT count(*) FROM parley.batches"), "1");
}

struct Tries {
  int cuts = 0;
  int found = 0;
  int not_found = 0;
};

// Cuts appends to one session, and asks each time what became of it.
void cut_and_resolve(const PostgresServer& server, const SessionKey& key, int cuts, Tries& tries) {
  std::map<std::string, std::optional<Position>> batches;
  {
    CutProxy proxy(server.socket());
    Result<Store> store =
        open_store("postgresql://parley@127.0.0.1:" + std::to_string(proxy.port()) + "/postgres");
    ASSERT_TRUE(store) << store.error().message;
    constexpr Cut kCuts[] = {Cut::Before, Cut::Half, Cut::After, Cut::Answer, Cut::Late};
    for (int i = 0; i < cuts; ++i) {
      ASSERT_TRUE(store->append(key, Batch({said("whole")})));
      const Batch batch({said("cut " + std::to_string(i)), said("and more")});
      proxy.cut_next(kCuts[random_uuid()[1] % std::size(kCuts)]);
      const Result<Appended> cut = store->append(key, batch);
      ASSERT_FALSE(cut);
      ASSERT_EQ(cut.error().code, Code::Unresolved) << cut.error().message;
      const auto resolved = store->resolve(key, batch.id);
      ASSERT_TRUE(resolved) << resolved.error().message;
      batches[batch.id] = *resolved ? std::optional((*resolved)->first) : std::nullopt;
      ++tries.cuts;
      ++(*resolved ? tries.found : tries.not_found);
    }
  }
  // What was late has come by now.
  Store store = *open_store(server.uri());
  std::map<std::string, std::vector<Position>> came;
  ASSERT_TRUE(store.each(key, 0, [&](const StoredRecord& record) -> Result<void> {
    came[record.batch].push_back(record.position);
    return {};
  }));
  for (const auto& [id, first] : batches) {
    const std::vector<Position> expected = first ? std::vector{*first, *first + 1} : std::vector<Position>();
    EXPECT_EQ(came[id], expected);
    const auto again = store.resolve(key, id);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->has_value(), first.has_value());
  }
}

TEST_F(Postgres, KnowsAfterACutWhatBecameOfABatch) {
  constexpr int kThreads = 4;
  std::vector<Tries> tries(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      cut_and_resolve(*server, {"tenant", std::to_string(i)}, 250, tries[static_cast<std::size_t>(i)]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Tries all;
  for (const Tries& one : tries) {
    all.cuts += one.cuts;
    all.found += one.found;
    all.not_found += one.not_found;
  }
  EXPECT_EQ(all.cuts, 1'000);
  EXPECT_GT(all.found, 100);
  EXPECT_GT(all.not_found, 100);
}

}  // namespace
}  // namespace parley::store
