// Anthropic's Messages:
//
//   {"role": "user"|"assistant"|"system", "content": string|[block]}
//   block = {"type": "text", "text"}
//         | {"type": "image", "source"} | {"type": "document", "source", "title"}
//         | {"type": "thinking", "thinking", "signature"}
//         | {"type": "tool_use", "id", "name", "input": object}
//         | {"type": "tool_result", "tool_use_id", "is_error", "content": string|[block]}
//   source = {"type": "base64", "media_type", "data"} | {"type": "url", "url"}
//          | {"type": "text", "media_type": "text/plain", "data": string}
//          | {"type": "content", "content": string|[text]}, which is read
//
// A block but thinking may have {"cache_control": {"type": "ephemeral", "ttl": "5m"|"1h"}} as its last
// member.
//
// Written in that order. Blocks of all other types (redacted thinking, server tools, search results, files of
// the provider) are kept as they are. Consecutive messages of one role are one turn; all results of a step
// are the first blocks of the next user message. An answer is a message with more members.
#include <algorithm>
#include <array>

#include "dialect/anthropic/parts.h"
#include "dialect/anthropic/tables.h"
#include "dialect/anthropic/thinking_limits.h"
#include "dialect/core/arrange.h"
#include "dialect/core/outcome.h"
#include "dialect/core/patch.h"
#include "dialect/core/setting_limits.h"
#include "dialect/core/write_blocks.h"
#include "parley/media/data_url.h"

namespace parley::dialect {
namespace {

// ---- Reading

constexpr std::array kRoles = {Role::User, Role::Assistant, Role::System};

bool read_cache_control(Reader& r, BlockRecord& block) { return r.cache_mark(block, "type", "ephemeral"); }
constexpr MemberRule kCacheControl = {"cache_control", Want::Own, 0, read_cache_control};

constexpr auto kText = std::to_array<MemberRule>({{"text", Want::String, 0}, kCacheControl});

// What a source of content says, if it is texts: {"type": "content", "content": string|[{"type": "text",
// "text"}]}
std::optional<std::string> text_of_content(const Json& source) {
  const Json content = source.get("content").value_or(Json());
  if (source.get("type") != Json::string("content")) return std::nullopt;
  if (const auto text = content.as_string()) return text->str();
  const std::vector<Json> parts = content.elements();
  std::string out;
  for (const Json& part : parts) {
    const auto text = part.get("text").value_or(Json()).as_string();
    if (part.get("type") != Json::string("text") || !text) return std::nullopt;
    out.append(out.empty() ? "" : "\n\n").append(text->view());
  }
  return parts.empty() ? std::nullopt : std::optional(out);
}

// A text as a source is a document like any other, whose bytes are that text; so are texts as its content.
bool read_source(Reader& r, BlockRecord& block) {
  Slice quoted;
  const bool is_told = r.cursor.peek() == '{' && block.type == BlockType::Document &&
                       r.cursor.look_ahead("type", quoted) && quoted.present() &&
                       r.cursor.bytes(quoted).front() == '"';
  const std::string type(is_told ? r.plain({quoted.offset + 1, quoted.length - 2}) : "");
  if (type == "content") {
    Slice whole;
    if (!r.cursor.skip(whole)) return false;
    r.more();
    const auto said = text_of_content(Json::trusted(Text::trusted(nullptr, r.cursor.bytes(whole))));
    block.source = said ? SourceKind::Base64 : SourceKind::None;
    if (!said) return true;
    block.data() = r.mint(base64_encode(*said));
    block.media_type() = r.mint("text/plain");
    return true;
  }
  if (type != "text") return r.source(block);
  Slice text;
  const bool good = r.object([&](std::string_view key) {
    if (key == "data") return r.string(text, key);
    if (key == "media_type") return r.string(block.media_type(), key);
    return key == "type" ? r.skip_value() : r.unknown();
  });
  if (!good) return false;
  block.source = SourceKind::Base64;
  if (text.present()) block.data() = r.mint(base64_encode(r.plain(text)));
  return true;
}

constexpr auto kMedia = std::to_array<MemberRule>(
    {{"source", Want::Own, 0, read_source}, {"title", Want::StringOrNull, 2}, kCacheControl});
constexpr auto kThinking =
    std::to_array<MemberRule>({{"thinking", Want::String, 0}, {"signature", Want::String, 1}});
bool read_input(Reader& r, BlockRecord& use) { return r.cursor.skip(use.input()); }
constexpr auto kToolUse = std::to_array<MemberRule>(
    {{"id", Want::String, 0}, {"name", Want::String, 1}, {"input", Want::Own, 0, read_input}, kCacheControl});
constexpr auto kToolResult = std::to_array<MemberRule>({{"tool_use_id", Want::String, 0},
                                                        {"content", Want::Output},
                                                        {"is_error", Want::ErrorFlag},
                                                        kCacheControl});
constexpr auto kBlocks = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"image", BlockType::Image, kMedia},
    {"document", BlockType::Document, kMedia},
    {"thinking", BlockType::Thinking, kThinking},
    {"tool_use", BlockType::ToolUse, kToolUse},
    {"tool_result", BlockType::ToolResult, kToolResult},
});
constexpr BlockTable kTable = {kBlocks, {}, "", ""};

