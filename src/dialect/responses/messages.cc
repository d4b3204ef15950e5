// OpenAI's Responses: a conversation is a list of items, and each item is a message here.
//
//   {"type": "message", "role": "user"|"system"|"developer"|"assistant", "content": string|[part]}
//   {"type": "function_call", "call_id", "name", "arguments": string}
//   {"type": "function_call_output", "call_id", "output": string|[part]}
//   {"type": "reasoning", "id", "summary": [{"type": "summary_text", "text"}], "encrypted_content",
//    "content": [{"type": "reasoning_text", "text"}], which is read only}
//   part = {"type": "input_text"|"output_text", "text"} | {"type": "refusal", "refusal"}
//        | {"type": "input_image", "image_url": string} | {"type": "input_file", "filename",
//        "file_data"|"file_url"}
//
// Items of all other types (hosted tools, compaction, references) are kept as they are. What a model says in
// one step is several items: those after the first continue it. A message of the assistant that comes from
// another dialect has string content, because parts of output would need an id. In a request a string may
// stand for the list: what a user says.
#include <algorithm>
#include <array>

#include "dialect/core/arrange.h"
#include "dialect/core/outcome.h"
#include "dialect/core/write_blocks.h"
#include "dialect/openai/chat.h"
#include "dialect/responses/parts.h"
#include "dialect/responses/tables.h"

namespace parley::dialect {
namespace {

// ---- Reading

constexpr std::array kRoles = {Role::User, Role::Assistant, Role::System, Role::Developer};
constexpr std::string_view kToldNulls[] = {"content", "id", "output", "encrypted_content"};

bool read_output_text(Reader& r, BlockRecord& block) { return r.string(block.text(), "text"); }
bool read_refusal(Reader& r, BlockRecord& block) {
  block.is_refusal = true;
  return r.string(block.text(), "refusal");
}
bool read_image(Reader& r, BlockRecord& block) {
  block.source = SourceKind::Url;
  return r.media(block.data(), "image_url");
}
bool read_file_data(Reader& r, BlockRecord& block) {
  if (!r.media(block.data(), "file_data")) return false;
  block.source = r.spelled(block.data()).starts_with("data:") ? SourceKind::Url : SourceKind::Base64;
  return true;
}
bool read_file_url(Reader& r, BlockRecord& block) {
  block.source = SourceKind::Url;
  return r.string(block.data(), "file_url");
}

bool read_breakpoint(Reader& r, BlockRecord& block) { return r.cache_mark(block, "mode", "explicit"); }
constexpr MemberRule kBreakpoint = {"prompt_cache_breakpoint", Want::Own, 0, read_breakpoint};

// What only the provider has is kept as it is.
bool read_file_id(Reader& r, BlockRecord& block) {
  if (r.cursor.peek() == '"' && block.source == SourceKind::Missing) block.source = SourceKind::None;
  return r.unknown();
}
constexpr MemberRule kFileId = {"file_id", Want::Own, 0, read_file_id};

constexpr auto kTextPart = std::to_array<MemberRule>({{"text", Want::Own, 0, read_output_text}, kBreakpoint});
constexpr auto kRefusalPart = std::to_array<MemberRule>({{"refusal", Want::Own, 0, read_refusal}});
constexpr auto kImage =
    std::to_array<MemberRule>({{"image_url", Want::Own, 0, read_image}, kFileId, kBreakpoint});
constexpr auto kFile = std::to_array<MemberRule>({{"filename", Want::String, 2},
                                                  {"file_data", Want::Own, 0, read_file_data},
                                                  {"file_url", Want::Own, 0, read_file_url},
                                                  kFileId,
                                                  kBreakpoint});
constexpr auto kParts = std::to_array<BlockRule>({
    {"input_text", BlockType::Text, kTextPart},
    {"output_text", BlockType::Text, kTextPart},
    {"refusal", BlockType::Text, kRefusalPart},
    {"input_image", BlockType::Image, kImage},
    {"input_file", BlockType::Document, kFile},
});
constexpr BlockTable kTable = {kParts, {}, "", ""};

bool read_said(Reader& r, MessageRecord& message) {
  bool has_role = false;
  const std::uint32_t start = r.cursor.offset();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "content") return r.content(message, kTable);
    if (key == "id") return r.string_or_null(message.id, key);
    return key == "type" ? r.skip_value() : r.unknown();
  });
  return good && (has_role || r.missing(start, "role"));
}

