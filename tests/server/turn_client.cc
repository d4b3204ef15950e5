#include "turn_client.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "parley/base/ids.h"
#include "parley/json/writer.h"
#include "server/engine/turn_records.h"

namespace parley::server::testing {
namespace {

constexpr const char* kModel = "openai/test";

bool is_final_status(const std::string& status) {
  const auto known = turn_status_named(status);
  return known && is_final(*known);
}

std::string type_of(const std::string& event) { return string_at(data_of(event), "/type"); }

}  // namespace

std::vector<StoredOutcome> stored_outcomes(store::Store& store, std::size_t turn) {
  constexpr std::size_t kNewest = 64;
  std::vector<StoredOutcome> out;
  const auto list = store.list("default", {.count = kNewest});
  EXPECT_TRUE(list);
  if (!list) return out;
  for (const store::SessionInfo& info : list->sessions) {
    const store::SessionKey session{"default", info.session};
    const auto last = last_turn(store, session, info.size);
    EXPECT_TRUE(last) << last.error().message;
    if (!last || !*last) continue;
    const auto stored = read_turn(store, {session, (*last)->begin.id});
    // A fork whose first request was not stored: the turn is of the session that it comes from.
    if (!stored && stored.error().code == Code::NotFound) continue;
    EXPECT_TRUE(stored) << stored.error().message;
    if (!stored || stored->input.empty()) continue;
    if (turn_in(stored->input.back().get_text_content().value_or("")) != turn) continue;
    const TurnState state = stored->state({session, (*last)->begin.id});
    out.push_back({info.session, state.key.id, std::string(to_string(state.status)),
                   state.answer ? state.answer->get_text_content().value_or("").str() : std::string()});
  }
  return out;
}

void TurnClient::prepare(const Served& server) {
  if (shape_ != Shape::Conversation && shape_ != Shape::Whole) return;
  conversation_ = server.post("/v1/conversations", "{}").at("/id");
  EXPECT_FALSE(conversation_.empty());
}

std::string TurnClient::body_of(std::size_t turn) const {
  json::Writer w;
  w.begin_object().key("model").string(kModel).key("stream").boolean(is_streamed());
  if (is_chat()) {
    w.key("store").boolean(true).key("messages").begin_array().begin_object();
    w.key("role").string("user").key("content").string(turn_text(turn)).end_object().end_array();
    return w.end_object().take_string();
  }
  w.key("input").string(turn_text(turn));
  if (!conversation_.empty()) w.key("conversation").string(conversation_);
  if (!previous_.empty()) w.key("previous_response_id").string(previous_);
  if (shape_ == Shape::Background) w.key("background").boolean(true);
  return w.end_object().take_string();
}

// ---- Taking turns

void TurnClient::run(const Served& server) {
  for (;;) {
    const bool is_retry = is_open_;
    Asked next;
    next.turn = is_retry ? asked_.back().turn : place_.next_turn++;
    next.body = is_retry ? asked_.back().body : body_of(next.turn);
    asked_.push_back(std::move(next));
    is_open_ = true;
    send(server, asked_.back(), is_retry);
    const Asked& asked = asked_.back();
    if (!asked.has_ended) return;
    is_open_ = false;
    if (shape_ == Shape::Chain) previous_ = asked.id;
    if (is_retry && is_stored_whole_) {  // KILL5
      EXPECT_EQ(place_.upstream.asked(asked.turn), upstream_before_) << "turn " << asked.turn;
      ++replayed_;
    }
    is_stored_whole_ = false;
    place_.on_ended();
  }
}

void TurnClient::send(const Served& server, Asked& asked, bool is_retry) {
  Served::Headers headers;
  if (is_retry) headers.push_back({"x-stainless-retry-count", "1"});
  ++sends_[asked.turn];
  place_.on_sending();
  const Heard heard = server.send("POST", path(), asked.body, headers);
  if (heard.is_whole && heard.status != 200) {
    ADD_FAILURE() << "turn " << asked.turn << ": " << heard.status << " " << heard.text;
  }
  take(asked, heard);
  if (shape_ == Shape::Background && !asked.id.empty()) poll(server, asked);
}

void TurnClient::take(Asked& asked, const Heard& heard) const {
  if (!is_streamed()) {
    asked.id = heard.at("/id");
    if (shape_ == Shape::Background) return;
    asked.last = heard.text;
    asked.has_ended = heard.is_whole && heard.status == 200;
    return;
  }
  asked.events = heard.events();
  if (asked.events.empty()) return;
  asked.id = string_at(data_of(asked.events.front()), is_chat() ? "/id" : "/response/id");
  if (asked.events.back() != "data: [DONE]") return;
  if (is_chat()) {
    asked.has_ended = true;
    return;
  }
  const std::string& end = asked.events.at(asked.events.size() - 2);
  EXPECT_EQ(type_of(end), "response.completed") << end;
  asked.last = string_at(data_of(end), "/response");
  asked.has_ended = true;
}

void TurnClient::poll(const Served& server, Asked& asked) const {
  for (;;) {
    const Heard got = server.get(path() + "/" + asked.id);
    if (!got.is_whole) return;
    EXPECT_EQ(got.status, 200) << got.text;
    if (is_final_status(got.at("/status"))) {
      EXPECT_EQ(got.at("/status"), "completed");
      asked.last = got.text;
      asked.has_ended = true;
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// ---- Checks

std::string TurnClient::text_of(const Json& response) const {
  if (is_chat())
    return response.at("/choices/0/message/content").value_or(Json()).as_string().value_or(Text()).str();
  std::string out;
  for (const Json& item : response.get("output").value_or(Json()).elements()) {
    for (const Json& part : item.get("content").value_or(Json()).elements()) out += string_at(part, "/text");
  }
  return out;
}

std::string TurnClient::shown_text(const Asked& asked) const {
  if (!is_streamed()) return asked.has_ended ? text_of(Json::parse(asked.last).value_or(Json())) : "";
  std::string out;
  for (const std::string& event : asked.events) {
    const Json data = data_of(event);
    if (is_chat()) {
      out += data.at("/choices/0/delta/content").value_or(Json()).as_string().value_or(Text()).str();
    } else if (string_at(data, "/type") == "response.output_text.delta") {
      out += string_at(data, "/delta");
    }
  }
  return out;
}

void TurnClient::check_shown(const Asked& asked, const Heard& got, KillTally& tally) const {
  const std::string whole = place_.plan(asked.turn).text();
  const std::string shown = shown_text(asked);
  EXPECT_TRUE(whole.starts_with(asked.kept)) << "turn " << asked.turn;
  EXPECT_TRUE(whole.starts_with(shown)) << "turn " << asked.turn;
  if (asked.status == "completed") {
    EXPECT_EQ(asked.kept, whole) << "turn " << asked.turn;
  } else {
    EXPECT_EQ(asked.status, "failed") << "turn " << asked.turn;
    EXPECT_FALSE(asked.has_ended) << "turn " << asked.turn;
    tally.most_lost = std::max(tally.most_lost, shown.size() - std::min(shown.size(), asked.kept.size()));
  }
  if (asked.has_ended && !is_chat()) {
    EXPECT_EQ(got.text, asked.last) << "turn " << asked.turn;
  }
}

void TurnClient::check_last(const Served& server, store::Store& store, KillTally& tally) {
  if (asked_.empty()) return;
  Asked& asked = asked_.back();
  const std::vector<StoredOutcome> stored = stored_outcomes(store, asked.turn);
  upstream_before_ = place_.upstream.asked(asked.turn);
  EXPECT_LE(upstream_before_, sends_[asked.turn]) << "turn " << asked.turn;  // KILL2
  EXPECT_TRUE(upstream_before_ == 0 || !stored.empty()) << "turn " << asked.turn;
  for (const StoredOutcome& each : stored) {
    EXPECT_NE(each.status, "in_progress") << "turn " << asked.turn;  // KILL3
    if (each.status != "completed") continue;
    is_stored_whole_ = true;
    EXPECT_EQ(each.text, place_.plan(asked.turn).text()) << "turn " << asked.turn;
  }
  if (is_open_ && is_stored_whole_) ++tally.unseen;
  if (asked.id.empty()) return;
  const Heard got = server.get(path() + "/" + asked.id);
  EXPECT_EQ(got.status, 200) << asked.id << ": " << got.text;  // KILL1
  asked.kept = text_of(got.json());
  asked.status = got.at("/status");
  for (const StoredOutcome& each : stored) {
    if (is_chat() && asked.id.ends_with(each.id)) asked.status = each.status;
  }
  check_shown(asked, got, tally);
}

// The events that a client was shown are those that any later one gets, up to where the stored text ends.
void TurnClient::check_replay(const Served& server, const Asked& asked) const {
  const std::string stream = path() + "/" + asked.id + "?stream=true";
  const std::vector<std::string> all = server.get(stream).events();
  ASSERT_GT(all.size(), 2U) << asked.id;
  if (asked.has_ended) {
    EXPECT_EQ(all, asked.events) << "turn " << asked.turn;
  }
  for (std::size_t i = 0; i < std::min(all.size(), asked.events.size()); ++i) {
    if (all[i] == asked.events[i]) continue;
    EXPECT_NE(asked.status, "completed") << "turn " << asked.turn << "\n"
                                         << all[i] << "\n"
                                         << asked.events[i];
    EXPECT_NE(type_of(all[i]), "response.output_text.delta") << "turn " << asked.turn;
    break;
  }
  const std::size_t after = random_uuid()[1] % (all.size() - 1);
  const std::vector<std::string> rest =
      server.get(stream + "&starting_after=" + std::to_string(after)).events();
  const std::vector<std::string> expected(all.begin() + static_cast<std::ptrdiff_t>(after) + 1, all.end());
  EXPECT_EQ(rest, expected) << "turn " << asked.turn << " after " << after;  // KILL6
}

void TurnClient::check_all(const Served& server, KillTally& tally) const {
  tally.replayed += replayed_;
  for (const Asked& asked : asked_) {
    ++tally.turns;
    if (asked.id.empty()) continue;
    const Heard got = server.get(path() + "/" + asked.id);
    EXPECT_EQ(got.status, 200) << asked.id;  // KILL1
    const std::string text = text_of(got.json());
    const bool was_checked = !asked.status.empty();
    if (was_checked) {
      EXPECT_EQ(text, asked.kept) << "turn " << asked.turn;  // KILL3
      if (!is_chat()) {
        EXPECT_EQ(got.at("/status"), asked.status) << "turn " << asked.turn;
      }
    } else {
      EXPECT_EQ(text, place_.plan(asked.turn).text()) << "turn " << asked.turn;
    }
    const bool is_completed = !was_checked || asked.status == "completed";
    ++(is_completed ? tally.completed : text.empty() ? tally.empty : tally.partial);
    if (is_streamed() && !is_chat()) check_replay(server, asked);
  }
}

}  // namespace parley::server::testing
