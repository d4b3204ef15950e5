// OpenTelemetry's GenAI messages, as spans and events carry them.
//
//   {"role": "system"|"developer"|"user"|"assistant"|"tool", "parts": [part], "name": string}
//   part = {"type": "text"|"reasoning", "content": string}
//        | {"type": "tool_call", "id": string, "name": string, "arguments": any JSON}
//        | {"type": "tool_call_response", "id": string, "response": any JSON, "parley.is_error": bool}
//        | {"type": "blob", "modality": string, "mime_type": string, "content": base64}
//        | {"type": "uri", "modality": string, "mime_type": string, "uri": string, "parley.name": string}
//
// Other types of parts are kept as they are. Arguments that are a string are the text that the model wrote;
// an object is written if it says the same to the byte. A response that is a list of text, blob and uri parts
// is read as blocks, any other JSON as its text. Signatures are not written: this is a place for people to
// look.
//
// The schema allows any role. Others than these are refused, because their meaning is unknown.
#include <algorithm>
#include <array>
#include <string>

#include "dialect/core/outcome.h"
#include "dialect/core/write_blocks.h"
#include "dialect/core/write_messages.h"
#include "dialect/format.h"
#include "dialect/otel/parts.h"
#include "dialect/otel/tables.h"
#include "json/compact.h"
#include "parley/media/data_url.h"

namespace parley::dialect {
namespace {

// ---- Reading

constexpr std::string_view kInput = "gen_ai.input.messages";
constexpr std::string_view kOutput = "gen_ai.output.messages";

constexpr std::array kRoles = {Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool};
constexpr std::string_view kToldNulls[] = {"name", "parts"};

// "image", "audio", "video" and "document" are what the types of blocks are called, too.
bool read_modality(Reader& r, BlockRecord& block) {
  Slice modality;
  if (!r.string(modality, "modality")) return false;
  block.type = BlockType::Document;
  for (const BlockType type : {BlockType::Image, BlockType::Audio, BlockType::Video}) {
    if (r.plain(modality) == to_string(type)) block.type = type;
  }
  if (block.type == BlockType::Document && r.plain(modality) != to_string(block.type)) r.more();
  return true;
}

bool read_blob(Reader& r, BlockRecord& block) {
  block.source = SourceKind::Base64;
  return r.string(block.data(), "content");
}

bool read_uri(Reader& r, BlockRecord& block) {
  block.source = SourceKind::Url;
  return r.media(block.data(), "uri");
}

bool read_arguments(Reader& r, BlockRecord& use) {
  use.arguments() = use.input() = Slice::absent();  // of a duplicate member the last one counts
  return r.cursor.peek() == '"' ? r.string(use.arguments(), "arguments") : r.cursor.skip(use.input());
}

bool read_response(Reader& r, BlockRecord& result);

constexpr auto kContent = std::to_array<MemberRule>({{"content", Want::String, 0}});
constexpr auto kCall = std::to_array<MemberRule>({{"id", Want::StringOrNull, 0},
                                                  {"name", Want::String, 1},
                                                  {"arguments", Want::Own, 0, read_arguments, true}});
constexpr auto kResponse = std::to_array<MemberRule>({{"id", Want::StringOrNull, 0},
                                                      {"response", Want::Own, 0, read_response, true},
                                                      {"parley.is_error", Want::ErrorFlag}});
constexpr auto kBlob = std::to_array<MemberRule>({{"modality", Want::Own, 0, read_modality},
                                                  {"mime_type", Want::String, 1},
                                                  {"content", Want::Own, 0, read_blob}});
constexpr auto kUri = std::to_array<MemberRule>({{"modality", Want::Own, 0, read_modality},
                                                 {"mime_type", Want::String, 1},
                                                 {"uri", Want::Own, 0, read_uri},
                                                 {"parley.name", Want::StringOrNull, 2}});
constexpr auto kParts = std::to_array<BlockRule>({
    {"text", BlockType::Text, kContent},
    {"reasoning", BlockType::Thinking, kContent},
    {"tool_call", BlockType::ToolUse, kCall},
    {"tool_call_response", BlockType::ToolResult, kResponse},
    {"blob", BlockType::Document, kBlob},
    {"uri", BlockType::Document, kUri},
});
constexpr BlockTable kTable = {kParts, {}, "", ""};

// Looks whether the value at the cursor is a part that a result can hold: one of these types, with a string
// where its content goes.
bool look_for_part(Reader& r, bool& is_part) {
  constexpr std::string_view kHeld[][2] = {{"text", "content"}, {"blob", "content"}, {"uri", "uri"}};
  is_part = false;
  Slice type, content;
  if (r.cursor.peek() != '{') return true;
  if (!r.cursor.look_ahead("type", type)) return false;
  if (!type.present() || r.cursor.bytes(type).front() != '"') return true;
  for (const auto& [name, member] : kHeld) {
    if (r.plain({type.offset + 1, type.length - 2}) != name) continue;
    if (!r.cursor.look_ahead(member, content)) return false;
    is_part = content.present() && r.cursor.bytes(content).front() == '"';
  }
  return true;
}

bool read_response(Reader& r, BlockRecord& result) {
  result.is_list = false;
  result.output() = result.children() = Slice::absent();
  const char first = r.cursor.peek();
  if (first == '"' || first == 'n') return r.string_or_null(result.output(), "response");
  const std::uint32_t start = r.cursor.offset();
  const std::size_t first_child = r.children.size();
  bool are_parts = first == '[';
  const bool good = are_parts ? r.cursor.array([&](std::uint32_t) {
    if (are_parts && !look_for_part(r, are_parts)) return false;
    return are_parts ? r.block(kTable, r.children) : r.skip_value();
  })
                              : r.skip_value();
  if (!good) return false;
  if (are_parts) {
    result.is_list = true;
    result.children() = {static_cast<std::uint32_t>(first_child),
                         static_cast<std::uint32_t>(r.children.size() - first_child)};
    return true;
  }
  r.children.shrink_to(first_child);
  r.more();
  const Text json = Text::trusted(nullptr, r.cursor.bytes({start, r.cursor.offset() - start}));
  json::Out spelled;
  result.output() = r.mint(spelled.escaped(Json::trusted(json).compact().text()).view());
  return true;
}

bool read_message(Reader& r) {
  MessageRecord message;
  bool has_role = false;
  const std::uint32_t start = r.cursor.offset();
  const std::size_t first = r.blocks.size();
  r.begin_message();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "name") return r.string_or_null(message.name, key);
    if (key == "parts") {
      return r.content(message, kTable, false, key);
    }
    // A document whose messages are no list is taken for a message.
    if (key == kInput || key == kOutput)
      return r.wrong_type(key, "a list of messages, not a string that holds JSON");
    return r.unknown();
  });
  if (!good) return false;
  if (!has_role) return r.missing(start, "role");
  for (std::size_t i = first; i < r.blocks.size(); ++i) {
    if (r.blocks[i].type == BlockType::ToolUse) r.asks(r.blocks[i]);
    if (r.blocks[i].type == BlockType::ToolResult) r.answers(r.blocks[i]);
  }
  r.end_message(message, start);
  return true;
}