// `arguments` is what the member is called: a custom tool has its input there.
bool read_call(Reader& r, MessageRecord& message, std::string_view arguments) {
  BlockRecord use;
  use.type = BlockType::ToolUse;
  const std::uint32_t start = r.cursor.offset();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "id") return r.string_or_null(message.id, key);
    if (key == "call_id") return r.string(use.id(), key);
    if (key == "name") return r.string(use.name(), key);
    if (key == arguments) return r.string(use.arguments(), key);
    return key == "type" ? r.skip_value() : r.unknown();
  });
  if (!good) return false;
  if (!use.name().present()) return r.missing(start, "name");
  use.wire = {start, r.cursor.offset() - start};
  r.blocks.push_back(use);
  message.role = Role::Assistant;
  return true;
}

constexpr std::string_view kCallEnding = "_call";

// The names for what a tool of OpenAI's is to do. `input` is last: others have it beside them.
constexpr std::string_view kAsked[] = {"arguments", "action", "operation", "input"};

// Sets what the call asks for: an object, or a text. If no member of these names holds one, it is all members
// but those that every item has.
void set_asked(Reader& r, const Json& item, BlockRecord& use) {
  for (const std::string_view name : kAsked) {
    const Json value = item.get(name).value_or(Json());
    const std::string_view text = value.text().view();
    if (value.is_object()) use.input() = r.mint(value.compact().text().view());
    if (value.is_string()) use.arguments() = r.mint(text.substr(1, text.size() - 2));
    if (value.is_object() || value.is_string()) return;
  }
  constexpr std::string_view kOfAnyItem[] = {"type", "id", "call_id", "status", "arguments", "created_by"};
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : item.members()) {
    const bool is_asked = std::ranges::find(kOfAnyItem, member.key.view()) == std::end(kOfAnyItem);
    if (is_asked && !member.value.is_null()) w.key(member.key).value(member.value);
  }
  use.input() = r.mint(w.end_object().take().text().view());
}

// An item that Parley does not know may be a call that the client runs (tool_search_call, shell_call): the
// output of a function that has its id says so. It is read as a call from then on; it keeps its wire.
void claim_call(Reader& r, Slice call_id) {
  const auto found = r.raw_calls.find(std::string(r.plain(call_id)));
  if (found == r.raw_calls.end()) return;
  const auto [message, index] = found->second;
  r.raw_calls.erase(found);
  BlockRecord& block = r.blocks[index];
  const std::string type(r.plain(block.raw_type()));
  BlockRecord use;
  use.type = BlockType::ToolUse;
  use.wire = block.wire;
  use.id() = call_id;
  use.name() = r.mint(type.substr(0, type.size() - kCallEnding.size()));
  set_asked(r, Json::trusted(Text::trusted(nullptr, r.cursor.bytes(block.wire))), use);
  block = use;
  r.messages[message].flags |= MessageRecord::kHasMore;
}

bool read_result(Reader& r, MessageRecord& message) {
  BlockRecord result;
  result.type = BlockType::ToolResult;
  const std::uint32_t start = r.cursor.offset();
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "id") return r.string_or_null(message.id, key);
    if (key == "call_id") return r.string(result.id(), key);
    if (key == "output") return r.output(kTable, result, key);
    return key == "type" ? r.skip_value() : r.unknown();
  });
  if (!good) return false;
  result.wire = {start, r.cursor.offset() - start};
  if (result.id().present()) claim_call(r, result.id());
  r.blocks.push_back(result);
  message.role = Role::Tool;
  return true;
}

