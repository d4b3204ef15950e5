// Bedrock's Converse:
//
//   {"role": "user"|"assistant"|"system", "content": [block]}
//   block = {"text": string} | {"image"|"video"|"audio": {"format", "source": {"bytes": base64}}}
//         | {"document": {"format", "name", "source": {"bytes": base64}}}
//         | {"reasoningContent": {"reasoningText": {"text", "signature"}}}
//         | {"toolUse": {"toolUseId", "name", "input": object}}
//         | {"toolResult": {"toolUseId", "status": "success"|"error", "content": [block or {"json": any}]}}
//         | {"cachePoint": {"type": "default", "ttl": "5m"|"1h"}}, which marks the block before it
//
// Written in that order. A block is identified by its one member; blocks of all other kinds (guard content,
// sources in a bucket, calls with the type "server_tool_use" and their results) are kept as they are. JSON in
// a result is read as its text, a document made of text as its bytes. Roles alternate; all results of a step
// are the first blocks of the next user message.
#include <algorithm>
#include <array>

#include "dialect/anthropic/thinking_limits.h"
#include "dialect/converse/parts.h"
#include "dialect/converse/tables.h"
#include "dialect/core/arrange.h"
#include "dialect/core/outcome.h"
#include "dialect/core/write_blocks.h"
#include "parley/media/data_url.h"