// ---- Writing

bool is_result(const BlockRecord& block) { return block.type == BlockType::ToolResult; }

class Writer {
 public:
  Writer(Draft& draft, const Message& message)
      : draft_(draft), out_(draft.out), arena_(Arena::of(message)), record_(Arena::record_of(message)) {}

  // Results and what else a message says are messages apart.
  void write() {
    note_identity(draft_, arena_, record_);
    if (record_.has(MessageRecord::kEmptyToolCalls)) note_empty_tool_calls(draft_);
    if (record_.role == Role::Tool &&
        (record_.wire_role == Role::User || record_.wire_role == Role::Assistant)) {
      draft_.note("role_mapped", Severity::Info, "mapped",
                  "results are written as messages of the role tool");
    }
    const auto blocks = arena_.blocks(record_);
    const std::size_t before = draft_.written;
    for (std::size_t i = 0; i < blocks.size() || i == 0;) {
      std::size_t end = i;
      while (end < blocks.size() && is_result(blocks[end]) == is_result(blocks[i])) ++end;
      put_message(i, end);
      i = std::max(end, i + 1);
    }
    if (const std::size_t count = draft_.written - before; count > 1) {
      draft_.note("message_split", Severity::Info, "split",
                  said("the message became " + std::to_string(count) + " messages"));
    }
  }

 private:
  void put_message(std::size_t begin, std::size_t end) {
    const auto blocks = arena_.blocks(record_);
    const bool holds_results = begin != end && is_result(blocks[begin]);
    draft_.next().raw("{\"role\":").quoted(to_string(holds_results ? Role::Tool : record_.role));
    out_.raw(",\"parts\":[");
    const std::size_t first = out_.size();
    for (std::size_t i = begin; i < end; ++i) put_block(blocks[i], i, first);
    out_.raw(']');
    if (record_.name.present()) out_.raw(",\"name\":").quoted(arena_.bytes(record_.name));
    out_.raw('}');
  }