// Each part of the summary is thinking, and each of the content, which models have that hide nothing; the
// last one has the encrypted whole as its signature.
bool read_reasoning(Reader& r, MessageRecord& message) {
  const std::size_t first = r.blocks.size();
  Slice encrypted;
  const std::uint32_t start = r.cursor.offset();
  r.later.clear();
  const auto add = [&](Records<BlockRecord>& into, Slice text, Slice wire) {
    BlockRecord thinking;
    thinking.type = BlockType::Thinking;
    thinking.text() = text;
    thinking.wire = wire;
    into.push_back(thinking);
  };
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "id") return r.string_or_null(message.id, key);
    if (key == "encrypted_content") return r.string_or_null(encrypted, key);
    const bool is_content = key == "content";
    if ((key != "summary" && !is_content) || r.cursor.peek() != '[')
      return key == "type" ? r.skip_value() : r.unknown();
    is_content ? r.later.clear() : r.blocks.shrink_to(first);
    return r.cursor.array([&](std::uint32_t) {
      if (r.cursor.peek() != '{') return r.wrong_type(key, "a list of objects");
      const std::uint32_t from = r.cursor.offset();
      Slice text;
      if (!r.object([&](std::string_view inner) {
            if (inner == "text") return r.string(text, inner);
            return inner == "type" ? r.skip_value() : r.unknown();
          })) {
        return false;
      }
      add(is_content ? r.later : r.blocks, text, {from, r.cursor.offset() - from});
      return true;
    });
  });
  if (!good) return false;
  r.blocks.append(r.later.view());
  if (r.blocks.size() == first) add(r.blocks, r.mint(""), {start, r.cursor.offset() - start});
  if (encrypted.present()) {
    r.blocks.back().signature() = encrypted;
    r.sign(r.blocks.back(), Dialect::Responses);
  }
  message.role = Role::Assistant;
  return true;
}

bool read_other(Reader& r, MessageRecord& message, Slice type) {
  BlockRecord raw;
  raw.type = BlockType::Raw;
  raw.raw_type() = type;
  if (r.plain(type).ends_with(kCallEnding)) {
    Slice id;
    if (!r.cursor.look_ahead("call_id", id)) return false;
    const bool has_id = id.present() && r.cursor.bytes(id).front() == '"';
    if (has_id) {
      const std::string_view spelled = r.plain({id.offset + 1, id.length - 2});
      r.raw_calls.insert_or_assign(std::string(spelled), Reader::RawCall{r.messages.size(), r.blocks.size()});
    }
  }
  if (!r.cursor.skip(raw.raw_value())) return false;
  raw.wire = raw.raw_value();
  r.blocks.push_back(raw);
  message.role = Role::Assistant;
  return true;
}

bool read_item(Reader& r, MessageRecord& message) {
  Slice quoted;
  if (!r.cursor.look_ahead("type", quoted)) return false;
  if (!quoted.present() || r.cursor.bytes(quoted) == "null") {
    // Without a type it is a message, or the id of an item that the provider has.
    Slice role, id;
    if (!r.cursor.look_ahead("role", role) || !r.cursor.look_ahead("id", id)) return false;
    const bool is_reference = id.present() && (!role.present() || r.cursor.bytes(role) == "null");
    return is_reference ? read_other(r, message, r.mint("item_reference")) : read_said(r, message);
  }
  if (r.cursor.bytes(quoted).front() != '"') return r.wrong_type("type", "a string");
  const Slice spelled = {quoted.offset + 1, quoted.length - 2};
  const std::string type(r.plain(spelled));
  if (type == "message") return read_said(r, message);
  if (std::ranges::find(kParts, type, &BlockRule::type) != kParts.end())
    return r.wrong_type("type", "that of an item, not of a part");
  if (type == "reasoning") return read_reasoning(r, message);
  if (type == "function_call") return read_call(r, message, "arguments");
  if (type == "function_call_output") return read_result(r, message);
  if (type != "custom_tool_call" && type != "custom_tool_call_output") return read_other(r, message, spelled);
  const bool good = type == "custom_tool_call" ? read_call(r, message, "input") : read_result(r, message);
  if (good) r.blocks.back().is_custom = true;
  return good;
}

bool read_message(Reader& r) {
  MessageRecord message;
  const std::uint32_t start = r.cursor.offset();
  r.begin_message();
  message.shape = ContentShape::Blocks;
  if (!read_item(r, message)) return false;
  const bool goes_on = r.messages.size() != 0 && r.messages.back().role == Role::Assistant;
  if (message.role == Role::Assistant && goes_on) message.flags |= MessageRecord::kContinues;
  r.end_message(message, start);
  return true;
}

// ---- Writing

// Images and files, also in results.
bool carries(const Arena& arena, const BlockRecord& media, Where where) {
  if (where == Where::Assistant || !media.data().present()) return false;
  if (media.type == BlockType::Image) return true;
  if (media.type != BlockType::Document) return false;
  return !is_inline(arena, media) || shown_media_type(arena, media) == "application/pdf";
}

