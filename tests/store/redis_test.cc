// The Redis backend where it differs from the others, with a server of the test's own. What all backends
// share is in conformance_test.cc.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <thread>

#include "late_proxy.h"
#include "parley/base/clock.h"
#include "parley/store/conformance.h"
#include "parley/store/store.h"
#include "redis_server.h"
#include "store/lease_owner.h"
#include "store/redis/keys.h"
#include "store/redis/leases.h"

namespace parley::store {
namespace {

const SessionKey kKey{"t", "s"};

Record said(const std::string& text) {
  Record out;
  out.dialect = "openai";
  out.role = "user";
  out.body = "{\"content\":\"" + text + "\"}";
  out.text = text;
  return out;
}

Deadline shortly() { return Deadline::in(std::chrono::milliseconds(300)); }

// Starts a server and opens a store in it.
class Redis : public testing::Test {
 protected:
  void start(std::vector<std::string> settings = {}) {
    auto server = RedisServer::start(std::move(settings));
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    store_ = open(server_->uri());
  }

  // Throws if it cannot be, which ends the test.
  static std::unique_ptr<Store> open(const std::string& uri) {
    return std::make_unique<Store>(open_store(uri).value());
  }

  Appended add(const std::string& text, const SessionKey& key = kKey) {
    const Result<Appended> appended = store_->append(key, Batch({said(text)}));
    EXPECT_TRUE(appended) << appended.error().message;
    return appended.value_or(Appended{});
  }

  void set(std::string_view name, std::string_view value) {
    const auto done = server_->ask({"CONFIG", "SET", name, value});
    ASSERT_TRUE(done) << done.error().message;
  }

  // All keys of the server but those of lists.
  std::set<std::string> keys() {
    std::set<std::string> out;
    const auto reply = server_->ask({"KEYS", "*"});
    EXPECT_TRUE(reply);
    for (const RedisReply& key : reply->items) {
      if (key.text != sessions_key("t") && key.text != changed_key("t")) out.insert(key.text);
    }
    return out;
  }

  std::size_t listed(const std::string& tenant = "t") {
    const auto list = store_->list(tenant);
    EXPECT_TRUE(list) << list.error().message;
    return list ? list->sessions.size() : 0;
  }

