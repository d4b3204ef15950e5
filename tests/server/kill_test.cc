// `parley serve` is killed with SIGKILL at every step of a turn, and started again. Clients in all shapes of
// OpenAI's APIs take turns meanwhile; their model outlives the kills and counts what it is asked.
//
// What is checked after every kill, and of all turns at the end:
//   KILL1  An id that a client was shown can be read.
//   KILL2  The model was asked at most once for each time that a client sent a request, and never for a
//          request that is not stored.
//   KILL3  Every turn has a final status, which never changes.
//   KILL4  An answer whose end was shown is stored whole, byte for byte as it was shown. An abandoned one
//          is a part of the answer, and has all that a checkpoint had before the kill.
//   KILL5  A marked retry of a turn that is stored whole gets that turn; the model is not asked.
//   KILL6  Events that a client was shown come again with the same bytes, from any number on.
//   KILL7  Histories are valid, every request is in its conversation once, and no lease is left.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "../store/kills.h"
#include "parley/memory/stored_memory.h"
#include "parley/message/validate.h"
#include "server/engine/checkpoint.h"
#include "server/engine/turn_records.h"
#include "turn_client.h"
#ifdef PARLEY_HAS_POSTGRES
#include "../store/postgres_server.h"
#endif
#ifdef PARLEY_HAS_REDIS
#include "../store/redis_server.h"
#endif

