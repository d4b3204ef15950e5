#include "message/arena.h"

#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "json/walk.h"

namespace parley {
namespace {
constexpr int kMostFragments = 8;

// Puts records into raw memory. Returns the position after them.
template <typename Record>
std::byte* copied(std::span<const Record> records, std::byte* to) {
  static_assert(std::is_trivially_copyable_v<Record>);
  if (!records.empty()) std::memcpy(to, records.data(), records.size_bytes());
  return to + records.size_bytes();
}

}  // namespace

Arena::~Arena() {
  if (message_count_ != 1) delete[] counts_.load(std::memory_order_acquire);
  FragmentList* lists = fragments_.load(std::memory_order_acquire);
  if (lists == nullptr) return;
  for (std::uint32_t i = 0; i < message_count_; ++i) delete lists[i].load(std::memory_order_relaxed);
  delete[] lists;
}

void Arena::set_sizes(std::size_t messages, std::size_t blocks, std::size_t children) {
  message_count_ = static_cast<std::uint32_t>(messages);
  block_count_ = static_cast<std::uint32_t>(blocks);
  child_count_ = static_cast<std::uint32_t>(children);
  if (messages == 1) std::construct_at(&count_, 0);
}

void Arena::seal(std::span<const MessageRecord> messages, std::span<const BlockRecord> blocks,
                 std::span<const BlockRecord> children) {
  const std::size_t message_bytes = messages.size_bytes();
  memory_.reset(std::malloc(message_bytes + blocks.size_bytes() + children.size_bytes()));
  if (memory_ == nullptr) throw std::bad_alloc();
  auto* const start = static_cast<std::byte*>(memory_.get());
  messages_ = reinterpret_cast<const MessageRecord*>(start);
  blocks_ = reinterpret_cast<const BlockRecord*>(start + message_bytes);
  copied(children, copied(blocks, copied(messages, start)));
  set_sizes(messages.size(), blocks.size(), children.size());
}

void Arena::seal(Records<MessageRecord> messages, Records<BlockRecord> blocks,
                 std::span<const BlockRecord> children) {
  set_sizes(messages.size(), blocks.size(), children.size());
  blocks.append(children);
  memory_ = messages.take();
  block_memory_ = blocks.take();
  messages_ = static_cast<const MessageRecord*>(memory_.get());
  blocks_ = static_cast<const BlockRecord*>(block_memory_.get());
}

Text Arena::spelled(Slice slice) const { return Text::trusted(shared_from_this(), bytes(slice)); }

Text Arena::string(Slice slice) const { return json::unescaped(spelled(slice)); }

std::optional<Text> Arena::optional_string(Slice slice) const {
  if (!slice.present()) return std::nullopt;
  return string(slice);
}

const Fragment* Arena::fragment(std::uint32_t index, DialectTag dialect, std::uint8_t hints,
                                std::uint32_t position) const {
  const FragmentList* lists = fragments_.load(std::memory_order_acquire);
  if (lists == nullptr) return nullptr;
  const Fragment* kept = lists[index].load(std::memory_order_acquire);
  const bool fits =
      kept != nullptr && kept->dialect == dialect && kept->hints == hints && kept->position == position;
  return kept == nullptr || fits ? kept : next(kept, dialect, hints, position);
}

const Fragment* Arena::next(const Fragment* kept, DialectTag dialect, std::uint8_t hints,
                            std::uint32_t position) {
  do {
    kept = kept->next.get();
  } while (kept != nullptr &&
           (kept->dialect != dialect || kept->hints != hints || kept->position != position));
  return kept;
}

void Arena::keep_fragment(std::uint32_t index, Fragment fragment) const {
  FragmentList* lists = fragments_.load(std::memory_order_acquire);
  if (lists == nullptr) {
    auto made = std::make_unique<FragmentList[]>(message_count_);
    // The thread that loses the race uses the winner's lists.
    if (fragments_.compare_exchange_strong(lists, made.get(), std::memory_order_acq_rel))
      lists = made.release();
  }
  const Fragment* head = lists[index].load(std::memory_order_acquire);
  int kept = 0;
  for (const Fragment* each = head; each != nullptr; each = each->next.get()) ++kept;
  if (kept >= kMostFragments) return;  // a message that moves about must not collect fragments for ever
  auto own = std::make_unique<Fragment>(std::move(fragment));
  do {
    (void)own->next.release();
    own->next.reset(head);
  } while (!lists[index].compare_exchange_weak(head, own.get(), std::memory_order_acq_rel));
  (void)own.release();
}

Arena::CountSlot* Arena::count_slot(std::uint32_t index, bool makes) const {
  if (message_count_ == 1) return &count_;
  CountSlot* slots = counts_.load(std::memory_order_acquire);
  if (slots == nullptr && makes) {
    auto made = std::make_unique<CountSlot[]>(message_count_);
    // The thread that loses the race uses the winner's slots.
    if (counts_.compare_exchange_strong(slots, made.get(), std::memory_order_acq_rel)) slots = made.release();
  }
  return slots == nullptr ? nullptr : slots + index;
}

std::optional<std::uint32_t> Arena::kept_count(std::uint32_t index, std::uint32_t tag) const {
  const CountSlot* slot = count_slot(index, false);
  if (slot == nullptr) return std::nullopt;
  const std::uint64_t kept = slot->load(std::memory_order_relaxed);
  if (kept >> 32 != tag) return std::nullopt;
  return static_cast<std::uint32_t>(kept);
}

void Arena::keep_count(std::uint32_t index, std::uint32_t tag, std::uint32_t count) const {
  assert(tag != 0);
  count_slot(index, true)->store(std::uint64_t{tag} << 32 | count, std::memory_order_relaxed);
}

std::size_t Arena::memory() const {
  const std::size_t minted = minted_.size() == 0 ? 0 : minted_.size() + json::kPadding;
  return sizeof(Arena) + buffer_.size() + json::kPadding + minted + message_count_ * sizeof(MessageRecord) +
         (block_count_ + child_count_) * sizeof(BlockRecord);
}

}  // namespace parley