  std::unique_ptr<RedisServer> server_;
  std::unique_ptr<Store> store_;
};

// ---- What the server promises (P2)

TEST_F(Redis, SaysHowDurableTheServerReallyIs) {
  start();
  EXPECT_EQ(add("a").durability, Durability::Full);
  EXPECT_EQ(store_->health().durability, Durability::Full);
  EXPECT_TRUE(store_->health().is_ok);
  EXPECT_EQ(store_->health().warnings.size(), 0U);
  EXPECT_EQ(store_->health().version.substr(0, 2), "7.");

  set("appendfsync", "everysec");
  const Health each_second = open(server_->uri())->health();
  EXPECT_TRUE(each_second.is_ok);
  EXPECT_EQ(each_second.durability, Durability::Normal);
  ASSERT_EQ(each_second.warnings.size(), 1U);
  EXPECT_NE(each_second.warnings[0].find("about one second"), std::string::npos);
  store_ = open(server_->uri());
  EXPECT_EQ(add("b").durability, Durability::Normal);

  set("aof-load-truncated", "yes");
  EXPECT_EQ(open(server_->uri())->health().durability, Durability::None);

  set("aof-load-truncated", "no");
  set("appendonly", "no");
  store_ = open(server_->uri());
  EXPECT_EQ(add("c").durability, Durability::None);
  EXPECT_EQ(store_->health().durability, Durability::None);
}

TEST_F(Redis, IsUnwellIfTheServerThrowsDataAway) {
  start({"--maxmemory-policy", "allkeys-lru"});
  const Health health = store_->health();
  EXPECT_FALSE(health.is_ok);
  ASSERT_TRUE(health.error);
  EXPECT_NE(health.error->message.find("noeviction"), std::string::npos);
}

TEST_F(Redis, IsUnwellIfTheServerTakesNoWrites) {
  start();
  add("a");
  const std::set<std::string> before = keys();
  EXPECT_TRUE(store_->health().is_ok);
  set("maxmemory", "1");
  const Health health = store_->health();
  EXPECT_FALSE(health.is_ok);
  ASSERT_TRUE(health.error);
  EXPECT_FALSE(store_->append(kKey, Batch({said("b")})));
  set("maxmemory", "0");
  EXPECT_TRUE(store_->health().is_ok);
  EXPECT_EQ(keys(), before);
}

TEST_F(Redis, FreesTheLeaseOfAProcessThatHasEnded) {
  start();
  const auto dead = [&](const std::string& process) {
    const LeaseOwner owner{"the dead", std::chrono::hours(1), process};
    ASSERT_TRUE(store_->lease(kKey, "me", std::chrono::hours(1), LeaseMode::TakeOver));
    ASSERT_TRUE(server_->ask({"HSET", live_keys(tag_of(kKey)).head, "owner", owner.text()}));
  };
  const std::string me = this_process();
  dead(me);
  EXPECT_EQ(store_->lease(kKey, "you", std::chrono::hours(1)).error().message,
            "the session is leased by 'the dead'");
  EXPECT_EQ(store_->append(kKey, Batch({said("early")})).error().code, Code::Conflict);
  dead(me + "0");  // it began at another time
  EXPECT_EQ(add("a").first, 0U);
  dead(me + "0");
  EXPECT_TRUE(store_->lease(kKey, "you", std::chrono::hours(1)));
}

TEST_F(Redis, BoundsALeaseByItsLength) {
  start();
  ASSERT_TRUE(store_->lease(kKey, "me", std::chrono::milliseconds(50)));
  ASSERT_TRUE(server_->ask({"HSET", live_keys(tag_of(kKey)).head, "until", "99999999999999"}));
  EXPECT_EQ(store_->lease(kKey, "you", std::chrono::hours(1)).error().code, Code::Conflict);
  EXPECT_TRUE(store_->lease(kKey, "you", std::chrono::hours(1), LeaseMode::Wait));
}

TEST_F(Redis, TakesSettingsThatItMayNotSeeForTheWorst) {
  start();
  const auto user = server_->ask({"ACL", "SETUSER", "app", "on", ">sesame", "~*", "+@all", "-config"});
  ASSERT_TRUE(user) << user.error().message;
  store_ = open("redis+unix://app:sesame@localhost" + server_->socket());
  EXPECT_EQ(add("a").durability, Durability::None);
  const Health health = store_->health();
  EXPECT_TRUE(health.is_ok);
  EXPECT_EQ(health.durability, Durability::None);
  ASSERT_EQ(health.warnings.size(), 1U);
  EXPECT_NE(health.warnings[0].find("unknown"), std::string::npos);
}

TEST_F(Redis, NeverRepeatsAPassword) {
  start({"--requirepass", "open-canary"});
  store_ = open("redis+unix://:open-canary@localhost" + server_->socket());
  add("a");
  for (const std::string user : {"", ":wrong-canary@localhost", "somebody:wrong-canary@localhost"}) {
    const auto other = open("redis+unix://" + user + server_->socket());
    const Health health = other->health();
    EXPECT_FALSE(health.is_ok);
    ASSERT_TRUE(health.error);
    EXPECT_EQ(health.error->code, Code::Unavailable);
    EXPECT_EQ(health.error->message.find("canary"), std::string::npos) << health.error->message;
  }
}

TEST_F(Redis, IsReachedOverTcpInADatabaseOfItsOwn) {
  int port = 0;
  {
    // A port that is free now; the server listens on loopback alone.
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ASSERT_EQ(bind(probe, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
    close(probe);
  }
  start({"--port", std::to_string(port), "--bind", "127.0.0.1"});
  store_ = open("redis://127.0.0.1:" + std::to_string(port) + "/5");
  add("a");
  EXPECT_EQ(listed(), 1U);
  EXPECT_TRUE(keys().empty()) << "database 0 has none of it";
}

// ---- Servers that forget, stop or are not there

TEST_F(Redis, LoadsItsScriptsAgain) {
  start();
  add("a");
  ASSERT_TRUE(server_->ask({"SCRIPT", "FLUSH"}));
  EXPECT_EQ(add("b").first, 1U);
}

TEST_F(Redis, EndsAtItsDeadline) {
  start();
  add("a");
  ::kill(server_->pid(), SIGSTOP);
  const auto read = store_->read(kKey, {}, shortly());
  const auto appended = store_->append(kKey, Batch("b", {said("b")}), shortly());
  ::kill(server_->pid(), SIGCONT);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::Timeout);
  ASSERT_FALSE(appended);
  // It was a new connection, on which nothing could be sent yet.
  EXPECT_EQ(appended.error().code, Code::Timeout);
  EXPECT_EQ(store_->head(kKey)->size, 1U);
}

TEST_F(Redis, IsThereAgainWhenItsServerIs) {
  start();
  add("a");
  server_->kill();
  const auto lost = store_->append(kKey, Batch("b", {said("b")}));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::Unavailable);
  EXPECT_FALSE(store_->health().is_ok);
  EXPECT_NE(store_->health().circuit, Circuit::Closed);
  ASSERT_TRUE(server_->start_again());
  Result<Appended> again = lost;
  const Deadline deadline = Deadline::in(std::chrono::seconds(30));
  while (!again && !deadline.has_passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    again = store_->append(kKey, Batch("b", {said("b")}));
  }
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->first, 1U);
}

// ---- Commands that come late, and answers that do not come (P10)

TEST_F(Redis, RefusesALateCommandOnceItWasResolved) {
  start();
  LateProxy proxy(server_->socket(), server_->folder() + "/late");
  const auto far = open("redis+unix://" + server_->folder() + "/late");
  ASSERT_TRUE(far->append(kKey, Batch({said("a")})));

  proxy.set(LateProxy::Mode::Keep);
  const auto lost = far->append(kKey, Batch("b", {said("b")}), shortly());
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::Unresolved);
  const auto resolved = store_->resolve(kKey, "b");
  ASSERT_TRUE(resolved) << resolved.error().message;
  EXPECT_FALSE(*resolved);

