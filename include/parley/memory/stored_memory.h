// A StoredMemory is a Memory whose log is a session of a store: after a restart its window, marks, pins and
// summary are the same.
//
// Messages that left the window are in the store only: log() of memory() has the messages of the window,
// covered() and uncovered() are empty, and StoredMemory::log() reads all messages from the store.
//
// Invariants (quoted by tests as STORED1..STORED5):
//   STORED1  An edit is stored and then applied, or neither: if the store refuses it, the memory is
//            unchanged.
//   STORED2  Opening the session again with the same options gives an equal memory, without its calibration.
//   STORED3  Stored records are never changed or removed: eviction, removal, compression and clear() append
//            records (P8).
//   STORED4  If another process has appended to the session, an edit fails with Conflict and changes nothing;
//            open() reads the new records.
//   STORED5  An edit costs what it changes, not what the session holds.
//
// One thread at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parley/memory/memory.h"
#include "parley/store/store.h"

namespace parley {

class StoredMemory;

namespace memory {
class HeldLease;      // src/memory/lease.h
struct SessionFacts;  // src/memory/session_facts.h
const SessionFacts& facts_of(const StoredMemory& memory);
}  // namespace memory

class StoredMemory {
 public:
  // Reads the session. If it does not exist, the first edit creates it. With `size` it reads the session as
  // it was when it had this many records; edits of an older state fail with Conflict (STORED4). Fails like
  // Store::read(), and with BrokenHistory if the stored messages are not a valid history.
  static Result<StoredMemory> open(std::shared_ptr<store::Store> store, store::SessionKey key,
                                   MemoryOptions options = {}, std::optional<store::Position> size = {});

  // The current state, read-only. A copy of it is not stored.
  const Memory& memory() const { return memory_; }
  const store::SessionKey& key() const { return key_; }
  const std::shared_ptr<store::Store>& store() const { return store_; }
  store::Position size() const { return size_; }  // records in the session

  // All messages since the last clear, removed ones included, read from the store page by page. Fails like
  // Store::read().
  Result<void> each(const std::function<void(const Message& message)>& visit) const;
  Result<std::vector<Message>> log() const;

  // Applies any change to the memory and stores it. All functions below are edits.
  using Edit = std::function<Result<Change>(Memory& memory)>;
  Result<Change> edit(const Edit& edit);

  Result<Change> add(std::span<const Message> messages, std::span<const Text> marks = {});
  Result<Change> add(const Message& message, std::span<const Text> marks = {}) {
    return add({&message, 1}, marks);
  }
  Result<Change> complete_pending(const Text& reason);
  Result<Change> remove(std::span<const Text> ids);
  Result<Change> compress();
  Result<Change> evict(double share);
  Result<Change> shrink(double share);
  // Empties the memory; the store keeps the records.
  Result<void> clear();

  // See Memory::calibrate(); not stored.
  void calibrate(const Calibration& calibration) { memory_.calibrate(calibration); }

  // Holds the lease of the session until release(): a thread renews it every third of `time`, and edits name
  // it. `lost` is called once, on that thread, if another owner takes the lease over, possibly before hold()
  // returns. Fails with Conflict, and holds nothing, if another owner has the lease and `mode` does not
  // resolve that, or if another process appended to the session since it was read.
  Result<void> hold(const std::string& owner, std::chrono::milliseconds time, store::LeaseMode mode,
                    std::function<void()> lost);
  void release();

  // Sets the token of a lease that the caller holds, for every further edit; "" for none.
  void set_lease(std::string token) { lease_ = std::move(token); }

 private:
  StoredMemory(std::shared_ptr<store::Store> store, store::SessionKey key, Memory memory)
      : store_(std::move(store)), key_(std::move(key)), memory_(std::move(memory)) {}
  Result<void> keep(std::vector<store::Record> records);
  friend const memory::SessionFacts& memory::facts_of(const StoredMemory& memory);

  std::shared_ptr<store::Store> store_;
  store::SessionKey key_;
  Memory memory_;
  store::Position size_ = 0;
  store::Position first_ = 0;                          // the position after the last clear record
  std::shared_ptr<const memory::SessionFacts> facts_;  // of the records that open() read
  std::string lease_;
  std::shared_ptr<memory::HeldLease> held_;
};

}  // namespace parley
