#include "server/engine/history.h"

#include <algorithm>
#include <utility>

#include "parley/token/counter.h"

namespace parley::server {
namespace {

constexpr std::size_t kStep = 256;          // budgets that differ by less are the same
constexpr std::size_t kFewestTokens = 256;  // of a window, whatever the request reserves

std::size_t reserved_tokens(const TokenCounter& counter, const TurnRequest& request,
                            std::size_t output_tokens) {
  Conversation frame;
  frame.set_system(request.system);
  frame.set_tools(request.tools);
  const std::optional<Json> most = request.settings.get(Setting::MaxTokens);
  const std::int64_t output = most ? most->as_int64().value_or(0) : 0;
  const std::size_t answer = output > 0 ? static_cast<std::size_t>(output) : output_tokens;
  return counter.count(frame) + answer;
}

}  // namespace

WindowBudget budget_of(const ModelInfo& model, const TurnRequest& request, std::size_t output_tokens) {
  WindowBudget out;
  out.options.budget = Budget::unlimited();
  out.options.duplicates = Duplicates::Keep;
  out.options.log_limit = {.messages = 0, .bytes = 0};  // the store has the rest
  if (!model.window) return out;
  const TokenCounter counter = TokenCounter::for_model(model.name.view());
  const std::size_t reserved = (reserved_tokens(counter, request, output_tokens) / kStep + 1) * kStep;
  const std::size_t left = *model.window - std::min(*model.window, reserved);
  out.options.budget.tokens = std::max(left, kFewestTokens);
  out.options.token_cost = cost_by(counter);
  out.name = model.name.str() + " " + std::to_string(*out.options.budget.tokens);
  return out;
}

Result<History> empty_history(const WindowBudget& budget) {
  PARLEY_TRY(Memory memory, Memory::create(budget.options));
  return History{.memory = std::move(memory), .budget = budget.name};
}

Result<History> read_history(const std::shared_ptr<store::Store>& store, const store::SessionKey& key,
                             const WindowBudget& budget, std::optional<store::Position> size) {
  PARLEY_TRY(const StoredMemory stored, StoredMemory::open(store, key, budget.options, size));
  History out{.size = stored.size(), .memory = stored.memory(), .budget = budget.name};
  if (out.size == 0) return out;
  PARLEY_TRY(out.last, last_turn(*store, key, out.size));
  out.facts = memory::facts_of(stored);
  return out;
}

std::string map_key(const store::SessionKey& key) { return key.tenant + '\0' + key.session; }

std::optional<History> HistoryCache::take(const store::SessionKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_name_.find(map_key(key));
  if (found == by_name_.end()) return std::nullopt;
  History out = std::move(found->second->history);
  bytes_ -= found->second->bytes;
  entries_.erase(found->second);
  by_name_.erase(found);
  return out;
}

void HistoryCache::put(const store::SessionKey& key, History history) {
  constexpr std::size_t kOverhead = 2048;
  const std::size_t bytes = kOverhead + history.memory.bytes() + history.memory.size() * 128;
  const std::lock_guard lock(mutex_);
  std::string name = map_key(key);
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    bytes_ -= found->second->bytes;
    entries_.erase(found->second);
    by_name_.erase(found);
  }
  entries_.push_front({name, std::move(history), bytes});
  by_name_.emplace(std::move(name), entries_.begin());
  bytes_ += bytes;
  while (!entries_.empty() && (entries_.size() > most_ || bytes_ > most_bytes_)) drop_oldest();
}

void HistoryCache::remove(const store::SessionKey& key) { take(key); }

void HistoryCache::drop_oldest() {
  bytes_ -= entries_.back().bytes;
  by_name_.erase(entries_.back().name);
  entries_.pop_back();
}

}  // namespace parley::server
