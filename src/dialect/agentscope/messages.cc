// AgentScope 1.x messages (its src/agentscope/message):
//
//   {"id": string|null, "name": string, "role": "user"|"assistant"|"system", "content": string|[block],
//    "metadata": object|null, "timestamp": string, "invocation_id": string}
//
// Written in that order, invocation_id only if there is one (the original reads it and never writes it).
// Blocks: text, thinking (+ signature), image, audio, video, tool_use (+ raw_input), tool_result. Version 2
// documents are refused; their dialect is agentscope2.
#include <array>

#include "dialect/agentscope/parts.h"
#include "dialect/core/timestamp.h"
#include "dialect/core/writer_helpers.h"
#include "dialect/format.h"
#include "parley/base/clock.h"

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

class Writer {
 public:
  Writer(Draft& draft, const Message& message)
      : draft_(draft), out_(draft.next()), arena_(Arena::of(message)), record_(Arena::record_of(message)) {}

  void write() {
    std::size_t minted = 0;  // of kMinted
    out_.raw("{\"id\":");
    if (record_.id.is_absent()) {
      minted |= 1;
      put_minted_id(out_, arena_, record_, draft_.position);
    } else {
      put_string(out_, arena_, record_.id);
    }
    out_.raw(",\"name\":");
    // The name of an OpenManus tool message is the tool's, which the result carries.
    const bool is_the_tools = record_.wire_role == Role::Tool && names_its_tool(arena_, record_);
    if (record_.name.present() && !is_the_tools) {
      out_.quoted(arena_.bytes(record_.name));
    } else {
      minted |= 2;
      out_.quoted(role());
    }
    out_.raw(",\"role\":").quoted(role());
    if (record_.role == Role::Developer) {
      draft_.note("role_mapped", Severity::Info, "mapped", "the role developer is written as system");
    }
    out_.raw(",\"content\":");
    content();
    out_.raw(",\"metadata\":");
    if (record_.metadata.present()) {
      put_value(out_, arena_, record_.metadata);
    } else {
      out_.raw(record_.metadata.is_null() ? "null" : "{}");
    }
    out_.raw(",\"timestamp\":");
    if (record_.timestamp.present()) {
      put_timestamp(draft_, arena_.bytes(record_.timestamp), TimeStyle::Spaced);
    } else if (arena_.created_ms() >= 0) {
      out_.quoted(local_timestamp(arena_.created_ms()));
    } else {
      minted |= 4;
      out_.quoted(local_timestamp(arena_.read_ms()));
    }
    if (record_.invocation_id.present())
      out_.raw(",\"invocation_id\":").quoted(arena_.bytes(record_.invocation_id));
    out_.raw('}');
    static const NameSentences sentences(kMintedLead, kMinted);
    if (minted != 0) draft_.note("minted", Severity::Info, "minted", sentences[minted]);
  }

 private:
  std::string_view role() const {
    switch (record_.role) {
      case Role::User:
        return "user";
      case Role::Assistant:
        return "assistant";
      case Role::Tool:  // AgentScope puts results into a system message, unless the wire put them elsewhere
        if (record_.wire_role == Role::User || record_.wire_role == Role::Assistant) {
          return to_string(record_.wire_role);
        }
        return "system";
      default:
        return "system";
    }
  }

  void content() {
    if (record_.has(MessageRecord::kEmptyToolCalls)) note_empty_tool_calls(draft_);
    const auto blocks = arena_.blocks(record_);
    const bool is_string = record_.shape == ContentShape::String && blocks.size() == 1 &&
                           blocks.front().type == BlockType::Text && blocks.front().text().present();
    if (is_string) {
      out_.quoted(arena_.bytes(blocks.front().text()));
      return;
    }
    if (blocks.empty() && record_.shape != ContentShape::Blocks) {
      draft_.note("content_minted", Severity::Info, "minted", "a message without content gets an empty list");
    }
    out_.raw('[');
    const std::size_t first = out_.size();
    for (std::size_t i = 0; i < blocks.size(); ++i) block(blocks[i], i, first);
    out_.raw(']');
  }

