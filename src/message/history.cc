// Matches results to tool uses in one pass over the blocks.
#include <bit>

#include "base/hash.h"
#include "message/arena.h"
#include "message/findings.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

struct Call {
  Place place;
  std::uint32_t step = 0;
  bool answered = false;
  std::uint32_t next = kNone;  // the next call of the same id
};

// The calls of one id, oldest first; those before `open` are answered.
struct Calls {
  std::uint32_t open = kNone;
  std::uint32_t last = kNone;
};

// Ids are compared as they read, not as they are spelled; the spelling is enough unless it has escapes.
class IdText {
 public:
  std::string_view of(const Arena& arena, Slice slice) {
    const std::string_view spelled = arena.bytes(slice);
    if (spelled.find('\\') == std::string_view::npos) return spelled;
    kept_.push_back(arena.string(slice));
    return kept_.back();
  }

 private:
  std::vector<Text> kept_;
};

// Finds the calls of an id. Flat, because a history is looked at before every writing of it.
class CallTable {
 public:
  explicit CallTable(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 2)) {}

  Calls* find(std::string_view id) {
    Slot& slot = slot_of(id);
    return slot.id.empty() ? nullptr : &slot.calls;
  }

  // The calls of the id, and whether there were none before, so that they are `calls` now.
  // REQUIRES: an id that is not empty.
  std::pair<Calls&, bool> insert(std::string_view id, Calls calls) {
    if (Calls* known = find(id)) return {*known, false};
    if (2 * (size_ + 1) > slots_.size()) grow();
    ++size_;
    Slot& slot = slot_of(id);
    slot = {id, calls};
    return {slot.calls, true};
  }

 private:
  struct Slot {
    std::string_view id;  // empty: the slot is free
    Calls calls;
  };

  Slot& slot_of(std::string_view id) {
    std::size_t i = hash64(id) & (slots_.size() - 1);
    while (!slots_[i].id.empty() && slots_[i].id != id) i = (i + 1) & (slots_.size() - 1);
    return slots_[i];
  }

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (!slot.id.empty()) slot_of(slot.id) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
  std::size_t size_ = 0;
};

class Historian {
 public:
  explicit Historian(std::span<const Message> messages) : messages_(messages), by_id_(messages.size() / 2) {}

  Findings run() {
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Arena& arena = Arena::of(messages_[i]);
      const MessageRecord& record = Arena::record_of(messages_[i]);
      const auto blocks = arena.blocks(record);
      // A step ends with the first block that is not a result: results may stand before a request in one
      // message.
      bool ends_step = blocks.empty();
      if (ends_step) ++step_;
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        const Place place{i, k};
        if (!ends_step && blocks[k].type != BlockType::ToolResult && !record.has(MessageRecord::kContinues)) {
          ends_step = true;
          ++step_;
        }
        if (blocks[k].type == BlockType::ToolUse) take_call(arena, blocks[k], place);
        if (blocks[k].type == BlockType::ToolResult) take_result(arena, blocks[k], place);
      }
    }
    for (const Place& place : unmatched_results_) settle_unmatched(place);
    for (const Call& call : calls_) {
      if (!call.answered) unanswered(call);
    }
    return std::move(findings_);
  }

 private:
  void take_call(const Arena& arena, const BlockRecord& block, Place place) {
    if (!block.id().present() || block.id().length == 0) {
      findings_.error("missing_field", place, "the tool use has no id, so no result can name it");
      return;
    }
    const auto index = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back({place, step_});
    const auto [same, is_new] = by_id_.insert(ids_.of(arena, block.id()), {index, index});
    if (is_new) return;
    findings_.warning("duplicate_call", place, "an earlier tool use has the same id");
    calls_[same.last].next = index;
    same.last = index;
    if (same.open == kNone) same.open = index;
  }

  void take_result(const Arena& arena, const BlockRecord& block, Place place) {
    if (!block.id().present() || block.id().length == 0) {
      findings_.error("missing_field", place, "the tool result does not name a tool use");
      return;
    }
    Calls* const found = by_id_.find(ids_.of(arena, block.id()));
    if (found == nullptr) {
      unmatched_results_.push_back(place);
      return;
    }
    Calls& same = *found;
    // Where an id was used again, a result answers a call of the step it stands in: an older one, if it is
    // open, never gets its result.
    while (same.open != kNone && same.open != same.last && calls_[same.last].step == step_ &&
           calls_[same.open].step != step_) {
      same.open = calls_[same.open].next;
    }
    if (same.open == kNone) {
      findings_.error("duplicate_result", place, "the tool use already has a result");
      return;
    }
    Call& call = calls_[same.open];
    if (call.step != step_) {
      findings_.error("misplaced_result", place, "other messages come between the tool use and this result");
    }
    call.answered = true;
    same.open = call.next;
  }

  // A result without a call before it: the call may come later, or never.
  void settle_unmatched(Place place) {
    const Arena& arena = Arena::of(messages_[place.message]);
    const BlockRecord& block = arena.blocks(Arena::record_of(messages_[place.message]))[place.block];
    Calls* const found = by_id_.find(ids_.of(arena, block.id()));
    if (found == nullptr) {
      findings_.error("orphan_result", place, "no tool use in this conversation has the id of this result");
      return;
    }
    findings_.error("misplaced_result", place, "the result comes before its tool use");
    Calls& same = *found;
    if (same.open == kNone) return;
    calls_[same.open].answered = true;
    same.open = calls_[same.open].next;
  }

  void unanswered(const Call& call) {
    if (call.step == step_) {
      findings_.warning("pending_call", call.place, "the tool use has no result yet");
    } else {
      findings_.error("missing_result", call.place, "the tool use has no result");
    }
  }

  std::span<const Message> messages_;
  std::vector<Call> calls_;  // in order
  CallTable by_id_;
  std::vector<Place> unmatched_results_;
  IdText ids_;
  Findings findings_;
  std::uint32_t step_ = 0;
};

}  // namespace

Findings history_findings(std::span<const Message> messages) { return Historian(messages).run(); }

std::vector<Finding> validate_history(std::span<const Message> messages) {
  return history_findings(messages).finish(messages);
}

}  // namespace parley
