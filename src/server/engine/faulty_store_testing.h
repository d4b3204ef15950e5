// For tests: a store that fails, loses acknowledgements or waits, as a test says.
//
// Safe from any thread.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "parley/store/store.h"

namespace parley::server::testing {

enum class StoreCall : std::uint8_t { Append, Resolve, Read, Head, Fork, List, Lease, Checkpoint, Holder };

// What goes wrong with the calls of all stores that are made with it.
class StoreFaults {
 public:
  void fail(StoreCall call);  // with Unavailable, until heal()
  void heal();
  // The next append is committed, and fails with Unresolved; with `and_fail` later ones fail until heal().
  void lose_next_acknowledgement(bool and_fail = false);
  // Calls wait until release().
  void hold(StoreCall call);
  void release();
  // Waits until a call is held. False after ten seconds.
  bool wait_held();
  std::size_t count(StoreCall call);  // of calls so far

  // For the store: whether the call fails. Waits if it is held.
  bool enters(StoreCall call);
  bool takes_acknowledgement();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<StoreCall> failing_, held_;
  std::map<StoreCall, std::size_t> counts_;
  std::size_t waiting_ = 0;
  bool loses_ = false, fails_then_ = false;
};

// A store in memory with these faults.
std::shared_ptr<store::Store> faulty_store(std::shared_ptr<StoreFaults> faults,
                                           store::StoreOptions options = {});

}  // namespace parley::server::testing
