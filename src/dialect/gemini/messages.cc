// Google's Gemini:
//
//   {"role": "user"|"model", "parts": [part]}
//   part = {"text": string} | {"text": string, "thought": true, "thoughtSignature": base64}
//        | {"inlineData": {"mimeType", "data"}} | {"fileData": {"mimeType", "fileUri"}}
//        | {"functionCall": {"id", "name", "args": object}}
//        | {"functionResponse": {"id", "name", "response": object, "parts": [part]}}
//
// A response is written as {"output": string} or {"error": string}. One of these alone is read as what it
// holds, any other response as the text of its JSON.
//
// Written in that order. A part is identified by its data; parts of all other kinds (code, server tools) are
// kept as they are. The role may be missing, ids too; names are read in snake case as well. All results of a
// step are one user message that holds nothing else. A signature without thinking belongs to the call or the
// text after it. The first call of a step needs a signature in the current turn: where there is none, the
// sentinel that the provider documents is written, in every turn, because it does no harm in older ones and a
// request then begins like the one before it.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "dialect/core/arrange.h"
#include "dialect/core/outcome.h"
#include "dialect/core/write_blocks.h"
#include "dialect/gemini/names.h"
#include "dialect/gemini/parts.h"
#include "dialect/gemini/schema.h"
#include "dialect/gemini/tables.h"