  EXPECT_NE(proxy.deliver().find("refused"), std::string::npos);
  EXPECT_FALSE(*store_->resolve(kKey, "b"));
  EXPECT_EQ(store_->head(kKey)->size, 1U);

  // Sent again by a live client, it succeeds.
  const auto again = store_->append(kKey, Batch("b", {said("b")}));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->first, 1U);
  EXPECT_FALSE(again->repeated);
  EXPECT_EQ((*store_->resolve(kKey, "b"))->first, 1U);
}

TEST_F(Redis, RefusesALateCommandForASessionThatIsNotThere) {
  start();
  LateProxy proxy(server_->socket(), server_->folder() + "/late");
  const auto far = open("redis+unix://" + server_->folder() + "/late");
  ASSERT_TRUE(far->append({"t", "other"}, Batch({said("a")})));
  proxy.set(LateProxy::Mode::Keep);
  EXPECT_EQ(far->append(kKey, Batch("b", {said("b")}), shortly()).error().code, Code::Unresolved);
  EXPECT_FALSE(*store_->resolve(kKey, "b"));
  EXPECT_NE(proxy.deliver().find("refused"), std::string::npos);
  EXPECT_EQ(store_->head(kKey).error().code, Code::NotFound);
  EXPECT_EQ(store_->append(kKey, Batch("b", {said("b")}))->first, 0U);
  // The epoch of a session that was not there would go after a day, and the batches with it.
  EXPECT_EQ(server_->ask({"PTTL", live_keys(tag_of(kKey)).batches})->integer, -1);
}

TEST_F(Redis, AcceptsALateCommandThatWasNotResolved) {
  start();
  LateProxy proxy(server_->socket(), server_->folder() + "/late");
  const auto far = open("redis+unix://" + server_->folder() + "/late");
  ASSERT_TRUE(far->append(kKey, Batch({said("a")})));
  proxy.set(LateProxy::Mode::Keep);
  EXPECT_EQ(far->append(kKey, Batch("b", {said("b")}), shortly()).error().code, Code::Unresolved);
  EXPECT_NE(proxy.deliver().find("ok"), std::string::npos);
  const auto resolved = store_->resolve(kKey, "b");
  ASSERT_TRUE(resolved && *resolved);
  EXPECT_EQ((*resolved)->first, 1U);
}

