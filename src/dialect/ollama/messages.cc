// Ollama's chat:
//
//   {"role": "system"|"user", "content": string, "images": [base64]}
//   {"role": "assistant", "content": string, "thinking": string,
//    "tool_calls": [{"id", "function": {"index", "name", "arguments": object}}]}
//   {"role": "tool", "tool_name": string, "tool_call_id": string, "content": string}
//
// Written in that order. Content is one string, so texts are joined; images stand after it. Ids may be
// missing: results then answer the calls in their order. There is no choice of tools and no error flag.
#include <algorithm>
#include <array>

#include "dialect/core/arrange.h"
#include "dialect/core/outcome.h"
#include "dialect/core/write_blocks.h"
#include "dialect/ollama/parts.h"
#include "dialect/ollama/tables.h"
#include "dialect/openai/chat.h"
#include "json/walk.h"
#include "parley/media/data_url.h"

namespace parley::dialect {
namespace {

// ---- Reading

constexpr std::array kRoles = {Role::System, Role::User, Role::Assistant, Role::Tool};

bool read_function(Reader& r, BlockRecord& use) {
  if (r.cursor.peek() != '{') return r.wrong_type("function", "an object");
  return r.object([&](std::string_view key) {
    if (key == "name") return r.string(use.name(), key);
    if (key == "index") return r.skip_value();
    if (key != "arguments") return r.unknown();
    return r.cursor.peek() == '"' ? r.string(use.arguments(), key) : r.cursor.skip(use.input());
  });
}

bool read_call(Reader& r) {
  if (r.cursor.peek() != '{') return r.wrong_type("tool_calls", "a list of objects");
  BlockRecord use;
  use.type = BlockType::ToolUse;
  const std::uint32_t start = r.cursor.offset();
  const bool good = r.object([&](std::string_view key) {
    if (key == "id") return r.string(use.id(), key);
    return key == "function" ? read_function(r, use) : r.unknown();
  });
  if (!good) return false;
  if (!use.name().present()) return r.missing(start, "function");
  use.wire = {start, r.cursor.offset() - start};
  r.asks(use);
  r.later.push_back(use);
  return true;
}

// Blocks in the order of the wire's members would depend on the spelling; this order does not.
struct Parts {
  BlockRecord text, thinking;
  std::vector<BlockRecord> images;
  bool has_text = false, has_thinking = false;
};

bool read_images(Reader& r, Parts& parts) {
  parts.images.clear();
  if (r.cursor.peek() != '[') return r.wrong_type("images", "a list or null");
  return r.cursor.array([&](std::uint32_t) {
    BlockRecord image;
    image.type = BlockType::Image;
    image.source = SourceKind::Base64;
    r.cursor.peek();
    const std::uint32_t start = r.cursor.offset();
    if (!r.media(image.data(), "images")) return false;
    image.wire = {start, r.cursor.offset() - start};
    parts.images.push_back(image);
    return true;
  });
}

bool read_text(Reader& r, BlockRecord& block, BlockType type, bool& has, std::string_view key) {
  block = BlockRecord();
  block.type = type;
  r.cursor.peek();
  const std::uint32_t start = r.cursor.offset();
  if (!r.string(block.text(), key)) return false;
  block.wire = {start, r.cursor.offset() - start};
  has = true;
  return true;
}

BlockRecord result_of(Reader& r, Parts& parts, Slice id, Slice name, Slice wire) {
  BlockRecord result;
  result.type = BlockType::ToolResult;
  result.id() = id;
  result.name() = name;
  result.wire = wire;
  r.answers(result);
  if (parts.images.empty()) {
    if (parts.has_text) result.output() = parts.text.text();
    return result;
  }
  result.is_list = true;
  const auto first = static_cast<std::uint32_t>(r.children.size());
  if (parts.has_text) r.children.push_back(parts.text);
  for (const BlockRecord& image : parts.images) r.children.push_back(image);
  result.children() = {first, static_cast<std::uint32_t>(r.children.size()) - first};
  return result;
}

bool read_message(Reader& r) {
  MessageRecord message;
  Parts parts;
  Slice call_id, tool_name;
  bool has_role = false;
  const std::uint32_t start = r.cursor.offset();
  r.begin_message();
  r.later.clear();
  const bool good = r.object([&](std::string_view key) {
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "content") return read_text(r, parts.text, BlockType::Text, parts.has_text, key);
    if (key == "thinking") return read_text(r, parts.thinking, BlockType::Thinking, parts.has_thinking, key);
    if (key == "images") return read_images(r, parts);
    if (key == "tool_name") return r.string(tool_name, key);
    if (key == "tool_call_id") return r.string(call_id, key);
    if (key != "tool_calls") return r.unknown();
    r.later.clear();
    if (r.cursor.peek() != '[') return r.wrong_type(key, "a list or null");
    return r.cursor.array([&](std::uint32_t) { return read_call(r); });
  });
  if (!good) return false;
  if (!has_role) return r.missing(start, "role");
  if (parts.has_text) message.shape = ContentShape::String;
  const Slice wire = {start, r.cursor.offset() - start};
  if (message.role == Role::Tool) {
    r.blocks.push_back(result_of(r, parts, call_id, tool_name, wire));
    if (parts.has_thinking || r.later.size() != 0) r.more();
  } else {
    if (parts.has_thinking) r.blocks.push_back(parts.thinking);
    const bool is_said = parts.has_text && (parts.text.text().length != 0 || r.later.size() == 0);
    if (is_said) r.blocks.push_back(parts.text);
    for (const BlockRecord& image : parts.images) r.blocks.push_back(image);
    r.blocks.append(r.later.view());
    if (call_id.present() || tool_name.present()) r.more();
  }
  if (r.blocks.size() > 1 || !parts.has_text) message.shape = ContentShape::Blocks;
  r.end_message(message, start);
  return true;
}

// ---- Writing

// As the server decodes it: line ends do not count, padding is needed.
bool is_base64(std::string_view spelled) {
  if (base64_check(spelled)) return true;
  std::string data = json::unescaped(Text::trusted(nullptr, spelled)).str();
  std::erase_if(data, [](char c) { return c == '\n' || c == '\r'; });
  return data.size() % 4 == 0 && data.find_first_of(" \t\f") == std::string::npos &&
         base64_check(data, Base64Mode::Forgiving).has_value();
}

// An image that is no base64 would fail the whole request.
bool carries(const Arena& arena, const BlockRecord& media, Where where) {
  if (where != Where::User || media.type != BlockType::Image || !is_inline(arena, media)) return false;
  const std::string_view data = arena.bytes(media.data());
  const DataUrlParts url = split_data_url(data);
  return is_base64(url.is_base64 ? url.data : data);
}

constexpr ProviderTraits kTraits = {
    .dialect = Dialect::Ollama,
    .call_id = {.any_character = true, .most_bytes = 1024},
    .tool_name = {.any_character = true, .most_bytes = 1024},
    .carries = carries,
    .thinking = Thinking::Plain,
    .writes_call_ids = false,
    .needs_messages = false,  // a request without them loads the model
};

class Writer {
 public:
  explicit Writer(Draft& draft) : draft_(draft), out_(draft.out) {}

