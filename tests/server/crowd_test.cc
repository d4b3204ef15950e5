// Many clients on one conversation of `parley serve`: requests queue, those beyond the queue are refused
// before they reach a model, and the conversation is a serial one.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <set>
#include <thread>

#include "../store/kills.h"
#include "parley/json/writer.h"
#include "served.h"
#include "upstream.h"

namespace parley::server::testing {
namespace {

using std::chrono::milliseconds;

Answer instant(std::size_t turn) {
  Answer out;
  out.deltas = {"answer ", "to " + std::to_string(turn)};
  return out;
}

std::string body_of(std::size_t turn, const std::string& conversation) {
  json::Writer w;
  w.begin_object().key("model").string("openai/test").key("conversation").string(conversation);
  w.key("input").string(turn_text(turn)).key("stream").boolean(turn % 2 == 0);
  return w.end_object().take_string();
}

std::string id_in(const Heard& heard, bool is_streamed) {
  if (!is_streamed) return heard.at("/id");
  const std::vector<std::string> events = heard.events();
  if (events.empty() || events.back() != "data: [DONE]") return {};
  return string_at(data_of(events.front()), "/response/id");
}

int seconds_in(const std::string& text) {
  int out = -1;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// All items of a conversation, oldest first: the number of the turn of a request, the text of an answer.
std::vector<std::string> texts_of(const Served& server, const std::string& conversation) {
  std::vector<std::string> out;
  std::string after;
  for (bool has_more = true; has_more;) {
    const Heard page = server.get("/v1/conversations/" + conversation + "/items?order=asc&limit=100" + after);
    EXPECT_EQ(page.status, 200) << page.text;
    for (const Json& item : page.json().get("data").value_or(Json()).elements()) {
      out.push_back(string_at(item, "/content/0/text"));
    }
    has_more = page.at("/has_more") == "true";
    after = "&after=" + page.at("/last_id");
  }
  return out;
}

// How many requests of users the model was shown.
std::size_t requests_in(const std::string& body) {
  std::size_t out = 0;
  for (std::size_t at = body.find("turn#"); at != std::string::npos; at = body.find("turn#", at + 1)) ++out;
  return out;
}

TEST(ServeCrowd, OfOneConversationTakesTurns) {
  constexpr std::size_t kClients = 64;
  const std::size_t turns = store::kill_count(150, 500);
  Folder folder;
  Upstream upstream(instant);
  const Served server({.store = "sqlite:" + folder.path() + "/store.db",
                       .upstream = upstream.base_url(),
                       .home = folder.path()});
  const std::string conversation = server.post("/v1/conversations", "{}").at("/id");
  ASSERT_FALSE(conversation.empty());

  std::atomic<std::size_t> next = 0, refused = 0, queued = 0;
  std::vector<std::string> ids(turns);
  const auto take_turns = [&] {
    for (std::size_t turn = next++; turn < turns; turn = next++) {
      for (;;) {
        const Heard heard = server.post("/v1/responses", body_of(turn, conversation));
        if (heard.status == 409) {
          EXPECT_EQ(heard.at("/error/code"), "conversation_locked");
          const int wait = seconds_in(heard.header("Retry-After"));
          EXPECT_GE(wait, 1);
          ++refused;
          std::this_thread::sleep_for(std::chrono::seconds(std::clamp(wait, 1, 10)));
          continue;
        }
        ASSERT_EQ(heard.status, 200) << heard.text;
        ids[turn] = id_in(heard, turn % 2 == 0);
        const std::string header = heard.header("x-parley-queued-ms");
        if (!header.empty()) {
          EXPECT_GT(seconds_in(header), 0);
          EXPECT_LE(seconds_in(header), 31'000);
          ++queued;
        }
        break;
      }
    }
  };
  {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < kClients; ++i) clients.emplace_back(take_turns);
  }

  EXPECT_GT(refused, 0U) << "the queue was never full";
  EXPECT_GT(queued, 0U) << "no request waited";
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), turns) << "ids are unique";
  EXPECT_EQ(upstream.asked_in_all(), turns) << "no answer is bought twice";
  const std::vector<std::string> texts = texts_of(server, conversation);
  ASSERT_EQ(texts.size(), 2 * turns);
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < turns; ++i) {
    const auto turn = turn_in(texts[2 * i]);
    ASSERT_TRUE(turn) << texts[2 * i];
    EXPECT_TRUE(seen.insert(*turn).second) << "turn " << *turn << " is there twice";
    EXPECT_EQ(texts[2 * i + 1], instant(*turn).text());
    EXPECT_EQ(upstream.asked(*turn), 1U);
    EXPECT_EQ(requests_in(upstream.last_body(*turn)), i + 1) << "the model saw all that was before";
    EXPECT_EQ(server.get("/v1/responses/" + ids[*turn]).at("/status"), "completed");
  }
  std::cout << turns << " turns of " << kClients << " clients: " << queued << " waited, " << refused
            << " refused and sent again\n";
}

}  // namespace
}  // namespace parley::server::testing