TEST_F(Redis, SettlesEveryAppendWhoseAnswerWasCut) {
  start();
  LateProxy proxy(server_->socket(), server_->folder() + "/late");
  const auto far = open("redis+unix://" + server_->folder() + "/late");
  constexpr std::size_t kCuts = 100;
  for (std::size_t i = 0; i < kCuts; ++i) {
    proxy.set(LateProxy::Mode::Pass);
    ASSERT_TRUE(far->health().is_ok);  // there is a connection, and it is good
    proxy.set(LateProxy::Mode::Cut);
    const std::string id = "b" + std::to_string(i);
    const auto cut = far->append(kKey, Batch(id, {said(id)}));
    ASSERT_FALSE(cut);
    ASSERT_EQ(cut.error().code, Code::Unresolved) << cut.error().message;
    const auto resolved = store_->resolve(kKey, id);
    ASSERT_TRUE(resolved) << resolved.error().message;
    const auto again = store_->append(kKey, Batch(id, {said(id)}));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->repeated, resolved->has_value());
    EXPECT_EQ(again->first, i);
  }
  const auto page = store_->read(kKey);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->size, kCuts);
  for (std::size_t i = 0; i < kCuts; ++i) EXPECT_EQ(page->records[i].text, "b" + std::to_string(i));
}

// ---- Records that are gone (P6)

TEST_F(Redis, NamesARecordThatWasDeleted) {
  start();
  for (const char* text : {"a", "b", "c"}) add(text);
  ASSERT_TRUE(server_->ask({"XDEL", live_keys(tag_of(kKey)).log, "2-0"}));
  const auto page = store_->read(kKey);
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, Code::Damaged);
  EXPECT_EQ(page.error().path, "/1");
  Range all;
  all.with_damaged = true;
  const auto whole = store_->read(kKey, all);
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->records.size(), 3U);
  EXPECT_FALSE(whole->records[0].damage);
  EXPECT_TRUE(whole->records[1].damage);
  EXPECT_EQ(whole->records[2].text, "c");
  const auto appended = store_->append(kKey, Batch({said("d")}));
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().code, Code::Damaged);
}

TEST_F(Redis, MissesALogAndMediaThatWereThrownAway) {
  start();
  const std::string medium(10'000, 'A');
  add(medium);
  add("b");
  ASSERT_TRUE(server_->ask({"DEL", live_keys(tag_of(kKey)).media}));
  EXPECT_EQ(store_->read(kKey).error().code, Code::Damaged);
  EXPECT_TRUE(store_->read(kKey, {.first = 1}));
  ASSERT_TRUE(server_->ask({"DEL", live_keys(tag_of(kKey)).log}));
  EXPECT_EQ(store_->read(kKey, {.first = 1}).error().code, Code::Damaged);
  EXPECT_EQ(store_->append(kKey, Batch({said("c")})).error().code, Code::Damaged);

  ASSERT_TRUE(store_->append({"t", "headless"}, Batch("b", {said("b")})));
  ASSERT_TRUE(server_->ask({"DEL", live_keys(tag_of({"t", "headless"})).head}));
  EXPECT_EQ(store_->append({"t", "headless"}, Batch("b", {said("b")})).error().code, Code::Damaged);
  EXPECT_EQ(store_->append({"t", "headless"}, Batch("c", {said("c")})).error().code, Code::Damaged);
  EXPECT_EQ(store_->resolve({"t", "headless"}, "b").error().code, Code::Damaged);
}

TEST_F(Redis, KeepsMediaOnceASession) {
  start();
  const std::string medium(10'000, 'A');
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store_->append(kKey, Batch({said(medium), said("between"), said(medium)})));
  }
  EXPECT_EQ(server_->ask({"HLEN", live_keys(tag_of(kKey)).media})->integer, 1);
  const auto page = store_->read(kKey);
  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->records.size(), 9U);
  EXPECT_EQ(page->records[8].body, said(medium).body);
}

// ---- Lists

TEST_F(Redis, FindsItsSessionsAgainWithoutTheIndex) {
  start();
  add("a", {"t", "one"});
  add("b", {"t", "two"});
  EXPECT_EQ(listed(), 2U);
  // As if every client had died before it could tell the index.
  ASSERT_TRUE(server_->ask({"DEL", sessions_key("t")}));
  EXPECT_EQ(listed(), 2U);
  EXPECT_EQ(listed("T"), 0U);
}