  void write(std::span<const Message> group) {
    for (const Turn& turn : arrange(draft_, kTraits, group)) {
      turn.role == Role::Tool ? put_result(turn.pieces.front()) : put_message(turn);
    }
  }

 private:
  void put_own_id(std::string_view key, const Piece& piece) {
    draft_.position = piece.position;
    const Slice id = piece.block->id();
    if (!id.present() || is_made_up(piece.arena->bytes(id))) return;
    out_.raw(key);
    put_id(draft_, *piece.arena, id, kTraits.call_id, piece.index);
    out_.raw(',');
  }

  void put_result(const Piece& result) {
    draft_.next().raw("{\"role\":\"tool\",");
    if (result.block->name().present()) {
      out_.raw("\"tool_name\":").quoted(result.arena->bytes(result.block->name())).raw(',');
    }
    put_own_id("\"tool_call_id\":", result);
    note_joined(result.children);
    out_.raw("\"content\":");
    put_joined(out_, result.children);
    out_.raw('}');
  }

  void put_message(const Turn& turn) {
    const Role role = turn.role == Role::Developer ? Role::System : turn.role;
    draft_.next().raw("{\"role\":").quoted(to_string(role)).raw(",\"content\":");
    note_joined(turn.pieces);
    put_joined(out_, turn.pieces);
    put_each(turn, Piece::Kind::Thinking, ",\"thinking\":\"", "\\n", "\"",
             [&](const Piece& piece) { out_.raw(piece.text()); });
    put_each(turn, Piece::Kind::Media, ",\"images\":[", ",", "]", [&](const Piece& piece) {
      draft_.position = piece.position;
      const BlockRecord& image = *piece.block;
      out_.quoted(inline_media(draft_, *piece.arena, image, piece.index).data);
      if (shown_media_type(*piece.arena, image) != sniffed_media_type(*piece.arena, image)) {
        draft_.note("media_type_dropped", Severity::Minor, "dropped",
                    "there is no place for the media type, and the bytes do not show it", piece.index);
      }
    });
    std::size_t index = 0;
    put_each(turn, Piece::Kind::Use, ",\"tool_calls\":[", ",", "]", [&](const Piece& use) {
      out_.raw('{');
      put_own_id("\"id\":", use);
      out_.raw("\"function\":{\"index\":").raw(std::to_string(index++)).raw(",\"name\":");
      put_name(draft_, *use.arena, use.block->name(), kTraits.tool_name, use.index);
      out_.raw(",\"arguments\":");
      put_arguments_object(draft_, use);
      out_.raw("}}");
    });
    out_.raw('}');
  }

