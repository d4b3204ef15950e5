// AgentScope 1.x messages (its src/agentscope/message):
//
//   {"id": string|null, "name": string, "role": "user"|"assistant"|"system", "content": string|[block],
//    "metadata": object|null, "timestamp": string, "invocation_id": string}
//
// Written in that order, invocation_id only if there is one (the original reads it and never writes it).
// Blocks: text, thinking (+ signature), image, audio, video, tool_use (+ raw_input), tool_result. Version 2
// documents are refused; their dialect is agentscope2.
#include <array>

#include "dialect/agentscope/message_writer.h"
#include "dialect/agentscope/parts.h"
#include "dialect/core/names.h"
#include "dialect/core/write_blocks.h"
#include "dialect/core/write_messages.h"
#include "dialect/format.h"

namespace parley::dialect {
namespace {

constexpr std::array kRoles = {Role::User, Role::Assistant, Role::System};
constexpr std::string_view kToldNulls[] = {"id", "content", "metadata", "timestamp", "invocation_id"};

constexpr auto kText = std::to_array<MemberRule>({{"text", Want::String, 0}});
constexpr auto kThinking =
    std::to_array<MemberRule>({{"thinking", Want::String, 0}, {"signature", Want::StringOrNull, 1}});
constexpr auto kMedia = std::to_array<MemberRule>({{"source", Want::Source}});
constexpr auto kToolUse = std::to_array<MemberRule>({{"id", Want::StringOrNull, 0},
                                                     {"name", Want::String, 1},
                                                     {"input", Want::Object, 3},
                                                     {"raw_input", Want::StringOrNull, 2}});
constexpr auto kToolResult = std::to_array<MemberRule>(
    {{"id", Want::StringOrNull, 0}, {"name", Want::StringOrNull, 1}, {"output", Want::Output}});

constexpr auto kBlocks = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"thinking", BlockType::Thinking, kThinking},
    {"image", BlockType::Image, kMedia},
    {"audio", BlockType::Audio, kMedia},
    {"video", BlockType::Video, kMedia},
    {"tool_use", BlockType::ToolUse, kToolUse},
    {"tool_result", BlockType::ToolResult, kToolResult},
});
constexpr auto kVersion2Types = std::to_array<std::string_view>({"tool_call", "data", "hint"});
constexpr BlockTable kTable = {kBlocks, kVersion2Types, "created_at", "agentscope2"};

bool read_message(Reader& r) {
  MessageRecord message;
  bool has_role = false;
  bool has_content = false;
  Slice created_at;
  const std::uint32_t start = r.cursor.offset();
  r.begin_message();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "id") return r.string_or_null(message.id, key);
    if (key == "name") return r.string(message.name, key);
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "content") return has_content = r.content(message, kTable);
    if (key == "metadata") return r.object_or_null(message.metadata, key);
    if (key == "timestamp") return r.string_or_null(message.timestamp, key);
    if (key == "invocation_id") return r.string_or_null(message.invocation_id, key);
    if (key == "created_at") {
      r.more();
      return r.cursor.skip(created_at);
    }
    return r.unknown();
  });
  if (!good) return false;
  if (created_at.present() && message.timestamp.is_absent()) {
    return r.cursor.fail(Code::WrongDialect, r.cursor.position() - (r.cursor.offset() - created_at.offset),
                         "a message with this member belongs to the dialect 'agentscope2'");
  }
  if (!has_role) return r.missing(start, "role");
  if (!message.name.present()) return r.missing(start, "name");
  if (!has_content) return r.missing(start, "content");
  r.end_message(message, start);
  return true;
}

constexpr std::array<std::string_view, 3> kMinted = {"id", "name", "timestamp"};

class Writer final : agentscope::MessageWriter {
 public:
  Writer(Draft& draft, const Message& message) : MessageWriter(draft, message) {}

  void write() {
    std::size_t minted = 0;  // of kMinted
    out_.raw("{\"id\":");
    if (record_->id.is_absent()) {
      minted |= 1;
      put_minted_id(out_, *arena_, *record_, draft_.position);
    } else {
      put_string(out_, *arena_, record_->id);
    }
    out_.raw(",\"name\":");
    if (put_name(role())) minted |= 2;
    put_role(role());
    out_.raw(",\"content\":");
    put_content();
    out_.raw(",\"metadata\":");
    if (record_->metadata.present()) {
      put_value(out_, *arena_, record_->metadata);
    } else {
      out_.raw(record_->metadata.is_null() ? "null" : "{}");
    }
    out_.raw(",\"timestamp\":");
    if (put_time(agentscope::TimeStyle::Spaced)) minted |= 4;
    if (record_->invocation_id.present()) put_member(",\"invocation_id\":", record_->invocation_id);
    out_.raw('}');
    static const NameSentences sentences(kMintedLead, kMinted);
    if (minted != 0) draft_.note("minted", Severity::Info, "minted", sentences[minted]);
  }