constexpr ProviderTraits kTraits = {
    .dialect = Dialect::Responses,
    .call_id = {.any_character = true},
    .carries = carries,
    .thinking = Thinking::Signed,
    .has_developer = true,
    .keeps_thinking_id = true,
    .has_refusals = true,
    .has_custom_tools = true,
    .marks = Marks::Parts,
    .ends_with_user = true,
    .finds_calls_by_id = true,
    .keeps_empty_answers = true,
    .settings = responses::kSettingLimits,
};

// A raw block is an item of its own, or one of the parts of a message. What readers know as an item is never
// raw, so that a raw block of that name was a part.
bool is_part(const Piece& raw) {
  constexpr std::string_view kOfParts[] = {"input_",    "output_",       "refusal",         "message",
                                           "reasoning", "function_call", "custom_tool_call"};
  const Json value = raw.arena->value(raw.block->raw_value());
  const Text type = text_at(value, "/type");
  const bool is_reference = type.empty() && value.get("id");
  return (type.empty() && !is_reference) ||
         std::ranges::any_of(kOfParts, [&](std::string_view part) { return type.view().starts_with(part); });
}

class Writer {
 public:
  explicit Writer(Draft& draft) : draft_(draft), out_(draft.out) {}

  void write(std::span<const Message> group) {
    for (const Turn& turn : arrange(draft_, kTraits, group)) put_turn(turn);
  }

 private:
  void put_turn(const Turn& turn) {
    std::vector<const Piece*> said, thoughts;
    for (const Piece& piece : turn.pieces) {
      draft_.position = piece.position;
      const bool is_raw = piece.kind == Piece::Kind::Raw;
      const bool is_said = piece.kind == Piece::Kind::Text || piece.kind == Piece::Kind::Media ||
                           (is_raw && (turn.role != Role::Assistant || is_part(piece)));
      if (!is_said) put_said(turn, said);
      if (piece.kind != Piece::Kind::Thinking) put_thoughts(turn, thoughts);
      if (is_said) said.push_back(&piece);
      if (piece.kind == Piece::Kind::Thinking) thoughts.push_back(&piece);
      if (piece.kind == Piece::Kind::Use) put_call(piece);
      if (piece.kind == Piece::Kind::Result) put_result(piece);
      if (is_raw && !is_said) put_value(draft_.next(), *piece.arena, piece.block->raw_value());
    }
    put_thoughts(turn, thoughts);
    put_said(turn, said, turn.pieces.empty());
  }

  void put_own_id(const Turn& turn) {
    const Arena& arena = Arena::of(*turn.message);
    const Slice id = Arena::record_of(*turn.message).id;
    const bool is_own = arena.dialect() == tag(Dialect::Responses) || arena.dialect() == tag(Dialect::Parley);
    if (id.present() && is_own && is_reasoning_id(arena.bytes(id)))
      out_.raw(",\"id\":").quoted(arena.bytes(id));
  }