  template <typename Put>
  void put_each(const Turn& turn, Piece::Kind kind, std::string_view head, std::string_view between,
                std::string_view tail, Put&& put) {
    bool is_first = true;
    for (const Piece& piece : turn.pieces) {
      if (piece.kind != kind) continue;
      out_.raw(is_first ? head : between);
      is_first = false;
      put(piece);
    }
    if (!is_first) out_.raw(tail);
  }

  void note_joined(std::span<const Piece> pieces) {
    const auto is_text = [](const Piece& piece) { return piece.kind == Piece::Kind::Text; };
    if (std::ranges::count_if(pieces, is_text) < 2) return;
    const auto first = std::ranges::find_if(pieces, is_text);
    note_piece(draft_, *first, "text_joined", Severity::Info, "joined",
               "content is one string; the texts are joined");
  }

  Draft& draft_;
  json::Out& out_;
};

// ---- What is around the messages

// Ollama's own words for how much to think are words and true or false.
void read_think(const Json& member, Settings& settings) {
  if (member.is_string()) settings.set(Setting::ReasoningEffort, member);
}

constexpr auto kSettings = std::to_array<SettingRow>({
    plain_setting<Setting::Model>("model"),
    plain_setting<Setting::Stream>("stream"),
    {"think", bit(Setting::ReasoningEffort), read_think,
     [](const Settings& settings) { return settings.get(Setting::ReasoningEffort); }},
    reply_schema_setting("format"),  // the word "json" says less
    plain_setting<Setting::MaxTokens>("options/num_predict"),
    plain_setting<Setting::Temperature>("options/temperature"),
    plain_setting<Setting::TopP>("options/top_p"),
    plain_setting<Setting::TopK>("options/top_k"),
    plain_setting<Setting::Seed>("options/seed"),
    plain_setting<Setting::Stop>("options/stop"),
    plain_setting<Setting::FrequencyPenalty>("options/frequency_penalty"),
    plain_setting<Setting::PresencePenalty>("options/presence_penalty"),
});

void write_answer(json::Writer& out, const Outcome& outcome) {
  if (!outcome.model.empty()) out.key("model").string(outcome.model);
  out.key("message").begin_array().end_array().key("done").boolean(true);
  const std::string_view word = finish_word(Dialect::Ollama, outcome.finish);
  if (!word.empty()) out.key("done_reason").string(word);
  write_usage(out, Dialect::Ollama, outcome.usage);
}

Outcome read_answer(const Json& answer, bool has_calls) {
  Outcome outcome;
  outcome.model = text_at(answer, "/model");
  outcome.raw_finish = text_at(answer, "/done_reason");
  outcome.finish = finish_of(Dialect::Ollama, outcome.raw_finish, has_calls);
  outcome.usage = read_usage(Dialect::Ollama, answer);
  return outcome;
}

constexpr std::string_view kAnswerPath[] = {"message"};
constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kMessagesPath},
                                           {DocumentShape::Response, kAnswerPath, true}};
constexpr Envelope kEnvelope = {.locations = kLocations,
                                .write_tools = write_chat_tools,
                                .read_tools = read_chat_tools,
                                .settings = kSettings,
                                .write_answer = write_answer,
                                .read_answer = read_answer,
                                .no_message = R"({"role":"assistant","content":""})"};

constexpr StreamFormat kStream = {
    .framing = FramingKind::Lines, .decoder = ollama_decoder, .encoder = ollama_encoder};

}  // namespace

extern const Format kOllama = {
    .info = {Dialect::Ollama, "ollama", "Ollama's chat",
             "text, thinking, image (inline), tool use, tool result",
             "a list, one message, a request, an answer"},
    .read_message = read_message,
    .group = [](std::span<const Message> rest) { return group_by(kTraits, rest); },
    .write_group = [](Draft& draft, std::span<const Message> group) { Writer(draft).write(group); },
    .envelope = kEnvelope,
    .names_results = true,
    .hints_used = kNamesSpeakers,
    .traits = &kTraits,
    .words = &ollama::kAnswerWords,
    .stream = &kStream,
    .signs = ollama::kSigns,
    .failures = ollama::kFailures,
    .check_rules = rules::check_ollama,
};

}  // namespace parley::dialect