namespace parley::dialect {
namespace {

// Formats and media types; the first row of a media type is how it is written.
struct FormatRow {
  BlockType type;
  std::string_view format, media_type;
};
constexpr auto kFormats = std::to_array<FormatRow>({
    {BlockType::Image, "png", "image/png"},
    {BlockType::Image, "jpeg", "image/jpeg"},
    {BlockType::Image, "gif", "image/gif"},
    {BlockType::Image, "webp", "image/webp"},
    {BlockType::Video, "mp4", "video/mp4"},
    {BlockType::Video, "mov", "video/quicktime"},
    {BlockType::Video, "mkv", "video/x-matroska"},
    {BlockType::Video, "webm", "video/webm"},
    {BlockType::Audio, "mp3", "audio/mpeg"},
    {BlockType::Audio, "wav", "audio/wav"},
    {BlockType::Audio, "ogg", "audio/ogg"},
    {BlockType::Audio, "flac", "audio/flac"},
    {BlockType::Audio, "aac", "audio/aac"},
    {BlockType::Document, "pdf", "application/pdf"},
    {BlockType::Document, "csv", "text/csv"},
    {BlockType::Document, "doc", "application/msword"},
    {BlockType::Document, "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    {BlockType::Document, "xls", "application/vnd.ms-excel"},
    {BlockType::Document, "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    {BlockType::Document, "html", "text/html"},
    {BlockType::Document, "txt", "text/plain"},
    {BlockType::Document, "md", "text/markdown"},
});

const FormatRow* format_of_type(BlockType type, std::string_view media_type) {
  const auto* row = std::ranges::find_if(
      kFormats, [&](const FormatRow& each) { return each.type == type && each.media_type == media_type; });
  return row == kFormats.end() ? nullptr : row;
}

// ---- Reading

constexpr std::array kRoles = {Role::User, Role::Assistant, Role::System};
constexpr std::string_view kToldNulls[] = {"content"};

// The texts of a list of {"text"}, joined by line feeds.
bool read_texts(Reader& r, std::string& out) {
  if (r.cursor.peek() != '[') return r.wrong_type("content", "a list of texts");
  return r.cursor.array([&](std::uint32_t i) {
    if (r.cursor.peek() != '{') return r.wrong_type("content", "a list of texts");
    return r.object([&](std::string_view key) {
      if (key != "text") return r.unknown();
      Slice text;
      if (!r.string(text, key)) return false;
      out.append(i == 0 ? "" : "\n").append(r.plain(text));
      return true;
    });
  });
}

// A source is bytes; that of a document may be a text, or several, which are its bytes then. A source
// elsewhere has none, and the block is kept whole.
bool read_source(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() != '{') return r.wrong_type("source", "an object");
  return r.object([&](std::string_view key) {
    const bool is_text = block.type == BlockType::Document && (key == "text" || key == "content");
    if (key != "bytes" && !is_text) {
      if (block.source == SourceKind::Missing) block.source = SourceKind::None;
      return r.unknown();
    }
    block.source = SourceKind::Base64;
    if (!is_text) return r.string(block.data(), key);
    Slice text;
    std::string plain;
    if (!(key == "text" ? r.string(text, key) : read_texts(r, plain))) return false;
    if (text.present()) plain = r.plain(text);
    block.data() = r.mint(base64_encode(plain));
    block.media_type() = r.mint("text/plain");  // unless a format is named
    return true;
  });
}

// {"format", "name", "source"}
bool read_media(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() != '{') return r.wrong_type(to_string(block.type), "an object");
  Slice format;
  const bool good = r.object([&](std::string_view key) {
    if (key == "format") return r.string(format, key);
    if (key == "name") return r.string(block.media_name(), key);
    return key == "source" ? read_source(r, block) : r.unknown();
  });
  if (!good) return false;
  const std::string named = format.present() ? std::string(r.plain(format)) : "";
  const auto* row = std::ranges::find_if(
      kFormats, [&](const FormatRow& each) { return each.type == block.type && each.format == named; });
  if (row != kFormats.end()) block.media_type() = r.mint(row->media_type);
  return true;
}

// A call or a result, member by member. A call that the provider runs itself ("server_tool_use"), or what
// came out of it, is kept whole: a client has nothing to do with it.
template <typename ReadMember>
bool read_unless_servers(Reader& r, BlockRecord& block, std::string_view name, std::string_view own_type,
                         ReadMember&& read_member) {
  if (r.cursor.peek() != '{') return r.wrong_type(name, "an object");
  Slice type;
  if (!r.cursor.look_ahead("type", type)) return false;
  const bool is_servers = type.present() && r.cursor.bytes(type).starts_with('"') &&
                          r.plain({type.offset + 1, type.length - 2}) != own_type;
  if (!is_servers) return r.object(read_member);
  block.type = BlockType::Raw;
  return r.skip_value();
}

bool read_use(Reader& r, BlockRecord& use) {
  return read_unless_servers(r, use, "toolUse", "tool_use", [&](std::string_view key) {
    if (key == "toolUseId") return r.string(use.id(), key);
    if (key == "name") return r.string(use.name(), key);
    if (key == "type") return r.skip_value();
    return key == "input" ? r.cursor.skip(use.input()) : r.unknown();
  });
}

bool read_result(Reader& r, BlockRecord& result);

// What is redacted is opaque and kept whole.
bool read_reasoning(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() != '{') return r.wrong_type("reasoningContent", "an object");
  const bool good = r.object([&](std::string_view key) {
    if (key != "reasoningText") return r.unknown();
    if (r.cursor.peek() != '{') return r.wrong_type(key, "an object");
    return r.object([&](std::string_view inner) {
      if (inner == "text") return r.string(block.text(), inner);
      return inner == "signature" ? r.string(block.signature(), inner) : r.unknown();
    });
  });
  if (good) r.sign(block, Dialect::Converse);
  if (good && !block.text().present()) block.type = BlockType::Raw;
  return good;
}

bool read_cache_point(Reader& r, BlockRecord& block) { return r.cache_mark(block, "type", "default"); }

constexpr auto kText = std::to_array<MemberRule>({{"text", Want::String, 0}});
constexpr auto kCachePoint = std::to_array<MemberRule>({{"cachePoint", Want::Own, 0, read_cache_point}});
constexpr auto kImage = std::to_array<MemberRule>({{"image", Want::Own, 0, read_media}});
constexpr auto kVideo = std::to_array<MemberRule>({{"video", Want::Own, 0, read_media}});
constexpr auto kAudio = std::to_array<MemberRule>({{"audio", Want::Own, 0, read_media}});
constexpr auto kDocument = std::to_array<MemberRule>({{"document", Want::Own, 0, read_media}});
constexpr auto kReasoning = std::to_array<MemberRule>({{"reasoningContent", Want::Own, 0, read_reasoning}});
constexpr auto kUse = std::to_array<MemberRule>({{"toolUse", Want::Own, 0, read_use}});
constexpr auto kResult = std::to_array<MemberRule>({{"toolResult", Want::Own, 0, read_result}});
constexpr auto kBlocks = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"image", BlockType::Image, kImage},
    {"video", BlockType::Video, kVideo},
    {"audio", BlockType::Audio, kAudio},
    {"document", BlockType::Document, kDocument},
    {"reasoningContent", BlockType::Thinking, kReasoning},
    {"toolUse", BlockType::ToolUse, kUse},
    {"toolResult", BlockType::ToolResult, kResult},
    {"cachePoint", BlockType::Raw, kCachePoint},
});
constexpr BlockTable kTable = {kBlocks, {}, "", "", false, true};

