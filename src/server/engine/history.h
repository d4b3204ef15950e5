// The history of a session as the next turn needs it, and a cache of those: a turn costs what is new, not
// what the session holds.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "memory/session_facts.h"
#include "parley/memory/stored_memory.h"
#include "parley/model/model.h"
#include "parley/server/turn.h"
#include "server/engine/turn_records.h"

namespace parley::server {

// A value; one thread at a time.
struct History {
  store::Position size = 0;  // records of the session
  Memory memory;             // its window is what a model sees
  std::string budget = {};   // what the window was made for: budget_of()
  std::optional<LastTurn> last = {};
  memory::SessionFacts facts = {};
};

// The part of the model's window that messages may fill, as text: "gpt-4o 120000", or "" for no limit. Room
// is left for the answer, the tools and the system part of the request.
struct WindowBudget {
  std::string name = {};
  MemoryOptions options = {};
};
WindowBudget budget_of(const ModelInfo& model, const TurnRequest& request, std::size_t output_tokens);

Result<History> empty_history(const WindowBudget& budget);

// Reads a session, or its first `size` records. A session that does not exist is empty.
Result<History> read_history(const std::shared_ptr<store::Store>& store, const store::SessionKey& key,
                             const WindowBudget& budget, std::optional<store::Position> size = {});

// The newest histories, by session. Safe from any thread.
class HistoryCache {
 public:
  HistoryCache(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  std::optional<History> take(const store::SessionKey& key);  // and removes it
  void put(const store::SessionKey& key, History history);
  void remove(const store::SessionKey& key);

 private:
  struct Entry {
    std::string name;
    History history;
    std::size_t bytes;
  };
  void drop_oldest();

  const std::size_t most_, most_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // newest first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_name_;
  std::size_t bytes_ = 0;
};

// Tenant and session as one key of a map.
std::string map_key(const store::SessionKey& key);

}  // namespace parley::server
