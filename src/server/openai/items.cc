#include "server/openai/items.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "message/arena.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "server/openai/responses_signature.h"

namespace parley::server {
namespace {

struct ItemKind {
  std::string_view type, prefix;
};
constexpr auto kItemKinds = std::to_array<ItemKind>({
    {"message", "msg_"},
    {"function_call", "fc_"},
    {"function_call_output", "fco_"},
    {"custom_tool_call", "ctc_"},
    {"custom_tool_call_output", "ctco_"},
    {"reasoning", "rs_"},
    {"image_generation_call", "ig_"},
    {"compaction", "cmp_"},
    {"", "item_"},
});

// The n-th item of a message: ids of its own or derived ones.
class ItemIds {
 public:
  ItemIds(std::string own, TurnId place, bool is_answer)
      : own_(std::move(own)), place_(std::move(place)), is_answer_(is_answer) {}

  std::string next(std::string_view type) {
    const std::size_t n = count_++;
    const std::string_view prefix = item_prefix(type);
    TurnId id = place_;
    if (is_answer_) {
      id.item += std::to_string(n);
      return to_id(prefix, id);
    }
    if (own_.empty()) {
      if (n != 0) id.item += "." + std::to_string(n);
      return to_id(prefix, id);
    }
    return n == 0 ? own_ : further(prefix, n);
  }

 private:
  // "msg_A.i0_conv" gives "fc_A.i0.1_conv", "msg_A" gives "fc_A.1".
  std::string further(std::string_view prefix, std::size_t n) const {
    const std::size_t start = own_.find('_') + 1;
    const std::size_t end = std::min(own_.find('_', start), own_.size());
    return std::string(prefix) + own_.substr(start, end - start) + "." + std::to_string(n) + own_.substr(end);
  }

  std::string own_;
  TurnId place_;
  bool is_answer_;
  std::size_t count_ = 0;
};

// Makes the items of a message that is not one item on the wire (ITEM4).
class ItemWriter {
 public:
  ItemWriter(const Message& message, ItemIds ids, ItemStatus last)
      : role_(message.wire_role() == Role::Tool ? Role::User : message.wire_role()),
        is_assistant_(message.wire_role() == Role::Assistant),
        blocks_(message.blocks()),
        ids_(std::move(ids)),
        last_(last) {
    shown_ = blocks_.size();
    while (shown_ != 0 && !is_shown(blocks_[shown_ - 1])) --shown_;
  }

  std::vector<Json> write() && {
    if (blocks_.empty() && !is_assistant_) put_said(0);
    for (std::size_t i = 0; i < blocks_.size();) i = put_from(i);
    return std::move(out_);
  }

 private:
  // Writes the item that begins at this block; returns the first block after it.
  std::size_t put_from(std::size_t i) {
    const Block& block = blocks_[i];
    if (const auto* result = block.as<ToolResultBlock>()) {
      const std::string_view type = result->is_custom ? "custom_tool_call_output" : "function_call_output";
      out_.push_back(to_item(*result, ids_.next(type)));
      return i + 1;
    }
    if (!is_assistant_) return put_said(i);
    if (!is_shown(block)) return i + 1;
    switch (block.type()) {
      case BlockType::Text:
        return put_texts(i);
      case BlockType::Thinking:
        return put_thoughts(i);
      case BlockType::ToolUse:
        put_call(*block.as<ToolUseBlock>(), status_at(i + 1));
        break;
      case BlockType::Image:
        put_image_call(*block.as<ImageBlock>());
        break;
      case BlockType::Raw:
        put_raw(*block.as<RawBlock>());
        break;
      default:
        break;  // has no form here
    }
    return i + 1;
  }

  // Whether a block of an answer is in an item. Chat upstreams send an empty text beside calls.
  bool is_shown(const Block& block) const {
    if (const auto* text = block.as<TextBlock>()) return !text->text.empty() || blocks_.size() == 1;
    if (const auto* thinking = block.as<ThinkingBlock>())
      return !thinking->thinking.empty() || !thinking->signature.empty();
    if (const auto* raw = block.as<RawBlock>()) return raw->dialect == "responses" && raw->json.is_object();
    if (const auto* image = block.as<ImageBlock>())
      return std::holds_alternative<Base64Source>(image->source);
    return block.type() == BlockType::ToolUse || block.type() == BlockType::ToolResult;
  }

  ItemStatus status_at(std::size_t end) const { return end >= shown_ ? last_ : ItemStatus::Completed; }

  std::size_t put_said(std::size_t i) {
    json::Writer w;
    w.begin_object().key("id").string(ids_.next("message")).key("type").string("message");
    w.key("status").string("completed").key("role").string(to_string(role_)).key("content").begin_array();
    for (; i < blocks_.size() && blocks_[i].type() != BlockType::ToolResult; ++i)
      put_input_part(w, blocks_[i]);
    out_.push_back(w.end_array().end_object().take());
    return i;
  }