  // OpenAI refuses any other: a server of conversations names its messages by its own rules.
  static bool is_reasoning_id(std::string_view id) {
    return id.starts_with("rs_") && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                    c == '-';
           });
  }

  void put_thoughts(const Turn& turn, std::vector<const Piece*>& thoughts) {
    if (thoughts.empty()) return;
    draft_.next().raw("{\"type\":\"reasoning\"");
    put_own_id(turn);
    out_.raw(",\"summary\":[");
    for (std::size_t i = 0; i < thoughts.size(); ++i) {
      if (thoughts.size() == 1 && thoughts[i]->text().empty()) break;
      out_.raw(i == 0 ? "" : ",")
          .raw("{\"type\":\"summary_text\",\"text\":")
          .quoted(thoughts[i]->text())
          .raw('}');
    }
    out_.raw("],\"encrypted_content\":");
    put_string(out_, *thoughts.back()->arena, thoughts.back()->block->signature());
    out_.raw('}');
    thoughts.clear();
  }

  // What a model answered is a message of output, and so is a refusal, which has no place elsewhere.
  void put_answered(std::vector<const Piece*>& said) {
    json::Out& out = draft_.next().raw(R"({"type":"message",)");
    // In a request such an item has an id, which the message lacks.
    if (!draft_.is(kIsAnswer)) {
      out.raw(R"("id":"msg_)").raw(std::to_string(said.front()->position)).raw("\",");
    }
    out.raw(R"("status":"completed","role":"assistant","content":[)");
    for (std::size_t i = 0; i < said.size(); ++i) {
      out_.raw(i == 0 ? "" : ",");
      if (said[i]->kind == Piece::Kind::Raw) {
        put_part(*said[i]);
        continue;
      }
      const bool is_refusal = said[i]->is_refusal;
      put_text(out_.raw(is_refusal ? R"({"type":"refusal","refusal":)" : R"({"type":"output_text","text":)"),
               *said[i]);
      out_.raw(is_refusal ? "}" : R"(,"annotations":[]})");
    }
    out_.raw("]}");
    said.clear();
  }

  void put_said(const Turn& turn, std::vector<const Piece*>& said, bool even_nothing = false) {
    if (said.empty() && !even_nothing) return;
    const bool is_model = turn.role == Role::Assistant;
    const auto needs_parts = [](const Piece* piece) {
      return piece->is_refusal || piece->kind == Piece::Kind::Raw;
    };
    const bool is_text_alone = !said.empty() && std::ranges::all_of(said, [](const Piece* piece) {
      return piece->kind == Piece::Kind::Text;
    });
    if (draft_.is(kIsAnswer) && !is_model && is_text_alone) {
      draft_.note("role_changed", Severity::Minor, "mapped",
                  "whatever stands in an answer is the assistant's");
      put_answered(said);
      return;
    }
    if (is_model && (draft_.is(kIsAnswer) || std::ranges::any_of(said, needs_parts))) {
      put_answered(said);
      return;
    }
    // The type may be left out, but llama.cpp knows what an assistant said by it alone.
    draft_.next()
        .raw(is_model ? R"({"type":"message","role":)" : R"({"role":)")
        .quoted(to_string(turn.role))
        .raw(",\"content\":");
    const bool is_text = said.size() == 1 && said.front()->kind == Piece::Kind::Text;
    if (is_text && said.front()->cache == CacheMark::None) {
      put_text(out_, *said.front());
    } else if (said.empty() || is_model) {
      out_.raw('"');
      for (std::size_t i = 0; i < said.size(); ++i) {
        out_.raw(i == 0 ? "" : "\\n").raw(said[i]->made).raw(said[i]->text());
      }
      out_.raw('"');
      if (said.size() > 1) note_joined(*said.front());
    } else {
      out_.raw('[');
      for (std::size_t i = 0; i < said.size(); ++i) {
        if (i != 0) out_.raw(',');
        put_part(*said[i]);
      }
      out_.raw(']');
    }
    out_.raw('}');
    said.clear();
  }

  void note_joined(const Piece& first) {
    note_piece(draft_, first, "text_joined", Severity::Info, "joined",
               "content is one string; the texts are joined");
  }

  void put_call(const Piece& use) {
    const bool is_custom = use.block->is_custom;
    draft_.next().raw(is_custom ? R"({"type":"custom_tool_call","call_id":)"
                                : R"({"type":"function_call","call_id":)");
    put_id(draft_, *use.arena, use.block->id(), kTraits.call_id, use.index);
    out_.raw(",\"name\":");
    put_name(draft_, *use.arena, use.block->name(), kTraits.tool_name, use.index);
    out_.raw(is_custom ? R"(,"input":")" : R"(,"arguments":")");
    is_custom ? put_custom_text(out_, use) : put_arguments_text(draft_, *use.arena, *use.block);
    out_.raw("\"}");
  }

  void put_result(const Piece& result) {
    draft_.next().raw(result.block->is_custom ? R"({"type":"custom_tool_call_output","call_id":)"
                                              : R"({"type":"function_call_output","call_id":)");
    put_id(draft_, *result.arena, result.block->id(), kTraits.call_id, result.index);
    out_.raw(",\"output\":");
    const auto& parts = result.children;
    if (parts.size() == 1 && parts.front().kind == Piece::Kind::Text) {
      put_text(out_, parts.front());
    } else if (parts.empty()) {
      out_.raw("\"\"");
    } else {
      out_.raw('[');
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) out_.raw(',');
        put_part(parts[i]);
      }
      out_.raw(']');
    }
    out_.raw('}');
  }

  void put_part(const Piece& piece) {
    if (piece.kind == Piece::Kind::Raw) {
      put_value(out_, *piece.arena, piece.block->raw_value());
      return;
    }
    if (piece.kind == Piece::Kind::Text) {
      put_text(out_.raw(R"({"type":"input_text","text":)"), piece);
      put_mark(piece);
      out_.raw('}');
      return;
    }
    const BlockRecord& media = *piece.block;
    const bool is_image = media.type == BlockType::Image;
    const bool is_here = is_inline(*piece.arena, media);
    if (is_image) {
      out_.raw("{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":\"");
    } else {
      out_.raw("{\"type\":\"input_file\"");
      if (media.media_name().present())
        out_.raw(",\"filename\":").quoted(piece.arena->bytes(media.media_name()));
      out_.raw(is_here ? ",\"file_data\":\"" : ",\"file_url\":\"");
    }
    if (is_here) {
      const InlineMedia data = inline_media(draft_, *piece.arena, media, piece.index);
      out_.raw("data:").raw(data.media_type).raw(";base64,").raw(data.data);
    } else {
      out_.raw(piece.arena->bytes(media.data()));
    }
    out_.raw('"');
    put_mark(piece);
    out_.raw('}');
  }

  // There is one kind of mark, without a time to live.
  void put_mark(const Piece& piece) {
    if (piece.cache == CacheMark::None) return;
    out_.raw(R"(,"prompt_cache_breakpoint":{"mode":"explicit"})");
    if (piece.cache != CacheMark::Default) note_cache_ttl(draft_, piece);
  }

  Draft& draft_;
  json::Out& out_;
};