// A document as its writer spells it.
void put_plain_document(json::Writer& w, const Json& document) {
  const auto text = text_of_content(document.get("source").value_or(Json()));
  w.begin_object();
  for (const Json::Member& member : document.members()) {
    if (member.key.view() == "context") continue;  // a text before it
    w.key(member.key);
    if (member.key.view() != "source" || !text) {
      w.value(member.value);
      continue;
    }
    w.begin_object().key("type").string("text").key("media_type").string("text/plain");
    w.key("data").string(*text).end_object();
  }
  w.end_object();
}

// A message, or a result in it, with such documents as its content.
void put_with_plain_documents(json::Writer& w, const Json& holder) {
  w.begin_object();
  for (const Json::Member& member : holder.members()) {
    w.key(member.key);
    if (member.key.view() != "content" || !member.value.is_array()) {
      w.value(member.value);
      continue;
    }
    w.begin_array();
    for (const Json& block : member.value.elements()) {
      const Json type = block.get("type").value_or(Json());
      if (type == Json::string("document")) {
        put_plain_document(w, block);
      } else if (type == Json::string("tool_result")) {
        put_with_plain_documents(w, block);
      } else {
        w.value(block);
      }
    }
    w.end_array();
  }
  w.end_object();
}

// The same message with documents as its writer spells them.
Json with_plain_documents(const Json& message) {
  const bool may_have = message.text().view().find("\"document\"") != std::string_view::npos;
  if (!may_have || !message.get("content")) return message;
  json::Writer w;
  put_with_plain_documents(w, message);
  return w.take();
}

// What an answer says beside its message is read with the document.
constexpr std::string_view kToldNulls[] = {
    "content",       "id",           "type",  "model",     "stop_reason",
    "stop_sequence", "stop_details", "usage", "container", "diagnostics"};
constexpr std::span<const std::string_view> kOfAnswer = std::span(kToldNulls).subspan(1);

bool read_message(Reader& r) {
  MessageRecord message;
  bool has_role = false;
  const std::uint32_t start = r.cursor.offset();
  const std::size_t first = r.blocks.size();
  r.begin_message();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "content") return r.content(message, kTable);
    if (r.is_answer() && std::ranges::find(kOfAnswer, key) != kOfAnswer.end()) return r.skip_value();
    return r.unknown();
  });
  if (!good) return false;
  if (!has_role) return r.missing(start, "role");
  for (std::size_t i = first; i < r.blocks.size(); ++i) {
    if (r.blocks[i].type == BlockType::Thinking) r.sign(r.blocks[i], Dialect::Anthropic);
  }
  r.continue_step(message);
  r.end_message(message, start);
  return true;
}

// ---- Writing

