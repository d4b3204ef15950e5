#include "dialect/core/write_blocks.h"

#include <algorithm>
#include <array>

#include "dialect/core/arrange.h"
#include "dialect/core/opaque_blocks.h"
#include "json/compact.h"
#include "json/walk.h"
#include "parley/base/text.h"
#include "parley/media/data_url.h"
#include "parley/media/media_type.h"

namespace parley::dialect {
namespace {

struct Extension {
  std::string_view ending, media_type;
};
constexpr auto kExtensions = std::to_array<Extension>({
    {".png", "image/png"},       {".jpg", "image/jpeg"},       {".jpeg", "image/jpeg"},
    {".gif", "image/gif"},       {".webp", "image/webp"},      {".bmp", "image/bmp"},
    {".tiff", "image/tiff"},     {".wav", "audio/wav"},        {".mp3", "audio/mpeg"},
    {".ogg", "audio/ogg"},       {".flac", "audio/flac"},      {".m4a", "audio/mp4"},
    {".aac", "audio/aac"},       {".mp4", "video/mp4"},        {".webm", "video/webm"},
    {".mov", "video/quicktime"}, {".mkv", "video/x-matroska"}, {".pdf", "application/pdf"},
    {".txt", "text/plain"},
});

std::string_view usual_media_type(BlockType type) {
  switch (type) {
    case BlockType::Image:
      return "image/jpeg";  // what OpenManus calls every image
    case BlockType::Audio:
      return "audio/wav";
    case BlockType::Video:
      return "video/mp4";
    default:
      return "application/octet-stream";
  }
}

// One for every type of block but raw ones.
constexpr auto kDropped = std::to_array<std::string_view>(
    {"text_dropped", "thinking_dropped", "image_dropped", "audio_dropped", "video_dropped",
     "document_dropped", "tool_use_dropped", "tool_result_dropped"});

// Says in words what an error flag says.
bool says_error(std::string_view spelled) { return spelled.starts_with("Error: "); }

// What a spelled string reads; the spelling itself if it holds no escape.
Text plain(std::string_view spelled) { return json::unescaped(Text::trusted(nullptr, spelled)); }

// The media type that spelled base64 shows. Encoders may escape '/' and '+'.
std::string_view sniffed(std::string_view spelled) {
  constexpr std::size_t kLookedAt = 256;
  const bool is_plain = spelled.substr(0, kLookedAt).find('\\') == std::string_view::npos;
  return is_plain ? sniff_base64_media_type(spelled) : sniff_base64_media_type(plain(spelled));
}

bool is_of(BlockType type, std::string_view media_type) {
  const std::string_view kind = media_type.substr(0, media_type.find('/'));
  const bool has_own_type = kind == "image" || kind == "audio" || kind == "video";
  return type == BlockType::Document ? !has_own_type : kind == to_string(type);
}

bool ends_with_ignoring_case(std::string_view text, std::string_view ending) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return text.size() >= ending.size() && std::equal(ending.rbegin(), ending.rend(), text.rbegin(),
                                                    [&](char e, char t) { return same(t, e); });
}

}  // namespace

NameSentences::NameSentences(std::string_view lead, std::span<const std::string_view> names) {
  for (std::size_t chosen = 0; chosen < std::size_t{1} << names.size(); ++chosen) {
    std::string sentence(lead);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((chosen >> i & 1) == 0) continue;
      if (sentence.size() != lead.size()) sentence += ", ";
      sentence += names[i];
    }
    sentences_.push_back(std::move(sentence));
  }
}

bool is_spelled_space(std::string_view spelled) {
  constexpr std::string_view kEscapes[] = {"\\n",     "\\t",     "\\r",     "\\f",     "\\u0009",
                                           "\\u000a", "\\u000b", "\\u000c", "\\u000d", "\\u0020",
                                           "\\u000A", "\\u000B", "\\u000C", "\\u000D"};
  const auto begins = [&](std::string_view escape) { return spelled.starts_with(escape); };
  for (;;) {
    spelled.remove_prefix(std::min(spelled.find_first_not_of(' '), spelled.size()));
    if (spelled.empty()) return true;
    if (spelled.front() != '\\') return false;  // most texts
    const auto escape = std::ranges::find_if(kEscapes, begins);
    if (escape == std::end(kEscapes)) return false;
    spelled.remove_prefix(escape->size());
  }
}

void put_string(json::Out& out, const Arena& arena, Slice slice) {
  if (slice.is_null()) {
    out.raw("null");
  } else {
    out.quoted(slice.present() ? arena.bytes(slice) : std::string_view());
  }
}