namespace parley::server::testing {
namespace {

using std::chrono::milliseconds;

// Answers of a few words, of several checkpoints, at once and with pauses.
Answer plan(std::size_t turn) {
  struct Kind {
    std::size_t deltas, bytes;
    int pause_ms;
  };
  constexpr Kind kKinds[] = {{12, 30, 2}, {60, 700, 1}, {3, 10, 0}, {150, 100, 1}, {25, 1'000, 10}};
  const Kind& kind = kKinds[turn % std::size(kKinds)];
  Answer out;
  for (std::size_t i = 0; i < kind.deltas; ++i) {
    std::string delta = std::to_string(turn) + "." + std::to_string(i) + " \"caf\xC3\xA9\"\n";
    delta.append(kind.bytes, static_cast<char>('a' + i % 26));
    out.deltas.push_back(std::move(delta));
  }
  out.pause = milliseconds(kind.pause_ms);
  return out;
}

// Kills a server when something has happened a number of times.
class Killer {
 public:
  enum class Step : std::uint8_t { Sending, Asked, Delta, Last, Ended, Time };
  static constexpr std::size_t kSteps = 6;

  void arm(pid_t pid, std::mt19937& random) {
    const auto below = [&](std::size_t most) { return random() % most; };
    constexpr std::size_t kMost[kSteps] = {12, 8, 400, 8, 8, 300};
    const std::size_t step = below(kSteps);
    step_ = static_cast<Step>(step);
    jitter_us_ = static_cast<useconds_t>(below(3) == 0 ? 0 : below(4'000));
    pid_ = pid;
    left_ = 1 + below(kMost[step]);
    ++kills_[step];
  }
  void tell(Step step) {
    if (step == step_ && left_.fetch_sub(1) == 1) strike();
  }
  // Of Step::Time: in a thread of the test.
  void wait_and_strike() {
    if (step_ != Step::Time) return;
    std::this_thread::sleep_for(milliseconds(left_));
    strike();
  }
  const std::size_t (&kills() const)[kSteps] { return kills_; }

 private:
  void strike() {
    if (jitter_us_ > 0) ::usleep(jitter_us_);
    ::kill(pid_, SIGKILL);
  }
  std::atomic<Step> step_ = Step::Time;
  std::atomic<std::size_t> left_ = 0;
  useconds_t jitter_us_ = 0;
  std::atomic<pid_t> pid_ = -1;
  std::size_t kills_[kSteps] = {};
};

// Remembers the checkpoints that running turns have in the store.
class CheckpointWatch {
 public:
  explicit CheckpointWatch(store::Store& store) : store_(store) {}

  void look() {
    const auto leases = store_.leases({});
    if (!leases) return;
    for (const store::HeldLease& each : *leases) {
      const auto holder = store_.holder(each.key);
      if (!holder || !*holder) continue;
      const std::string& bytes = (*holder)->checkpoint;
      const std::string turn = bytes.substr(0, bytes.find('\n'));
      if (const auto checkpoint = checkpoint_in(bytes, turn)) {
        std::size_t& most = seen_[{each.key.session, turn}];
        most = std::max(most, checkpoint->journal.text_bytes());
      }
    }
  }
  // KILL4
  std::size_t check() {
    for (const auto& [place, bytes] : seen_) {
      const auto turn = read_turn(store_, {{"default", place.first}, place.second});
      EXPECT_TRUE(turn) << turn.error().message;
      if (!turn) continue;
      EXPECT_TRUE(turn->end) << place.second;
      EXPECT_GE(turn->journal.text_bytes(), bytes) << place.second;
    }
    return std::exchange(seen_, {}).size();
  }

 private:
  store::Store& store_;
  std::map<std::pair<std::string, std::string>, std::size_t> seen_;
};

// KILL7
void check_histories(const std::shared_ptr<store::Store>& store, Upstream& upstream, std::size_t turns) {
  std::vector<bool> is_stored(turns, false);
  store::ListOptions options;
  do {
    const auto page = store->list("default", options);
    ASSERT_TRUE(page);
    for (const store::SessionInfo& info : page->sessions) {
      const auto memory = StoredMemory::open(store, {.session = info.session});
      ASSERT_TRUE(memory) << memory.error().message;
      const auto log = memory->log();
      ASSERT_TRUE(log) << log.error().message;
      EXPECT_TRUE(validate(*log).empty()) << info.session;
      std::set<std::size_t> of_session;
      for (const Message& message : *log) {
        if (message.role() != Role::User) continue;
        const auto turn = turn_in(message.get_text_content().value_or(""));
        ASSERT_TRUE(turn && *turn < turns);
        EXPECT_TRUE(of_session.insert(*turn).second) << info.session << " has turn " << *turn << " twice";
        is_stored[*turn] = true;
      }
    }
    options.after = page->next;
  } while (!options.after.empty());
  for (std::size_t turn = 0; turn < turns; ++turn) {
    EXPECT_TRUE(is_stored[turn] || upstream.asked(turn) == 0) << "turn " << turn;  // KILL2
  }
}

void expect_no_lease(store::Store& store) {
  const auto leases = store.leases({});
  ASSERT_TRUE(leases) << leases.error().message;
  EXPECT_TRUE(leases->empty()) << leases->size() << " leases are left";
}

void kill_servers(const std::string& uri, std::size_t kills) {
  const auto seed = static_cast<unsigned>(std::random_device()());
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Folder folder;
  Upstream upstream(plan);
  Killer killer;
  upstream.on_moment([&](std::size_t, Upstream::Moment moment, std::size_t) {
    using Moment = Upstream::Moment;
    killer.tell(moment == Moment::Asked   ? Killer::Step::Asked
                : moment == Moment::Delta ? Killer::Step::Delta
                                          : Killer::Step::Last);
  });
  const ServedOptions options{.store = uri, .upstream = upstream.base_url(), .home = folder.path()};
  auto opened = store::open_store(uri);
  ASSERT_TRUE(opened);
  const auto store = std::make_shared<store::Store>(*std::move(opened));
  CheckpointWatch watch(*store);
  std::atomic<std::size_t> next_turn = 0;
  const TurnClient::Place place{upstream, plan, next_turn, [&] { killer.tell(Killer::Step::Sending); },
                                [&] { killer.tell(Killer::Step::Ended); }};
  std::vector<TurnClient> clients;
  for (const Shape shape :
       {Shape::Conversation, Shape::Chain, Shape::Chat, Shape::Whole, Shape::Background}) {
    clients.emplace_back(shape, place);
  }
  {
    const Served server(options);
    for (TurnClient& client : clients) client.prepare(server);
  }

  KillTally tally;
  std::size_t checkpoints = 0;
  for (std::size_t i = 0; i <= kills && !::testing::Test::HasFailure(); ++i) {
    Served server(options);
    expect_no_lease(*store);
    for (TurnClient& client : clients) client.check_last(server, *store, tally);
    checkpoints += watch.check();
    if (i == kills || ::testing::Test::HasFailure()) {
      for (const TurnClient& client : clients) client.check_all(server, tally);
      check_histories(store, upstream, next_turn);
      break;
    }
    killer.arm(server.pid(), random);
    std::atomic<bool> is_over = false;
    std::vector<std::jthread> threads;
    for (TurnClient& client : clients) threads.emplace_back([&] { client.run(server); });
    std::jthread watcher([&] {
      for (; !is_over; std::this_thread::sleep_for(milliseconds(5))) watch.look();
    });
    killer.wait_and_strike();
    threads.clear();
    is_over = true;
    server.wait();
  }
  std::cout << kills << " kills (";
  for (const std::size_t count : killer.kills()) std::cout << count << " ";
  std::cout << "when: sent, asked, delta, last delta, end, time), " << tally.turns
            << " requests: " << tally.completed << " whole, " << tally.partial << " in part, " << tally.empty
            << " empty, " << tally.unseen << " whole and unseen, " << tally.replayed << " replayed, "
            << checkpoints << " checkpoints seen, at most " << tally.most_lost << " bytes lost\n";
  EXPECT_GT(tally.completed, 0U);
  EXPECT_GT(checkpoints, 0U);
}

TEST(ServeKills, AtAnyMomentLoseNothingThatWasAcknowledged) {
  Folder folder;
  kill_servers("sqlite:" + folder.path() + "/store.db", store::kill_count(50, 1'000));
}

#ifdef PARLEY_HAS_POSTGRES
TEST(ServeKillsOnPostgres, AtAnyMomentLoseNothingThatWasAcknowledged) {
  const auto server = store::PostgresServer::shared();
  ASSERT_TRUE(server) << server.error().message;
  kill_servers((*server)->uri(), store::kill_count(5, 100));
}
#endif

#ifdef PARLEY_HAS_REDIS
TEST(ServeKillsOnRedis, AtAnyMomentLoseNothingThatWasAcknowledged) {
  const auto server = store::RedisServer::start();
  ASSERT_TRUE(server) << server.error().message;
  kill_servers((*server)->uri(), store::kill_count(5, 100));
}
#endif

}  // namespace
}  // namespace parley::server::testing
