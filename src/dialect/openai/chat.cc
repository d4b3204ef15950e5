#include "dialect/openai/chat.h"

#include <algorithm>
#include <array>

#include "dialect/core/outcome.h"
#include "dialect/core/write_blocks.h"

namespace parley::dialect {
namespace {

// ---- Reading

constexpr std::array kRoles = {Role::Developer, Role::System, Role::User, Role::Assistant, Role::Tool};
constexpr RoleName kOtherRoles[] = {{"function", Role::Tool, true}};
constexpr std::string_view kToldNulls[] = {"content", "name"};

// {"url": string, ...}, or the string alone.
bool read_image_url(Reader& r, BlockRecord& block) {
  block.source = SourceKind::Url;
  if (r.cursor.peek() == '"') {
    r.more();
    return r.media(block.data(), "image_url");
  }
  if (r.cursor.peek() != '{') return r.wrong_type("image_url", "an object or a string");
  return r.object(
      [&](std::string_view key) { return key == "url" ? r.media(block.data(), key) : r.unknown(); });
}

bool read_input_audio(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() != '{') return r.wrong_type("input_audio", "an object");
  block.source = SourceKind::Base64;
  return r.object([&](std::string_view key) {
    if (key == "data") return r.media(block.data(), key);
    Slice format;
    return key == "format" ? r.string(format, key) : r.unknown();
  });
}

// A file that only the provider has (file_id) is kept as it is.
bool read_file(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() != '{') return r.wrong_type("file", "an object");
  return r.object([&](std::string_view key) {
    if (key == "filename") return r.string(block.media_name(), key);
    const bool is_id = key == "file_id" && r.cursor.peek() == '"';
    if (is_id && block.source == SourceKind::Missing) block.source = SourceKind::None;
    if (key != "file_data") return r.unknown();
    if (!r.media(block.data(), key)) return false;
    // Base64 has no colon; every URL has. Gateways take one that is to be fetched.
    const bool is_url = r.spelled(block.data()).substr(0, 16).find(':') != std::string_view::npos;
    block.source = is_url ? SourceKind::Url : SourceKind::Base64;
    return true;
  });
}

bool read_refusal(Reader& r, BlockRecord& block) {
  block.is_refusal = true;
  return r.string(block.text(), "refusal");
}

// OpenAI's mark of a cache, and DashScope's.
bool read_breakpoint(Reader& r, BlockRecord& block) { return r.cache_mark(block, "mode", "explicit"); }
bool read_cache_control(Reader& r, BlockRecord& block) { return r.cache_mark(block, "type", "ephemeral"); }
constexpr MemberRule kBreakpoint = {"prompt_cache_breakpoint", Want::Own, 0, read_breakpoint};
constexpr MemberRule kCacheControl = {"cache_control", Want::Own, 0, read_cache_control};

constexpr auto kText = std::to_array<MemberRule>({{"text", Want::String, 0}, kBreakpoint, kCacheControl});
constexpr auto kRefusal = std::to_array<MemberRule>({{"refusal", Want::Own, 0, read_refusal}});
constexpr auto kImage =
    std::to_array<MemberRule>({{"image_url", Want::Own, 0, read_image_url}, kBreakpoint, kCacheControl});
constexpr auto kAudio =
    std::to_array<MemberRule>({{"input_audio", Want::Own, 0, read_input_audio}, kBreakpoint, kCacheControl});
constexpr auto kFile =
    std::to_array<MemberRule>({{"file", Want::Own, 0, read_file}, kBreakpoint, kCacheControl});
// A place to fetch from: {"url": string, ...}, the string alone, or DashScope's list of envelopes, which is
// kept whole.
bool read_video(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() == '[') return r.unknown();
  return read_image_url(r, block);
}

constexpr auto kVideo =
    std::to_array<MemberRule>({{"video_url", Want::Own, 0, read_video}, kBreakpoint, kCacheControl});