// What a result may hold beside texts and media: JSON, which is a text to others.
bool read_json(Reader& r, BlockRecord& block) {
  Slice value;
  if (!r.cursor.skip(value)) return false;
  block.text() = r.text_of(value);
  return true;
}
constexpr auto kJson =
    std::to_array<MemberRule>({{.key = "json", .want = Want::Own, .own = read_json, .takes_null = true}});
constexpr auto kOfResults = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"json", BlockType::Text, kJson},
    {"image", BlockType::Image, kImage},
    {"video", BlockType::Video, kVideo},
    {"audio", BlockType::Audio, kAudio},
    {"document", BlockType::Document, kDocument},
    {"cachePoint", BlockType::Raw, kCachePoint},
});
constexpr BlockTable kResultTable = {kOfResults, {}, "", "", false, true};

bool read_result(Reader& r, BlockRecord& result) {
  return read_unless_servers(r, result, "toolResult", "tool_result", [&](std::string_view key) {
    if (key == "toolUseId") return r.string(result.id(), key);
    if (key == "type") return r.skip_value();
    if (key == "content") {
      if (r.cursor.peek() != '[') return r.wrong_type(key, "a list of blocks");
      if (!r.output(kResultTable, result, key)) return false;
      // Nothing in a result is marked.
      for (std::uint32_t i = 0; i < result.children().length; ++i)
        r.children[result.children().offset + i].cache = CacheMark::None;
      return true;
    }
    if (key != "status") return r.unknown();
    Slice status;
    if (!r.string(status, key)) return false;
    result.is_error = r.plain(status) == "error" ? Tristate::True : Tristate::False;
    return true;
  });
}

// The object with one member as `put` writes it.
template <typename Put>
void put_with(json::Writer& w, const Json& object, std::string_view name, Put&& put) {
  w.begin_object();
  for (const Json::Member& member : object.members()) {
    w.key(member.key);
    member.key.view() == name ? put(member.value) : static_cast<void>(w.value(member.value));
  }
  w.end_object();
}

void put_without_contexts(json::Writer& w, const Json& holder);

// A block without the context of its document, or of the documents in its result.
void put_block_without_contexts(json::Writer& w, const Json& block) {
  const Json document = block.get("document").value_or(Json());
  if (document.is_object()) {
    put_with(w, block, "document", [&](const Json&) {
      w.begin_object();
      for (const Json::Member& member : document.members()) {
        if (member.key.view() != "context") w.key(member.key).value(member.value);
      }
      w.end_object();
    });
  } else if (block.get("toolResult").value_or(Json()).is_object()) {
    put_with(w, block, "toolResult", [&](const Json& result) { put_without_contexts(w, result); });
  } else {
    w.value(block);
  }
}

void put_without_contexts(json::Writer& w, const Json& holder) {
  put_with(w, holder, "content", [&](const Json& content) {
    if (!content.is_array()) {
      w.value(content);
      return;
    }
    w.begin_array();
    for (const Json& block : content.elements()) put_block_without_contexts(w, block);
    w.end_array();
  });
}

// The same message without the contexts of documents, which others have as texts before them.
Json without_contexts(const Json& message) {
  const bool may_have = message.text().view().find("\"context\"") != std::string_view::npos;
  if (!may_have || !message.get("content")) return message;
  json::Writer w;
  put_without_contexts(w, message);
  return w.take();
}

// A cache point marks the block before it. Where there is none that can be marked, it stays as it is.
void mark_blocks(Reader& r, std::size_t first) {
  std::size_t kept = first;
  for (std::size_t i = first; i < r.blocks.size(); ++i) {
    const BlockRecord block = r.blocks[i];
    const bool is_point = block.type == BlockType::Raw && block.cache != CacheMark::None;
    BlockRecord* before = kept > first ? &r.blocks[kept - 1] : nullptr;
    const bool can_be_marked = before != nullptr && before->cache == CacheMark::None &&
                               before->type != BlockType::Raw && before->type != BlockType::Thinking;
    if (is_point && can_be_marked) {
      before->cache = block.cache;
      continue;
    }
    r.blocks[kept] = block;
    if (is_point) r.blocks[kept].cache = CacheMark::None;
    ++kept;
  }
  r.blocks.shrink_to(kept);
}