 private:
  std::string_view role() const {
    switch (record_->role) {
      case Role::User:
        return "user";
      case Role::Assistant:
        return "assistant";
      case Role::Tool:  // AgentScope puts results into a system message, unless the wire put them elsewhere
        if (record_->wire_role == Role::User || record_->wire_role == Role::Assistant) {
          return to_string(record_->wire_role);
        }
        return "system";
      default:
        return "system";
    }
  }

  void put_content() {
    if (record_->has(MessageRecord::kEmptyToolCalls)) note_empty_tool_calls(draft_);
    const auto blocks = arena_->blocks(*record_);
    const bool is_string = record_->shape == ContentShape::String && blocks.size() == 1 &&
                           blocks.front().type == BlockType::Text && blocks.front().text().present();
    if (is_string) {
      out_.quoted(arena_->bytes(blocks.front().text()));
      return;
    }
    if (blocks.empty() && record_->shape != ContentShape::Blocks) {
      draft_.note("content_minted", Severity::Info, "minted", "a message without content gets an empty list");
    }
    out_.raw('[');
    const std::size_t first = out_.size();
    for (std::size_t i = 0; i < blocks.size(); ++i) put_block(blocks[i], i, first);
    out_.raw(']');
  }

  void put_media(const BlockRecord& block, std::size_t index) override {
    if (block.type == BlockType::Document) {
      put_no_document(block, index);
      return;
    }
    out_.raw("{\"type\":").quoted(to_string(block.type)).raw(",\"source\":");
    if (block.media_name().present()) note_media_name(draft_, index);
    if (is_inline(*arena_, block)) {
      const InlineMedia media = inline_media(draft_, *arena_, block, index);
      out_.raw("{\"type\":\"base64\",\"media_type\":").quoted(media.media_type);
      out_.raw(",\"data\":").quoted(media.data).raw("}}");
      return;
    }
    const bool is_url = block.source == SourceKind::Url;
    out_.raw(is_url ? "{\"type\":\"url\"" : "{\"type\":\"base64\"");
    if (is_url && block.data().present()) put_member(",\"url\":", block.data());
    if (block.media_type().present()) put_member(",\"media_type\":", block.media_type());
    out_.raw("}}");
  }

  void put_no_document(const BlockRecord& block, std::size_t index) {
    out_.raw("{\"type\":\"text\",\"text\":\"[document");
    if (block.media_name().present()) out_.raw(' ').raw(arena_->bytes(block.media_name()));
    out_.raw(" omitted]\"}");
    draft_.note("document_dropped", Severity::Major, "replaced", "a text stands where the document was",
                index);
  }

  void put_call(const BlockRecord& block, std::size_t index) override {
    begin_call("{\"type\":\"tool_use\"", block);
    out_.raw(',');
    put_input_object(draft_, *arena_, block, index);
    out_.raw('}');
  }

  void put_result(const BlockRecord& block, std::size_t index) override {
    begin_call("{\"type\":\"tool_result\"", block);
    out_.raw(",\"output\":");
    const auto children = arena_->children(block);
    std::string_view prefix;
    if (block.is_error == Tristate::True) {
      std::vector<std::string_view> texts;
      if (block.output().present()) texts.push_back(arena_->bytes(block.output()));
      for (const BlockRecord& child : children) {
        if (child.type == BlockType::Text && child.text().present())
          texts.push_back(arena_->bytes(child.text()));
      }
      prefix = error_prefix(draft_, texts, index);
    }
    if (!block.is_list) {
      const std::string_view text =
          block.output().present() ? arena_->bytes(block.output()) : std::string_view();
      if (block.output().is_null() && prefix.empty()) {
        out_.raw("null}");
      } else {
        if (block.output().is_absent()) note_output_minted(draft_, index);
        out_.raw('"').raw(prefix).raw(text).raw("\"}");
      }
      return;
    }
    out_.raw('[');
    const std::size_t first = out_.size();
    if (!prefix.empty()) out_.raw("{\"type\":\"text\",\"text\":\"").raw(prefix).raw("\"}");
    for (const BlockRecord& child : children) put_block(child, index, first);
    out_.raw("]}");
  }
};

void write_group(Draft& draft, std::span<const Message> group) {
  const Message whole = joined_step(draft, group);
  Writer(draft, whole).write();
}

constexpr Sign kSigns[] = {
    {.of = SignOf::Rest, .rank = 10, .member = "name"},
};

}  // namespace

extern const Format kAgentScope = {
    .info = {Dialect::AgentScope, "agentscope", "AgentScope 1.x Msg",
             "text, thinking, image, audio, video, tool use, tool result",
             "a list, one message, {\"messages\": [...]}"},
    .read_message = read_message,
    .group = group_step,
    .write_group = write_group,
    .is_plain = true,
    .has_documents = false,
    .signs = kSigns,
    .check_rules = rules::check_agentscope,
};

}  // namespace parley::dialect
