// AgentScope 2 messages (its message/_base.py and _block.py):
//
//   {"name": string, "content": [block], "role": "user"|"assistant"|"system", "id": string,
//    "metadata": object, "created_at": string, ...}
//
// Blocks: text, thinking, data (any media, by media type), tool_call (arguments as text), tool_result (with
// a state), hint. Results live in the assistant message of their calls, so messages that hold only
// results are joined to it on writing. Version 1 documents are refused; their dialect is agentscope.
#include <array>

#include "dialect/agentscope2/parts.h"
#include "dialect/core/timestamp.h"
#include "dialect/core/writer_helpers.h"
#include "dialect/format.h"
#include "json/walk.h"
#include "parley/base/clock.h"

namespace parley::dialect {
namespace {

constexpr std::array kRoles = {Role::User, Role::Assistant, Role::System};
constexpr std::string_view kToldNulls[] = {"content", "metadata"};

constexpr auto kText = std::to_array<MemberRule>({{"text", Want::String, 0}});
constexpr auto kThinking =
    std::to_array<MemberRule>({{"thinking", Want::String, 0}, {"signature", Want::StringOrNull, 1}});
constexpr auto kData = std::to_array<MemberRule>({{"source", Want::Source}, {"name", Want::StringOrNull, 2}});
constexpr auto kToolCall = std::to_array<MemberRule>(
    {{"id", Want::String, 0}, {"name", Want::String, 1}, {"input", Want::Arguments, 2}});
constexpr auto kToolResult = std::to_array<MemberRule>({{"id", Want::String, 0},
                                                        {"name", Want::StringOrNull, 1},
                                                        {"output", Want::Output},
                                                        {"state", Want::ErrorState}});
constexpr auto kBlocks = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"thinking", BlockType::Thinking, kThinking},
    {"data", BlockType::Image, kData},
    {"tool_call", BlockType::ToolUse, kToolCall},
    {"tool_result", BlockType::ToolResult, kToolResult},
});
constexpr auto kVersion1Types = std::to_array<std::string_view>({"tool_use", "image", "audio", "video"});
constexpr BlockTable kTable = {kBlocks, kVersion1Types, "", "agentscope", true};

bool read_message(Reader& r) {
  MessageRecord message;
  bool has_role = false;
  bool has_content = false;
  Slice old_timestamp;
  const std::uint32_t start = r.cursor.offset();
  r.begin_message();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "id") return r.string(message.id, key);
    if (key == "name") return r.string(message.name, key);
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "content") {
      if (r.cursor.peek() == '"') {
        return r.cursor.fail(
            Code::WrongDialect, r.cursor.position(),
            "content is a list in this dialect; a string belongs to the dialect 'agentscope'");
      }
      return has_content = r.content(message, kTable, false);
    }
    if (key == "metadata") return r.object_or_null(message.metadata, key);
    if (key == "created_at") return r.string(message.timestamp, key);
    if (key == "timestamp") {
      r.more();
      return r.cursor.skip(old_timestamp);
    }
    return r.unknown();
  });
  if (!good) return false;
  if (old_timestamp.present() && message.timestamp.is_absent()) {
    return r.cursor.fail(Code::WrongDialect, r.cursor.position() - (r.cursor.offset() - old_timestamp.offset),
                         "a message with this member belongs to the dialect 'agentscope'");
  }
  if (!has_role) return r.missing(start, "role");
  if (!message.name.present()) return r.missing(start, "name");
  if (!has_content) return r.missing(start, "content");
  r.end_message(message, start);
  return true;
}

// A message of results that some other wire kept apart from its calls.
bool joins_the_one_before(const Message& message) {
  return message.role() == Role::Tool && message.wire_role() != Role::Assistant;
}

std::size_t group(std::span<const Message> rest) {
  std::size_t size = 1;
  if (rest.front().role() != Role::Assistant) return size;
  size = group_step(rest);
  while (size < rest.size() && joins_the_one_before(rest[size])) ++size;
  return size;
}

bool holds_results(const Message& message) {
  for (const BlockRecord& block : Arena::of(message).blocks(Arena::record_of(message))) {
    if (block.type == BlockType::ToolResult) return true;
  }
  return false;
}

constexpr std::array<std::string_view, 3> kMinted = {"name", "id", "created_at"};