bool read_message(Reader& r) {
  MessageRecord message;
  bool has_role = false;
  const std::uint32_t start = r.cursor.offset();
  const std::size_t first = r.blocks.size();
  r.begin_message();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "content") return r.content(message, kTable, false);
    return r.unknown();
  });
  if (!good) return false;
  if (!has_role) return r.missing(start, "role");
  mark_blocks(r, first);
  r.end_message(message, start);
  return true;
}

// ---- Writing

// What has a format, inside the message. A model itself says images, and no other media.
bool carries(const Arena& arena, const BlockRecord& media, Where where) {
  if (!is_inline(arena, media)) return false;
  if (where == Where::Assistant && media.type != BlockType::Image) return false;
  if (where == Where::Result && media.type == BlockType::Audio) return false;
  return format_of_type(media.type, shown_media_type(arena, media)) != nullptr;
}

constexpr MediaLimit kLimits[] = {
    {.type = BlockType::Image, .most = 20, .of_request = false, .most_bytes = (std::size_t{15} << 20) / 4},
    {.type = BlockType::Document, .most = 5, .of_request = false, .most_bytes = (std::size_t{9} << 20) / 2}};

constexpr ThinkingPlaces kThinkingPlaces = {Dialect::Converse,
                                            "/additionalModelRequestFields/thinking",
                                            "/toolConfig/tools",
                                            "/inferenceConfig/maxTokens",
                                            "/inferenceConfig/temperature",
                                            "/inferenceConfig/topP",
                                            "/additionalModelRequestFields/top_k"};

constexpr ProviderTraits kTraits = {
    .dialect = Dialect::Converse,
    .carries = carries,
    .results = Results::Joined,
    .thinking = Thinking::Signed,
    .has_error_flag = true,
    .refuses_empty_text = true,
    .has_system_messages = false,
    .opens_with_user = true,
    .is_prefilled = true,
    .marks = Marks::Outside,
    .thinking_switch = "/additionalModelRequestFields/thinking",
    .forces_or_thinks = true,
    .limits = kLimits,
    .finds_calls_by_id = true,
    .settings = converse::kSettingLimits,
    .server_tools = converse::server_tools,
    .with_server_tools = converse::with_server_tools,
    .fit_thinking = [](const Json& request,
                       std::vector<Note>& notes) { return within_thinking(request, kThinkingPlaces, notes); },
};

// A document's name may have letters, digits, single spaces, hyphens and brackets.
std::string document_name(const Piece& piece) {
  const Text name = piece.arena->optional_string(piece.block->media_name()).value_or(Text());
  std::string out;
  for (const char c : name.view()) {
    const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                            std::string_view("-()[] ").find(c) != std::string_view::npos;
    const char kept = is_allowed ? c : '-';
    if (kept != ' ' || (!out.empty() && out.back() != ' ')) out += kept;
  }
  return out.empty() || out == " " ? "document" : out;
}

class Writer final : PieceWriter {
 public:
  explicit Writer(Draft& draft) : PieceWriter(draft) {}

  void write(std::span<const Message> group) {
    for (const Turn& turn : arrange(draft_, kTraits, group)) {
      begin_message(turn.role);
      put_list(turn.pieces);
      out_.raw('}');
    }
  }