  // Puts one block, with a comma if it is not the first since `first`.
  void block(const BlockRecord& block, std::size_t index, std::size_t first) {
    const auto comma = [&]() -> json::Out& { return out_.size() == first ? out_ : out_.raw(','); };
    const auto member = [&](std::string_view key, Slice slot) {
      if (!slot.is_absent()) put_string(out_.raw(key), arena_, slot);
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
        media(block, index, comma());
        return;
      case BlockType::Document:
        comma().raw("{\"type\":\"text\",\"text\":\"[document");
        if (block.media_name().present()) out_.raw(' ').raw(arena_.bytes(block.media_name()));
        out_.raw(" omitted]\"}");
        draft_.note("document_dropped", Severity::Major, "replaced", "a text stands where the document was",
                    index);
        return;
      case BlockType::ToolUse:
        comma().raw("{\"type\":\"tool_use\"");
        member(",\"id\":", block.id());
        member(",\"name\":", block.name());
        out_.raw(',');
        put_input_object(draft_, arena_, block, index);
        out_.raw('}');
        return;
      case BlockType::ToolResult:
        result(block, index, comma());
        return;
      case BlockType::Raw:
        break;
    }
    if (raw_belongs_to(arena_, block, Dialect::AgentScope)) {
      put_value(comma(), arena_, block.raw_value());
    } else {
      note_dropped_block(draft_, arena_, block, index);
    }
  }

  void media(const BlockRecord& block, std::size_t index, json::Out& out) {
    out.raw("{\"type\":").quoted(to_string(block.type)).raw(",\"source\":");
    if (block.media_name().present()) note_media_name(draft_, index);
    if (is_inline(arena_, block)) {
      const InlineMedia media = inline_media(draft_, arena_, block, index);
      out.raw("{\"type\":\"base64\",\"media_type\":").quoted(media.media_type);
      out.raw(",\"data\":").quoted(media.data).raw("}}");
      return;
    }
    const bool is_url = block.source == SourceKind::Url;
    out.raw(is_url ? "{\"type\":\"url\"" : "{\"type\":\"base64\"");
    if (is_url && block.data().present()) put_string(out.raw(",\"url\":"), arena_, block.data());
    if (block.media_type().present()) put_string(out.raw(",\"media_type\":"), arena_, block.media_type());
    out.raw("}}");
  }

  void result(const BlockRecord& block, std::size_t index, json::Out& out) {
    out.raw("{\"type\":\"tool_result\"");
    if (!block.id().is_absent()) put_string(out.raw(",\"id\":"), arena_, block.id());
    if (!block.name().is_absent()) put_string(out.raw(",\"name\":"), arena_, block.name());
    out.raw(",\"output\":");
    const auto children = arena_.children(block);
    std::string_view prefix;
    if (block.is_error == Tristate::True) {
      std::vector<std::string_view> texts;
      if (block.output().present()) texts.push_back(arena_.bytes(block.output()));
      for (const BlockRecord& child : children) {
        if (child.type == BlockType::Text && child.text().present())
          texts.push_back(arena_.bytes(child.text()));
      }
      prefix = error_prefix(draft_, texts, index);
    }
    if (!block.is_list) {
      const std::string_view text =
          block.output().present() ? arena_.bytes(block.output()) : std::string_view();
      if (block.output().is_null() && prefix.empty()) {
        out.raw("null}");
      } else {
        if (block.output().is_absent()) note_output_minted(draft_, index);
        out.raw('"').raw(prefix).raw(text).raw("\"}");
      }
      return;
    }
    out.raw('[');
    const std::size_t first = out.size();
    if (!prefix.empty()) out.raw("{\"type\":\"text\",\"text\":\"").raw(prefix).raw("\"}");
    for (const BlockRecord& child : children) this->block(child, index, first);
    out.raw("]}");
  }

  Draft& draft_;
  json::Out& out_;
  const Arena& arena_;
  const MessageRecord& record_;
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
