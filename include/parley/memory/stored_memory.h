// A StoredMemory is a Memory whose log is a session of a store: what it did is there after a restart, the
// window, its marks, pins and summary included.
//
// What left the window is in the store and no longer in memory: log() of memory() has what is in the window,
// covered() and uncovered() are empty, and log() here reads all of it.
//
// Invariants (quoted by tests as STORED1..STORED5):
//   STORED1  An edit is stored and then shown, or neither: if the store refuses it, the memory is as before.
//   STORED2  Opening the session again gives an equal memory, if the options are the same.
//   STORED3  Nothing that was stored is changed or taken out: eviction, removal, compression and clear() are
//       records of their own (P8).
//   STORED4  If somebody else has appended to the session, an edit fails with Conflict and changes nothing; open()
//       shows what they did.
//   STORED5  An edit costs what it changes, not what the session holds.
//
// One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parley/memory/memory.h"
#include "parley/store/store.h"

namespace parley {

class StoredMemory {
 public:
  // Reads the session, or begins one if there is none: it is made by the first edit. Fails as read() of the
  // store does, and with BrokenHistory if what is stored is no history.
  static Result<StoredMemory> open(std::shared_ptr<store::Store> store, store::SessionKey key,
                                   MemoryOptions options = {});

  // What is shown. Read from it at will; whoever copies it has a memory that is not stored.
  const Memory& memory() const { return memory_; }
  const store::SessionKey& key() const { return key_; }
  const std::shared_ptr<store::Store>& store() const { return store_; }
  store::Position size() const { return size_; }  // records in the session

  // All messages since the last clear, removed ones included, read from the store part by part. Fails as
  // read() of the store does.
  Result<void> each(const std::function<void(const Message& message)>& visit) const;
  Result<std::vector<Message>> log() const;

  // Does anything to the memory, and keeps what it changed. All other functions are edits.
  using Edit = std::function<Result<Change>(Memory& memory)>;
  Result<Change> edit(const Edit& edit);

  Result<Change> add(std::span<const Message> messages, std::span<const Text> marks = {}) {
    return edit([&](Memory& m) { return m.add(messages, marks); });
  }
  Result<Change> add(const Message& message, std::span<const Text> marks = {}) {
    return add({&message, 1}, marks);
  }
  Result<Change> complete_pending(const Text& reason) {
    return edit([&](Memory& m) { return m.complete_pending(reason); });
  }
  Result<Change> remove(std::span<const Text> ids) {
    return edit([&](Memory& m) { return m.remove(ids); });
  }
  Result<Change> compress() {
    return edit([](Memory& m) { return m.compress(); });
  }
  Result<Change> evict(double share) {
    return edit([&](Memory& m) { return m.evict(share); });
  }
  Result<Change> shrink(double share) {
    return edit([&](Memory& m) { return m.shrink(share); });
  }
  // From now on nothing of what was is shown; the store keeps it.
  Result<void> clear();

  // Names the lease that every further edit must hold; "" is none.
  void set_lease(std::string token) { lease_ = std::move(token); }

 private:
  StoredMemory(std::shared_ptr<store::Store> store, store::SessionKey key, Memory memory)
      : store_(std::move(store)), key_(std::move(key)), memory_(std::move(memory)) {}
  Result<void> keep(std::vector<store::Record> records);

  std::shared_ptr<store::Store> store_;
  store::SessionKey key_;
  Memory memory_;
  store::Position size_ = 0;
  store::Position first_ = 0;  // the position after the last clear record
  std::string lease_;
};

}  // namespace parley