class Writer {
 public:
  Writer(Draft& draft, std::span<const Message> messages)
      : draft_(draft),
        out_(draft.next()),
        messages_(messages),
        arena_(&Arena::of(messages.front())),
        record_(&Arena::record_of(messages.front())) {
    for (const Message& message : messages) has_results_ = has_results_ || holds_results(message);
  }

  void write() {
    std::size_t minted = 0;  // of kMinted
    out_.raw("{\"name\":");
    const bool is_the_tools = record_->wire_role == Role::Tool && names_its_tool(*arena_, *record_);
    if (record_->name.present() && !is_the_tools) {
      out_.quoted(arena_->bytes(record_->name));
    } else {
      minted |= 1;
      out_.quoted(role());
    }
    out_.raw(",\"content\":");
    content();
    out_.raw(",\"role\":").quoted(role());
    if (record_->role == Role::Developer) {
      draft_.note("role_mapped", Severity::Info, "mapped", "the role developer is written as system");
    }
    out_.raw(",\"id\":");
    if (record_->id.present()) {
      out_.quoted(arena_->bytes(record_->id));
    } else {
      minted |= 2;
      put_minted_id(out_, *arena_, *record_, draft_.position);
    }
    out_.raw(",\"metadata\":");
    if (record_->metadata.present()) {
      put_value(out_, *arena_, record_->metadata);
    } else {
      out_.raw("{}");
      if (record_->metadata.is_null()) {
        draft_.note("null_dropped", Severity::Info, "dropped",
                    "members that are null are left out: /metadata");
      }
    }
    out_.raw(",\"created_at\":");
    if (record_->timestamp.present()) {
      put_timestamp(draft_, arena_->bytes(record_->timestamp), TimeStyle::Iso);
    } else if (arena_->created_ms() >= 0) {
      out_.quoted(respelled(local_timestamp(arena_->created_ms()), TimeStyle::Iso));
    } else {
      minted |= 4;
      out_.quoted(respelled(local_timestamp(arena_->read_ms()), TimeStyle::Iso));
    }
    out_.raw('}');
    if (record_->invocation_id.present()) {
      draft_.note("identity_dropped", Severity::Minor, "dropped", "there is no place for: invocation_id");
    }
    static const NameSentences sentences(kMintedLead, kMinted);
    if (minted != 0) draft_.note("minted", Severity::Info, "minted", sentences[minted]);
  }

 private:
  std::string_view role() const {
    if (record_->role == Role::User) return "user";
    // Results that stand alone were the assistant's.
    if (record_->role == Role::Assistant || record_->role == Role::Tool) return "assistant";
    return "system";
  }

