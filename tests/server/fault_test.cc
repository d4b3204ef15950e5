// Faults around `parley serve`: models that break, refuse or stay silent, clients that leave or do not read.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "net/raw_client_testing.h"
#include "parley/json/writer.h"
#include "served.h"
#include "upstream.h"

namespace parley::server::testing {
namespace {

using std::chrono::milliseconds;

// What each turn meets, by its number.
enum Turn : std::size_t { Fine, Cut, Refused, Limited, LimitedOnce, Silent, SilentToo, Slow, Large };

constexpr std::size_t kLargeDeltas = 3'000, kLargeBytes = 16'000;

class ServeFaults : public ::testing::Test {
 protected:
  Answer answer(std::size_t turn) {
    Answer out;
    for (int i = 0; i < 10; ++i) out.deltas.push_back("word" + std::to_string(i) + " ");
    switch (turn) {
      case Cut:
        out.cut_after = 5;
        break;
      case Refused:
        out.status = 500;
        break;
      case Limited:
        out.status = 429;
        break;
      case LimitedOnce:
        out.status = was_limited_.exchange(true) ? 200 : 429;
        break;
      case Silent:
      case SilentToo:
        out.is_silent = true;
        break;
      case Slow:
        out.pause = milliseconds(100);
        break;
      case Large:
        out.deltas.assign(kLargeDeltas, std::string(kLargeBytes, 'x'));
        break;
      default:
        break;
    }
    return out;
  }