// DashScope's native parts have no type.
constexpr auto kNativeImage = std::to_array<MemberRule>({{"image", Want::Own, 0, read_video}});
constexpr auto kNativeAudio = std::to_array<MemberRule>({{"audio", Want::Own, 0, read_video}});
constexpr auto kNativeVideo = std::to_array<MemberRule>({{"video", Want::Own, 0, read_video}});
constexpr auto kParts = std::to_array<BlockRule>({
    {"text", BlockType::Text, kText},
    {"refusal", BlockType::Text, kRefusal},
    {"image_url", BlockType::Image, kImage},
    {"input_audio", BlockType::Audio, kAudio},
    {"file", BlockType::Document, kFile},
    {"video_url", BlockType::Video, kVideo},
    {"image", BlockType::Image, kNativeImage},
    {"audio", BlockType::Audio, kNativeAudio},
    {"video", BlockType::Video, kNativeVideo},
});
constexpr BlockTable kTable = {kParts, {}, "", "", false, true};

// {"name": string, "arguments"|"input": string}
bool read_function(Reader& r, BlockRecord& use, std::string_view member, std::string_view arguments) {
  const std::uint32_t start = r.cursor.offset();
  if (r.cursor.peek() != '{') return r.wrong_type(member, "an object");
  const bool good = r.object([&](std::string_view key) {
    if (key == "name") return r.string(use.name(), key);
    if (key == arguments) return r.string(use.arguments(), key);
    return r.unknown();
  });
  return good && (use.name().present() || r.missing(start, "name"));
}

bool read_call(Reader& r) {
  if (r.cursor.peek() != '{') return r.wrong_type("tool_calls", "a list of objects");
  BlockRecord use;
  use.type = BlockType::ToolUse;
  const std::uint32_t start = r.cursor.offset();
  bool has_function = false;
  const bool good = r.object([&](std::string_view key) {
    if (key == "id") return r.string(use.id(), key);
    if (key == "function") {
      has_function = true;
      return read_function(r, use, key, "arguments");
    }
    if (key == "custom") {
      has_function = use.is_custom = true;
      return read_function(r, use, key, "input");
    }
    return key == "type" ? r.skip_value() : r.unknown();
  });
  if (!good) return false;
  if (!has_function) return r.missing(start, "function");
  use.wire = {start, r.cursor.offset() - start};
  r.later.push_back(use);
  return true;
}

bool read_calls(Reader& r, MessageRecord& message) {
  r.later.clear();
  message.flags &= static_cast<std::uint8_t>(~MessageRecord::kEmptyToolCalls);
  if (r.cursor.peek() != '[') return r.wrong_type("tool_calls", "a list or null");
  if (!r.cursor.array([&](std::uint32_t) { return read_call(r); })) return false;
  if (r.later.size() == 0) message.flags |= MessageRecord::kEmptyToolCalls;
  return true;
}

// The one result of a tool message: what its content says.
BlockRecord result_block(Reader& r, const MessageRecord& message, Slice call_id, std::size_t first,
                         std::uint32_t start) {
  BlockRecord result;
  result.type = BlockType::ToolResult;
  result.id() = call_id;
  result.name() = message.name;
  result.wire = {start, r.cursor.offset() - start};
  if (message.shape == ContentShape::String) result.output() = r.blocks[first].text();
  if (message.shape == ContentShape::Null) result.output() = Slice::null();
  if (message.shape == ContentShape::Blocks) {
    const auto parts = r.blocks.view().subspan(first);
    result.is_list = true;
    result.children() = {static_cast<std::uint32_t>(r.children.size()),
                         static_cast<std::uint32_t>(parts.size())};
    r.children.append(parts);
  }
  r.blocks.shrink_to(first);
  return result;
}

// {"name": string, "arguments": string}; it has no id, and the message of role "function" that answers it
// has none either.
bool read_legacy_call(Reader& r, BlockRecord& use) {
  const std::uint32_t start = r.cursor.offset();
  use = BlockRecord();
  use.type = BlockType::ToolUse;
  if (!read_function(r, use, "function_call", "arguments")) return false;
  use.wire = {start, r.cursor.offset() - start};
  r.more();
  return true;
}

// The role that answers such a call, as all writers spell it.
bool says_function(const char* value) { return std::string_view(value, 10) == "\"function\""; }

