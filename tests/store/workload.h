// Many workers on few sessions: each appends, delivers some batches twice, reads and resolves, and tells
// every operation as lines of a history (history.h).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "parley/store/store.h"

namespace parley::store {

struct Workload {
  std::string tenant = "default";
  std::size_t workers = 1;
  std::size_t steps = 1;  // of each worker; a step is a batch, and every fifth is delivered twice
  std::size_t sessions = 4;
};

// Appends that the workers of a workload make, repeats and all.
std::size_t appends_of(const Workload& workload);

// The batch with this id, always the same: one to three messages that name it, the last two a call and its
// result.
Batch batch_named(const std::string& id);

// Called with one or more whole lines.
using LineSink = std::function<void(std::string_view lines)>;

// Does what worker `index` does. Its name in the history is "w<index>".
void run_worker(Store& store, const Workload& workload, std::size_t index, const LineSink& sink);

// Reads every session whole, at the end.
void run_last_reader(Store& store, const Workload& workload, const LineSink& sink);

}  // namespace parley::store