namespace parley::dialect {
namespace {

// ---- Reading

constexpr std::array kRoles = {Role::User, Role::System};
constexpr RoleName kOtherRoles[] = {{"model", Role::Assistant}, {"function", Role::Tool, true}};
constexpr std::string_view kToldNulls[] = {"parts"};

// A member in one of its two spellings. The second is odd.
bool is(Reader& r, std::string_view key, std::string_view camel, std::string_view snake) {
  if (key == snake) r.more();
  return key == camel || key == snake;
}

bool read_thought(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() == 't') {
    block.type = BlockType::Thinking;
  } else {
    r.more();
  }
  return r.skip_value();
}

bool read_signature(Reader& r, BlockRecord& block) { return r.string(block.signature(), "thoughtSignature"); }

BlockType type_of(std::string_view media_type) {
  if (media_type.starts_with("image/")) return BlockType::Image;
  if (media_type.starts_with("audio/")) return BlockType::Audio;
  return media_type.starts_with("video/") ? BlockType::Video : BlockType::Document;
}

// Google's own clients write the alphabet for URLs, which its servers take; others want the usual one.
bool plain_base64(Reader& r, Slice& data) {
  const std::string_view spelled = r.spelled(data);
  const auto has = [&](char c) { return spelled.find(c) != std::string_view::npos; };
  if ((!has('-') && !has('_')) || has('\\')) return true;
  std::string usual(spelled);
  std::ranges::replace(usual, '-', '+');
  std::ranges::replace(usual, '_', '/');
  usual.append((4 - usual.size() % 4) % 4, '=');
  data = r.mint(usual);
  r.more();
  return true;
}

bool read_media(Reader& r, BlockRecord& block, SourceKind source, std::string_view member) {
  if (r.cursor.peek() != '{') return r.wrong_type(member, "an object");
  const bool good = r.object([&](std::string_view key) {
    if (is(r, key, "mimeType", "mime_type")) return r.string(block.media_type(), key);
    if (is(r, key, "displayName", "display_name")) return r.string(block.media_name(), key);
    const bool is_data = source == SourceKind::Base64 ? key == "data" : is(r, key, "fileUri", "file_uri");
    if (!is_data) return r.unknown();
    block.source = source;
    return r.string(block.data(), key) && (source != SourceKind::Base64 || plain_base64(r, block.data()));
  });
  if (good) block.type = type_of(block.media_type().present() ? r.plain(block.media_type()) : "");
  return good;
}
bool read_inline(Reader& r, BlockRecord& block) {
  return read_media(r, block, SourceKind::Base64, "inlineData");
}
bool read_file(Reader& r, BlockRecord& block) { return read_media(r, block, SourceKind::Url, "fileData"); }

bool read_call(Reader& r, BlockRecord& use) {
  if (r.cursor.peek() != '{') return r.wrong_type("functionCall", "an object");
  const bool good = r.object([&](std::string_view key) {
    if (key == "id") return r.string(use.id(), key);
    if (key == "name") return r.string(use.name(), key);
    return key == "args" ? r.cursor.skip(use.input()) : r.unknown();
  });
  if (good && !use.input().present()) {  // a call without arguments
    use.input() = r.mint("{}");
    r.more();
  }
  if (good) r.asks(use);
  return good;
}

// {"output": any} or {"error": any}, with nothing else beside it: that is what the tool said. Any other
// response is one as a whole, as JSON; it tells of an error if it has one to name.
bool read_response(Reader& r, BlockRecord& result) {
  if (r.cursor.peek() != '{') return r.wrong_type("response", "an object");
  Slice whole, output, error;
  bool has_others = false;
  const bool good = r.cursor.look([&](std::string_view key) {
    has_others |= key != "output" && key != "error";
    return true;
  });
  if (!good || !r.cursor.look_ahead("output", output) || !r.cursor.look_ahead("error", error)) return false;
  if (!r.cursor.skip(whole)) return false;
  const auto says = [&](Slice value) { return value.present() && r.cursor.bytes(value) != "null"; };
  const bool is_one = !has_others && (says(error) ? !says(output) : output.present());
  static constexpr std::string_view kNoErrors[] = {"\"\"", "false", "0", "[]", "{}"};
  const bool names_error =
      says(error) && std::ranges::find(kNoErrors, r.cursor.bytes(error)) == std::end(kNoErrors);
  result.is_error = names_error || (is_one && says(error)) ? Tristate::True : Tristate::Unsaid;
  result.output() = r.text_of(!is_one ? whole : says(error) ? error : output);
  return true;
}

bool read_result(Reader& r, BlockRecord& result);

constexpr auto kText = std::to_array<MemberRule>({{"text", Want::String, 0},
                                                  {"thought", Want::Own, 0, read_thought},
                                                  {"thoughtSignature", Want::Own, 0, read_signature},
                                                  {"thought_signature", Want::Own, 0, read_signature}});
constexpr auto kInline = std::to_array<MemberRule>({{"inlineData", Want::Own, 0, read_inline}});
constexpr auto kFile = std::to_array<MemberRule>({{"fileData", Want::Own, 0, read_file}});
constexpr auto kCall = std::to_array<MemberRule>({{"functionCall", Want::Own, 0, read_call}});
constexpr auto kResult = std::to_array<MemberRule>({{"functionResponse", Want::Own, 0, read_result}});
constexpr auto kOddInline = std::to_array<MemberRule>({{"inline_data", Want::Own, 0, read_inline}});
constexpr auto kOddFile = std::to_array<MemberRule>({{"file_data", Want::Own, 0, read_file}});
constexpr auto kOddCall = std::to_array<MemberRule>({{"function_call", Want::Own, 0, read_call}});
constexpr auto kOddResult = std::to_array<MemberRule>({{"function_response", Want::Own, 0, read_result}});
constexpr auto kParts = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"inlineData", BlockType::Image, kInline},
    {"fileData", BlockType::Image, kFile},
    {"functionCall", BlockType::ToolUse, kCall},
    {"functionResponse", BlockType::ToolResult, kResult},
    {"inline_data", BlockType::Image, kOddInline},
    {"file_data", BlockType::Image, kOddFile},
    {"function_call", BlockType::ToolUse, kOddCall},
    {"function_response", BlockType::ToolResult, kOddResult},
});
constexpr BlockTable kTable = {kParts, {}, "", "", false, true};