// Images of four kinds, PDF and plain text, inside or by URL, from users and in results.
bool carries(const Arena& arena, const BlockRecord& media, Where where) {
  if (where == Where::Assistant || !media.data().present()) return false;
  if (media.type != BlockType::Image && media.type != BlockType::Document) return false;
  if (!is_inline(arena, media)) return arena.bytes(media.data()).starts_with("http");
  const std::string_view type = shown_media_type(arena, media);
  if (media.type == BlockType::Document) {
    return type == "application/pdf" || (type == "text/plain" && document_text(arena, media));
  }
  return type == "image/jpeg" || type == "image/png" || type == "image/gif" || type == "image/webp";
}

// Models with a small window take 100 images, others 600: what every model takes is safe.
constexpr MediaLimit kLimits[] = {
    {.type = BlockType::Image, .most = 100, .of_request = true, .most_bytes = std::size_t{5} << 20}};

constexpr ThinkingPlaces kThinkingPlaces = {Dialect::Anthropic, "/thinking", "/tools", "/max_tokens",
                                            "/temperature",     "/top_p",    "/top_k"};

// A request that names its model is meant to be sent, and is refused without a limit of tokens.
Json with_max_tokens(const Json& request, std::vector<Note>& notes) {
  if (known(request, "max_tokens")) return request;
  if (!known(request, "model") && !known(request, "anthropic_version")) return request;
  const auto thinks = request.at("/thinking/budget_tokens").value_or(Json()).as_int64();
  const std::int64_t beside = std::clamp<std::int64_t>(thinks.value_or(0), 0, kMostBudget);
  return with_value(request, "/max_tokens", minted_max_tokens(Dialect::Anthropic, notes, beside));
}

constexpr ProviderTraits kTraits = {
    .dialect = Dialect::Anthropic,
    .carries = carries,
    .results = Results::Joined,
    .thinking = Thinking::Signed,
    .has_error_flag = true,
    .error_takes_media = false,
    .refuses_empty_text = true,
    .has_system_messages = false,
    .opens_with_user = true,
    .is_prefilled = true,
    .ends_in_thinking = false,
    .marks = Marks::All,
    .forces_or_thinks = true,
    .steps_think_first = true,
    .limits = kLimits,
    .finds_calls_by_id = true,
    .settings = anthropic::kSettingLimits,
    .fit_request = with_max_tokens,
    .fit_thinking = [](const Json& request,
                       std::vector<Note>& notes) { return within_thinking(request, kThinkingPlaces, notes); },
};

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
    put_pieces(pieces);
    out_.raw(']');
  }

  void text(const Piece& piece) override {
    out_.raw("{\"type\":\"text\",\"text\":");
    put_text(out_, piece);
    put_mark(piece);
    out_.raw('}');
  }

  void thinking(const Piece& piece) override {
    out_.raw("{\"type\":\"thinking\",\"thinking\":").quoted(piece.text()).raw(",\"signature\":");
    put_string(out_, *piece.arena, piece.block->signature());
    out_.raw('}');
  }

  void call(const Piece& use) override {
    out_.raw("{\"type\":\"tool_use\",\"id\":");
    put_call(draft_, kTraits, use);
    put_mark(use);
    out_.raw('}');
  }

  void result(const Piece& result) override {
    out_.raw("{\"type\":\"tool_result\",\"tool_use_id\":");
    put_id(draft_, *result.arena, result.block->id(), kTraits.call_id, result.index);
    if (result.block->is_error != Tristate::Unsaid) {
      out_.raw(",\"is_error\":").raw(result.is_error ? "true" : "false");
    }
    const auto& parts = result.children;
    const bool is_text = parts.size() == 1 && parts.front().kind == Piece::Kind::Text;
    if (is_text && parts.front().cache == CacheMark::None) {
      out_.raw(",\"content\":");
      put_text(out_, parts.front());
    } else if (!parts.empty()) {
      out_.raw(",\"content\":");
      put_list(parts);
    }
    put_mark(result);
    out_.raw('}');
  }

  void put_mark(const Piece& piece) {
    if (piece.cache == CacheMark::None) return;
    out_.raw(R"(,"cache_control":{"type":"ephemeral")").raw(ttl_of(piece.cache)).raw('}');
  }

  void media(const Piece& piece) override {
    const BlockRecord& media = *piece.block;
    const bool is_image = media.type == BlockType::Image;
    out_.raw(is_image ? "{\"type\":\"image\",\"source\":" : "{\"type\":\"document\",\"source\":");
    const auto text = is_image ? std::nullopt : document_text(*piece.arena, media);
    if (text) {
      out_.raw(R"({"type":"text","media_type":"text/plain","data":")").escaped(*text).raw("\"}");
    } else if (is_inline(*piece.arena, media)) {
      const InlineMedia data = inline_media(draft_, *piece.arena, media, piece.index);
      out_.raw("{\"type\":\"base64\",\"media_type\":").quoted(data.media_type);
      out_.raw(",\"data\":").quoted(data.data).raw('}');
    } else {
      out_.raw("{\"type\":\"url\",\"url\":").quoted(piece.arena->bytes(media.data())).raw('}');
    }
    if (media.media_name().present() && !is_image) {
      out_.raw(",\"title\":").quoted(piece.arena->bytes(media.media_name()));
    }
    put_mark(piece);
    out_.raw('}');
  }
};