// What the assistant said aloud: {"id"} in a request, the sound and its transcript in an answer. It is kept
// as {"audio": ...}, because it is a member of the message and no part.
BlockRecord audio_block(Reader& r, Slice audio) {
  BlockRecord raw;
  raw.type = BlockType::Raw;
  raw.wire = audio;
  raw.raw_type() = r.mint("audio");
  raw.raw_value() = r.mint("{\"audio\":" + std::string(r.cursor.bytes(audio)) + "}");
  return raw;
}

}  // namespace

bool read_chat_message(Reader& r) {
  MessageRecord message;
  Slice call_id, refusal, refusal_wire, thinking, thinking_wire;
  bool has_role = false;
  const std::uint32_t start = r.cursor.offset();
  const std::size_t first = r.blocks.size();
  r.begin_message();
  r.later.clear();
  const auto extra_string = [&](Slice& slot, Slice& wire, std::string_view key) {
    if (key != "refusal") r.more();
    const std::uint32_t from = r.cursor.offset();
    if (!r.string(slot, key)) return false;
    wire = {from, r.cursor.offset() - from};
    return true;
  };
  BlockRecord legacy;  // the one call that messages had before there were lists of them
  Slice audio;
  bool is_function = false;
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "role") {
      is_function = r.cursor.peek() == '"' && says_function(r.cursor.position());
      return has_role = r.role(message.role, kRoles, kOtherRoles);
    }
    if (key == "content") return r.content(message, kTable);
    if (key == "function_call" && r.cursor.peek() == '{') return read_legacy_call(r, legacy);
    if (key == "audio" && r.cursor.peek() == '{') {
      r.more();
      return r.cursor.skip(audio);
    }
    if (key == "name") return r.string_or_null(message.name, key);
    if (key == "tool_call_id") return r.string(call_id, key);
    if (key == "tool_calls") return read_calls(r, message);
    if (key == "refusal") return extra_string(refusal, refusal_wire, key);
    if (key == "reasoning_content" || key == "reasoning") {
      if (r.cursor.peek() == '"') return extra_string(thinking, thinking_wire, key);
    }
    return r.unknown();
  });
  if (!good) return false;
  if (!has_role) return r.missing(start, "role");
  const auto add = [&](BlockType type, Slice text, Slice wire) {
    BlockRecord block;
    block.type = type;
    block.text() = text;
    block.wire = wire;
    r.blocks.push_back(block);
  };
  if (message.role == Role::Tool) {
    r.blocks.push_back(result_block(r, message, call_id, first, start));
    if (is_function && !call_id.present()) r.answers(r.blocks.back());
    if (r.later.size() != 0) r.more();
  } else {
    if (call_id.present()) r.more();
    if (legacy.wire.present() && r.later.size() == 0) {
      r.asks(legacy);
      r.later.push_back(legacy);
    }
    // Beside calls an empty text is how some servers say that there is none.
    const bool is_empty = r.blocks.size() == first + 1 && message.shape == ContentShape::String &&
                          r.blocks[first].text().length == 0;
    if (is_empty && r.later.size() != 0) r.blocks.shrink_to(first);
    if (refusal.present()) {
      add(BlockType::Text, refusal, refusal_wire);
      r.blocks.back().is_refusal = true;
    }
    if (audio.present()) r.blocks.push_back(audio_block(r, audio));
    r.blocks.append(r.later.view());
    if (thinking.present() && thinking.length != 0) {
      add(BlockType::Thinking, thinking, thinking_wire);
      std::rotate(r.blocks.begin() + first, r.blocks.end() - 1, r.blocks.end());
    }
  }
  r.end_message(message, start);
  return true;
}

// ---- Writing

namespace {

class Writer {
 public:
  Writer(Draft& draft, const ChatRow& row) : draft_(draft), row_(row) {}

  void write(std::span<const Message> group) {
    for (const Turn& turn : arrange(draft_, row_.traits, group)) {
      turn.role == Role::Tool ? put_result(turn.pieces.front()) : put_message(turn);
    }
  }