  void content() {
    out_.raw('[');
    const std::size_t first = out_.size();
    const std::size_t position = draft_.position;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      arena_ = &Arena::of(messages_[i]);
      record_ = &Arena::record_of(messages_[i]);
      draft_.position = position + i;
      if (i != 0) {
        draft_.note("result_joined", Severity::Info, "joined",
                    "the results are in the message of their calls");
        note_identity(draft_, *arena_, *record_, loses_name(*arena_, *record_));
      }
      if (record_->has(MessageRecord::kEmptyToolCalls)) note_empty_tool_calls(draft_);
      const auto blocks = arena_->blocks(*record_);
      for (std::size_t k = 0; k < blocks.size(); ++k) block(blocks[k], k, first);
    }
    draft_.position = position;
    arena_ = &Arena::of(messages_.front());
    record_ = &Arena::record_of(messages_.front());
    out_.raw(']');
  }

  void block(const BlockRecord& block, std::size_t index, std::size_t first) {
    const auto comma = [&]() -> json::Out& { return out_.size() == first ? out_ : out_.raw(','); };
    const auto member = [&](std::string_view key, Slice slot) {
      if (!slot.is_absent()) put_string(out_.raw(key), *arena_, slot);
    };
    switch (block.type) {
      case BlockType::Text:
        comma().raw("{\"type\":\"text\"");
        member(",\"text\":", block.text());
        out_.raw('}');
        return;
      case BlockType::Thinking:
        comma().raw("{\"type\":\"thinking\"");
        member(",\"thinking\":", block.text());
        member(",\"signature\":", block.signature());
        out_.raw('}');
        if (block.origin().present()) note_origin(draft_, index);
        return;
      case BlockType::Image:
      case BlockType::Audio:
      case BlockType::Video:
      case BlockType::Document:
        media(block, index, comma());
        return;
      case BlockType::ToolUse:
        comma().raw("{\"type\":\"tool_call\"");
        member(",\"id\":", block.id());
        member(",\"name\":", block.name());
        out_.raw(",\"input\":\"");
        put_arguments_text(draft_, *arena_, block);
        // Without a state a call that has its result would count as pending and be run again.
        out_.raw(has_results_ ? "\",\"state\":\"finished\"}" : "\"}");
        return;
      case BlockType::ToolResult:
        result(block, index, comma());
        return;
      case BlockType::Raw:
        break;
    }
    if (raw_belongs_to(*arena_, block, Dialect::AgentScope2)) {
      put_value(comma(), *arena_, block.raw_value());
    } else {
      note_dropped_block(draft_, *arena_, block, index);
    }
  }

  // The media type is all that says whether media are an image, audio, video or a document.
  void note_kind(const BlockRecord& block, std::string_view media_type, std::size_t index) {
    if (type_of_media(json::unescaped(Text::trusted(nullptr, media_type))) == block.type) return;
    draft_.note("media_kind_changed", Severity::Minor, "mapped",
                "the media are what their media type says, not what the block was", index);
  }

  void media(const BlockRecord& block, std::size_t index, json::Out& out) {
    out.raw("{\"type\":\"data\",\"source\":");
    if (is_inline(*arena_, block)) {
      const InlineMedia media = inline_media(draft_, *arena_, block, index);
      out.raw("{\"type\":\"base64\",\"data\":").quoted(media.data);
      out.raw(",\"media_type\":").quoted(media.media_type).raw('}');
      note_kind(block, media.media_type, index);
    } else {
      out.raw("{\"type\":\"url\",\"url\":");
      put_string(out, *arena_, block.data());
      const std::string_view media_type = url_media_type(draft_, *arena_, block, index);
      out.raw(",\"media_type\":").quoted(media_type).raw('}');
      note_kind(block, media_type, index);
    }
    if (block.media_name().present()) put_string(out.raw(",\"name\":"), *arena_, block.media_name());
    out.raw('}');
  }

  void result(const BlockRecord& block, std::size_t index, json::Out& out) {
    out.raw("{\"type\":\"tool_result\"");
    if (!block.id().is_absent()) put_string(out.raw(",\"id\":"), *arena_, block.id());
    if (!block.name().is_absent()) put_string(out.raw(",\"name\":"), *arena_, block.name());
    out.raw(",\"output\":");
    if (block.is_list) {
      out.raw('[');
      const std::size_t first = out.size();
      for (const BlockRecord& child : arena_->children(block)) this->block(child, index, first);
      out.raw(']');
    } else {
      out.quoted(block.output().present() ? arena_->bytes(block.output()) : std::string_view());
      if (!block.output().present()) note_output_minted(draft_, index);
    }
    out.raw(",\"state\":").quoted(block.is_error == Tristate::True ? "error" : "success").raw('}');
  }

  Draft& draft_;
  json::Out& out_;
  std::span<const Message> messages_;
  const Arena* arena_;
  const MessageRecord* record_;
  bool has_results_ = false;
};

void write_group(Draft& draft, std::span<const Message> messages) { Writer(draft, messages).write(); }

constexpr Sign kSigns[] = {
    {.of = SignOf::Message, .rank = 80, .member = "created_at", .without = "timestamp"},
    {.of = SignOf::Block, .rank = 30, .member = "type", .value = "tool_call"},
    {.of = SignOf::Block, .rank = 30, .member = "type", .value = "data"},
    {.of = SignOf::Block, .rank = 30, .member = "type", .value = "hint"},
    {.of = SignOf::Block, .rank = 30, .member = "created_at"},
};

}  // namespace

extern const Format kAgentScope2 = {
    .info = {Dialect::AgentScope2, "agentscope2", "AgentScope 2 Msg",
             "text, thinking, image, audio, video, document, tool use, tool result",
             "a list, one message, {\"messages\": [...]}"},
    .read_message = read_message,
    .group = group,
    .write_group = write_group,
    .joins = true,
    .is_plain = true,
    .signs = kSigns,
    .check_rules = rules::check_agentscope2,
};

}  // namespace parley::dialect