// The text of the response, and media after it.
bool read_result(Reader& r, BlockRecord& result) {
  if (r.cursor.peek() != '{') return r.wrong_type("functionResponse", "an object");
  BlockRecord media;
  const bool good = r.object([&](std::string_view key) {
    if (key == "id") return r.string(result.id(), key);
    if (key == "name") return r.string(result.name(), key);
    if (key == "response") return read_response(r, result);
    if (key != "parts" || r.cursor.peek() != '[') return r.unknown();
    return r.output(kTable, media, key);
  });
  if (!good) return false;
  r.answers(result);
  if (media.is_list) {
    BlockRecord text;
    text.type = BlockType::Text;
    text.text() = result.output();
    const auto first = static_cast<std::uint32_t>(r.children.size());
    const Slice parts = media.children();
    if (text.text().present()) r.children.push_back(text);
    for (std::uint32_t i = 0; i < parts.length; ++i) {
      const BlockRecord part = r.children[parts.offset + i];  // a copy, because the list may move
      r.children.push_back(part);
    }
    result.is_list = true;
    result.output() = Slice::absent();
    result.children() = {first, static_cast<std::uint32_t>(r.children.size()) - first};
  }
  return true;
}

bool read_message(Reader& r) {
  MessageRecord message;
  const std::uint32_t start = r.cursor.offset();
  const std::size_t first = r.blocks.size();
  r.begin_message(/*may_continue=*/true);
  bool has_role = false;
  bool has_other = false;
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "role") return has_role = r.role(message.role, kRoles, kOtherRoles);
    if (key == "parts") return r.content(message, kTable, false, key);
    has_other = true;
    return r.unknown();
  });
  if (!good) return false;
  // A role may be missing, parts too, as in the {} that some answers have; an object of other members is no
  // message.
  if (has_other && !has_role && message.shape == ContentShape::Absent) return r.missing(start, "parts");
  if (!has_role) r.more();
  if (!has_role && r.is_answer()) message.role = Role::Assistant;
  for (std::size_t i = first; i < r.blocks.size(); ++i) {
    BlockRecord& block = r.blocks[i];
    if (block.type == BlockType::Thinking) r.sign(block, Dialect::Gemini);
    if (block.type != BlockType::Text || !block.signature().present()) continue;
    block.signature() = Slice::absent();  // a signature of what was said is the wire's own
    r.more();
  }
  r.continue_step(message);
  r.end_message(message, start);
  return true;
}

// ---- Writing

constexpr auto kMediaTypes = std::to_array<std::string_view>(
    {"image/png", "image/jpeg", "image/webp", "image/heic",      "image/heif",      "audio/mpeg",
     "audio/mp3", "audio/wav",  "audio/aiff", "audio/aac",       "audio/ogg",       "audio/flac",
     "video/mp4", "video/mpeg", "video/mov",  "video/quicktime", "video/avi",       "video/x-flv",
     "video/mpg", "video/webm", "video/wmv",  "video/3gpp",      "application/pdf", "text/plain"});

// Media of its list inside the message, and what Google's servers can reach by themselves.
bool carries(const Arena& arena, const BlockRecord& media, Where) {
  if (!media.data().present()) return false;
  if (!is_inline(arena, media)) {
    const std::string_view url = arena.bytes(media.data());
    return url.starts_with("gs://") || url.starts_with("https://generativelanguage.googleapis.com/");
  }
  return std::ranges::find(kMediaTypes, shown_media_type(arena, media)) != kMediaTypes.end();
}

constexpr ProviderTraits kTraits = {
    .dialect = Dialect::Gemini,
    .call_id = {.any_character = true, .most_bytes = 1024},
    .tool_name = {.also = ".:", .starts_with_letter = true},
    .carries = carries,
    .results = Results::Alone,
    .thinking = Thinking::Own,
    .has_error_flag = true,
    .refuses_empty_text = true,
    .has_system_messages = false,
    .opens_with_user = true,
    .names_media = true,
    .types_urls = true,
    .ends_with_user = true,
    .writes_call_ids = false,
    .settings = gemini::kSettingLimits,
};

constexpr std::string_view kSentinel = "skip_thought_signature_validator";

class Writer final : PieceWriter {
 public:
  explicit Writer(Draft& draft) : PieceWriter(draft) {}