 private:
  void put_result(const Piece& result) {
    draft_.position = result.position;
    json::Out& out = draft_.next();
    out.raw("{\"role\":\"tool\",\"tool_call_id\":");
    put_id(draft_, *result.arena, result.block->id(), row_.traits.call_id, result.index);
    out.raw(",\"content\":");
    // Texts that were parts stay parts, unless one of them stands for media.
    const bool is_made =
        std::ranges::any_of(result.children, [](const Piece& text) { return text.block == nullptr; });
    if (result.children.size() > 1 && !is_made) {
      put_list(result.children);
    } else {
      put_joined(out, result.children);
    }
    out.raw('}');
  }

  void put_message(const Turn& turn) {
    json::Out& out = draft_.next();
    const Arena& arena = Arena::of(*turn.message);
    const MessageRecord& record = Arena::record_of(*turn.message);
    const bool is_developer = turn.role == Role::Developer && !row_.traits.has_developer;
    out.raw("{\"role\":").quoted(is_developer ? "system" : to_string(turn.role));
    if (record.name.present() && record.name.length != 0 && record.role == turn.role) {
      out.raw(",\"name\":");
      put_name(draft_, arena, record.name, kChatName);
    }
    std::vector<const Piece*> said, calls;
    std::optional<Json> audio;
    for (const Piece& piece : turn.pieces) {
      if (auto spoken = audio_of(turn, piece)) {
        audio = std::move(spoken);
      } else if (piece.kind == Piece::Kind::Use) {
        calls.push_back(&piece);
      } else if (piece.kind == Piece::Kind::Thinking) {
        thoughts_.push_back(&piece);
      } else {
        said.push_back(&piece);
      }
    }
    // A refusal after all that was said has its own member.
    const auto refuses = [](const Piece* piece) { return piece->is_refusal; };
    const bool has_member = std::ranges::count_if(said, refuses) == 1 && refuses(said.back());
    out.raw(",\"content\":");
    put_content(turn, std::span(said).first(said.size() - (has_member ? 1 : 0)));
    if (has_member) put_text(out.raw(",\"refusal\":"), *said.back());
    if (audio) out.raw(",\"audio\":").raw(audio->compact().text());
    put_thinking(!calls.empty());
    put_calls(calls);
    out.raw('}');
  }

  static std::optional<Json> audio_of(const Turn& turn, const Piece& piece) {
    if (piece.kind != Piece::Kind::Raw || turn.role != Role::Assistant) return std::nullopt;
    auto audio = piece.arena->value(piece.block->raw_value()).get("audio");
    if (!audio || !audio->is_object()) return std::nullopt;
    return audio;
  }

  void put_content(const Turn& turn, std::span<const Piece* const> said) {
    json::Out& out = draft_.out;
    if (said.empty()) {
      out.raw(turn.role == Role::Assistant ? row_.no_content : "\"\"");
    } else if (said.size() == 1 && is_plain(*said.front())) {
      put_text(out, *said.front());
    } else if (draft_.is(kIsAnswer) &&
               std::ranges::all_of(said, [](const Piece* each) { return is_plain(*each); })) {
      put_one_text(said);
    } else {
      out.raw('[');
      for (std::size_t i = 0; i < said.size(); ++i) {
        if (i != 0) out.raw(',');
        put_part(*said[i]);
      }
      out.raw(']');
    }
  }

  // The content of an answer is one string.
  void put_one_text(std::span<const Piece* const> said) {
    draft_.out.raw('"');
    for (std::size_t i = 0; i < said.size(); ++i) {
      draft_.out.raw(i == 0 ? "" : "\\n").raw(said[i]->made).raw(said[i]->text());
    }
    draft_.out.raw('"');
    draft_.notes.push_back({"text_joined", Severity::Info, said.front()->position, said.front()->index,
                            to_string(draft_.target), "joined",
                            "content is one string; the texts are joined"});
  }

  static bool is_plain(const Piece& piece) {
    return piece.kind == Piece::Kind::Text && !piece.is_refusal && piece.cache == CacheMark::None;
  }

  // There is one kind of mark, without a time to live.
  void put_mark(const Piece& piece) {
    if (piece.cache == CacheMark::None) return;
    draft_.out.raw(row_.cache_mark);
    if (piece.cache != CacheMark::Default) note_cache_ttl(draft_, piece);
  }