  // Puts one block, with a comma if it is not the first since `first`.
  void put_block(const BlockRecord& block, std::size_t index, std::size_t first) {
    if (block.type == BlockType::Raw && !raw_belongs_to(arena_, block, Dialect::OTel)) {
      note_dropped_block(draft_, arena_, block, index);
      return;
    }
    if (out_.size() != first) out_.raw(',');
    switch (block.type) {
      case BlockType::Text:
        put_content("text", block);
        return;
      case BlockType::Thinking:
        put_content("reasoning", block);
        if (block.signature().present()) {
          draft_.note("signature_dropped", Severity::Minor, "dropped",
                      "a signature is sent only to the provider that made it", index);
        }
        if (block.origin().present()) note_origin(draft_, index);
        return;
      case BlockType::ToolUse:
        put_call(block);
        return;
      case BlockType::ToolResult:
        put_result(block, index);
        return;
      case BlockType::Raw:
        put_value(out_, arena_, block.raw_value());
        return;
      default:
        put_media(block, index);
    }
  }

  void put_content(std::string_view type, const BlockRecord& block) {
    out_.raw("{\"type\":").quoted(type).raw(",\"content\":");
    put_string(out_, arena_, block.text());
    out_.raw('}');
  }

  void put_call(const BlockRecord& use) {
    out_.raw("{\"type\":\"tool_call\"");
    if (use.id().present()) out_.raw(",\"id\":").quoted(arena_.bytes(use.id()));
    out_.raw(",\"name\":");
    put_string(out_, arena_, use.name());
    if (use.input().present() || use.arguments().present()) {
      out_.raw(",\"arguments\":");
      put_arguments(use);
    }
    out_.raw('}');
  }

  // An object if it says exactly what the text says, else the text.
  void put_arguments(const BlockRecord& use) {
    const bool is_value = !use.arguments().present() && !arena_.bytes(use.input()).starts_with('"');
    if (is_value && !use.is_custom) {
      put_value(out_, arena_, use.input());
      return;
    }
    const std::size_t start = out_.size();
    put_arguments_text(draft_, arena_, use);
    const std::string spelled(out_.view().substr(start));
    out_.shrink_to(start);
    const std::size_t exact_size = out_.unescaped(spelled).size() - start;
    if (json::compact_object(out_, start) && out_.size() - start == exact_size) return;
    out_.shrink_to(start);
    out_.quoted(spelled);
  }

  void put_result(const BlockRecord& result, std::size_t index) {
    out_.raw("{\"type\":\"tool_call_response\"");
    if (result.id().present()) out_.raw(",\"id\":").quoted(arena_.bytes(result.id()));
    out_.raw(",\"response\":");
    if (result.is_list) {
      out_.raw('[');
      const std::size_t first = out_.size();
      for (const BlockRecord& child : arena_.children(result)) put_block(child, index, first);
      out_.raw(']');
    } else if (result.output().present()) {
      out_.quoted(arena_.bytes(result.output()));
    } else {
      out_.raw("null");
    }
    if (result.is_error != Tristate::Unsaid) {
      out_.raw(",\"parley.is_error\":").raw(result.is_error == Tristate::True ? "true" : "false");
    }
    out_.raw('}');
  }

  void put_media(const BlockRecord& media, std::size_t index) {
    // A URI is no data URI, and data are base64.
    const bool is_odd =
        media.data().present() && !is_inline(arena_, media) && is_data_url(arena_.bytes(media.data()));
    if (!media.data().present() || is_odd) {
      note_omitted(draft_, media, index);
      out_.raw("{\"type\":\"text\",\"content\":").quoted(omitted_text(media.type)).raw('}');
      return;
    }
    // A blob has no members but its own; a URI may have others.
    const bool is_here = is_inline(arena_, media);
    if (media.media_name().present() && is_here) note_media_name(draft_, index);
    std::string_view data = arena_.bytes(media.data());
    std::string_view type =
        media.media_type().present() ? arena_.bytes(media.media_type()) : std::string_view();
    if (is_here && !shown_media_type(arena_, media).empty()) {
      const InlineMedia shown = inline_media(draft_, arena_, media, index);
      data = shown.data;
      type = shown.media_type;
    }
    out_.raw("{\"type\":").quoted(is_here ? "blob" : "uri").raw(",\"modality\":");
    out_.quoted(to_string(media.type));
    if (!type.empty()) out_.raw(",\"mime_type\":").quoted(type);
    out_.raw(is_here ? ",\"content\":" : ",\"uri\":").quoted(data);
    if (media.media_name().present() && !is_here)
      out_.raw(",\"parley.name\":").quoted(arena_.bytes(media.media_name()));
    out_.raw('}');
  }

  Draft& draft_;
  json::Out& out_;
  const Arena& arena_;
  const MessageRecord& record_;
};

