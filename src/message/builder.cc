// Building messages: every text is escaped once, into the one buffer of the new message.
#include <cstring>

#include "json/out.h"
#include "message/arena.h"
#include "message/edit.h"
#include "parley/base/clock.h"
#include "parley/base/ids.h"
#include "parley/json/writer.h"
#include "parley/message/message.h"

namespace parley {
namespace {

// What a thread keeps from one message to the next, so that a short message allocates only what it holds.
struct Scratch {
  json::Out out;
  std::vector<BlockRecord> blocks, children;
};

Scratch& cleared_scratch() {
  thread_local Scratch scratch;
  scratch.out.shrink_to(0);
  scratch.blocks.clear();
  scratch.children.clear();
  return scratch;
}

// Fills one buffer and one message's records. One at a time in a thread.
class Loom {
 public:
  explicit Loom(std::size_t expected) : Loom(cleared_scratch()) { out_.reserve(expected); }

  Slice string(std::string_view utf8) {
    const std::size_t start = out_.size();
    out_.escaped(utf8);
    return from(start);
  }
  Slice raw(std::string_view json) {
    const std::size_t start = out_.size();
    out_.raw(json);
    return from(start);
  }
  Slice string(const std::optional<Text>& text) { return text ? string(text->view()) : Slice::absent(); }
  Slice fresh_id() {
    char id[kShortIdLength];
    encode_short_id(random_uuid(), id);
    return raw({id, sizeof id});
  }

  void text(std::string_view utf8) {
    BlockRecord& block = add(BlockType::Text);
    block.text() = string(utf8);
  }
  BlockRecord image(std::string_view base64) {
    BlockRecord block;
    block.type = BlockType::Image;
    // As in a message that is read: what is a data URL stays one.
    block.source = base64.starts_with("data:") ? SourceKind::Url : SourceKind::Base64;
    block.data() = string(base64);
    return block;
  }
  // A field that may be missing.
  Slice optional(const Text& text) { return text.empty() ? Slice::absent() : string(text.view()); }

  void tool_use(std::string_view id, std::string_view name, std::string_view arguments) {
    BlockRecord& block = add(BlockType::ToolUse);
    block.id() = string(id);
    block.name() = string(name);
    block.arguments() = string(arguments);
  }
  BlockRecord& add(BlockType type) {
    blocks_.emplace_back().type = type;
    return blocks_.back();
  }
  void add(const BlockRecord& block) { blocks_.push_back(block); }

  bool block(const Block& block, std::vector<BlockRecord>& into);
  bool block(const Block& each) { return block(each, blocks_); }
  // Puts the children of the last result in place.
  void children(BlockRecord& result, std::span<const BlockRecord> children) {
    result.is_list = true;
    result.children() = {static_cast<std::uint32_t>(children_.size()),
                         static_cast<std::uint32_t>(children.size())};
    children_.insert(children_.end(), children.begin(), children.end());
  }

  MessageRecord record;

  Message seal(bool timed = true) {
    record.block_count = static_cast<std::uint32_t>(blocks_.size());
    // A short text is copied to memory of its size; a long one takes its memory along.
    constexpr std::size_t kShort = 2048;
    json::Buffer buffer = out_.size() <= kShort ? json::Buffer::copy_of(out_.view()) : out_.take_buffer();
    auto arena = std::make_shared<Arena>(std::move(buffer), DialectTag{0});
    arena->seal({&record, 1}, blocks_, children_);
    timed ? arena->set_created(now_ms()) : arena->set_read(now_ms());
    return Arena::message(std::move(arena), 0);
  }

 private:
  Slice from(std::size_t start) const {
    return {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(out_.size() - start)};
  }
  explicit Loom(Scratch& scratch) : out_(scratch.out), blocks_(scratch.blocks), children_(scratch.children) {}
  void source(const MediaSource& source, BlockRecord& record);