  std::string body(std::size_t turn, bool is_streamed = true) const {
    json::Writer w;
    w.begin_object().key("model").string("openai/test").key("conversation").string(conversation_);
    w.key("input").string(turn_text(turn)).key("stream").boolean(is_streamed);
    return w.end_object().take_string();
  }
  Heard ask(std::size_t turn, bool is_streamed = true) {
    return server_.post("/v1/responses", body(turn, is_streamed));
  }
  // A client that has sent a request and reads nothing.
  std::unique_ptr<net::RawClient> client(std::size_t turn, const std::string& disconnect) {
    const std::string request = body(turn);
    auto out = std::make_unique<net::RawClient>(server_.port());
    out->say("POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
             ("Connection: close\r\nx-parley-disconnect: " + disconnect) +
             "\r\nContent-Length: " + std::to_string(request.size()) + "\r\n\r\n" + request);
    return out;
  }
  // Asks, leaves when the model was asked, and returns the id of the response.
  std::string ask_and_leave(std::size_t turn, const std::string& disconnect) {
    const auto leaving = client(turn, disconnect);
    leaving->hear("\"id\":\"");
    std::string id = leaving->hear("\"");
    id.pop_back();
    for (int i = 0; i < 1'000 && upstream_.asked(turn) == 0; ++i)
      std::this_thread::sleep_for(milliseconds(10));
    return id;
  }
  // The status of a response when it is final; "" after ten seconds.
  std::string final_status(const std::string& id) {
    for (int i = 0; i < 1'000; ++i) {
      const std::string status = server_.get("/v1/responses/" + id).at("/status");
      if (status != "in_progress" && status != "queued") return status;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return {};
  }
  bool is_soon_gone(std::size_t turn) {
    for (int i = 0; i < 1'000 && !upstream_.is_gone(turn); ++i) std::this_thread::sleep_for(milliseconds(10));
    return upstream_.is_gone(turn);
  }

  std::atomic<bool> was_limited_ = false;
  Folder folder_;
  Upstream upstream_{[this](std::size_t turn) { return answer(turn); }};
  Served server_{{.store = "sqlite:" + folder_.path() + "/store.db",
                  .upstream = upstream_.base_url(),
                  .home = folder_.path()}};
  std::string conversation_ = server_.post("/v1/conversations", "{}").at("/id");
};

TEST_F(ServeFaults, AnAnswerThatIsCutIsKeptAndNotShownToTheModelAgain) {
  const std::vector<std::string> events = ask(Cut).events();
  ASSERT_GT(events.size(), 2U);
  EXPECT_EQ(events.back(), "data: [DONE]");
  const Json end = data_of(events.at(events.size() - 2));
  EXPECT_EQ(string_at(end, "/type"), "response.failed");
  const Heard got = server_.get("/v1/responses/" + string_at(end, "/response/id"));
  EXPECT_EQ(got.at("/status"), "failed");
  EXPECT_EQ(got.at("/output/0/content/0/text"), "word0 word1 word2 word3 word4 ");
  EXPECT_EQ(upstream_.asked(Cut), 1U) << "what was delivered in part is not bought again";
  EXPECT_EQ(ask(Fine).status, 200);
  EXPECT_TRUE(upstream_.last_body(Fine).contains(turn_text(Cut)));
  EXPECT_FALSE(upstream_.last_body(Fine).contains("word0"));
}

TEST_F(ServeFaults, AModelThatRefusesIsAnErrorAndTheRequestStays) {
  const Heard refused = ask(Refused, false);
  EXPECT_EQ(refused.status, 502) << refused.text;
  const Heard limited = ask(Limited, false);
  EXPECT_EQ(limited.status, 429) << limited.text;
  EXPECT_FALSE(limited.header("Retry-After").empty());
  EXPECT_EQ(ask(LimitedOnce, false).status, 200);
  EXPECT_EQ(upstream_.asked(LimitedOnce), 2U);
  const std::string body = upstream_.last_body(LimitedOnce);
  EXPECT_TRUE(body.contains(turn_text(Refused)) && body.contains(turn_text(Limited))) << body;
}

TEST_F(ServeFaults, AClientThatLeavesStopsASilentModelByItsRule) {
  const std::string id = ask_and_leave(Silent, "cancel");
  ASSERT_FALSE(id.empty());
  EXPECT_TRUE(is_soon_gone(Silent));
  EXPECT_EQ(final_status(id), "incomplete");
  EXPECT_EQ(server_.get("/v1/responses/" + id).at("/incomplete_details/reason"), "client_disconnected");

  const std::string later = ask_and_leave(SilentToo, "grace:1s");
  ASSERT_FALSE(later.empty());
  EXPECT_TRUE(is_soon_gone(SilentToo));
  EXPECT_EQ(final_status(later), "incomplete");

  const std::string continued = ask_and_leave(Slow, "continue");
  ASSERT_FALSE(continued.empty());
  EXPECT_EQ(final_status(continued), "completed");
}

TEST_F(ServeFaults, AClientThatComesBackGetsTheSameEvents) {
  std::vector<std::string> seen;
  const Heard first = server_.send("POST", "/v1/responses", body(Slow), {},
                                   [](const Heard& so_far) { return so_far.events().size() < 6; });
  seen = first.events();
  ASSERT_GE(seen.size(), 6U);
  const std::string path =
      "/v1/responses/" + string_at(data_of(seen.front()), "/response/id") + "?stream=true";
  // Back while the turn runs, after the last event that it has.
  const std::vector<std::string> rest =
      server_.get(path + "&starting_after=" + std::to_string(seen.size() - 1)).events();
  seen.insert(seen.end(), rest.begin(), rest.end());
  EXPECT_EQ(seen, server_.get(path).events());
  EXPECT_EQ(string_at(data_of(seen.at(seen.size() - 2)), "/type"), "response.completed");
  EXPECT_EQ(upstream_.asked(Slow), 1U);
}

TEST_F(ServeFaults, AClientThatDoesNotReadMakesTheModelWait) {  // TURN12
  EXPECT_EQ(ask(Fine).status, 200);
  std::atomic<std::size_t> sent = 0;
  upstream_.on_moment([&](std::size_t, Upstream::Moment moment, std::size_t) {
    if (moment == Upstream::Moment::Delta) sent += kLargeBytes;
  });
  const std::size_t before = server_.resident_bytes();
  const auto slow = client(Large, "grace:20s");
  std::size_t most = 0;
  for (int i = 0; i < 200; ++i) {
    most = std::max(most, server_.resident_bytes());
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(upstream_.asked(Large), 1U);
  // What was sent is in the buffers of the two connections, which the system sizes, and in the answer.
  EXPECT_GT(sent, 0U);
  EXPECT_LT(sent, kLargeDeltas * kLargeBytes / 2) << "the model does not wait";
  EXPECT_LT(most - before, std::size_t{4} * sent + (std::size_t{16} << 20)) << "after " << sent << " bytes";
  const std::string heard = slow->hear();  // now it reads
  EXPECT_TRUE(heard.contains("response.completed")) << heard.size();
  EXPECT_GT(heard.size(), kLargeDeltas * kLargeBytes);
  upstream_.on_moment({});
}

}  // namespace
}  // namespace parley::server::testing
