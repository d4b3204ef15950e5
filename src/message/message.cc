#include "parley/message/message.h"

#include "json/out.h"
#include "message/arena.h"
#include "parley/base/clock.h"

namespace parley {
namespace {

// Lists are given as any mix of types; an empty list means all.
bool wanted(BlockType type, std::span<const BlockType> types) {
  if (types.empty()) return true;
  for (const BlockType each : types) {
    if (each == type) return true;
  }
  return false;
}

Text string_or_empty(const Arena& arena, Slice slice) {
  return slice.present() ? arena.string(slice) : Text();
}

MediaSource source_of(const Arena& arena, const BlockRecord& block) {
  const Text data = string_or_empty(arena, block.data());
  const Text media_type = string_or_empty(arena, block.media_type());
  if (block.source == SourceKind::Url) return URLSource{data, media_type};
  return Base64Source{media_type, data};
}

Text arguments_of(const Arena& arena, const BlockRecord& block) {
  if (block.arguments().present()) return arena.string(block.arguments());
  if (block.input().present()) return arena.spelled(block.input());
  return {};
}

// What the wire says where calls have a type beside their function.
Text type_of_call(const Arena& arena, const BlockRecord& use) {
  if (use.is_custom) return Text("custom");
  const bool is_object = use.wire.present() && arena.bytes(use.wire).starts_with('{');
  const Json call = is_object ? arena.value(use.wire) : Json();
  if (!call.get("function")) return Text("function");
  return call.get("type").value_or(Json()).as_string().value_or(Text("function"));
}

std::optional<bool> to_optional(Tristate state) {
  if (state == Tristate::Unsaid) return std::nullopt;
  return state == Tristate::True;
}

Block block_of(const Arena& arena, const BlockRecord& block);

ToolResultBlock result_of(const Arena& arena, const BlockRecord& block) {
  ToolResultBlock result{string_or_empty(arena, block.id()),
                         string_or_empty(arena, block.name()),
                         {},
                         to_optional(block.is_error),
                         block.is_custom};
  if (block.is_list) {
    std::vector<Block> children;
    for (const BlockRecord& child : arena.children(block)) children.push_back(block_of(arena, child));
    result.output = std::move(children);
  } else if (block.output().present()) {
    result.output = arena.string(block.output());
  }
  return result;
}

Block plain_block_of(const Arena& arena, const BlockRecord& block) {
  switch (block.type) {
    case BlockType::Text:
      return TextBlock{string_or_empty(arena, block.text()), block.is_refusal};
    case BlockType::Thinking:
      return ThinkingBlock{string_or_empty(arena, block.text()), string_or_empty(arena, block.signature()),
                           string_or_empty(arena, block.origin())};
    case BlockType::Image:
      return ImageBlock{source_of(arena, block)};
    case BlockType::Audio:
      return AudioBlock{source_of(arena, block)};
    case BlockType::Video:
      return VideoBlock{source_of(arena, block)};
    case BlockType::Document:
      return DocumentBlock{source_of(arena, block), string_or_empty(arena, block.media_name())};
    case BlockType::ToolUse:
      return ToolUseBlock{string_or_empty(arena, block.id()), string_or_empty(arena, block.name()),
                          arguments_of(arena, block), block.is_custom};
    case BlockType::ToolResult:
      return result_of(arena, block);
    case BlockType::Raw:
      break;
  }
  const Text dialect = block.raw_dialect().present() ? arena.string(block.raw_dialect())
                                                     : Text::trusted(nullptr, arena.dialect_name());
  return RawBlock{dialect, block.raw_value().present() ? arena.value(block.raw_value()) : Json()};
}

Block block_of(const Arena& arena, const BlockRecord& block) {
  Block out = plain_block_of(arena, block);
  out.cache = block.cache;
  return out;
}

// Base64, or a data URL, which OpenManus' field may hold as well.
bool is_inline_image(const Arena& arena, const BlockRecord& block) {
  if (block.type != BlockType::Image || !block.data().present()) return false;
  return block.source == SourceKind::Base64 || arena.bytes(block.data()).starts_with("data:");
}

// Finds the first inline image of a message, outside or inside a result.
const BlockRecord* first_image(const Arena& arena, const MessageRecord& message) {
  for (const BlockRecord& block : arena.blocks(message)) {
    if (is_inline_image(arena, block)) return &block;
    for (const BlockRecord& child : arena.children(block)) {
      if (is_inline_image(arena, child)) return &child;
    }
  }
  return nullptr;
}

}  // namespace

Role Message::role() const { return Arena::record_of(*this).role; }
Role Message::wire_role() const { return Arena::record_of(*this).wire_role; }
OptionalText Message::id() const { return arena_->optional_string(Arena::record_of(*this).id); }
OptionalText Message::name() const { return arena_->optional_string(Arena::record_of(*this).name); }
OptionalText Message::invocation_id() const {
  return arena_->optional_string(Arena::record_of(*this).invocation_id);
}
ContentShape Message::content_shape() const { return Arena::record_of(*this).shape; }
bool Message::continues_step() const { return Arena::record_of(*this).has(MessageRecord::kContinues); }

OptionalText Message::timestamp() const {
  const Slice said = Arena::record_of(*this).timestamp;
  if (said.present() || arena_->created_ms() < 0) return arena_->optional_string(said);
  return *Text::checked(local_timestamp(arena_->created_ms()));
}

std::optional<Json> Message::metadata() const {
  const Slice said = Arena::record_of(*this).metadata;
  if (said.is_null()) return Json();
  if (!said.present()) return std::nullopt;
  return arena_->value(said);
}

std::optional<Json> Message::wire() const {
  const Slice wire = Arena::record_of(*this).wire;
  if (!wire.present()) return std::nullopt;
  return arena_->value(wire);
}

std::vector<Block> Message::blocks() const { return get_content_blocks(); }

std::vector<Block> Message::get_content_blocks(std::span<const BlockType> types) const {
  std::vector<Block> out;
  for (const BlockRecord& block : arena_->blocks(Arena::record_of(*this))) {
    if (wanted(block.type, types)) out.push_back(block_of(*arena_, block));
  }
  return out;
}

bool Message::has_content_blocks(std::span<const BlockType> types) const {
  for (const BlockRecord& block : arena_->blocks(Arena::record_of(*this))) {
    if (wanted(block.type, types)) return true;
  }
  return false;
}

std::vector<Block> Message::get_content_blocks(std::initializer_list<BlockType> types) const {
  return get_content_blocks(std::span(types.begin(), types.size()));
}

std::vector<Block> Message::get_content_blocks(BlockType type) const {
  return get_content_blocks(std::span(&type, 1));
}

bool Message::has_content_blocks(std::initializer_list<BlockType> types) const {
  return has_content_blocks(std::span(types.begin(), types.size()));
}

bool Message::has_content_blocks(BlockType type) const { return has_content_blocks(std::span(&type, 1)); }

std::vector<Block> Message::get_content_blocks(std::string_view type) const {
  const std::optional<BlockType> known = block_type_named(type);
  return known ? get_content_blocks(*known) : std::vector<Block>();
}

bool Message::has_content_blocks(std::string_view type) const {
  const std::optional<BlockType> known = block_type_named(type);
  return known && has_content_blocks(*known);
}

OptionalText Message::get_text_content(std::string_view separator) const {
  const MessageRecord& record = Arena::record_of(*this);
  std::optional<Text> only;
  json::Out joined;
  bool several = false;
  const auto add = [&](Text text) {
    if (only && !several) {
      several = true;
      joined.raw(*only);
    }
    if (several) joined.raw(separator).raw(text);
    only = std::move(text);
  };
  for (const BlockRecord& block : arena_->blocks(record)) {
    if (block.type == BlockType::Text && block.text().present()) add(arena_->string(block.text()));
    // A tool message of OpenManus has its text inside the one result.
    if (block.type == BlockType::ToolResult && record.wire_role == Role::Tool) {
      if (block.output().present()) add(arena_->string(block.output()));
      for (const BlockRecord& child : arena_->children(block)) {
        if (child.type == BlockType::Text && child.text().present()) add(arena_->string(child.text()));
      }
    }
  }
  if (several) return joined.take();
  return only;
}

std::vector<ToolCall> Message::tool_calls() const {
  std::vector<ToolCall> calls;
  for (const BlockRecord& block : arena_->blocks(Arena::record_of(*this))) {
    if (block.type != BlockType::ToolUse) continue;
    calls.push_back({arena_->optional_string(block.id()).value_or(Text()),
                     type_of_call(*arena_, block),
                     {arena_->optional_string(block.name()).value_or(Text()), arguments_of(*arena_, block)}});
  }
  return calls;
}

OptionalText Message::tool_call_id() const {
  for (const BlockRecord& block : arena_->blocks(Arena::record_of(*this))) {
    if (block.type == BlockType::ToolResult) return arena_->optional_string(block.id());
  }
  // Any message of OpenManus may carry one; the records know that of results only.
  if (const auto own = metadata().value_or(Json()).get(kToolCallId)) return own->as_string();
  if (!Arena::record_of(*this).has(MessageRecord::kHasMore) || !wire()) return std::nullopt;
  return wire()->get("tool_call_id").value_or(Json()).as_string();
}

OptionalText Message::base64_image() const {
  const BlockRecord* image = first_image(*arena_, Arena::record_of(*this));
  if (image == nullptr) return std::nullopt;
  return arena_->string(image->data());
}

bool operator==(const Message& a, const Message& b) {
  if (a.arena_ == b.arena_ && a.index_ == b.index_) return true;
  const auto says_no_calls = [](const Message& m) {
    return Arena::record_of(m).has(MessageRecord::kEmptyToolCalls);
  };
  return a.role() == b.role() && a.name() == b.name() && a.content_shape() == b.content_shape() &&
         says_no_calls(a) == says_no_calls(b) && a.blocks() == b.blocks() &&
         Json::equal(a.metadata().value_or(Json()), b.metadata().value_or(Json()));
}

std::vector<Message> operator+(const Message& a, const Message& b) { return {a, b}; }

std::vector<Message> operator+(const Message& a, std::vector<Message> list) {
  list.insert(list.begin(), a);
  return list;
}

std::vector<Message> operator+(std::vector<Message> list, const Message& b) {
  list.push_back(b);
  return list;
}

}  // namespace parley