void write_group(Draft& draft, std::span<const Message> group) {
  const Message whole = joined_step(draft, group);
  if (group.size() > 1) note_identity(draft, Arena::of(group.front()), Arena::record_of(group.front()));
  Writer(draft, whole).write();
}

// ---- What is around the messages
//
// {"gen_ai.request.model": string, "gen_ai.system_instructions": [part], "gen_ai.input.messages": [...],
//  "gen_ai.tool.definitions": [{"type": "function", "name", "description", "parameters"}], ...}, or
// {"gen_ai.response.id": string, "gen_ai.output.messages": [...], "gen_ai.response.finish_reasons":
//  [string], ...}

void write_tools(json::Writer& out, std::span<const Tool> tools, const Settings&) {
  out.key("gen_ai.tool.definitions").begin_array();
  for (const Tool& tool : tools) {
    out.begin_object().key("type").string("function");
    write_tool(out, tool);
    out.end_object();
  }
  out.end_array();
}

Result<std::vector<Tool>> read_tools(const Json& request) {
  return read_tools_of(request.get("gen_ai.tool.definitions"), "/gen_ai.tool.definitions",
                       [](const Json& tool, const std::string& path) { return read_tool(tool, path); });
}

constexpr auto kSettings = std::to_array<SettingRow>({
    plain_setting<Setting::Model>("gen_ai.request.model"),
    plain_setting<Setting::MaxTokens>("gen_ai.request.max_tokens"),
    plain_setting<Setting::Temperature>("gen_ai.request.temperature"),
    plain_setting<Setting::TopP>("gen_ai.request.top_p"),
    plain_setting<Setting::TopK>("gen_ai.request.top_k"),
    plain_setting<Setting::Seed>("gen_ai.request.seed"),
    plain_setting<Setting::Stop>("gen_ai.request.stop_sequences"),
});

void write_answer(json::Writer& out, const Outcome& outcome) {
  if (!outcome.id.empty()) out.key("gen_ai.response.id").string(outcome.id);
  if (!outcome.model.empty()) out.key("gen_ai.response.model").string(outcome.model);
  out.key(kOutput).begin_array().end_array();
  const std::string_view word = finish_word(Dialect::OTel, outcome.finish);
  if (!word.empty()) out.key("gen_ai.response.finish_reasons").begin_array().string(word).end_array();
  write_usage(out, Dialect::OTel, outcome.usage);
}

Outcome read_answer(const Json& answer, bool has_calls) {
  Outcome outcome;
  outcome.id = text_at(answer, "/gen_ai.response.id");
  outcome.model = text_at(answer, "/gen_ai.response.model");
  outcome.raw_finish = text_at(answer, "/gen_ai.response.finish_reasons/0");
  if (outcome.raw_finish.empty()) {
    outcome.raw_finish = text_at(answer, "/gen_ai.output.messages/0/finish_reason");
  }
  outcome.finish = finish_of(Dialect::OTel, outcome.raw_finish, has_calls);
  outcome.usage = read_usage(Dialect::OTel, answer);
  return outcome;
}

constexpr std::string_view kInputPath[] = {kInput};
constexpr std::string_view kOutputPath[] = {kOutput};
// What was asked and answered may stand in one object; it is a request then.
constexpr MessagesLocation kLocations[] = {
    {DocumentShape::Envelope, kInputPath},
    {.shape = DocumentShape::Response, .path = kOutputPath, .yields = true},
};
constexpr Envelope kEnvelope = {.locations = kLocations,
                                .system_form = SystemForm::Blocks,
                                .system = "gen_ai.system_instructions",
                                .content = "parts",
                                .write_tools = write_tools,
                                .read_tools = read_tools,
                                .settings = kSettings,
                                .write_answer = write_answer,
                                .read_answer = read_answer};

constexpr std::string_view kAsText[] = {"/parts/*/response"};

}  // namespace

extern const Format kOTel = {
    .info = {Dialect::OTel, "otel", "OpenTelemetry GenAI messages",
             "text, thinking, image, audio, video, document, tool use, tool result",
             "a list, one message, {\"gen_ai.input.messages\": [...]}, {\"gen_ai.output.messages\": [...]}"},
    .read_message = read_message,
    .group = group_step,
    .write_group = write_group,
    .envelope = kEnvelope,
    .names_results = true,
    .is_plain = true,
    .as_text = kAsText,
    .words = &otel::kAnswerWords,
    .signs = otel::kSigns,
    .opaque_blocks = otel::kOpaqueBlocks,
    .check_rules = rules::check_otel,
};

}  // namespace parley::dialect