  std::size_t put_texts(std::size_t i) {
    ItemParts item{.type = BlockType::Text, .id = ids_.next("message")};
    for (; i < blocks_.size() && blocks_[i].type() == BlockType::Text; ++i) {
      const auto& text = *blocks_[i].as<TextBlock>();
      if (is_shown(blocks_[i])) item.parts.push_back({text.text, text.is_refusal});
    }
    item.status = status_at(i);
    out_.push_back(to_item(item));
    return i;
  }

  std::size_t put_thoughts(std::size_t i) {
    ItemParts item{.type = BlockType::Thinking, .id = ids_.next("reasoning")};
    std::string sealed;
    for (; i < blocks_.size() && blocks_[i].type() == BlockType::Thinking && sealed.empty(); ++i) {
      const auto& thinking = *blocks_[i].as<ThinkingBlock>();
      if (!thinking.thinking.empty()) item.parts.push_back({.text = thinking.thinking});
      sealed = sealed_signature(thinking.origin, thinking.signature);
    }
    item.encrypted = sealed;
    item.status = status_at(i);
    out_.push_back(to_item(item));
    return i;
  }

  void put_call(const ToolUseBlock& use, ItemStatus status) {
    out_.push_back(to_item(ItemParts{.type = BlockType::ToolUse,
                                     .id = ids_.next(use.is_custom ? "custom_tool_call" : "function_call"),
                                     .status = status,
                                     .call_id = use.id,
                                     .name = use.name,
                                     .arguments = use.arguments,
                                     .is_custom = use.is_custom}));
  }

  void put_image_call(const ImageBlock& image) {
    out_.push_back(to_item(std::get<Base64Source>(image.source), ids_.next("image_generation_call")));
  }

  void put_raw(const RawBlock& raw) {
    const std::string id = ids_.next(item_type(raw.json));
    const Json item = raw.json.compact();  // a line of a stream has no line breaks
    out_.push_back(item.get("id") ? item : with_item_id(item, id));
  }

  Role role_;
  bool is_assistant_;
  std::vector<Block> blocks_;
  ItemIds ids_;
  ItemStatus last_;
  std::size_t shown_ = 0;  // blocks up to the last one that is shown
  std::vector<Json> out_ = {};
};

// The item that the message was read as, if it was one (ITEM3).
std::optional<Json> wire_item(const Message& message) {
  const auto wire = message.wire();
  if (!wire) return std::nullopt;
  const auto dialect = static_cast<Dialect>(Arena::of(message).dialect());
  const bool is_item = dialect == Dialect::Responses ||
                       (dialect == Dialect::Parley && wire->at("/extra/responses").has_value());
  if (!is_item) return std::nullopt;
  std::vector<Json> items = to_dicts(message, Dialect::Responses);
  return items.size() == 1 ? std::optional(std::move(items.front())) : std::nullopt;
}

}  // namespace

std::string_view item_prefix(std::string_view type) {
  const auto found = std::ranges::find(kItemKinds, type, &ItemKind::type);
  return found == kItemKinds.end() ? kItemKinds.back().prefix : found->prefix;
}

bool is_item_id(std::string_view id) {
  return std::ranges::any_of(kItemKinds, [&](const ItemKind& kind) {
    return id.size() > kind.prefix.size() && id.starts_with(kind.prefix);
  });
}

std::string new_item_id(std::string_view type) {
  return std::string(item_prefix(type)) + new_ulid(static_cast<std::uint64_t>(now_ms()));
}

Json with_item_id(const Json& item, std::string_view id) {
  json::Writer w;
  w.begin_object().key("id").string(id);
  for (const Json::Member& member : item.members()) {
    if (member.key != "id") w.key(member.key).value(member.value);
  }
  return w.end_object().take();
}

std::vector<Json> input_items(const Message& message, const TurnId& place) {
  const std::string own = message.id().value_or(Text()).str();
  ItemIds ids(is_item_id(own) ? own : std::string(), place, false);
  if (const auto wire = wire_item(message)) {
    const auto given = wire->get("id").value_or(Json()).as_string();  // of any prefix: "ws_1"
    return {complete_item(*wire, given ? given->str() : ids.next(item_type(*wire)))};
  }
  return ItemWriter(message, std::move(ids), ItemStatus::Completed).write();
}

std::vector<Json> answer_items(const Message& answer, const TurnId& turn, ItemStatus last) {
  return ItemWriter(answer, ItemIds({}, turn, true), last).write();
}

std::vector<Json> items_of(const TurnEngine::Item& item, const std::string& session) {
  TurnId place{session, item.turn};
  if (item.is_answer) {
    if (item.index != 0) place.item = std::to_string(item.index) + ".";
    return ItemWriter(item.message, ItemIds({}, place, true), ItemStatus::Completed).write();
  }
  const bool has_turn = !item.turn.empty();
  if (!has_turn) place.turn = "p" + std::to_string(item.position);
  place.item = has_turn ? "i" + std::to_string(item.index) : "0";
  return input_items(item.message, place);
}

}  // namespace parley::server
