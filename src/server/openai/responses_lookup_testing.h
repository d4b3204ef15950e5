// Turns and sessions that a test made up, for what a request refers to.
//
// One thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/openai/responses_lookup.h"

namespace parley::server {

class KnownTurns : public ResponsesLookup {
 public:
  // A turn of the tenant "default" that ended.
  TurnState& add_turn(const std::string& session, const std::string& id, std::vector<Message> input,
                      Message answer) {
    std::vector<TurnEngine::Item>& items = sessions_[session];
    std::size_t index = 0;
    for (const Message& message : input) {
      const Message named = message.id() && message.id()->view().find('_') != std::string_view::npos
                                ? message
                                : MessageBuilder::like(message)
                                      .id(Text("msg_" + id + ".i" + std::to_string(index)))
                                      .build()
                                      .value();
      items.push_back({named, items.size(), id, false, index++});
    }
    items.push_back({answer, items.size(), id, true, 0});
    TurnState& state = turns_[session + "/" + id];
    state.key = {{"default", session}, id};
    state.status = TurnStatus::Completed;
    state.input = std::move(input);
    state.answer = std::move(answer);
    state.end = items.size();
    return state;
  }
  void add_session(const std::string& session) { sessions_[session]; }

  Result<TurnState> turn(const TurnKey& key) override {
    if (failure) return std::unexpected(*failure);
    const auto found = turns_.find(key.session.session + "/" + key.id);
    if (found == turns_.end() || key.session.tenant != "default") return fail(Code::NotFound, "no such turn");
    return found->second;
  }
  Result<std::vector<TurnEngine::Item>> items(const store::SessionKey& session) override {
    if (failure) return std::unexpected(*failure);
    const auto found = sessions_.find(session.session);
    if (found == sessions_.end() || session.tenant != "default")
      return fail(Code::NotFound, "no such session");
    return found->second;
  }
  Result<store::Position> session(const store::SessionKey& session) override {
    PARLEY_TRY(const std::vector<TurnEngine::Item> found, items(session));
    return found.size();
  }

  std::optional<Error> failure = {};  // of every call

 private:
  std::map<std::string, TurnState> turns_;
  std::map<std::string, std::vector<TurnEngine::Item>> sessions_;
};

}  // namespace parley::server
