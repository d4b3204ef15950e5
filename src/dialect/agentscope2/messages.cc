// AgentScope 2 messages (its message/_base.py and _block.py):
//
//   {"name": string, "content": [block], "role": "user"|"assistant"|"system", "id": string,
//    "metadata": object, "created_at": string, ...}
//
// Blocks: text, thinking, data (any media, by media type), tool_call (arguments as text), tool_result (with
// a state), hint. Results live in the assistant message of their calls, so messages that hold only
// results are joined to it on writing. Version 1 documents are refused; their dialect is agentscope.
#include <algorithm>
#include <array>

#include "dialect/agentscope/message_writer.h"
#include "dialect/agentscope2/parts.h"
#include "dialect/core/names.h"
#include "dialect/core/write_blocks.h"
#include "dialect/core/write_messages.h"
#include "dialect/format.h"
#include "json/walk.h"

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

bool holds_results(const Message& message) { return message.has_content_blocks({BlockType::ToolResult}); }

constexpr std::array<std::string_view, 3> kMinted = {"name", "id", "created_at"};

class Writer final : agentscope::MessageWriter {
 public:
  Writer(Draft& draft, std::span<const Message> messages)
      : MessageWriter(draft, messages.front()),
        messages_(messages),
        has_results_(std::ranges::any_of(messages, holds_results)) {}

  void write() {
    std::size_t minted = 0;  // of kMinted
    out_.raw("{\"name\":");
    if (put_name(role())) minted |= 1;
    out_.raw(",\"content\":");
    put_content();
    put_role(role());
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
    if (put_time(agentscope::TimeStyle::Iso)) minted |= 4;
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

  void put_content() {
    out_.raw('[');
    const std::size_t first = out_.size();
    const std::size_t position = draft_.position;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      turn_to(messages_[i]);
      draft_.position = position + i;
      if (i != 0) {
        draft_.note("result_joined", Severity::Info, "joined",
                    "the results are in the message of their calls");
        note_identity(draft_, *arena_, *record_, loses_name(*arena_, *record_));
      }
      if (record_->has(MessageRecord::kEmptyToolCalls)) note_empty_tool_calls(draft_);
      const auto blocks = arena_->blocks(*record_);
      for (std::size_t k = 0; k < blocks.size(); ++k) put_block(blocks[k], k, first);
    }
    draft_.position = position;
    turn_to(messages_.front());
    out_.raw(']');
  }

  // The media type is all that says whether media are an image, audio, video or a document.
  void note_kind(const BlockRecord& block, std::string_view media_type, std::size_t index) {
    if (type_of_media(json::unescaped(Text::trusted(nullptr, media_type))) == block.type) return;
    draft_.note("media_kind_changed", Severity::Minor, "mapped",
                "the media are what their media type says, not what the block was", index);
  }

  void put_media(const BlockRecord& block, std::size_t index) override {
    out_.raw("{\"type\":\"data\",\"source\":");
    if (is_inline(*arena_, block)) {
      const InlineMedia media = inline_media(draft_, *arena_, block, index);
      out_.raw("{\"type\":\"base64\",\"data\":").quoted(media.data);
      out_.raw(",\"media_type\":").quoted(media.media_type).raw('}');
      note_kind(block, media.media_type, index);
    } else {
      out_.raw("{\"type\":\"url\",\"url\":");
      put_string(out_, *arena_, block.data());
      const std::string_view media_type = url_media_type(draft_, *arena_, block, index);
      out_.raw(",\"media_type\":").quoted(media_type).raw('}');
      note_kind(block, media_type, index);
    }
    if (block.media_name().present()) put_member(",\"name\":", block.media_name());
    out_.raw('}');
  }

  void put_call(const BlockRecord& block, std::size_t) override {
    begin_call("{\"type\":\"tool_call\"", block);
    out_.raw(",\"input\":\"");
    put_arguments_text(draft_, *arena_, block);
    // Without a state a call that has its result would count as pending and be run again.
    out_.raw(has_results_ ? "\",\"state\":\"finished\"}" : "\"}");
  }

  void put_result(const BlockRecord& block, std::size_t index) override {
    begin_call("{\"type\":\"tool_result\"", block);
    out_.raw(",\"output\":");
    if (block.is_list) {
      out_.raw('[');
      const std::size_t first = out_.size();
      for (const BlockRecord& child : arena_->children(block)) put_block(child, index, first);
      out_.raw(']');
    } else {
      out_.quoted(block.output().present() ? arena_->bytes(block.output()) : std::string_view());
      if (!block.output().present()) note_output_minted(draft_, index);
    }
    out_.raw(",\"state\":").quoted(block.is_error == Tristate::True ? "error" : "success").raw('}');
  }

  std::span<const Message> messages_;
  bool has_results_;
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
