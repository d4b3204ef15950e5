// `parley serve` as a process among others: signals, a database that is locked, two servers on one file.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include "parley/json/writer.h"
#include "parley/store/store.h"
#include "served.h"
#include "upstream.h"

namespace parley::server::testing {
namespace {

using std::chrono::milliseconds;

// Turns below 500 end soon, those of 500 take four seconds, those from 1,000 on a minute.
constexpr std::size_t kMedium = 500, kLong = 1'000;

Answer plan(std::size_t turn) {
  Answer out;
  const std::size_t words = turn < kMedium ? 10 : turn < kLong ? 40 : 600;
  for (std::size_t i = 0; i < words; ++i) out.deltas.push_back("w" + std::to_string(i) + " ");
  out.pause = milliseconds(turn < kMedium ? 20 : 100);
  return out;
}

std::string body(std::size_t turn, const std::string& conversation = {}) {
  json::Writer w;
  w.begin_object().key("model").string("openai/test").key("input").string(turn_text(turn));
  if (!conversation.empty()) w.key("conversation").string(conversation);
  return w.key("stream").boolean(true).end_object().take_string();
}

std::string id_of(const Heard& heard) {
  const std::vector<std::string> events = heard.events();
  return events.empty() ? "" : string_at(data_of(events.front()), "/response/id");
}

std::string last_type(const Heard& heard) {
  const std::vector<std::string> events = heard.events();
  return events.size() < 2 ? "" : string_at(data_of(events[events.size() - 2]), "/type");
}

template <typename Condition>
bool eventually(Condition is_true) {
  for (int i = 0; i < 2'000; ++i) {
    if (is_true()) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

class ServeProcess : public ::testing::Test {
 protected:
  ServedOptions options(std::string config = {}) const {
    return {.store = "sqlite:" + path(),
            .upstream = upstream_.base_url(),
            .home = folder_.path(),
            .config = std::move(config)};
  }
  std::string path() const { return folder_.path() + "/store.db"; }

  Folder folder_;
  Upstream upstream_{plan};
};

TEST_F(ServeProcess, StoresAllTurnsWhenItIsTerminated) {
  constexpr std::size_t kTurns = 20;
  std::vector<Heard> heard(kTurns);
  {
    Served server(options("[serve]\ndrain = 3\n"));
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < kTurns; ++i) {
      clients.emplace_back(
          [&, i] { heard[i] = server.post("/v1/responses", body(i % 2 == 0 ? i : kLong + i)); });
    }
    ASSERT_TRUE(eventually([&] { return upstream_.asked_in_all() == kTurns; }));
    server.signal(SIGTERM);
    clients.clear();
    const int status = server.wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << server.log();
  }
  const Served again(options());
  for (std::size_t i = 0; i < kTurns; ++i) {
    SCOPED_TRACE(i);
    const Heard got = again.get("/v1/responses/" + id_of(heard[i]));
    ASSERT_EQ(got.status, 200) << heard[i].text;
    if (i % 2 == 0) {
      EXPECT_EQ(got.at("/status"), "completed");
      EXPECT_EQ(last_type(heard[i]), "response.completed");
    } else {
      EXPECT_EQ(got.at("/status"), "incomplete");
      EXPECT_EQ(last_type(heard[i]), "response.incomplete");
      EXPECT_TRUE(got.at("/output/0/content/0/text").starts_with("w0 w1 ")) << got.text;
    }
    EXPECT_EQ(again.get("/v1/responses/" + id_of(heard[i]) + "?stream=true").events(), heard[i].events());
  }
}

TEST_F(ServeProcess, TakesANewConfigurationAndKeepsItsStreams) {
  const Served server(options("[aliases]\nfirst = \"openai/test\"\n"));
  Heard heard;
  std::jthread client([&] { heard = server.post("/v1/responses", body(1)); });
  ASSERT_TRUE(eventually([&] { return upstream_.asked(1) == 1; }));
  EXPECT_FALSE(server.get("/v1/models").text.contains("second"));
  std::ofstream(folder_.path() + "/parley.toml") << "[aliases]\nsecond = \"openai/test\"\n";
  server.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return server.get("/v1/models").text.contains("second"); }));
  const std::string key =
      "PATH=$PATH " PARLEY_COMMAND " keys create me --store sqlite:" + path() + " >/dev/null";
  ASSERT_EQ(std::system(key.c_str()), 0);
  server.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return server.get("/v1/models").status == 401; }));
  client.join();
  EXPECT_EQ(last_type(heard), "response.completed");
}