TEST_F(Redis, ForgetsAMarkThatIsOld) {
  start();
  add("a", {"t", "one"});
  ASSERT_TRUE(server_->ask({"ZADD", changed_key("t"), "1000", "never made"}));
  EXPECT_EQ(listed(), 1U);
  EXPECT_EQ(server_->ask({"ZCARD", changed_key("t")})->integer, 1);
  EXPECT_EQ(server_->ask({"ZCARD", sessions_key("t")})->integer, 1);
}

TEST_F(Redis, SweepsTheMarksOfTenantsThatAreNeverListed) {
  start();
  ASSERT_TRUE(server_->ask({"ZADD", changed_key("t"), "1000", "never made"}));
  ASSERT_TRUE(store_->sweep());
  EXPECT_EQ(server_->ask({"EXISTS", changed_key("t")})->integer, 0);
}

// ---- Leases

TEST_F(Redis, MarksLeasesThatWereTakenAndNoOthers) {
  start();
  const auto marks = [&] { return server_->ask({"ZCARD", kLeasesKey})->integer; };
  const auto lease = store_->lease(kKey, "me", std::chrono::hours(1));
  ASSERT_TRUE(lease);
  EXPECT_EQ(marks(), 1);
  EXPECT_FALSE(store_->lease(kKey, "you", std::chrono::hours(1)));
  Batch refused({said("no")});
  refused.take_lease = LeaseTerms{"you", std::chrono::hours(1)};
  EXPECT_FALSE(store_->append(kKey, refused));
  refused.expected_size = 9;
  EXPECT_FALSE(store_->append({"t", "other"}, refused));
  EXPECT_EQ(marks(), 1);
  ASSERT_TRUE(store_->release(kKey, *lease));
  EXPECT_EQ(marks(), 0);
  Batch first({said("a")});
  first.take_lease = LeaseTerms{"me", std::chrono::hours(1)};
  ASSERT_TRUE(store_->append(kKey, first));
  EXPECT_EQ(marks(), 1);
  Batch last({said("b")});
  last.lease = first.id;
  last.release_lease = true;
  ASSERT_TRUE(store_->append(kKey, last));
  EXPECT_EQ(marks(), 0);
}

// A client that died after its mark, or a lease that was taken over: the mark of one who may still come
// stays.
TEST_F(Redis, ForgetsMarksWithoutALeaseOnceTheyAreOld) {
  start();
  ASSERT_TRUE(store_->lease(kKey, "me", std::chrono::hours(1)));
  ASSERT_TRUE(server_->ask({"ZADD", kLeasesKey, "1000", tag_of(kKey) + " another token"}));
  ASSERT_TRUE(server_->ask({"ZADD", kLeasesKey, "1000", tag_of({"t", "never made"}) + " token"}));
  ASSERT_TRUE(server_->ask({"ZADD", kLeasesKey, std::to_string(now_ms()), tag_of({"t", "soon"}) + " token"}));
  EXPECT_EQ(store_->leases({.tenant = "other"})->size(), 0U);
  EXPECT_EQ(server_->ask({"ZCARD", kLeasesKey})->integer, 4);
  EXPECT_EQ(store_->leases()->size(), 1U);
  EXPECT_EQ(server_->ask({"ZCARD", kLeasesKey})->integer, 2);
  // An old mark of a lease that is held stays.
  const std::string mark = tag_of(kKey) + " " + store_->leases()->front().lease.token;
  ASSERT_TRUE(server_->ask({"ZADD", kLeasesKey, "1000", mark}));
  ASSERT_TRUE(server_->ask({"ZADD", kLeasesKey, "1000", tag_of({"t", "soon"}) + " token"}));
  ASSERT_TRUE(store_->sweep());
  EXPECT_EQ(server_->ask({"ZCARD", kLeasesKey})->integer, 1);
  EXPECT_EQ(store_->leases()->size(), 1U);
}

// ---- Forks and removal