  void write(std::span<const Message> group) {
    for (const Turn& turn : arrange(draft_, kTraits, group)) {
      is_signed_ = draft_.is(kIsAnswer);  // an answer is not sent to the provider
      const bool is_system = turn.role == Role::System || turn.role == Role::Developer;
      draft_.next().raw("{\"role\":");
      out_.quoted(turn.role == Role::Assistant ? "model" : is_system ? "system" : "user").raw(",\"parts\":[");
      bool is_first = true;
      for (std::size_t i = 0; i < turn.pieces.size(); ++i) {
        if (is_for_next(std::span(turn.pieces).subspan(i))) {
          signature_ = &turn.pieces[i];
          continue;
        }
        if (!std::exchange(is_first, false)) out_.raw(',');
        put_piece(turn.pieces[i]);
      }
      out_.raw("]}");
    }
  }

 private:
  // A signature without thinking is that of the call or the text after it (stream.h): the provider wants it
  // where it was.
  static bool is_for_next(std::span<const Piece> pieces) {
    const Piece& piece = pieces.front();
    if (piece.kind != Piece::Kind::Thinking || pieces.size() == 1) return false;
    const Piece::Kind next = pieces[1].kind;
    return piece.text().empty() && piece.block->signature().present() &&
           (next == Piece::Kind::Text || next == Piece::Kind::Use);
  }

  void put_signature(const Piece& piece) {
    out_.raw(",\"thoughtSignature\":").quoted(piece.arena->bytes(piece.block->signature()));
  }

  void text(const Piece& piece) override {
    out_.raw("{\"text\":");
    put_text(out_, piece);
    if (signature_ != nullptr) put_signature(*std::exchange(signature_, nullptr));
    out_.raw('}');
  }

  void thinking(const Piece& piece) override {
    out_.raw("{\"text\":").quoted(piece.text()).raw(",\"thought\":true");
    if (piece.block->signature().present()) put_signature(piece);
    out_.raw('}');
  }

  // The id and the name of a call or a result. An id that a reader made up is not written.
  void put_head(const Piece& piece) {
    const Slice id = piece.block->id();
    if (id.present() && !is_made_up(piece.arena->bytes(id))) {
      out_.raw("\"id\":");
      put_id(draft_, *piece.arena, id, kTraits.call_id, piece.index);
      out_.raw(',');
    }
    out_.raw("\"name\":");
    put_name(draft_, *piece.arena, piece.block->name(), kTraits.tool_name, piece.index);
  }

  void call(const Piece& use) override {
    out_.raw("{\"functionCall\":{");
    put_head(use);
    out_.raw(",\"args\":");
    put_arguments_object(draft_, use);
    out_.raw('}');
    if (signature_ != nullptr) {
      put_signature(*std::exchange(signature_, nullptr));
    } else if (!is_signed_) {
      out_.raw(",\"thoughtSignature\":").quoted(kSentinel);
      note_piece(draft_, use, "signature_minted", Severity::Info, "minted",
                 "the call has no signature of this provider; its sentinel is written");
    }
    is_signed_ = true;
    out_.raw('}');
  }

  void result(const Piece& result) override {
    out_.raw("{\"functionResponse\":{");
    put_head(result);
    out_.raw(result.is_error ? ",\"response\":{\"error\":" : ",\"response\":{\"output\":");
    put_joined(out_, result.children);
    out_.raw('}');
    bool is_first = true;
    for (const Piece& part : result.children) {
      if (part.kind == Piece::Kind::Text) continue;
      out_.raw(is_first ? ",\"parts\":[" : ",");
      is_first = false;
      put_piece(part);
    }
    out_.raw(is_first ? "}}" : "]}}");
  }

  void media(const Piece& piece) override {
    const BlockRecord& media = *piece.block;
    if (is_inline(*piece.arena, media)) {
      const InlineMedia data = inline_media(draft_, *piece.arena, media, piece.index);
      out_.raw("{\"inlineData\":{\"mimeType\":").quoted(data.media_type);
      out_.raw(",\"data\":").quoted(data.data);
    } else {
      out_.raw("{\"fileData\":{\"mimeType\":");
      out_.quoted(url_media_type(draft_, *piece.arena, media, piece.index));
      out_.raw(",\"fileUri\":").quoted(piece.arena->bytes(media.data()));
    }
    if (media.media_name().present() && media.media_name().length != 0) {
      out_.raw(",\"displayName\":").quoted(piece.arena->bytes(media.media_name()));
    }
    out_.raw("}}");
  }