  void put_list(std::span<const Piece> pieces) {
    draft_.out.raw('[');
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i != 0) draft_.out.raw(',');
      put_part(pieces[i]);
    }
    draft_.out.raw(']');
  }

  void put_thinking(bool has_calls) {
    const bool is_due = !thoughts_.empty() || (has_calls && row_.thinking_with_calls);
    if (!row_.thinking.empty() && is_due) {
      json::Out& out = draft_.out;
      out.raw(",\"").raw(row_.thinking).raw("\":\"");
      for (std::size_t i = 0; i < thoughts_.size(); ++i)
        out.raw(i == 0 ? "" : "\\n").raw(thoughts_[i]->text());
      out.raw('"');
    }
    thoughts_.clear();
  }

  void put_calls(const std::vector<const Piece*>& calls) {
    if (calls.empty()) return;
    json::Out& out = draft_.out;
    out.raw(",\"tool_calls\":[");
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Piece& use = *calls[i];
      draft_.position = use.position;
      if (i != 0) out.raw(',');
      out.raw("{\"id\":");
      put_id(draft_, *use.arena, use.block->id(), row_.traits.call_id, use.index);
      const bool is_custom = use.block->is_custom && row_.traits.has_custom_tools;
      out.raw(is_custom ? R"(,"type":"custom","custom":{"name":)"
                        : R"(,"type":"function","function":{"name":)");
      put_name(draft_, *use.arena, use.block->name(), row_.traits.tool_name, use.index);
      out.raw(is_custom ? R"(,"input":")" : R"(,"arguments":")");
      is_custom ? put_custom_text(out, use) : put_arguments_text(draft_, *use.arena, *use.block);
      out.raw("\"}}");
    }
    out.raw(']');
  }

  void put_part(const Piece& piece) {
    json::Out& out = draft_.out;
    if (piece.kind == Piece::Kind::Text) {
      out.raw(piece.is_refusal ? R"({"type":"refusal","refusal":)" : R"({"type":"text","text":)");
      put_text(out, piece);
      put_mark(piece);
      out.raw('}');
    } else if (piece.kind == Piece::Kind::Raw) {
      put_value(out, *piece.arena, piece.block->raw_value());
    } else {
      put_media(piece);
    }
  }

  void put_media(const Piece& piece) {
    draft_.position = piece.position;
    json::Out& out = draft_.out;
    const BlockRecord& media = *piece.block;
    const bool is_here = is_inline(*piece.arena, media);
    const InlineMedia data = is_here ? inline_media(draft_, *piece.arena, media, piece.index) : InlineMedia{};
    const auto url = [&] {
      out.raw('"');
      if (is_here) out.raw("data:").raw(data.media_type).raw(";base64,");
      out.raw(is_here ? data.data : piece.arena->bytes(media.data())).raw('"');
    };
    if (media.type == BlockType::Image) {
      out.raw("{\"type\":\"image_url\",\"image_url\":{\"url\":");
      url();
    } else if (media.type == BlockType::Video) {
      out.raw("{\"type\":\"video_url\",\"video_url\":{\"url\":");
      url();
    } else if (media.type == BlockType::Audio) {
      out.raw("{\"type\":\"input_audio\",\"input_audio\":{\"data\":").quoted(data.data);
      out.raw(",\"format\":").quoted(shown_media_type(*piece.arena, media) == "audio/wav" ? "wav" : "mp3");
    } else {
      out.raw("{\"type\":\"file\",\"file\":{");
      if (media.media_name().present()) {
        out.raw("\"filename\":").quoted(piece.arena->bytes(media.media_name())).raw(',');
      }
      out.raw("\"file_data\":");
      url();
    }
    out.raw('}');
    put_mark(piece);
    out.raw('}');
  }

  Draft& draft_;
  const ChatRow& row_;
  std::vector<const Piece*> thoughts_;
};

}  // namespace

void write_chat_group(Draft& draft, const ChatRow& row, std::span<const Message> group) {
  Writer(draft, row).write(group);
}