 private:
  void put_list(std::span<const Piece> pieces) {
    out_.raw('[');
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i != 0) out_.raw(',');
      put_piece(pieces[i]);
      put_cache_point(pieces[i].cache);
    }
    // A document is refused without a text beside it.
    const auto is_document = [](const Piece& piece) {
      return piece.kind == Piece::Kind::Media && piece.block->type == BlockType::Document;
    };
    const bool has_text =
        std::ranges::any_of(pieces, [](const Piece& piece) { return piece.kind == Piece::Kind::Text; });
    const auto document = std::ranges::find_if(pieces, is_document);
    if (document != pieces.end() && !has_text) {
      out_.raw(",{\"text\":\"(see the document)\"}");
      note_piece(draft_, *document, "text_added", Severity::Info, "minted",
                 "a document needs a text beside it");
    }
    out_.raw(']');
  }

  void put_cache_point(CacheMark mark) {
    if (mark == CacheMark::None) return;
    out_.raw(R"(,{"cachePoint":{"type":"default")").raw(ttl_of(mark)).raw("}}");
  }

  void text(const Piece& piece) override {
    out_.raw("{\"text\":");
    put_text(out_, piece);
    out_.raw('}');
  }

  void thinking(const Piece& piece) override {
    out_.raw("{\"reasoningContent\":{\"reasoningText\":{\"text\":").quoted(piece.text());
    out_.raw(",\"signature\":");
    put_string(out_, *piece.arena, piece.block->signature());
    out_.raw("}}}");
  }

  void call(const Piece& use) override {
    out_.raw("{\"toolUse\":{\"toolUseId\":");
    put_call(draft_, kTraits, use);
    out_.raw("}}");
  }

  void result(const Piece& result) override {
    out_.raw("{\"toolResult\":{\"toolUseId\":");
    put_id(draft_, *result.arena, result.block->id(), kTraits.call_id, result.index);
    if (result.block->is_error != Tristate::Unsaid) {
      out_.raw(",\"status\":").raw(result.is_error ? "\"error\"" : "\"success\"");
    }
    out_.raw(",\"content\":[");
    put_pieces(result.children);
    out_.raw("]}}");
  }

  void media(const Piece& piece) override {
    const BlockRecord& media = *piece.block;
    const InlineMedia data = inline_media(draft_, *piece.arena, media, piece.index);
    const FormatRow* row = format_of_type(media.type, shown_media_type(*piece.arena, media));
    out_.raw("{\"").raw(to_string(media.type)).raw("\":{\"format\":");
    out_.quoted(row == nullptr ? data.media_type : row->format);
    if (media.type == BlockType::Document) put_document_name(piece);
    out_.raw(",\"source\":{\"bytes\":").quoted(data.data).raw("}}}");
  }

  void put_document_name(const Piece& piece) {
    const std::string name = document_name(piece);
    const auto own = piece.arena->optional_string(piece.block->media_name());
    if (own && own->view() != name) {
      draft_.note("media_name_mapped", Severity::Info, "mapped",
                  said("the name of the document does not fit and is written as " + name), piece.index);
    }
    out_.raw(",\"name\":").quoted(name);
  }
};

// ---- What is around the messages

// {"auto": {}} | {"any": {}} | {"tool": {"name"}}. There is no word for none.
void read_choice(const Json& member, Settings& settings) {
  if (known(member, "auto")) settings.set(Setting::ToolChoice, Json::string("auto"));
  if (known(member, "any")) settings.set(Setting::ToolChoice, Json::string("required"));
  const Json name = member.at("/tool/name").value_or(Json());
  if (name.is_string()) set_tool_choice(settings, {&name, 1}, true);
}

std::optional<Json> write_choice(const Settings& settings) {
  const auto choice = tool_choice(settings);
  if (!choice) return std::nullopt;
  if (choice->word == "auto") return Json::trusted(Text(R"({"auto":{}})"));
  if (choice->word == "required") return Json::trusted(Text(R"({"any":{}})"));
  const Json* only = choice->only();
  if (only == nullptr) return std::nullopt;
  json::Writer w;
  w.begin_object().key("tool").begin_object().key("name").value(*only).end_object().end_object();
  return w.take();
}

void write_tools(json::Writer& out, std::span<const Tool> tools, const Settings& settings) {
  out.key("toolConfig").begin_object().key("tools").begin_array();
  for (const Tool& tool : tools) {
    out.begin_object().key("toolSpec").begin_object();
    write_tool(out, {tool.name, tool.description, Json()});
    out.key("inputSchema").begin_object().key("json").value(object_schema(tool));
    out.end_object().end_object().end_object();
  }
  out.end_array();
  if (const auto choice = write_choice(settings)) out.key("toolChoice").value(*choice);
  out.end_object();
}

Result<Tool> read_spec(const Json& tool, const std::string& path) {
  const auto spec = known(tool, "toolSpec");
  if (!spec) return Tool{};  // a tool of the provider, or a cache point
  PARLEY_TRY(Tool read, read_tool(*spec, path + "/toolSpec", "inputSchema"));
  read.parameters = read.parameters.get("json").value_or(Json());
  if (!read.parameters.is_object() && !read.parameters.is_null())
    return fail(Code::WrongType, "'json' must be an object", path + "/toolSpec/inputSchema/json");
  return read;
}

Result<std::vector<Tool>> read_tools(const Json& request) {
  const auto config = request.get("toolConfig");
  return read_tools_of(config ? config->get("tools") : std::nullopt, "/toolConfig/tools", read_spec);
}