  bool is_signed_ = false;            // the turn has its sentinel
  const Piece* signature_ = nullptr;  // of the piece that comes next
};

// ---- What is around the messages

void write_tools(json::Writer& out, std::span<const Tool> tools, const Settings&) {
  out.key("tools").begin_array().begin_object().key("functionDeclarations").begin_array();
  for (const Tool& tool : tools) {
    out.begin_object();
    write_tool(out, tool, "parametersJsonSchema");
    out.end_object();
  }
  out.end_array().end_object().end_array();
}

Result<Tool> read_declaration(const Json& tool, const std::string& path) {
  if (known(tool, "parametersJsonSchema")) return read_tool(tool, path, "parametersJsonSchema");
  Result<Tool> read = read_tool(tool, path);
  if (read) read->parameters = with_plain_types(read->parameters);
  return read;
}

Result<std::vector<Tool>> read_tools(const Json& request) {
  std::vector<Tool> tools;
  const auto list = known(request, "tools");
  if (!list) return tools;
  if (!list->is_array()) return fail(Code::WrongType, "'tools' must be a list", "/tools");
  const std::vector<Json> sets = list->elements();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::string path = "/tools/" + std::to_string(i) + "/functionDeclarations";
    PARLEY_TRY(const std::vector<Tool> declared,
               read_tools_of(sets[i].get("functionDeclarations"), path, read_declaration));
    tools.insert(tools.end(), declared.begin(), declared.end());
  }
  return tools;
}

// {"mode": "AUTO"|"ANY"|"NONE"|"VALIDATED", "allowedFunctionNames": [string, ...]}
void read_choice(const Json& member, Settings& settings) {
  const Text mode = text_at(member, "/mode");
  const auto names = member.get("allowedFunctionNames");
  if (names && has_type_of(Setting::Stop, *names) && !names->elements().empty()) {
    set_tool_choice(settings, names->elements(), mode == Text("ANY"));
    return;
  }
  if (mode == Text("AUTO")) settings.set(Setting::ToolChoice, Json::string("auto"));
  if (mode == Text("NONE")) settings.set(Setting::ToolChoice, Json::string("none"));
  if (mode == Text("ANY")) settings.set(Setting::ToolChoice, Json::string("required"));
}

std::optional<Json> write_choice(const Settings& settings) {
  const auto choice = tool_choice(settings);
  if (!choice) return std::nullopt;
  json::Writer w;
  w.begin_object().key("mode");
  if (choice->has_names) {
    w.string(choice->must ? "ANY" : "VALIDATED").key("allowedFunctionNames").begin_array();
    for (const Json& name : choice->names) w.value(name);
    w.end_array();
  } else {
    w.string(choice->word == "none" ? "NONE" : choice->word == "required" ? "ANY" : "AUTO");
  }
  return w.end_object().take();
}

// A schema needs the type of its text beside it. "responseSchema" is an older form with fewer words.
std::optional<Json> write_reply_type(const Settings& settings) {
  return reply_schema(settings).is_null() ? std::nullopt : std::optional(Json::string("application/json"));
}

constexpr auto kSettings = std::to_array<SettingRow>({
    {"toolConfig/functionCallingConfig", bit(Setting::ToolChoice), read_choice, write_choice},
    plain_setting<Setting::Temperature>("generationConfig/temperature"),
    plain_setting<Setting::TopP>("generationConfig/topP"),
    plain_setting<Setting::TopK>("generationConfig/topK"),
    plain_setting<Setting::MaxTokens>("generationConfig/maxOutputTokens"),
    plain_setting<Setting::Stop>("generationConfig/stopSequences"),
    plain_setting<Setting::Seed>("generationConfig/seed"),
    plain_setting<Setting::PresencePenalty>("generationConfig/presencePenalty"),
    plain_setting<Setting::FrequencyPenalty>("generationConfig/frequencyPenalty"),
    {"generationConfig/responseMimeType", 0, [](const Json&, Settings&) {}, write_reply_type},
    reply_schema_setting("generationConfig/responseJsonSchema"),
});