// ---- What is around the messages

void write_tools(json::Writer& out, std::span<const Tool> tools, const Settings&) {
  out.key("tools").begin_array();
  for (const Tool& tool : tools) {
    out.begin_object();
    write_tool(out, {tool.name, tool.description, object_schema(tool)}, "input_schema");
    out.end_object();
  }
  out.end_array();
}

// A tool that the provider runs has a type and no schema.
Result<std::vector<Tool>> read_tools(const Json& request) {
  return read_tools_of(
      request.get("tools"), "/tools", [](const Json& tool, const std::string& path) -> Result<Tool> {
        const auto type = known(tool, "type");
        const bool is_hosted = type && type->is_string() && type->as_string() != Text("custom");
        if (is_hosted && !known(tool, "input_schema")) return Tool{};
        return read_tool(tool, path, "input_schema");
      });
}

// {"type": "auto"|"any"|"none"|"tool", "name", "disable_parallel_tool_use"}
void read_choice(const Json& member, Settings& settings) {
  const Text type = text_at(member, "/type");
  const Json name = member.get("name").value_or(Json());
  if (type == Text("auto") || type == Text("none")) settings.set(Setting::ToolChoice, Json::string(type));
  if (type == Text("any")) settings.set(Setting::ToolChoice, Json::string("required"));
  if (type == Text("tool") && name.is_string()) set_tool_choice(settings, {&name, 1}, true);
  const auto alone = member.get("disable_parallel_tool_use").value_or(Json()).as_bool();
  if (alone) settings.set(Setting::ParallelToolCalls, Json::boolean(!*alone));
}

std::optional<Json> write_choice(const Settings& settings) {
  const auto given = tool_choice(settings);
  const auto parallel = settings.get(Setting::ParallelToolCalls);
  if (!given && !parallel) return std::nullopt;
  const ToolChoice choice = given.value_or(ToolChoice{.word = "auto"});
  json::Writer w;
  w.begin_object().key("type");
  if (const Json* only = choice.only()) {
    w.string("tool").key("name").value(*only);
  } else {
    w.string(choice.word == "none" ? "none" : choice.word == "required" || choice.must ? "any" : "auto");
  }
  if (parallel && choice.word != "none") {
    w.key("disable_parallel_tool_use").boolean(!parallel->as_bool().value_or(true));
  }
  return w.end_object().take();
}

// {"type": "json_schema", "schema"}
void read_reply_format(const Json& member, Settings& settings) {
  set_reply_schema(settings, std::nullopt, member.get("schema"));
}

std::optional<Json> write_reply_format(const Settings& settings) {
  const Json schema = reply_schema(settings);
  if (schema.is_null()) return std::nullopt;
  json::Writer w;
  return w.begin_object().key("type").string("json_schema").key("schema").value(schema).end_object().take();
}

