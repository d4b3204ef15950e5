// A client of `parley serve` that takes turns in one shape of OpenAI's APIs, remembers what it was shown, and
// checks that against servers that were started after the first was killed (KILL1..KILL7 in kill_test.cc).
//
// One thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "parley/store/store.h"
#include "served.h"
#include "upstream.h"

namespace parley::server::testing {

enum class Shape : std::uint8_t {
  Conversation,  // Responses, streamed, in a conversation
  Chain,         // Responses, streamed, each after the response before
  Chat,          // Chat Completions, streamed and stored
  Whole,         // Responses in a conversation, not streamed
  Background,    // Responses in the background, polled
};

// One request as a client sent it, and everything that it was shown.
struct Asked {
  std::size_t turn = 0;
  std::string body = {};
  std::string id = {};                   // empty: none was shown
  std::vector<std::string> events = {};  // of a stream
  std::string last = {};                 // the response as its end showed it
  bool has_ended = false;                // that end was shown
  // As a server said after a kill:
  std::string status = {};
  std::string kept = {};  // the text
};

struct KillTally {
  std::size_t turns = 0;      // requests that were sent, retries too
  std::size_t completed = 0;  // whose answer is stored whole
  std::size_t partial = 0;    // abandoned, with a part of the answer
  std::size_t empty = 0;      // abandoned before the first checkpoint
  std::size_t unseen = 0;     // stored whole, but the client did not see the end
  std::size_t replayed = 0;   // those, when they were asked again
  std::size_t most_lost = 0;  // bytes that a client was shown of an abandoned turn, and are not stored
};

class TurnClient {
 public:
  struct Place {
    Upstream& upstream;
    std::function<Answer(std::size_t turn)> plan;
    std::atomic<std::size_t>& next_turn;
    std::function<void()> on_sending, on_ended;  // of a request
  };
  TurnClient(Shape shape, Place place) : shape_(shape), place_(std::move(place)) {}

  void prepare(const Served& server);  // before the first turn
  // Takes turns until the server is gone. A request whose end was not shown is sent again first, marked as a
  // retry.
  void run(const Served& server);
  // After a kill: the last request, as the server and the store have it.
  void check_last(const Served& server, store::Store& store, KillTally& tally);
  // At the end: all requests.
  void check_all(const Served& server, KillTally& tally) const;

  const std::vector<Asked>& asked() const { return asked_; }
  const std::string& conversation() const { return conversation_; }

 private:
  bool is_streamed() const { return shape_ <= Shape::Chat; }
  bool is_chat() const { return shape_ == Shape::Chat; }
  std::string path() const { return is_chat() ? "/v1/chat/completions" : "/v1/responses"; }
  std::string body_of(std::size_t turn) const;
  void send(const Served& server, Asked& asked, bool is_retry);
  void take(Asked& asked, const Heard& heard) const;
  void poll(const Served& server, Asked& asked) const;
  std::string text_of(const Json& response) const;
  std::string shown_text(const Asked& asked) const;
  void check_shown(const Asked& asked, const Heard& got, KillTally& tally) const;
  void check_replay(const Served& server, const Asked& asked) const;

  const Shape shape_;
  const Place place_;
  std::string conversation_, previous_;
  std::vector<Asked> asked_;
  std::map<std::size_t, std::size_t> sends_;  // by turn
  bool is_open_ = false;                      // the end of the last request was not shown
  // Of the last request, when it was checked:
  bool is_stored_whole_ = false;
  std::size_t upstream_before_ = 0;
  std::size_t replayed_ = 0;
};

// The turns with this number that are stored, as their states.
struct StoredOutcome {
  std::string session, id, status, text;
};
std::vector<StoredOutcome> stored_outcomes(store::Store& store, std::size_t turn);

}  // namespace parley::server::testing
