// What a request refers to: earlier turns and items, and sessions.
//
// The calls block. Safe from any thread.
#pragma once

#include <vector>

#include "parley/base/error.h"
#include "parley/server/turn_engine.h"

namespace parley::server {

class ResponsesLookup {
 public:
  ResponsesLookup() = default;
  ResponsesLookup(const ResponsesLookup&) = delete;
  ResponsesLookup& operator=(const ResponsesLookup&) = delete;
  virtual ~ResponsesLookup() = default;

  // All fail with NotFound, or like the store.
  virtual Result<TurnState> turn(const TurnKey& key) = 0;
  virtual Result<std::vector<TurnEngine::Item>> items(const store::SessionKey& session) = 0;
  virtual Result<store::Position> session(const store::SessionKey& session) = 0;  // its size
  virtual std::string default_model() { return {}; }
};

// In the engine and its store.
class EngineLookup : public ResponsesLookup {
 public:
  explicit EngineLookup(TurnEngine& engine) : engine_(engine) {}
  Result<TurnState> turn(const TurnKey& key) override { return engine_.read(key); }
  Result<std::vector<TurnEngine::Item>> items(const store::SessionKey& session) override {
    return engine_.items(session);
  }
  Result<store::Position> session(const store::SessionKey& session) override {
    PARLEY_TRY(const store::SessionInfo info, engine_.store().head(session));
    return info.size;
  }
  std::string default_model() override { return engine_.models().default_model(); }

 private:
  TurnEngine& engine_;
};

}  // namespace parley::server