constexpr auto kSettings = std::to_array<SettingRow>({
    plain_setting<Setting::Model>("model"),
    {"tool_choice", bit(Setting::ToolChoice) | bit(Setting::ParallelToolCalls), read_choice, write_choice},
    plain_setting<Setting::MaxTokens>("max_tokens"),
    plain_setting<Setting::Temperature>("temperature"),
    plain_setting<Setting::TopP>("top_p"),
    plain_setting<Setting::TopK>("top_k"),
    plain_setting<Setting::Stop>("stop_sequences"),
    plain_setting<Setting::Stream>("stream"),
    plain_setting<Setting::ReasoningEffort>("output_config/effort"),
    {"output_config/format", bit(Setting::ReplySchema), read_reply_format, write_reply_format},
    plain_setting<Setting::User>("metadata/user_id"),
});

void write_answer(json::Writer& out, const Outcome& outcome) {
  if (!outcome.id.empty()) out.key("id").string(outcome.id);
  out.key("type").string("message").key("role").string("assistant");
  out.key("content").begin_array().end_array();
  if (!outcome.model.empty()) out.key("model").string(outcome.model);
  const std::string_view word = finish_word(Dialect::Anthropic, outcome.finish);
  out.key("stop_reason");
  word.empty() ? out.null() : out.string(word);
  out.key("stop_sequence").null();
  write_usage_object(out, "usage", Dialect::Anthropic, outcome.usage);
}

Outcome read_answer(const Json& answer, bool has_calls) {
  Outcome outcome;
  outcome.id = text_at(answer, "/id");
  outcome.model = text_at(answer, "/model");
  outcome.raw_finish = text_at(answer, "/stop_reason");
  outcome.finish = finish_of(Dialect::Anthropic, outcome.raw_finish, has_calls);
  outcome.usage = read_usage(Dialect::Anthropic, answer.get("usage").value_or(Json()));
  return outcome;
}

// Opus from 4.8 on: "claude-opus-4-8", "claude-opus-5-20270101". A longer number is a date.
bool has_system_inside(std::string_view model) {
  constexpr std::string_view kFamily = "opus-";
  const std::size_t at = model.find(kFamily);
  if (at == std::string_view::npos) return false;
  unsigned version[2] = {};
  std::string_view rest = model.substr(at + kFamily.size());
  for (unsigned& part : version) {
    const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    if (digits.empty() || digits.size() > 2) break;
    for (const char digit : digits) part = part * 10 + static_cast<unsigned>(digit - '0');
    rest.remove_prefix(std::min(rest.size(), digits.size() + 1));
  }
  return version[0] > 4 || (version[0] == 4 && version[1] >= 8);
}

constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kMessagesPath},
                                           {DocumentShape::Response, {}, true, "stop_reason"}};
constexpr Envelope kEnvelope = {
    .locations = kLocations,
    .of_message = {},
    .system_form = SystemForm::StringOrBlocks,
    .system = "system",
    .write_tools = write_tools,
    .read_tools = read_tools,
    .fit_name = [](std::string_view name) { return fitted_name(name, kTraits.tool_name); },
    .has_system_inside = has_system_inside,
    .needs_tools = true,
    .settings = kSettings,
    .write_answer = write_answer,
    .read_answer = read_answer,
    .no_message = R"({"role":"assistant","content":[]})",
    .as_usual = with_plain_documents};

constexpr StreamFormat kStream = {
    .framing = FramingKind::Sse, .decoder = anthropic_decoder, .encoder = anthropic_encoder};

}  // namespace

extern const Format kAnthropic = {
    .info = {Dialect::Anthropic, "anthropic", "Anthropic's Messages",
             "text, thinking (its own), image, document (pdf), tool use, tool result",
             "a list, one message, a request, an answer"},
    .read_message = read_message,
    .group = [](std::span<const Message> rest) { return group_by(kTraits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { Writer(draft).write(group); },
    .envelope = kEnvelope,
    .joins = true,
    .refuses_empty = true,
    .names_results = true,
    .hints_used = kIsLast | kNamesSpeakers | kIsFirst | kSystemInside,
    .traits = &kTraits,
    .words = &anthropic::kAnswerWords,
    .stream = &kStream,
    .signs = anthropic::kSigns,
    .opaque_blocks = anthropic::kOpaqueBlocks,
    .failures = anthropic::kFailures,
    .files = &anthropic::kFiles,
    .has_document_context = true,
    .check_rules = rules::check_anthropic,
};

}  // namespace parley::dialect