bool carries_as_openai(const Arena& arena, const BlockRecord& media, Where where) {
  if (where != Where::User || !media.data().present()) return false;
  if (media.type == BlockType::Image) return true;
  if (!is_inline(arena, media)) return false;
  const std::string_view type = shown_media_type(arena, media);
  if (media.type == BlockType::Audio) return type == "audio/wav" || type == "audio/mpeg";
  return media.type == BlockType::Document && type == "application/pdf";
}

// ---- What is around the messages

namespace {

// {"type": "function", "function": {...}} or {"type": "custom", "custom": {...}}
Result<Tool> read_chat_tool(const Json& tool, const std::string& path) {
  if (!tool.is_object()) return fail(Code::WrongType, "a tool must be an object", path);
  const std::string_view kind = known(tool, "custom") ? "custom" : "function";
  const auto function = known(tool, kind);
  if (!function) {
    // What the provider runs itself has a type of its own.
    const auto type = known(tool, "type");
    if (type && type->as_string() != Text("function")) return Tool{};
    return fail(Code::Missing, "the member 'function' is missing", path);
  }
  PARLEY_TRY(Tool read, read_tool(*function, path + "/" + std::string(kind)));
  read.is_custom = kind == "custom";
  return read;
}

// A choice is a word, {"type": "function", "function": {"name"}}, or
// {"type": "allowed_tools", "allowed_tools": {"mode", "tools"}}.
void read_choice(const Json& member, Settings& settings) {
  if (member.is_string()) {
    settings.set(Setting::ToolChoice, member);
    return;
  }
  std::vector<Json> names;
  const auto add = [&](const Json& tool) {
    const Json name = tool.at("/function/name").value_or(Json());
    if (name.is_string()) names.push_back(name);
  };
  const auto allowed = known(member, "allowed_tools");
  if (!allowed) {
    add(member);
    if (!names.empty()) set_tool_choice(settings, names, true);
    return;
  }
  std::ranges::for_each(allowed->get("tools").value_or(Json()).elements(), add);
  set_tool_choice(settings, names, text_at(*allowed, "/mode") == Text("required"));
}

std::optional<Json> write_choice(const Settings& settings) {
  auto value = settings.get(Setting::ToolChoice);
  if (!value || value->is_string()) return value;
  const auto choice = tool_choice(settings);
  const auto put_name = [](json::Writer& w, const Json& name) {
    w.key("type").string("function").key("function").begin_object().key("name").value(name).end_object();
  };
  json::Writer w;
  w.begin_object();
  if (const Json* only = choice->only()) {
    put_name(w, *only);
    return w.end_object().take();
  }
  w.key("type").string("allowed_tools").key("allowed_tools").begin_object();
  w.key("mode").string(choice->must ? "required" : "auto").key("tools").begin_array();
  for (const Json& name : choice->names) {
    w.begin_object();
    put_name(w, name);
    w.end_object();
  }
  return w.end_array().end_object().end_object().take();
}

// One stop sequence may stand without its list.
void read_stop(const Json& member, Settings& settings) {
  json::Writer w;
  w.begin_array();
  if (member.is_string()) {
    settings.set(Setting::Stop, w.value(member).end_array().take());
  } else if (has_type_of(Setting::Stop, member)) {
    settings.set(Setting::Stop, member.compact());
  }
}

// {"type": "json_schema", "json_schema": {"name", "schema"}}
void read_reply_format(const Json& member, Settings& settings) {
  const Json inner = member.get("json_schema").value_or(Json());
  set_reply_schema(settings, inner.get("name"), inner.get("schema"));
}

std::optional<Json> write_reply_format(const Settings& settings) {
  const Json schema = reply_schema(settings);
  if (schema.is_null()) return std::nullopt;
  json::Writer w;
  w.begin_object().key("type").string("json_schema").key("json_schema").begin_object();
  w.key("name").string(fitted_name(reply_name(settings), kChatName)).key("schema").value(schema);
  return w.end_object().end_object().take();
}

template <Setting kSetting, bool kThinks>
std::optional<Json> write_if_thinks(const Settings& settings) {
  return thinks(settings) == kThinks ? settings.get(kSetting) : std::nullopt;
}

constexpr auto kSettings = std::to_array<SettingRow>({
    plain_setting<Setting::Model>("model"),
    {"tool_choice", bit(Setting::ToolChoice), read_choice, write_choice},
    plain_setting<Setting::ParallelToolCalls>("parallel_tool_calls"),
    {"max_tokens", bit(Setting::MaxTokens), plain_setting<Setting::MaxTokens>("").from,
     write_if_thinks<Setting::MaxTokens, false>},
    {"max_completion_tokens", bit(Setting::MaxTokens), plain_setting<Setting::MaxTokens>("").from,
     write_if_thinks<Setting::MaxTokens, true>},
    {"temperature", bit(Setting::Temperature), plain_setting<Setting::Temperature>("").from,
     write_if_thinks<Setting::Temperature, false>},
    plain_setting<Setting::TopP>("top_p"),
    plain_setting<Setting::FrequencyPenalty>("frequency_penalty"),
    plain_setting<Setting::PresencePenalty>("presence_penalty"),
    plain_setting<Setting::Seed>("seed"),
    {"stop", bit(Setting::Stop), read_stop, [](const Settings& s) { return s.get(Setting::Stop); }},
    plain_setting<Setting::Stream>("stream"),
    plain_setting<Setting::StreamUsage>("stream_options/include_usage"),
    plain_setting<Setting::ReasoningEffort>("reasoning_effort"),
    {"response_format", bit(Setting::ReplySchema), read_reply_format, write_reply_format},
    plain_setting<Setting::User>("user"),
});

constexpr std::string_view kAnswerPath[] = {"choices", "0", "message"};
constexpr std::string_view kPreferencePath[] = {"input", "messages"};
constexpr MessagesLocation kLocations[] = {{DocumentShape::Envelope, kMessagesPath},
                                           {DocumentShape::Response, kAnswerPath, true},
                                           {DocumentShape::Envelope, kPreferencePath}};

}  // namespace