void write_answer(json::Writer& out, const Outcome& outcome) {
  out.key("candidates").begin_array().begin_object().key("content").begin_array().end_array();
  const std::string_view word = finish_word(Dialect::Gemini, outcome.finish);
  if (!word.empty()) out.key("finishReason").string(word);
  out.key("index").number(0).end_object().end_array();
  if (outcome.usage != Usage()) write_usage_object(out, "usageMetadata", Dialect::Gemini, outcome.usage);
  if (!outcome.model.empty()) out.key("modelVersion").string(outcome.model);
  if (!outcome.id.empty()) out.key("responseId").string(outcome.id);
}

Outcome read_answer(const Json& answer, bool has_calls) {
  Outcome outcome;
  outcome.id = text_at(answer, "/responseId");
  outcome.model = text_at(answer, "/modelVersion");
  outcome.raw_finish = text_at(answer, "/candidates/0/finishReason");
  outcome.finish = finish_of(Dialect::Gemini, outcome.raw_finish, has_calls);
  if (known(answer.get("promptFeedback").value_or(Json()), "blockReason")) outcome.finish = Finish::Filtered;
  outcome.usage = read_usage(Dialect::Gemini, answer.get("usageMetadata").value_or(Json()));
  return outcome;
}

constexpr std::string_view kContents[] = {"contents"};
constexpr std::string_view kAnswerPath[] = {"candidates", "0", "content"};
constexpr std::string_view kOfMessage[] = {"role", "parts"};
constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kContents},
                                           {DocumentShape::Response, kAnswerPath, true},
                                           {DocumentShape::Response, kAnswerPath, true, "promptFeedback"}};
constexpr Envelope kEnvelope = {
    .locations = kLocations,
    .of_message = kOfMessage,
    .system_form = SystemForm::Parts,
    .system = "systemInstruction",
    .content = "parts",
    .write_tools = write_tools,
    .read_tools = read_tools,
    .lists_allowed_tools = true,
    .fit_name = [](std::string_view name) { return fitted_name(name, kTraits.tool_name); },
    .settings = kSettings,
    .write_answer = write_answer,
    .read_answer = read_answer,
    .no_message = R"({"role":"model","parts":[]})",
    .as_usual = with_usual_names,
    .other_schema = "parameters"};

// Data may be base64 for URLs, and is written as the usual one.
constexpr std::string_view kAsText[] = {"/parts/*/functionResponse/response", "/parts/*/inlineData/data",
                                        "/parts/*/inline_data/data",
                                        "/parts/*/functionResponse/parts/*/inlineData/data"};

// A signature comes with an empty text, as it may be the last part of a stream.
bool has_signature(const Json& wire) {
  const Json parts = with_usual_names(wire).get("parts").value_or(Json());
  return std::ranges::any_of(parts.elements(),
                             [](const Json& part) { return !text_at(part, "/thoughtSignature").empty(); });
}

constexpr StreamFormat kStream = {.framing = FramingKind::Sse,
                                  .decoder = gemini_decoder,
                                  .encoder = gemini_encoder,
                                  .has_raw_media = true,
                                  .chunks_are_answers = true};

}  // namespace

extern const Format kGemini = {
    .info = {Dialect::Gemini, "gemini", "Google's Gemini (generateContent)",
             "text, thinking (its own), image, audio, video, document, tool use, tool result",
             "a list, one message, a request, an answer"},
    .read_message = read_message,
    .group = [](std::span<const Message> rest) { return group_by(kTraits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { Writer(draft).write(group); },
    .envelope = kEnvelope,
    .joins = true,
    .refuses_empty = true,
    .hints_used = kNamesSpeakers | kIsFirst | kIsAnswer,
    .traits = &kTraits,
    .as_text = kAsText,
    .words = &gemini::kAnswerWords,
    .stream = &kStream,
    .signs = gemini::kSigns,
    .opaque_blocks = gemini::kOpaqueBlocks,
    .failures = gemini::kFailures,
    .check_rules = rules::check_gemini,
    .has_signature = has_signature,
};

}  // namespace parley::dialect