// {"type": "json_schema", "structure": {"jsonSchema": {"schema": JSON in a string, "name"}}}
void read_reply_format(const Json& member, Settings& settings) {
  const Json inner = member.at("/structure/jsonSchema").value_or(Json());
  const auto text = inner.get("schema").value_or(Json()).as_string();
  const auto schema = text ? Json::parse(*text) : fail(Code::WrongType, "");
  if (schema) set_reply_schema(settings, known(inner, "name"), *schema);
}

std::optional<Json> write_reply_format(const Settings& settings) {
  const Json schema = reply_schema(settings);
  if (schema.is_null()) return std::nullopt;
  json::Writer w;
  w.begin_object().key("type").string("json_schema").key("structure").begin_object().key("jsonSchema");
  w.begin_object().key("schema").string(schema.text()).key("name");
  w.string(fitted_name(reply_name(settings), kTraits.tool_name)).end_object();
  return w.end_object().end_object().take();
}

constexpr auto kSettings = std::to_array<SettingRow>({
    plain_setting<Setting::MaxTokens>("inferenceConfig/maxTokens"),
    plain_setting<Setting::Temperature>("inferenceConfig/temperature"),
    plain_setting<Setting::TopP>("inferenceConfig/topP"),
    plain_setting<Setting::Stop>("inferenceConfig/stopSequences"),
    {"toolConfig/toolChoice", bit(Setting::ToolChoice), read_choice, write_choice, true},
    {"outputConfig/textFormat", bit(Setting::ReplySchema), read_reply_format, write_reply_format},
    plain_setting<Setting::ReasoningEffort>("outputConfig/effort"),
});

void write_answer(json::Writer& out, const Outcome& outcome) {
  out.key("output").begin_object().key("message").begin_array().end_array().end_object();
  const std::string_view word = finish_word(Dialect::Converse, outcome.finish);
  if (!word.empty()) out.key("stopReason").string(word);
  write_usage_object(out, "usage", Dialect::Converse, outcome.usage);
}

Outcome read_answer(const Json& answer, bool has_calls) {
  Outcome outcome;
  outcome.raw_finish = text_at(answer, "/stopReason");
  outcome.finish = finish_of(Dialect::Converse, outcome.raw_finish, has_calls);
  outcome.usage = read_usage(Dialect::Converse, answer.get("usage").value_or(Json()));
  return outcome;
}

constexpr std::string_view kAnswerPath[] = {"output", "message"};
constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kMessagesPath},
                                           {DocumentShape::Response, kAnswerPath, true}};
constexpr Envelope kEnvelope = {
    .locations = kLocations,
    .system_form = SystemForm::Blocks,
    .system = "system",
    .write_tools = write_tools,
    .read_tools = read_tools,
    .fit_name = [](std::string_view name) { return fitted_name(name, kTraits.tool_name); },
    .needs_tools = true,
    .settings = kSettings,
    .write_answer = write_answer,
    .read_answer = read_answer,
    .no_message = R"({"role":"assistant","content":[]})",
    .as_usual = without_contexts};

constexpr std::string_view kAsText[] = {
    "/content/*/toolResult/content/*/json", "/content/*/toolResult/content/*/document/source/text",
    "/content/*/toolResult/content/*/document/source/content", "/content/*/document/source/text",
    "/content/*/document/source/content"};

constexpr StreamFormat kStream = {
    .framing = FramingKind::EventStream, .decoder = converse_decoder, .has_raw_media = true};

}  // namespace

extern const Format kConverse = {
    .info = {Dialect::Converse, "converse", "Bedrock's Converse",
             "text, thinking (its own), image, audio, video, document, tool use, tool result",
             "a list, one message, a request, an answer"},
    .read_message = read_message,
    .group = [](std::span<const Message> rest) { return group_by(kTraits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { Writer(draft).write(group); },
    .envelope = kEnvelope,
    .joins = true,
    .refuses_empty = true,
    .names_results = true,
    .hints_used = kIsLast | kNamesSpeakers | kIsFirst,
    .traits = &kTraits,
    .as_text = kAsText,
    .words = &converse::kAnswerWords,
    .stream = &kStream,
    .signs = converse::kSigns,
    .opaque_blocks = converse::kOpaqueBlocks,
    .has_document_context = true,
    .check_rules = rules::check_converse,
};

}  // namespace parley::dialect