  json::Out& out_;
  std::vector<BlockRecord>&blocks_, &children_;
};

void Loom::source(const MediaSource& source, BlockRecord& out) {
  if (const auto* inline_bytes = std::get_if<Base64Source>(&source)) {
    out.source = SourceKind::Base64;
    out.data() = string(inline_bytes->data.view());
    out.media_type() = optional(inline_bytes->media_type);
  } else {
    const auto& url = std::get<URLSource>(source);
    out.source = SourceKind::Url;
    out.data() = string(url.url.view());
    out.media_type() = optional(url.media_type);
  }
}

// Raw blocks, too: what a reader kept can be built again.
bool can_be_in_a_result(BlockType type) {
  return type != BlockType::ToolUse && type != BlockType::ToolResult && type != BlockType::Thinking;
}

// Appends the record of one block. False if a result holds what a result cannot hold.
bool Loom::block(const Block& block, std::vector<BlockRecord>& into) {
  BlockRecord out;
  out.type = block.type();
  out.cache = block.cache;
  bool good = true;
  if (const auto* text = block.as<TextBlock>()) {
    out.text() = string(text->text.view());
    out.is_refusal = text->is_refusal;
  } else if (const auto* thinking = block.as<ThinkingBlock>()) {
    out.text() = string(thinking->thinking.view());
    out.signature() = optional(thinking->signature);
    out.origin() = optional(thinking->origin);
  } else if (const auto* image = block.as<ImageBlock>()) {
    source(image->source, out);
  } else if (const auto* audio = block.as<AudioBlock>()) {
    source(audio->source, out);
  } else if (const auto* video = block.as<VideoBlock>()) {
    source(video->source, out);
  } else if (const auto* document = block.as<DocumentBlock>()) {
    source(document->source, out);
    out.media_name() = optional(document->name);
  } else if (const auto* use = block.as<ToolUseBlock>()) {
    out.id() = optional(use->id);
    out.name() = string(use->name.view());
    out.arguments() = string(use->arguments.view());
    out.is_custom = use->is_custom;
  } else if (const auto* result = block.as<ToolResultBlock>()) {
    out.id() = optional(result->id);
    out.name() = optional(result->name);
    if (result->is_error) out.is_error = *result->is_error ? Tristate::True : Tristate::False;
    out.is_custom = result->is_custom;
    if (std::holds_alternative<std::monostate>(result->output)) {
      out.output() = Slice::null();
    } else if (const auto* text_output = std::get_if<Text>(&result->output)) {
      out.output() = string(text_output->view());
    } else {
      std::vector<BlockRecord> children_here;
      for (const Block& child : std::get<std::vector<Block>>(result->output)) {
        good = good && can_be_in_a_result(child.type());
        good = good && this->block(child, children_here);
      }
      children(out, children_here);
    }
  } else {
    const auto& raw_block = *block.as<RawBlock>();
    out.raw_dialect() = string(raw_block.dialect.view());
    out.raw_value() = raw(raw_block.json.text());
  }
  into.push_back(out);
  return good;
}

bool only_results(std::span<const Block> blocks) {
  for (const Block& block : blocks) {
    if (block.type() != BlockType::ToolResult) return false;
  }
  return !blocks.empty();
}

// The common part of the factories: a message with text content (or none) and perhaps an image.
Loom begin(Role role, const std::optional<Text>& content, const std::optional<Text>& base64_image) {
  Loom loom((content ? content->size() : 0) + (base64_image ? base64_image->size() : 0) + 64);
  loom.record.role = loom.record.wire_role = role;
  loom.record.id = loom.fresh_id();
  loom.record.shape =
      content ? ContentShape::String : ContentShape::Absent;  // OpenManus' content is a string
  if (content) loom.text(content->view());
  if (base64_image) loom.add(loom.image(base64_image->view()));
  return loom;
}

Loom ask(std::span<const ToolCall> tool_calls, const std::optional<Text>& content,
         const std::optional<Text>& base64_image, const MessageFields& fields) {
  Loom loom = begin(Role::Assistant, content, base64_image);
  loom.record.name = loom.string(fields.name);
  if (fields.tool_call_id) {
    json::Writer metadata;
    metadata.begin_object().key(kToolCallId).string(*fields.tool_call_id).end_object();
    loom.record.metadata = loom.raw(metadata.view());
  }
  for (const ToolCall& call : tool_calls) loom.tool_use(call.id, call.function.name, call.function.arguments);
  if (tool_calls.empty()) loom.record.flags |= MessageRecord::kEmptyToolCalls;
  return loom;
}

}  // namespace

Message Message::user_message(const Text& content, const OptionalText& base64_image) {
  return begin(Role::User, content, base64_image).seal();
}

Message Message::system_message(const Text& content) { return begin(Role::System, content, {}).seal(); }

Message Message::assistant_message(const Text& content, const OptionalText& base64_image) {
  return begin(Role::Assistant, content, base64_image).seal();
}

Message Message::assistant_message(std::nullopt_t, const OptionalText& base64_image) {
  return begin(Role::Assistant, std::nullopt, base64_image).seal();
}

Message Message::tool_message(const Text& content, const Text& name, const Text& tool_call_id,
                              const OptionalText& base64_image) {
  Loom loom(content.size() + 128);
  loom.record.role = loom.record.wire_role = Role::Tool;
  loom.record.id = loom.fresh_id();
  loom.record.shape = ContentShape::String;
  BlockRecord result;
  result.type = BlockType::ToolResult;
  result.id() = loom.string(tool_call_id.view());
  result.name() = loom.record.name = loom.string(name.view());
  const Slice text = loom.string(content.view());
  if (base64_image) {
    BlockRecord text_block;
    text_block.type = BlockType::Text;
    text_block.text() = text;
    const BlockRecord children[] = {text_block, loom.image(base64_image->view())};
    loom.children(result, children);
  } else {
    result.output() = text;
  }
  loom.add(result);
  return loom.seal();
}

Message Message::from_tool_calls(std::initializer_list<ToolCall> tool_calls, const Text& content,
                                 const OptionalText& base64_image, const MessageFields& fields) {
  return from_tool_calls(std::span(tool_calls.begin(), tool_calls.size()), content, base64_image, fields);
}

Message Message::from_tool_calls(std::span<const ToolCall> tool_calls, const Text& content,
                                 const OptionalText& base64_image, const MessageFields& fields) {
  return ask(tool_calls, content, base64_image, fields).seal();
}

Message Message::from_tool_calls(std::span<const ToolCall> tool_calls, std::nullopt_t,
                                 const OptionalText& base64_image, const MessageFields& fields) {
  return ask(tool_calls, std::nullopt, base64_image, fields).seal();
}

Message Message::detach() const {
  const Slice wire = Arena::record_of(*this).wire;
  const bool saves_little = !wire.present() || wire.length >= arena_->buffer().size() / 2;
  return saves_little ? *this : with_words(*this, {});
}

Message with_words(const Message& message, const SayRaw& say) {
  const Arena& own = Arena::of(message);
  const MessageRecord& from = Arena::record_of(message);
  // The message's own bytes move to a buffer that starts where its wire did. What a reader took from
  // elsewhere in the document, or made up, goes after the wire.
  const Slice wire =
      from.wire.present() ? from.wire : Slice{0, static_cast<std::uint32_t>(own.buffer().size())};
  std::string minted;
  const auto moved = [&](Slice slice) {
    if (!slice.present()) return slice;
    if (slice.offset >= wire.offset && slice.end() <= wire.end())
      return Slice{slice.offset - wire.offset, slice.length};
    const Slice copy = {static_cast<std::uint32_t>(wire.length + minted.size()), slice.length};
    minted += own.bytes(slice);
    return copy;
  };
  MessageRecord record = from;
  for (Slice* slice :
       {&record.wire, &record.id, &record.name, &record.timestamp, &record.metadata, &record.invocation_id}) {
    *slice = moved(*slice);
  }
  record.first_block = 0;
  std::vector<BlockRecord> blocks;
  std::vector<BlockRecord> children;
  const auto moved_block = [&](BlockRecord block, std::size_t index) {
    if (const auto words = say && block.type == BlockType::Raw ? say(block, index) : std::nullopt) {
      BlockRecord text;
      text.type = BlockType::Text;
      text.text() = {static_cast<std::uint32_t>(wire.length + minted.size()),
                     static_cast<std::uint32_t>(words->size())};
      minted += *words;
      return text;
    }
    block.wire = moved(block.wire);
    const std::size_t slots = block.is_list ? 3 : 4;  // the last slot of a list counts its children
    for (std::size_t i = 0; i < slots; ++i) block.slots[i] = moved(block.slots[i]);
    return block;
  };
  for (const BlockRecord& block : own.blocks(from)) {
    const std::size_t index = blocks.size();
    BlockRecord copy = moved_block(block, index);
    if (block.is_list) copy.children().offset = static_cast<std::uint32_t>(children.size());
    for (const BlockRecord& child : own.children(block)) children.push_back(moved_block(child, index));
    blocks.push_back(copy);
  }
  auto arena = std::make_shared<Arena>(json::Buffer::copy_of(own.bytes(wire)), own.dialect());
  arena->seal({&record, 1}, blocks, children);
  if (!minted.empty()) arena->set_minted(json::Buffer::copy_of(minted));
  if (from.wire.present()) arena->set_frame(DocumentShape::Single, record.wire, record.wire);
  if (own.created_ms() >= 0) arena->set_created(own.created_ms());
  arena->set_read(own.read_ms());
  arena->set_dialect_name(own.dialect_name());
  return Arena::message(std::move(arena), 0);
}

Result<MessageBuilder> MessageBuilder::with_role(std::string_view role) {
  const std::optional<Role> known = role_named(role);
  if (!known) {
    return fail(Code::UnknownRole,
                "unknown role '" + Text(role.substr(0, 64)).str() +
                    "': expected system, user, assistant, tool or developer",
                "/role");
  }
  return MessageBuilder(*known);
}

MessageBuilder MessageBuilder::like(const Message& message) {
  MessageBuilder builder(message.role());
  builder.anonymous();
  builder.wire_role_ = message.wire_role();
  builder.id_ = message.id();
  builder.name_ = message.name();
  builder.timestamp_ = message.timestamp();
  builder.invocation_id_ = message.invocation_id();
  builder.metadata_ = message.metadata();
  builder.shape_ = message.content_shape();
  builder.blocks_ = message.blocks();
  builder.continues_ = message.continues_step();
  builder.no_tool_calls_ = Arena::record_of(message).has(MessageRecord::kEmptyToolCalls);
  return builder;
}

MessageBuilder& MessageBuilder::anonymous() {
  mints_ = false;
  return *this;
}
MessageBuilder& MessageBuilder::id(Text id) {
  id_ = std::move(id);
  return *this;
}
MessageBuilder& MessageBuilder::name(Text name) {
  name_ = std::move(name);
  return *this;
}
MessageBuilder& MessageBuilder::timestamp(Text timestamp) {
  timestamp_ = std::move(timestamp);
  return *this;
}
MessageBuilder& MessageBuilder::invocation_id(Text invocation_id) {
  invocation_id_ = std::move(invocation_id);
  return *this;
}
MessageBuilder& MessageBuilder::metadata(Json object) {
  metadata_ = std::move(object);
  return *this;
}
MessageBuilder& MessageBuilder::wire_role(Role role) {
  wire_role_ = role;
  return *this;
}
MessageBuilder& MessageBuilder::continues_step(bool continues) {
  continues_ = continues;
  return *this;
}
MessageBuilder& MessageBuilder::content(Text text) {
  blocks_.clear();
  blocks_.push_back(TextBlock{std::move(text)});
  shape_ = ContentShape::String;
  return *this;
}
MessageBuilder& MessageBuilder::null_content() {
  blocks_.clear();
  shape_ = ContentShape::Null;
  return *this;
}
MessageBuilder& MessageBuilder::blocks(std::vector<Block> blocks) {
  blocks_ = std::move(blocks);
  shape_ = ContentShape::Blocks;
  return *this;
}
MessageBuilder& MessageBuilder::text(Text text) { return block(TextBlock{std::move(text)}); }

MessageBuilder& MessageBuilder::same_shape(std::vector<Block> blocks) {
  blocks_ = std::move(blocks);
  return *this;
}
MessageBuilder& MessageBuilder::block(Block block) {
  if (shape_ != ContentShape::Blocks) blocks_.clear();
  blocks_.push_back(std::move(block));
  shape_ = ContentShape::Blocks;
  return *this;
}

Result<Message> MessageBuilder::build() const {
  if (metadata_ && !metadata_->is_object() && !metadata_->is_null()) {
    return fail(Code::Invalid, "metadata must be an object or null", "/metadata");
  }
  Loom loom(256);
  loom.record.role = only_results(blocks_) ? Role::Tool : role_;
  loom.record.wire_role = wire_role_;
  loom.record.id = id_ || !mints_ ? loom.string(id_) : loom.fresh_id();
  loom.record.name = loom.string(name_);
  loom.record.timestamp = loom.string(timestamp_);
  loom.record.invocation_id = loom.string(invocation_id_);
  if (metadata_) loom.record.metadata = metadata_->is_null() ? Slice::null() : loom.raw(metadata_->text());
  loom.record.shape = shape_;
  if (continues_) loom.record.flags |= MessageRecord::kContinues;
  if (no_tool_calls_) loom.record.flags |= MessageRecord::kEmptyToolCalls;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!loom.block(blocks_[i])) {
      return fail(Code::Invalid, "a tool result can hold text and media only",
                  "/content/" + std::to_string(i));
    }
  }
  return loom.seal(mints_);
}

}  // namespace parley