// ---- What is around the messages

void write_tools(json::Writer& out, std::span<const Tool> tools, const Settings&) {
  out.key("tools").begin_array();
  for (const Tool& tool : tools) {
    out.begin_object().key("type").string(tool.is_custom ? "custom" : "function");
    out.key("name").string(tool.name);
    if (!tool.description.empty()) out.key("description").string(tool.description);
    if (!tool.is_custom) out.key("parameters").value(tool.parameters.compact()).key("strict").boolean(false);
    out.end_object();
  }
  out.end_array();
}

Result<std::vector<Tool>> read_tools(const Json& request) {
  return read_tools_of(request.get("tools"), "/tools",
                       [](const Json& tool, const std::string& path) -> Result<Tool> {
                         const auto type = known(tool, "type");
                         const bool is_custom = type && type->as_string() == Text("custom");
                         const bool is_ours = !type || type->as_string() == Text("function") || is_custom;
                         if (!is_ours) return Tool{};
                         PARLEY_TRY(Tool read, read_tool(tool, path));
                         read.is_custom = is_custom;
                         return read;
                       });
}

// A word, {"type": "function", "name"}, or {"type": "allowed_tools", "mode", "tools": [{"type", "name"}]}.
void read_choice(const Json& member, Settings& settings) {
  if (member.is_string()) {
    settings.set(Setting::ToolChoice, member);
    return;
  }
  const Text type = text_at(member, "/type");
  std::vector<Json> names;
  const auto add = [&](const Json& tool) {
    const Json name = tool.get("name").value_or(Json());
    if (name.is_string()) names.push_back(name);
  };
  if (type == Text("allowed_tools")) {
    std::ranges::for_each(member.get("tools").value_or(Json()).elements(), add);
    set_tool_choice(settings, names, text_at(member, "/mode") == Text("required"));
  } else if (type == Text("function")) {
    add(member);
    if (!names.empty()) set_tool_choice(settings, names, true);
  }
}

std::optional<Json> write_choice(const Settings& settings) {
  auto value = settings.get(Setting::ToolChoice);
  if (!value || value->is_string()) return value;
  const auto choice = tool_choice(settings);
  json::Writer w;
  w.begin_object().key("type");
  if (const Json* only = choice->only()) {
    return w.string("function").key("name").value(*only).end_object().take();
  }
  w.string("allowed_tools").key("mode").string(choice->must ? "required" : "auto").key("tools").begin_array();
  for (const Json& name : choice->names) {
    w.begin_object().key("type").string("function").key("name").value(name).end_object();
  }
  return w.end_array().end_object().take();
}

// {"type": "json_schema", "name", "schema"}
void read_reply_format(const Json& member, Settings& settings) {
  if (member.get("type").value_or(Json()).as_string() != Text("json_schema")) return;
  set_reply_schema(settings, member.get("name"), member.get("schema"));
}

std::optional<Json> write_reply_format(const Settings& settings) {
  const Json schema = reply_schema(settings);
  if (schema.is_null()) return std::nullopt;
  json::Writer w;
  w.begin_object().key("type").string("json_schema").key("name");
  w.string(fitted_name(reply_name(settings), {})).key("schema").value(schema);
  return w.end_object().take();
}