bool thinks(const Settings& settings) {
  const Text model = settings.get(Setting::Model).value_or(Json()).as_string().value_or(Text());
  const auto is_of = [&](std::string_view family) { return model.view().starts_with(family); };
  return (is_of("o1") || is_of("o3") || is_of("o4") || is_of("gpt-5")) && !is_of("gpt-5-chat");
}

const std::span<const SettingRow> kChatSettings = kSettings;
const std::span<const MessagesLocation> kChatLocations = kLocations;

void write_chat_tools(json::Writer& out, std::span<const Tool> tools, const Settings&) {
  out.key("tools").begin_array();
  for (const Tool& tool : tools) {
    const std::string_view kind = tool.is_custom ? "custom" : "function";
    out.begin_object().key("type").string(kind).key(kind).begin_object();
    write_tool(out, tool);
    out.end_object().end_object();
  }
  out.end_array();
}

Result<std::vector<Tool>> read_chat_tools(const Json& request) {
  return read_tools_of(request.get("tools"), "/tools", read_chat_tool);
}

void write_chat_answer(json::Writer& out, Dialect dialect, const Outcome& outcome) {
  if (!outcome.id.empty()) out.key("id").string(outcome.id);
  out.key("object").string("chat.completion");
  if (!outcome.model.empty()) out.key("model").string(outcome.model);
  out.key("choices").begin_array().begin_object().key("index").number(0);
  out.key("message").begin_array().end_array();
  const std::string_view word = finish_word(dialect, outcome.finish);
  if (!word.empty()) out.key("finish_reason").string(word);
  out.end_object().end_array();
  if (outcome.usage != Usage()) write_usage_object(out, "usage", dialect, outcome.usage);
}

Outcome read_chat_answer(Dialect dialect, const Json& answer, bool has_calls) {
  Outcome outcome;
  outcome.id = text_at(answer, "/id");
  outcome.model = text_at(answer, "/model");
  outcome.raw_finish = text_at(answer, "/choices/0/finish_reason");
  outcome.finish = finish_of(dialect, outcome.raw_finish, has_calls);
  outcome.usage = read_usage(dialect, answer.get("usage").value_or(Json()));
  return outcome;
}

}  // namespace parley::dialect
