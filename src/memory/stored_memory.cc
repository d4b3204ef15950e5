#include "parley/memory/stored_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "memory/delta.h"
#include "memory/guarded.h"
#include "memory/lease.h"
#include "memory/session_facts.h"
#include "memory/state.h"
#include "memory/stored_message.h"

namespace parley {
namespace {

// A long session is read in parts, so that each of them lies where the one before lay.
constexpr std::size_t kPartBytes = std::size_t{1} << 20;

}  // namespace

Result<StoredMemory> StoredMemory::open(std::shared_ptr<store::Store> store, store::SessionKey key,
                                        MemoryOptions options, std::optional<store::Position> wanted) {
  PARLEY_TRY(Memory memory, Memory::create(std::move(options)));
  memory.state_->is_stored = true;
  store::Position size = 0;
  store::Position first = 0;
  auto facts = std::make_shared<memory::SessionFacts>();
  const store::Position most = wanted.value_or(std::numeric_limits<store::Position>::max());
  for (bool is_whole = most == 0; !is_whole;) {
    const Result<store::Page> page = store->read(
        key, {.first = size, .count = static_cast<std::size_t>(most - size), .bytes = kPartBytes});
    if (!page && page.error().code == Code::NotFound && size == 0) break;  // the first edit makes it
    if (!page) return std::unexpected(page.error());
    PARLEY_CHECK(memory::guarded([&] { return memory::replay(memory.state_, page->records); }));
    memory.state_->forget_all();
    for (const store::StoredRecord& record : page->records) {
      if (memory::is_clear(record)) first = record.position + 1;
    }
    memory::update_facts(*facts, page->records);
    size += page->records.size();
    is_whole = page->records.empty() || size >= std::min(most, page->size);
  }
  PARLEY_CHECK(memory::guarded([&]() -> Result<void> {
    // A budget that has become smaller since takes more out.
    PARLEY_TRY(auto plan, memory.state_->trimmed());
    if (plan) memory.state_->apply(*std::move(plan), memory::Fate::Uncovered);
    return {};
  }));
  memory.state_->forget_all();
  memory.state_->is_stored = false;
  StoredMemory out(std::move(store), std::move(key), std::move(memory));
  out.size_ = size;
  out.first_ = first;
  out.facts_ = std::move(facts);
  return out;
}

const memory::SessionFacts& memory::facts_of(const StoredMemory& memory) { return *memory.facts_; }

Result<void> StoredMemory::each(const std::function<void(const Message&)>& visit) const {
  for (store::Position at = first_; at < size_;) {
    PARLEY_TRY(const store::Page page, store_->read(key_, {.first = at, .bytes = kPartBytes}));
    PARLEY_TRY(const std::vector<Message> messages, to_messages(page.records));
    for (const Message& message : messages) visit(message);
    if (page.records.empty()) return fail(Code::Damaged, "the session lost records since it was opened");
    at += page.records.size();
  }
  return {};
}

Result<std::vector<Message>> StoredMemory::log() const {
  std::vector<Message> out;
  PARLEY_CHECK(each([&](const Message& message) { out.push_back(message); }));
  return out;
}

// Only the copy that an edit works on is marked as stored: a copy that a caller makes of memory() is not
// stored.
Result<Change> StoredMemory::edit(const Edit& edit) {
  Memory next = memory_;
  next.state_->is_stored = true;
  PARLEY_TRY(Change change, memory::guarded([&] { return edit(next); }));
  PARLEY_TRY(std::vector<store::Record> records, memory::records_between(*memory_.state_, *next.state_));
  const bool clears = !records.empty() && memory::is_clear(records.front());
  const store::Position before = size_;
  if (!records.empty()) PARLEY_CHECK(keep(std::move(records)));
  if (clears) first_ = before + 1;
  next.state_->forget_all();
  next.state_->is_stored = false;
  memory_ = std::move(next);
  return change;
}

Result<void> StoredMemory::clear() {
  PARLEY_TRY([[maybe_unused]] const Change change, edit([](Memory& m) -> Result<Change> {
               m.clear();
               return Change{};
             }));
  return {};
}

Result<void> StoredMemory::hold(const std::string& owner, std::chrono::milliseconds time,
                                store::LeaseMode mode, std::function<void()> lost) {
  PARLEY_TRY(held_, memory::HeldLease::take(store_, key_, owner, time, mode, std::move(lost)));
  lease_ = held_->token();
  const auto head = store_->head(key_);
  if (head && head->size == size_) return {};
  release();
  if (!head) return std::unexpected(head.error());
  return fail(Code::Conflict, "another process appended to the session: open it again");
}

void StoredMemory::release() {
  lease_.clear();
  held_.reset();
}

Result<void> StoredMemory::keep(std::vector<store::Record> records) {
  store::Batch batch(std::move(records));
  batch.expected_size = size_;
  batch.lease = lease_;
  const store::Position after = size_ + batch.records.size();
  Result<store::Appended> appended = store_->append(key_, batch);
  if (!appended && appended.error().code == Code::Unresolved) {
    PARLEY_TRY(const auto known, store_->resolve(key_, batch.id));
    if (!known) return std::unexpected(Error{Code::Unavailable, appended.error().message, {}});
    appended = *known;
  }
  if (!appended) return std::unexpected(std::move(appended).error());
  size_ = after;
  return {};
}

Result<Change> StoredMemory::add(std::span<const Message> messages, std::span<const Text> marks) {
  return edit([&](Memory& m) { return m.add(messages, marks); });
}

Result<Change> StoredMemory::complete_pending(const Text& reason) {
  return edit([&](Memory& m) { return m.complete_pending(reason); });
}

Result<Change> StoredMemory::remove(std::span<const Text> ids) {
  return edit([&](Memory& m) { return m.remove(ids); });
}

Result<Change> StoredMemory::compress() {
  return edit([](Memory& m) { return m.compress(); });
}

Result<Change> StoredMemory::evict(double share) {
  return edit([&](Memory& m) { return m.evict(share); });
}

Result<Change> StoredMemory::shrink(double share) {
  return edit([&](Memory& m) { return m.shrink(share); });
}

}  // namespace parley