constexpr auto kSettings = std::to_array<SettingRow>({
    plain_setting<Setting::Model>("model"),
    {"tool_choice", bit(Setting::ToolChoice), read_choice, write_choice},
    plain_setting<Setting::ParallelToolCalls>("parallel_tool_calls"),
    plain_setting<Setting::MaxTokens>("max_output_tokens"),
    {"temperature", bit(Setting::Temperature), plain_setting<Setting::Temperature>("").from,
     [](const Settings& settings) {
       return thinks(settings) ? std::nullopt : settings.get(Setting::Temperature);
     }},
    plain_setting<Setting::TopP>("top_p"),
    plain_setting<Setting::Stream>("stream"),
    plain_setting<Setting::ReasoningEffort>("reasoning/effort"),
    {"text/format", bit(Setting::ReplySchema), read_reply_format, write_reply_format},
    plain_setting<Setting::User>("user"),
});

void write_answer(json::Writer& out, const Outcome& outcome) {
  if (!outcome.id.empty()) out.key("id").string(outcome.id);
  const std::string_view word = finish_word(Dialect::Responses, outcome.finish);
  const bool is_whole = word == "completed" || word.empty();
  const bool failed = word == "failed";
  out.key("object").string("response");
  out.key("status").string(is_whole ? "completed" : failed ? "failed" : "incomplete");
  out.key("output").begin_array().end_array();
  if (!is_whole && !failed) {
    out.key("incomplete_details").begin_object().key("reason").string(word).end_object();
  }
  if (outcome.usage != Usage()) write_usage_object(out, "usage", Dialect::Responses, outcome.usage);
  if (!outcome.model.empty()) out.key("model").string(outcome.model);
}

Outcome read_answer(const Json& answer, bool has_calls) {
  Outcome outcome;
  outcome.id = text_at(answer, "/id");
  outcome.model = text_at(answer, "/model");
  outcome.raw_finish = text_at(answer, "/incomplete_details/reason");
  if (outcome.raw_finish.empty()) outcome.raw_finish = text_at(answer, "/status");
  outcome.finish = finish_of(Dialect::Responses, outcome.raw_finish, has_calls);
  outcome.usage = read_usage(Dialect::Responses, answer.get("usage").value_or(Json()));
  return outcome;
}

constexpr std::string_view kInput[] = {"input"};
constexpr std::string_view kOutput[] = {"output"};
constexpr std::string_view kOfMessage[] = {"type", "role", "call_id"};
constexpr MessagesLocation kLocations[] = {
    {.shape = DocumentShape::Envelope, .path = kInput, .may_be_text = true},
    {DocumentShape::Response, kOutput}};
constexpr std::string_view kElsewhere[] = {"previous_response_id", "conversation"};

constexpr Envelope kEnvelope = {
    .locations = kLocations,
    .of_message = kOfMessage,
    .system_form = SystemForm::String,
    .system = "instructions",
    .write_tools = write_tools,
    .read_tools = read_tools,
    .lists_allowed_tools = true,
    .has_custom_tools = true,
    .fit_name = [](std::string_view name) { return fitted_name(name, kTraits.tool_name); },
    .settings = kSettings,
    .write_answer = write_answer,
    .read_answer = read_answer,
    .elsewhere = kElsewhere};

// A message without a type is one, too. An item that is read as a call (claim_call) has its type in the name
// of the tool, and one of the others as the arguments.
constexpr std::string_view kAsText[] = {"/type", "/arguments", "/action", "/actions", "/operation", "/input"};

constexpr StreamFormat kStream = {
    .framing = FramingKind::Sse, .decoder = responses_decoder, .encoder = responses_encoder};

}  // namespace

extern const Format kResponses = {
    .info = {Dialect::Responses, "responses", "OpenAI's Responses",
             "text, thinking (its own), image, document, tool use, tool result",
             "a list of items, one item, a request, an answer"},
    .read_message = read_message,
    .group = one_by_one,
    .write_group = [](Draft& draft, std::span<const Message> group) { Writer(draft).write(group); },
    .envelope = kEnvelope,
    .names_results = true,
    .hints_used = kNamesSpeakers | kIsAnswer,
    .traits = &kTraits,
    .as_text = kAsText,
    .provider = &kOpenAI,
    .words = &responses::kAnswerWords,
    .stream = &kStream,
    .signs = responses::kSigns,
    .opaque_blocks = responses::kOpaqueBlocks,
    .files = &responses::kFiles,
    .check_rules = rules::check_responses,
};

}  // namespace parley::dialect
