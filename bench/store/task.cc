#include "store/task.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "store/contender.h"
#include "store/postgres_server.h"
#include "store/redis_server.h"
#include "store/turns.h"

namespace bench::store_task {
namespace {

constexpr const char* kParley = "Parley";
constexpr const char* kSqlite = "bare SQLite";
constexpr const char* kLibpq = "bare libpq";
constexpr const char* kHiredis = "bare hiredis";
constexpr const char* kFile = "a file and fdatasync";
constexpr int kTurns = 25;  // short ones: some fall into a moment in which a busy machine is quiet
constexpr std::size_t kConnections = 8;
constexpr std::size_t kLoaded = 1000;  // messages
constexpr std::size_t kLoadedSession = 7;
// Where an fdatasync is shorter than this, there is nothing for a group commit to save.
constexpr double kRealSyncUs = 50;

struct Size {
  std::size_t messages;
  const char* name;
};
constexpr std::array<Size, 4> kSizes = {
    {{1'000, "1k"}, {10'000, "10k"}, {100'000, "100k"}, {1'000'000, "1M"}}};

std::string append_to(const char* store, const Size& size) {
  return std::string(store) + ", append to a session of " + size.name;
}

std::string append_by(std::size_t connections) {
  return ", append, " + std::to_string(connections) + (connections == 1 ? " connection" : " connections");
}

// Appends to sessions that have more and more messages.
void measure_sizes(std::vector<Measured>& all, const char* store, ParleyContender& ours) {
  std::array<std::size_t, kSizes.size()> numbers{};
  std::vector<Measured> rows;
  std::vector<NamedTurn> turns;
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    ours.fill(i, kSizes[i].messages);
    turns.emplace_back(kSizes[i].name, [&ours, &numbers, i] {
      return append_turn(ours, {.threads = 1, .each = 50, .session = i}, numbers[i]);
    });
  }
  take_turns(rows, "", kTurns, turns);
  for (std::size_t i = 0; i < kSizes.size(); ++i) {
    all.push_back({append_to(store, kSizes[i]), kParley, rows[i].per_second, rows[i].p99_us});
  }
}

void measure_sqlite(std::vector<Measured>& all) {
  std::string folder = std::filesystem::temp_directory_path() / "parley-bench-XXXXXX";
  check(::mkdtemp(folder.data()) != nullptr, "making a folder");
  auto ours = parley("sqlite:" + folder + "/ours.db");
  auto bare = bare_sqlite(folder + "/bare.db");
  std::size_t ours_number = 0;
  std::size_t bare_number = 0;
  take_turns(all, "SQLite, append, 1 thread", kTurns,
             {{kParley, [&] { return append_turn(*ours, {}, ours_number); }},
              {kSqlite, [&] { return append_turn(*bare, {}, bare_number); }},
              {kFile, [&] { return sync_turn(folder + "/file"); }}});
  for (const std::size_t threads : {16, 64}) {
    const Appends appends{.threads = threads, .each = 20, .session = threads * 1000};
    take_turns(all, "SQLite, append, " + std::to_string(threads) + " threads", kTurns,
               {{kParley, [&] { return append_turn(*ours, appends, ours_number); }}});
  }
  for (std::size_t i = 0; i < kLoaded; ++i) {
    ours->append(kLoadedSession, i);
    bare->append(kLoadedSession, i);
  }
  const std::size_t bytes = kLoaded * kMessageBytes;
  take_turns(all, "SQLite, load 1,000 messages", 5 * kTurns,
             {{kParley, [&] { return load_turn(*ours, kLoadedSession, bytes); }},
              {kSqlite, [&] { return load_turn(*bare, kLoadedSession, bytes); }}});
  measure_sizes(all, "SQLite", *ours);
  ours.reset();
  bare.reset();
  std::filesystem::remove_all(folder);
}

void measure_server(std::vector<Measured>& all, const std::string& what, Contender& ours, Contender& bare,
                    const char* bare_name) {
  std::size_t ours_number = 0;
  std::size_t bare_number = 0;
  for (const std::size_t threads : {std::size_t{1}, kConnections}) {
    const Appends appends{.threads = threads, .each = threads == 1 ? 200U : 60U, .session = threads * 1000};
    take_turns(all, what + append_by(threads), kTurns,
               {{kParley, [&] { return append_turn(ours, appends, ours_number); }},
                {bare_name, [&] { return append_turn(bare, appends, bare_number); }}});
    bare_number = 0;  // its sessions begin with 0
  }
}

void measure_postgres(std::vector<Measured>& all) {
  const auto server = ::parley::store::PostgresServer::start();
  check(server.has_value(), "starting PostgreSQL");
  const auto ours = parley((*server)->uri());
  ours->append(0, 0);  // makes the tables
  const auto bare = bare_libpq((*server)->uri(), kConnections);
  measure_server(all, "PostgreSQL", *ours, *bare, kLibpq);
  measure_sizes(all, "PostgreSQL", *ours);
}

void measure_redis(std::vector<Measured>& all, const std::string& what, std::vector<std::string> settings) {
  const auto server = ::parley::store::RedisServer::start(std::move(settings));
  check(server.has_value(), "starting Redis");
  const auto ours = parley((*server)->uri());
  const auto bare = bare_hiredis((*server)->socket(), kConnections);
  measure_server(all, what, *ours, *bare, kHiredis);
  measure_sizes(all, what.c_str(), *ours);
}

// What was not measured has no goal.
class Goals {
 public:
  explicit Goals(const std::vector<Measured>& all) : all_(all) {}

  void beside(const std::string& what, const char* bare, double wanted) {
    const Measured* ours = find(all_, what, kParley);
    const Measured* theirs = find(all_, what, bare);
    if (ours == nullptr || theirs == nullptr) return;
    out.push_back(at_least(what + ", x " + bare, wanted, ours->per_second / theirs->per_second));
  }
  void together(const std::string& one, const std::string& threads, double wanted) {
    const Measured* alone = find(all_, one, kParley);
    const Measured* sync = find(all_, one, kFile);
    const Measured* many = find(all_, "SQLite, append, " + threads + " threads", kParley);
    if (alone == nullptr || sync == nullptr || many == nullptr) return;
    const double sync_us = 1e6 / sync->per_second;
    if (sync_us < kRealSyncUs) return;
    out.push_back(at_least(many->what + ", x one thread", wanted, many->per_second / alone->per_second));
    out.push_back(
        at_most(many->what + ", p99, fdatasyncs of " + number(sync_us) + " us", 20, many->p99_us / sync_us));
  }
  void flat(const char* store) {
    double least = 1e12;
    double most = 0;
    for (const Size& size : kSizes) {
      const Measured* row = find(all_, append_to(store, size), kParley);
      if (row == nullptr) return;
      least = std::min(least, row->per_second);
      most = std::max(most, row->per_second);
    }
    out.push_back(
        at_most(std::string(store) + ", append to 1k to 1M messages, slowest over fastest", 2, most / least));
  }

  std::vector<Goal> out;

 private:
  const std::vector<Measured>& all_;
};

}  // namespace

void check(bool good, const char* who) {
  if (good) return;
  std::fprintf(stderr, "%s failed\n", who);
  std::exit(1);
}

std::string body_of(std::size_t number) {
  std::string out = R"({"role":"user","content":")" + std::to_string(number) + " ";
  while (out.size() < kMessageBytes - 2) out += "what was said ";
  out.resize(kMessageBytes - 2);
  return out + "\"}";
}

std::string text_of(const std::string& body) { return body.substr(32, 1500); }

std::vector<Measured> measure(std::string_view task) {
  const auto is_wanted = [&](std::string_view name) { return name.find(task) != std::string_view::npos; };
  std::vector<Measured> all;
  if (is_wanted("store sqlite")) measure_sqlite(all);
  if (is_wanted("store postgres")) measure_postgres(all);
  if (is_wanted("store redis")) {
    measure_redis(all, "Redis, synced", {});
    measure_redis(all, "Redis, in memory", {"--appendonly", "no"});
  }
  return all;
}

std::string to_markdown(const std::vector<Measured>& all) {
  std::string out = "| what | contender | a second, best | p99 us, best |\n|---|---|---|---|\n";
  for (const Measured& row : all) {
    std::array<char, 256> line{};
    std::snprintf(line.data(), line.size(), "| %s | %s | %.0f | %.0f |\n", row.what.c_str(),
                  row.contender.c_str(), row.per_second, row.p99_us);
    out += line.data();
  }
  return out;
}

std::vector<Goal> goals(const std::vector<Measured>& all) {
  Goals goals(all);
  const std::string one = "SQLite, append, 1 thread";
  goals.beside(one, kSqlite, 0.8);
  goals.together(one, "16", 3);
  goals.together(one, "64", 7);
  goals.beside("SQLite, load 1,000 messages", kSqlite, 0.5);
  for (const std::size_t count : {std::size_t{1}, kConnections}) {
    const std::string append = append_by(count);
    goals.beside("PostgreSQL" + append, kLibpq, 0.8);
    goals.beside("Redis, synced" + append, kHiredis, 0.8);
    goals.beside("Redis, in memory" + append, kHiredis, 0.8);
  }
  for (const char* store : {"SQLite", "PostgreSQL", "Redis, synced", "Redis, in memory"}) goals.flat(store);
  return std::move(goals.out);
}

}  // namespace bench::store_task
