#include "dialect/repair/unique_ids.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "base/hash.h"
#include "dialect/core/arrange.h"
#include "dialect/core/write_messages.h"
#include "message/arena.h"
#include "message/edit.h"
#include "parley/base/ids.h"

namespace parley::dialect {
namespace {

template <typename T>
T* as(Block& block) {
  return std::get_if<T>(&static_cast<BlockVariant&>(block));
}

// Gives ids in one pass: a result answers the oldest call of its id that waits.
class IdGiver {
 public:
  IdGiver(std::span<const Message> messages, Dialect target, std::vector<Note>& notes)
      : messages_(messages), target_(target), notes_(notes) {
    for (const Message& message : messages) {
      for (const ToolCall& call : message.tool_calls()) taken_.insert(call.id.str());
    }
  }

  std::vector<Message> run() {
    std::vector<Message> out(messages_.begin(), messages_.end());
    bool is_changed = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!out[i].has_content_blocks({BlockType::ToolUse, BlockType::ToolResult})) continue;
      if (!out[i].continues_step() && out[i].has_content_blocks({BlockType::ToolUse})) in_step_.clear();
      std::vector<Block> blocks = out[i].blocks();
      if (!rename(blocks, i)) continue;
      if (has_more(out[i])) {
        note(i, "member_dropped", Severity::Minor, "dropped",
             "members outside the canonical form are left out");
      }
      auto built = MessageBuilder::like(out[i]).same_shape(std::move(blocks)).build();
      if (built) out[i] = *std::move(built);
      is_changed = true;
    }
    return is_changed ? std::move(out) : std::vector<Message>();
  }

 private:
  bool rename(std::vector<Block>& blocks, std::size_t i) {
    bool is_changed = false;
    for (Block& block : blocks) {
      if (auto* use = as<ToolUseBlock>(block)) {
        is_changed = call(*use, i) || is_changed;
      } else if (auto* result = as<ToolResultBlock>(block)) {
        is_changed = answer(*result) || is_changed;
      }
    }
    return is_changed;
  }

  bool call(ToolUseBlock& use, std::size_t i) {
    const std::string id = use.id.str();
    const bool is_new = seen_.insert(id).second;
    const bool is_new_in_step = in_step_.insert(id).second;
    const bool is_own = is_wire_of(messages_[i], target_);
    const bool stays = is_new || is_own || (is_new_in_step && !finds_calls_by_id(target_));
    if (!stays) {
      use.id = *Text::checked(fresh(id));
      note(i, "id_rewritten", Severity::Info, "rewritten", "an earlier call has the same id");
    }
    waiting_[id].push_back(use.id);
    return !stays;
  }

  bool answer(ToolResultBlock& result) {
    const auto known = waiting_.find(result.id.str());
    if (known == waiting_.end() || known->second.empty()) return false;
    const Text id = known->second.front();
    known->second.pop_front();
    if (id == result.id) return false;
    result.id = id;
    return true;
  }

  // Derived from the old one, so that the same conversation is always written the same way.
  std::string fresh(const std::string& id) {
    std::uint64_t& number = given_[id];
    while (true) {
      std::string made = "call_" + encode_short_id(hash128(id, ++number));
      if (taken_.insert(made).second) return made;
    }
  }

  void note(std::size_t i, std::string_view code, Severity severity, std::string_view action, Text detail) {
    notes_.push_back({code, severity, i, std::nullopt, to_string(target_), action, std::move(detail)});
  }

  std::span<const Message> messages_;
  Dialect target_;
  std::vector<Note>& notes_;
  std::set<std::string> taken_, seen_, in_step_;
  std::map<std::string, std::deque<Text>> waiting_;
  std::map<std::string, std::uint64_t> given_;  // how many were derived from an id
};

}  // namespace

bool finds_calls_by_id(Dialect target) {
  const ProviderTraits* traits = format_of(target).traits;
  return traits != nullptr && traits->finds_calls_by_id;
}

bool shares_ids_in_a_step(std::span<const Message> messages) {
  std::set<std::string> ids;
  for (const Message& message : messages) {
    const std::vector<ToolCall> calls = message.tool_calls();
    if (!message.continues_step() && !calls.empty()) ids.clear();
    for (const ToolCall& call : calls) {
      if (!ids.insert(call.id.str()).second) return true;
    }
  }
  return false;
}

std::vector<Message> with_unique_ids(std::span<const Message> messages, Dialect target,
                                     std::vector<Note>& notes) {
  return IdGiver(messages, target, notes).run();
}

}  // namespace parley::dialect
