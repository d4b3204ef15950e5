// Turns: the contenders of a row of the table take several, one after the other, so that a busy machine is
// busy for all. The best of each counts.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "store/contender.h"
#include "store/task.h"

namespace bench::store_task {

struct Turn {
  double per_second, p99_us;
};

using NamedTurn = std::pair<std::string, std::function<Turn()>>;
void take_turns(std::vector<Measured>& all, const std::string& what, int turns,
                const std::vector<NamedTurn>& contenders);

// `each` appends by every one of `threads`, to sessions of its own from `session` on. `number` goes on.
struct Appends {
  std::size_t threads = 1, each = 100, session = 1000;
};
Turn append_turn(Contender& contender, const Appends& appends, std::size_t& number);

// A message written to the end of a file and synced, which no durable store can undercut.
Turn sync_turn(const std::string& path);

// A session of at least `bytes`, read whole.
Turn load_turn(Contender& contender, std::size_t session, std::size_t bytes);

}  // namespace bench::store_task