void put_value(json::Out& out, const Arena& arena, Slice slice) {
  const std::string_view json = arena.bytes(slice);
  out.raw(json::has_space(json) ? arena.value(slice).compact().text().view() : json);
}

void put_text(json::Out& out, const Piece& piece) { out.raw('"').raw(piece.made).raw(piece.text()).raw('"'); }

void put_joined(json::Out& out, std::span<const Piece> texts) {
  out.raw('"');
  bool is_first = true;
  for (const Piece& piece : texts) {
    if (piece.kind != Piece::Kind::Text) continue;
    out.raw(is_first ? "" : "\\n").raw(piece.made).raw(piece.text());
    is_first = false;
  }
  out.raw('"');
}

namespace {

// {"input": text}
Json custom_arguments(const Arena& arena, const BlockRecord& use) {
  json::Writer w;
  w.begin_object().key("input");
  if (use.arguments().present()) {
    w.string(arena.string(use.arguments()));
  } else {
    const Json input = use.input().present() ? arena.value(use.input()) : Json::string("");
    w.string(input.as_string().value_or(input.compact().text()));
  }
  return w.end_object().take();
}

// The exact text of the arguments has no place beside the object; that matters if it says something else.
void note_other_arguments(Draft& draft, const Piece& use) {
  if (!use.block->arguments().present()) return;
  const Result<Json> parsed = Json::parse(use.arena->string(use.block->arguments()));
  if (parsed && Json::equal(*parsed, use.arena->value(use.block->input()))) return;
  note_piece(draft, use, "raw_input_dropped", Severity::Minor, "dropped",
             "the raw arguments differ from the parsed ones");
}

}  // namespace

void put_arguments_text(Draft& draft, const Arena& arena, const BlockRecord& use) {
  const bool has_text = use.arguments().present();
  const bool has_input = use.input().present();
  if (use.is_custom) {
    note_custom_call(draft, std::nullopt);
    draft.out.escaped(custom_arguments(arena, use).text());
    return;
  }
  if (has_text && !has_input) {
    draft.out.raw(arena.bytes(use.arguments()));
    return;
  }
  if (!has_input) {  // a call without arguments
    draft.out.raw("{}");
    return;
  }
  const Json input = arena.value(use.input());
  if (has_text) {
    // The exact text counts as long as it says the same; else the object does, which is what was run.
    const Result<Json> parsed = Json::parse(arena.string(use.arguments()));
    if (parsed && Json::equal(*parsed, input)) {
      draft.out.raw(arena.bytes(use.arguments()));
      return;
    }
    draft.note("raw_input_dropped", Severity::Minor, "dropped",
               "the raw arguments differ from the parsed ones");
  }
  draft.out.escaped(input.compact().text());
}

void put_input_object(Draft& draft, const Arena& arena, const BlockRecord& use, std::size_t index) {
  json::Out& out = draft.out;
  out.raw("\"input\":");
  if (use.is_custom) {
    note_custom_call(draft, index);
    out.raw(custom_arguments(arena, use).text());
    return;
  }
  const auto note_no_object = [&] {
    draft.note("arguments_not_object", Severity::Minor, "moved",
               "the arguments are no JSON object; their text is in raw_input", index);
  };
  if (use.input().present()) {
    const bool is_object = arena.bytes(use.input()).starts_with('{');
    if (is_object) {
      put_value(out, arena, use.input());
    } else {
      note_no_object();
      out.raw("{}");
    }
    if (use.arguments().present()) {
      const auto says_the_same = [&] {
        const Result<Json> parsed = Json::parse(arena.string(use.arguments()));
        return parsed && Json::equal(*parsed, arena.value(use.input()));
      };
      if (!is_object && arena.bytes(use.input()) != "null" && !says_the_same()) {
        draft.note("input_dropped", Severity::Minor, "dropped",
                   "the parsed arguments are no object; only their text is written", index);
      }
      out.raw(",\"raw_input\":").quoted(arena.bytes(use.arguments()));
    } else if (!is_object) {
      out.raw(",\"raw_input\":\"").escaped(arena.value(use.input()).compact().text()).raw('"');
    }
    return;
  }
  if (!use.arguments().present()) {
    out.raw("{}");
    return;
  }
  const std::string_view spelled = arena.bytes(use.arguments());
  const std::size_t start = out.size();
  const std::size_t exact_size = out.unescaped(spelled).size() - start;
  if (!json::compact_object(out, start)) {
    // No arguments at all is how a model spells an empty object; anything else is worth a note.
    if (exact_size != 0) note_no_object();
    out.shrink_to(start);
    out.raw("{}");
    if (exact_size != 0) out.raw(",\"raw_input\":").quoted(spelled);
    return;
  }
  // Whitespace is all that can be missing, so the size tells.
  if (out.size() - start != exact_size) out.raw(",\"raw_input\":").quoted(spelled);
}