TEST_F(Redis, KeepsWhatForksShareAndNothingElse) {
  start();
  const std::string medium(10'000, 'A');
  add("a");
  add(medium);
  add("c");
  ASSERT_TRUE(store_->fork(kKey, "f", 2));
  add("f2", {"t", "f"});
  ASSERT_TRUE(store_->fork({"t", "f"}, "g", 3));
  ASSERT_TRUE(store_->fork({"t", "f"}, "h", 1));
  ASSERT_TRUE(store_->remove(kKey));
  ASSERT_TRUE(store_->remove({"t", "f"}));
  add("new life");  // the name is free again, and has nothing to do with the forks

  const auto g = store_->read({"t", "g"});
  ASSERT_TRUE(g) << g.error().message;
  ASSERT_EQ(g->records.size(), 3U);
  EXPECT_EQ(g->records[0].text, "a");
  EXPECT_EQ(g->records[1].body, said(medium).body);
  EXPECT_EQ(g->records[2].text, "f2");
  EXPECT_EQ(store_->read({"t", "h"})->records.size(), 1U);
  EXPECT_EQ(store_->read(kKey)->records[0].text, "new life");

  ASSERT_TRUE(store_->remove({"t", "g"}));
  EXPECT_EQ(store_->read({"t", "h"})->records[0].text, "a");
  ASSERT_TRUE(store_->remove({"t", "h"}));
  ASSERT_TRUE(store_->remove(kKey));
  EXPECT_EQ(keys(), std::set<std::string>());
}

TEST_F(Redis, SweepsWhatAForkThatWasNeverMadeHolds) {
  start();
  add("a");
  // As a client leaves it that dies between holding a log and making the fork: a hold of the past, and one
  // of a fork that may still be made.
  const std::string forks = live_keys(tag_of(kKey)).forks;
  ASSERT_TRUE(server_->ask({"HSET", forks, tag_of({"t", "dead"}) + "/1", "1000"}));
  ASSERT_TRUE(server_->ask({"HSET", forks, tag_of({"t", "young"}) + "/2", "99999999999999"}));
  ASSERT_TRUE(store_->remove(kKey));
  EXPECT_FALSE(keys().empty());
  ASSERT_TRUE(store_->sweep());
  EXPECT_FALSE(keys().empty());

  std::string kept;
  for (const std::string& key : keys()) {
    if (key.ends_with(":forks")) kept = key;
  }
  EXPECT_EQ(server_->ask({"HLEN", kept})->integer, 1);
  ASSERT_TRUE(server_->ask({"HSET", kept, tag_of({"t", "young"}) + "/2", "1000"}));
  ASSERT_TRUE(store_->sweep());
  EXPECT_EQ(keys(), std::set<std::string>());
}

TEST_F(Redis, ErasesBytesFromTheDiskWithASweep) {
  start();
  add("needle in the file");
  add("stays", {"t", "other"});
  const auto has_needle = [&] {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(server_->folder())) {
      if (!entry.is_regular_file()) continue;
      std::string bytes(entry.file_size(), '\0');
      std::FILE* file = std::fopen(entry.path().c_str(), "rb");
      if (file == nullptr) continue;
      bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
      std::fclose(file);
      if (bytes.find("needle in the file") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(has_needle());
  ASSERT_TRUE(store_->remove(kKey));
  ASSERT_TRUE(store_->sweep());
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  while (has_needle() && !deadline.has_passed()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_needle());
  EXPECT_EQ(listed(), 1U);
}

// ---- Clusters

// A cluster of one node: it refuses every command and every script whose keys are in two slots.
TEST_F(Redis, KeepsItsPromisesInTheSlotsOfACluster) {
  start({"--cluster-enabled", "yes", "--cluster-port", std::to_string(20'000 + getpid() % 20'000)});
  const auto slots = server_->ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
  ASSERT_TRUE(slots) << slots.error().message;
  const Deadline deadline = Deadline::in(std::chrono::seconds(60));
  while (server_->ask({"CLUSTER", "INFO"})->text.find("cluster_state:ok") == std::string::npos &&
         !deadline.has_passed()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_FALSE(server_->ask({"MGET", "a", "b"})) << "this is no cluster";
  const auto open_again = [&]() -> Result<std::shared_ptr<Store>> { return open(server_->uri()); };
  for (const conformance::Check& check : conformance::checks()) {
    const Result<void> kept = check.run(open_again);
    EXPECT_TRUE(kept) << check.promise << ": " << check.says << "\n" << kept.error().message;
  }
}

}  // namespace
}  // namespace parley::store