TEST_F(ServeProcess, DrainsAsLongAsTheNewConfigurationSays) {
  Served server(options("[serve]\ndrain = 120\n"));
  std::ofstream(folder_.path() + "/parley.toml")
      << "[aliases]\nsecond = \"openai/test\"\n[serve]\ndrain = 1\n";
  server.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return server.get("/v1/models").text.contains("second"); }));
  Heard heard;
  std::jthread client([&] { heard = server.post("/v1/responses", body(kLong)); });
  ASSERT_TRUE(eventually([&] { return upstream_.asked(kLong) == 1; }));
  const auto start = std::chrono::steady_clock::now();
  server.signal(SIGTERM);
  const int status = server.wait();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << server.log();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << "a turn takes a minute";
  client.join();
  EXPECT_EQ(last_type(heard), "response.incomplete");
}

TEST_F(ServeProcess, WaitsForADatabaseThatIsLockedAndServesTheRest) {
  const Served server(options());
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
  Heard heard;
  std::jthread client([&] { heard = server.post("/v1/responses", body(1)); });
  ASSERT_TRUE(eventually([&] { return upstream_.asked(1) == 1; }));
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(server.get("/health").status, 200);
    std::this_thread::sleep_for(milliseconds(100));
  }
  sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  client.join();
  EXPECT_EQ(last_type(heard), "response.completed");
  EXPECT_EQ(server.get("/v1/responses/" + id_of(heard)).at("/status"), "completed");
}

// ---- Two servers on one file

class ServePair : public ServeProcess {
 protected:
  // Begins a turn at the first server, and returns when the store has a part of its answer.
  void begin(std::size_t turn) {
    conversation_ = first_.post("/v1/conversations", "{}").at("/id");
    std::promise<std::string> shown;
    client_ = std::jthread([this, turn, &shown] {
      bool is_shown = false;
      heard_ = first_.send("POST", "/v1/responses", body(turn, conversation_), {}, [&](const Heard& so_far) {
        if (!is_shown && !id_of(so_far).empty()) shown.set_value(id_of(so_far));
        is_shown = is_shown || !id_of(so_far).empty();
        return true;
      });
    });
    id_ = shown.get_future().get();
    auto store = store::open_store("sqlite:" + path());
    ASSERT_TRUE(store);
    ASSERT_TRUE(eventually([&] {
      const auto holder = store->holder({"default", conversation_});
      return holder && *holder && !(*holder)->checkpoint.empty();
    }));
  }
  std::string response() const { return "/v1/responses/" + id_; }

  Served first_{options()};
  Served second_{options()};
  std::string conversation_, id_;
  Heard heard_;
  std::jthread client_;
};

TEST_F(ServePair, FollowATurnOfEachOther) {
  begin(kMedium);
  EXPECT_EQ(second_.get(response()).at("/status"), "in_progress");
  const std::vector<std::string> followed = second_.get(response() + "?stream=true").events();
  client_.join();
  EXPECT_EQ(last_type(heard_), "response.completed");
  EXPECT_EQ(followed, heard_.events());
}

TEST_F(ServePair, WaitForATurnOfEachOther) {
  begin(kMedium);
  const Heard next = second_.post("/v1/responses", body(1, conversation_));
  EXPECT_EQ(last_type(next), "response.completed");
  EXPECT_FALSE(next.header("x-parley-queued-ms").empty());
  EXPECT_TRUE(upstream_.last_body(1).contains("w0 w1 ")) << "it saw the answer before";
  client_.join();
  EXPECT_EQ(last_type(heard_), "response.completed");
}

TEST_F(ServePair, CancelATurnOfEachOther) {
  begin(kLong);
  EXPECT_EQ(second_.send("POST", response() + "/cancel").at("/status"), "cancelled");
  client_.join();
  EXPECT_TRUE(heard_.is_whole);
  EXPECT_TRUE(eventually([&] { return upstream_.is_gone(kLong); }));
  const Heard got = first_.get(response());
  EXPECT_EQ(got.at("/status"), "cancelled");
  EXPECT_TRUE(got.at("/output/0/content/0/text").starts_with("w0 ")) << got.text;
  EXPECT_EQ(second_.get(response()).text, got.text);
}

TEST_F(ServePair, EndATurnOfAServerThatWasKilled) {
  begin(kLong);
  first_.kill();
  client_.join();
  const Heard got = second_.get(response());
  EXPECT_EQ(got.at("/status"), "failed");
  EXPECT_TRUE(got.at("/output/0/content/0/text").starts_with("w0 ")) << got.text;
  EXPECT_EQ(last_type(second_.post("/v1/responses", body(1, conversation_))), "response.completed");
}

}  // namespace
}  // namespace parley::server::testing