void put_custom_text(json::Out& out, const Piece& use) {
  const BlockRecord& block = *use.block;
  if (block.arguments().present()) {
    out.raw(use.arena->bytes(block.arguments()));
  } else if (block.input().present()) {
    const Json input = use.arena->value(block.input());
    out.escaped(input.as_string().value_or(input.compact().text()));
  }
}

void put_arguments_object(Draft& draft, const Piece& use) {
  json::Out& out = draft.out;
  const BlockRecord& block = *use.block;
  const Arena& arena = *use.arena;
  if (block.is_custom) {
    Draft own{draft.target, draft.out, draft.notes, use.position};
    note_custom_call(own, use.index);
    put_custom_text(out.raw(R"({"input":")"), use);
    out.raw("\"}");
    return;
  }
  if (block.input().present() && arena.bytes(block.input()).starts_with('{')) {
    put_value(out, arena, block.input());
    note_other_arguments(draft, use);
    return;
  }
  if (!block.arguments().present() && !block.input().present()) {  // a call without arguments
    out.raw("{}");
    return;
  }
  const std::size_t start = out.size();
  if (block.arguments().present() && !block.input().present()) {
    out.unescaped(arena.bytes(block.arguments()));
    const std::size_t exact_size = out.size() - start;
    const bool is_empty = exact_size == 0;
    if (!is_empty && json::compact_object(out, start)) {
      // Whitespace is all that can be missing, so the size tells.
      if (out.size() - start == exact_size) return;
      note_piece(draft, use, "arguments_compacted", Severity::Info, "mapped",
                 "the arguments are written without white space");
      return;
    }
    out.shrink_to(start);
    if (is_empty) {
      out.raw("{}");
      return;
    }
  }
  note_piece(draft, use, "arguments_wrapped", Severity::Minor, "moved",
             "the arguments are no JSON object; their text is in \"_raw\"");
  out.raw("{\"_raw\":\"");
  put_arguments_text(draft, arena, block);
  out.raw("\"}");
}

void put_call(Draft& draft, const ProviderTraits& traits, const Piece& use) {
  put_id(draft, *use.arena, use.block->id(), traits.call_id, use.index);
  draft.out.raw(",\"name\":");
  put_name(draft, *use.arena, use.block->name(), traits.tool_name, use.index);
  draft.out.raw(",\"input\":");
  put_arguments_object(draft, use);
}

std::string_view ttl_of(CacheMark mark) {
  if (mark == CacheMark::FiveMinutes) return R"(,"ttl":"5m")";
  return mark == CacheMark::OneHour ? R"(,"ttl":"1h")" : "";
}

bool is_inline(const Arena& arena, const BlockRecord& media) {
  if (!media.data().present()) return false;
  return media.source == SourceKind::Base64 || split_data_url(arena.bytes(media.data())).is_base64;
}

InlineMedia inline_media(Draft& draft, const Arena& arena, const BlockRecord& media, std::size_t index) {
  InlineMedia out;
  out.data = media.data().present() ? arena.bytes(media.data()) : std::string_view();
  if (media.media_type().present()) out.media_type = arena.bytes(media.media_type());
  if (const DataUrlParts url = split_data_url(out.data); url.is_base64) {
    if (!out.media_type.empty() && plain(out.media_type) != plain(url.media_type)) {
      draft.note(
          "media_type_corrected", Severity::Info, "corrected",
          said("the data URL says " + plain(url.media_type).str() + ", not " + plain(out.media_type).str()),
          index);
    }
    out.data = url.data;
    out.media_type = url.media_type;
  }
  const std::string_view shown = sniffed(out.data);
  if (const Text named = plain(out.media_type); !shown.empty() && !is_shown_as(named, shown)) {
    if (!named.empty() || !is_of(media.type, shown)) {
      const std::string other = named.empty() ? "of type " + std::string(to_string(media.type)) : named.str();
      draft.note("media_type_corrected", Severity::Info, "corrected",
                 said("the bytes are " + std::string(shown) + ", not " + other), index);
    }
    out.media_type = shown;
  }
  if (out.media_type.empty()) {
    out.media_type = usual_media_type(media.type);
    draft.note("media_type_guessed", Severity::Minor, "minted",
               said("the bytes show no known media type; " + std::string(out.media_type) + " is assumed"),
               index);
  }
  return out;
}

std::string_view url_media_type(Draft& draft, const Arena& arena, const BlockRecord& media,
                                std::size_t index) {
  if (media.media_type().present()) return arena.bytes(media.media_type());
  std::string_view url = media.data().present() ? arena.bytes(media.data()) : std::string_view();
  if (const DataUrlParts data = split_data_url(url); !data.media_type.empty()) return data.media_type;
  url = url.substr(0, url.find_first_of("?#"));
  for (const Extension& extension : kExtensions) {
    const bool fits =
        ends_with_ignoring_case(url, extension.ending) && is_of(media.type, extension.media_type);
    if (fits) return extension.media_type;
  }
  const std::string_view usual = usual_media_type(media.type);
  draft.note("media_type_guessed", Severity::Minor, "minted",
             said("the URL shows no media type; " + std::string(usual) + " is assumed"), index);
  return usual;
}

std::string_view error_prefix(Draft& draft, const std::vector<std::string_view>& texts, std::size_t index) {
  if (!texts.empty() && says_error(texts.front())) return {};
  draft.note("error_as_text", Severity::Info, "mapped", "the error flag is written as the prefix 'Error: '",
             index);
  return "Error: ";
}

std::string_view shown_media_type(const Arena& arena, const BlockRecord& media) {
  std::string_view data = media.data().present() ? arena.bytes(media.data()) : std::string_view();
  std::string_view named =
      media.media_type().present() ? arena.bytes(media.media_type()) : std::string_view();
  if (const DataUrlParts url = split_data_url(data); url.is_base64) {
    data = url.data;
    named = url.media_type;
  }
  const std::string_view shown = sniffed(data);
  return shown.empty() ? named : shown;
}

std::string_view sniffed_media_type(const Arena& arena, const BlockRecord& media) {
  const std::string_view data = media.data().present() ? arena.bytes(media.data()) : std::string_view();
  const DataUrlParts url = split_data_url(data);
  return sniffed(url.is_base64 ? url.data : data);
}

std::optional<std::string> document_text(const Arena& arena, const BlockRecord& media) {
  if (media.type != BlockType::Document || !is_inline(arena, media)) return std::nullopt;
  if (!plain(shown_media_type(arena, media)).view().starts_with("text/")) return std::nullopt;
  const std::string_view spelled = arena.bytes(media.data());
  const DataUrlParts url = split_data_url(spelled);
  auto text = base64_decode(plain(url.is_base64 ? url.data : spelled), Base64Mode::Forgiving);
  if (!text || !is_utf8(*text)) return std::nullopt;
  return *std::move(text);
}

std::string fenced(const Arena& arena, const BlockRecord& document, std::string_view text) {
  std::size_t longest = 2;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const Slice name = document.media_name();
  const bool has_name = name.present() && name.length != 0;
  json::Out out;
  out.raw(has_name ? arena.bytes(name) : "document").raw(":\\n").raw(fence).raw("\\n");
  out.escaped(text).raw(text.ends_with('\n') || text.empty() ? "" : "\\n").raw(fence);
  return std::string(out.view());
}

std::string_view omitted_text(BlockType type) {
  switch (type) {
    case BlockType::Image:
      return "[image omitted]";
    case BlockType::Audio:
      return "[audio omitted]";
    case BlockType::Video:
      return "[video omitted]";
    default:
      return "[document omitted]";
  }
}

void note_omitted(Draft& draft, const BlockRecord& media, std::size_t index) {
  const auto code = *std::find_if(kDropped.begin(), kDropped.end(), [&](std::string_view each) {
    return each.starts_with(to_string(media.type));
  });
  draft.note(code, Severity::Major, "replaced",
             said(std::string(to_string(draft.target)) + " cannot carry this " +
                  std::string(to_string(media.type)) + " here; a text says that it is missing"),
             index);
}

bool shows_its_type(const Arena& arena, const BlockRecord& media) {
  return sniffed(arena.bytes(media.data())) == plain(arena.bytes(media.media_type())).view();
}

bool names_its_tool(const Arena& arena, const MessageRecord& message) {
  if (!message.name.present()) return false;
  for (const BlockRecord& block : arena.blocks(message)) {
    const bool is_named = block.type == BlockType::ToolResult && block.name().present();
    if (is_named && arena.bytes(block.name()) == arena.bytes(message.name)) return true;
  }
  return false;
}

bool loses_name(const Arena& arena, const MessageRecord& message) {
  if (message.role != Role::Tool || !message.name.present()) return false;
  const std::string_view name = arena.bytes(message.name);
  return !name.empty() && name != "system" && !names_its_tool(arena, message);
}

void note_identity(Draft& draft, const Arena& arena, const MessageRecord& message, bool name) {
  // A message built here has a made-up id and time; only what was said can be lost.
  const bool built = arena.dialect() == 0;
  const bool has_metadata =
      message.metadata.present() && arena.bytes(message.metadata).find('"') != std::string_view::npos;
  static constexpr std::array<std::string_view, 5> kMembers = {"id", "name", "timestamp", "metadata",
                                                               "invocation_id"};
  static const NameSentences sentences("there is no place for: ", kMembers);
  const std::size_t lost = (message.id.present() && !built ? 1U : 0U) | (name ? 2U : 0U) |
                           (message.timestamp.present() ? 4U : 0U) | (has_metadata ? 8U : 0U) |
                           (message.invocation_id.present() ? 16U : 0U);
  if (lost != 0) draft.note("identity_dropped", Severity::Minor, "dropped", sentences[lost]);
}

void note_dropped_block(Draft& draft, const Arena& arena, const BlockRecord& block, std::size_t index) {
  if (block.type == BlockType::Raw) return note_dropped_raw(draft, arena, block, index);
  const std::string_view type = to_string(block.type);
  const auto* code = std::find_if(kDropped.begin(), kDropped.end(),
                                  [&](std::string_view each) { return each.starts_with(type); });
  draft.note(
      *code, Severity::Major, "dropped",
      said(std::string(to_string(draft.target)) + " cannot carry this " + std::string(type) + " block"),
      index);
}

void note_origin(Draft& draft, std::size_t index) {
  draft.note("origin_dropped", Severity::Minor, "dropped", "there is no place for the origin of thinking",
             index);
}

void note_refusal(Draft& draft, std::size_t index) {
  draft.note("refusal_as_text", Severity::Minor, "mapped", "the refusal is written as a text like any other",
             index);
}

void note_cache_mark(Draft& draft, std::size_t index) {
  draft.note("cache_mark_dropped", Severity::Info, "dropped", "there is no place for the mark of a cache",
             index);
}

void note_cache_ttl(Draft& draft, const Piece& piece) {
  note_piece(draft, piece, "cache_ttl_dropped", Severity::Info, "dropped",
             "there is no place for how long a cache is to live");
}

void note_custom_call(Draft& draft, std::optional<std::size_t> index) {
  draft.note("custom_call_mapped", Severity::Info, "mapped",
             "the text for a custom tool is written as the argument \"input\"", index);
}

void note_media_name(Draft& draft, std::size_t index) {
  draft.note("media_name_dropped", Severity::Minor, "dropped", "there is no place for the name of a file",
             index);
}

void note_output_minted(Draft& draft, std::size_t index) {
  draft.note("output_minted", Severity::Info, "minted", "a result without output gets an empty text", index);
}

void note_empty_tool_calls(Draft& draft) {
  draft.note("empty_tool_calls_dropped", Severity::Info, "dropped",
             "an empty list of tool calls is left out");
}

void note_empty_content(Draft& draft) {
  draft.note("content_minted", Severity::Info, "minted", "a message without content gets an empty text");
}

bool raw_belongs_to(const Arena& arena, const BlockRecord& raw, Dialect target) {
  const Slice value = raw.raw_value();
  if (!value.present() || !arena.bytes(value).starts_with('{')) return false;  // of no dialect
  if (raw.raw_dialect().present()) return arena.bytes(raw.raw_dialect()) == to_string(target);
  return arena.dialect() == tag(target);
}

void PieceWriter::begin_message(Role role) {
  const Role written = role == Role::Developer ? Role::System : role;
  draft_.next().raw("{\"role\":").quoted(to_string(written)).raw(",\"content\":");
}

void PieceWriter::put_piece(const Piece& piece) {
  draft_.position = piece.position;
  switch (piece.kind) {
    case Piece::Kind::Text:
      return text(piece);
    case Piece::Kind::Thinking:
      return thinking(piece);
    case Piece::Kind::Use:
      return call(piece);
    case Piece::Kind::Result:
      return result(piece);
    case Piece::Kind::Media:
      return media(piece);
    case Piece::Kind::Raw:
      put_value(out_, *piece.arena, piece.block->raw_value());
      return;
  }
}

void PieceWriter::put_pieces(std::span<const Piece> pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i != 0) out_.raw(',');
    put_piece(pieces[i]);
  }
}

}  // namespace parley::dialect
