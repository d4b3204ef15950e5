// OpenManus' messages (its app/schema.py):
//
//   {"role": "system"|"user"|"assistant"|"tool",
//    "content": string|[string|part]|null, "tool_calls": [call]|null, "name": string|null,
//    "tool_call_id": string|null, "base64_image": string|null}
//   call = {"id": string, "type": string, "function": {"name": string, "arguments": string}}
//   part = {"type": "text", "text": string} | {"type": "image_url", "image_url": {"url": string}}
//
// Written in that order; what is null is left out. A list as content is what its format_messages takes in a
// map; it is read and never written from another dialect. Parts of other types are kept as they are. A
// document is a list, one message, or a dumped Memory
// ({"messages": [...], "max_messages": 100}).
#include <array>

#include "dialect/core/write_blocks.h"
#include "dialect/core/write_messages.h"
#include "dialect/format.h"

namespace parley::dialect {
namespace {

constexpr std::array kRoles = {Role::System, Role::User, Role::Assistant, Role::Tool};
constexpr std::string_view kToldNulls[] = {"content", "tool_calls", "base64_image"};

bool read_function(Reader& r, BlockRecord& use) {
  const std::uint32_t start = r.cursor.offset();
  if (r.cursor.peek() != '{') return r.wrong_type("function", "an object");
  const bool good = r.object([&](std::string_view key) {
    if (key == "name") return r.string(use.name(), key);
    if (key == "arguments") return r.string(use.arguments(), key);
    return r.unknown();
  });
  if (!good) return false;
  if (!use.name().present()) return r.missing(start, "name");
  if (!use.arguments().present()) return r.missing(start, "arguments");
  return true;
}

// Unlike OpenAI's servers (openai/chat.cc), OpenManus needs an id and arguments, and a type that is a string.
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
      return read_function(r, use);
    }
    if (key == "type") {
      Slice type;
      if (!r.string(type, key)) return false;
      if (r.cursor.bytes(type) != "function" && r.plain(type) != "function") r.more();
      return true;
    }
    return r.unknown();
  });
  if (!good) return false;
  if (!use.id().present()) return r.missing(start, "id");
  if (!has_function) return r.missing(start, "function");
  use.wire = {start, r.cursor.offset() - start};
  r.later.push_back(use);
  return true;
}

bool read_image_url(Reader& r, BlockRecord& image) {
  if (r.cursor.peek() != '{') return r.wrong_type("image_url", "an object");
  return r.object([&](std::string_view key) {
    if (key != "url") return r.unknown();
    image.source = SourceKind::Url;
    return r.media(image.data(), key);
  });
}

constexpr auto kText = std::to_array<MemberRule>({{"text", Want::String, 0}});
constexpr auto kImage = std::to_array<MemberRule>({{"image_url", Want::Own, 0, read_image_url}});
constexpr auto kParts =
    std::to_array<BlockRule>({{"text", BlockType::Text, kText}, {"image_url", BlockType::Image, kImage}});
constexpr BlockTable kTable = {kParts, {}, "", ""};

// What the members of one message say, before their order is known.
struct Fields {
  Slice content, content_wire, tool_call_id, image, image_wire;
  bool is_list = false;   // the content,
  std::size_t parts = 0;  // whose blocks begin here among the children
};

// A list of strings and parts.
bool read_parts(Reader& r, Fields& fields) {
  fields.is_list = true;
  fields.content = fields.content_wire = Slice::absent();  // of a duplicate member the last one counts
  r.children.shrink_to(fields.parts);
  return r.cursor.array([&](std::uint32_t) {
    if (r.cursor.peek() == '{') return r.block(kTable, r.children);
    BlockRecord text;
    text.type = BlockType::Text;
    const std::uint32_t from = r.cursor.offset();
    if (!r.string(text.text(), "content")) return false;
    text.wire = {from, r.cursor.offset() - from};
    r.children.push_back(text);
    return true;
  });
}

BlockRecord text_block(const Fields& fields) {
  BlockRecord block;
  block.type = BlockType::Text;
  block.text() = fields.content;
  block.wire = fields.content_wire;
  return block;
}

BlockRecord image_block(const Reader& r, const Fields& fields) {
  BlockRecord block;
  block.type = BlockType::Image;
  // The seed's own sample holds a data URL here; it stays one.
  block.source = r.spelled(fields.image).starts_with("data:") ? SourceKind::Url : SourceKind::Base64;
  block.data() = fields.image;
  block.wire = fields.image_wire;
  return block;
}

// The one result of a tool message: its text, or its text and its image.
BlockRecord result_block(Reader& r, const Fields& fields, Slice name, std::uint32_t start) {
  BlockRecord result;
  result.type = BlockType::ToolResult;
  result.id() = fields.tool_call_id;
  result.name() = name;
  result.wire = {start, r.cursor.offset() - start};
  if (!fields.image.present() && !fields.is_list) {
    result.output() = fields.content;
    return result;
  }
  const std::size_t first = fields.parts;
  if (fields.content.present()) r.children.push_back(text_block(fields));
  if (fields.image.present()) r.children.push_back(image_block(r, fields));
  result.is_list = true;
  result.children() = {static_cast<std::uint32_t>(first),
                       static_cast<std::uint32_t>(r.children.size() - first)};
  return result;
}

bool read_message(Reader& r) {
  MessageRecord message;
  Fields fields;
  bool has_role = false;
  const std::uint32_t start = r.cursor.offset();
  r.begin_message();
  r.later.clear();
  fields.parts = r.children.size();
  const auto string_or_null = [&](Slice& slot, Slice& wire, std::string_view key) {
    r.cursor.peek();
    const std::uint32_t from = r.cursor.offset();
    if (!r.string_or_null(slot, key)) return false;
    wire = {from, r.cursor.offset() - from};
    if (slot.is_null()) r.more();
    return true;
  };
  const bool good = r.object(kToldNulls, [&](std::string_view key) {
    if (key == "role") return has_role = r.role(message.role, kRoles);
    if (key == "content") {
      if (r.cursor.peek() == '[') return read_parts(r, fields);
      r.children.shrink_to(fields.parts);
      fields.is_list = false;
      if (r.cursor.peek() != '"' && r.cursor.peek() != 'n')
        return r.wrong_type(key, "a string, a list of strings and blocks, or null");
      return string_or_null(fields.content, fields.content_wire, key);
    }
    if (key == "name") return r.string_or_null(message.name, key);
    if (key == "tool_call_id") return r.string_or_null(fields.tool_call_id, key);
    if (key == "base64_image") {
      if (!string_or_null(fields.image, fields.image_wire, key)) return false;
      r.unescape_media(fields.image);
      return true;
    }
    if (key == "tool_calls") {
      r.later.clear();
      message.flags &= static_cast<std::uint8_t>(~MessageRecord::kEmptyToolCalls);
      if (r.cursor.peek() == 'n') return r.unknown();
      if (r.cursor.peek() != '[') return r.wrong_type(key, "a list or null");
      if (!r.cursor.array([&](std::uint32_t) { return read_call(r); })) return false;
      if (r.later.size() == 0) message.flags |= MessageRecord::kEmptyToolCalls;
      return true;
    }
    return r.unknown();
  });
  if (!good) return false;
  if (!has_role) return r.missing(start, "role");
  message.shape = fields.is_list             ? ContentShape::Blocks
                  : fields.content.present() ? ContentShape::String
                  : fields.content.is_null() ? ContentShape::Null
                                             : ContentShape::Absent;
  if (message.role == Role::Tool) {
    r.blocks.push_back(result_block(r, fields, message.name, start));
  } else {
    if (fields.content.present()) r.blocks.push_back(text_block(fields));
    if (fields.is_list) {
      r.blocks.append(r.children.view().subspan(fields.parts));
      r.children.shrink_to(fields.parts);
    }
    if (fields.image.present()) r.blocks.push_back(image_block(r, fields));
    if (fields.tool_call_id.present()) r.more();
  }
  r.blocks.append(r.later.view());
  r.end_message(message, start);
  return true;
}

// One wire message being gathered from blocks.
struct Part {
  std::vector<std::string_view> texts;
  std::string_view prefix;  // put before the first text: an error said in words
  const BlockRecord* image = nullptr;
  std::vector<const BlockRecord*> calls;
  const BlockRecord* result = nullptr;  // the message is this result

  bool empty() const { return texts.empty() && image == nullptr && calls.empty() && result == nullptr; }
};

class Writer {
 public:
  Writer(Draft& draft, const Message& message)
      : draft_(draft), message_(message), arena_(Arena::of(message)), record_(Arena::record_of(message)) {}

  void write() {
    note_identity(draft_, arena_, identity(), loses_name(arena_, record_));
    if (record_.role == Role::Tool &&
        (record_.wire_role == Role::User || record_.wire_role == Role::Assistant)) {
      draft_.note("role_mapped", Severity::Info, "mapped",
                  "results are written as messages of the role tool");
    }
    const auto blocks = arena_.blocks(record_);
    const std::size_t before = draft_.written;
    Part part;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const BlockType type = blocks[i].type;
      // A tool message of OpenManus may itself ask for tools; what else follows a result is a message apart.
      const bool is_apart =
          part.result != nullptr && (type != BlockType::ToolUse || record_.role != Role::Tool);
      if ((type == BlockType::ToolResult && !part.empty()) || is_apart) {
        put(part);
        part = {};
      }
      if (type == BlockType::ToolResult) {
        part = result_part(blocks[i], i);
      } else {
        take(part, blocks[i], i);
      }
    }
    if (!part.empty() || draft_.written == before) put(part);
    if (const std::size_t count = draft_.written - before; count > 1) {
      draft_.note("message_split", Severity::Info, "split",
                  said("the message became " + std::to_string(count) + " messages"));
    }
  }

 private:
  std::string_view role() {
    if (record_.role == Role::Developer) {
      draft_.note("role_mapped", Severity::Info, "mapped", "the role developer is written as system");
    }
    return record_.role == Role::Developer ? "system" : to_string(record_.role);
  }

  void take(Part& part, const BlockRecord& block, std::size_t index) {
    switch (block.type) {
      case BlockType::Text:
        if (!part.calls.empty() || part.image != nullptr) {
          draft_.note("order_changed", Severity::Info, "moved",
                      "text after an image or a tool use is written before it", index);
        }
        if (block.text().present()) part.texts.push_back(arena_.bytes(block.text()));
        return;
      case BlockType::ToolUse:
        part.calls.push_back(&block);
        return;
      case BlockType::Thinking:
        draft_.note("thinking_dropped", Severity::Minor, "dropped", "openmanus has no place for thinking",
                    index);
        return;
      case BlockType::Image:
        if (part.image == nullptr && is_inline_image(block)) {
          take_image(part, block, index);
          return;
        }
        break;
      default:
        break;
    }
    note_dropped_block(draft_, arena_, block, index);
  }

  // OpenManus' own images may be data URLs, of any kind.
  bool is_inline_image(const BlockRecord& block) const {
    return is_inline(arena_, block) ||
           (block.data().present() && arena_.bytes(block.data()).starts_with("data:"));
  }

  void take_image(Part& part, const BlockRecord& block, std::size_t index) {
    if (!part.calls.empty()) {
      draft_.note("order_changed", Severity::Info, "moved", "an image after a tool use is written before it",
                  index);
    }
    if (block.media_name().present()) note_media_name(draft_, index);
    // Who reads the image back takes its type from its bytes, or from its own URL.
    const auto url_shows_it = [&] {
      const Text type = arena_.string(block.media_type());
      return arena_.string(block.data()).view().starts_with("data:" + type.str());
    };
    if (block.media_type().present() &&
        !(block.source == SourceKind::Base64 ? shows_its_type(arena_, block) : url_shows_it())) {
      draft_.note("media_type_dropped", Severity::Minor, "dropped",
                  "there is no place for the media type, and the bytes do not show it", index);
    }
    part.image = &block;
  }

  Part result_part(const BlockRecord& result, std::size_t index) {
    Part part;
    if (result.output().present() && !result.is_list) part.texts.push_back(arena_.bytes(result.output()));
    for (const BlockRecord& child : arena_.children(result)) take(part, child, index);
    if (result.is_error == Tristate::True) part.prefix = error_prefix(draft_, part.texts, index);
    part.result = &result;
    return part;
  }

  void put(const Part& part) {
    const BlockRecord* result = part.result;
    json::Out& out = draft_.next();
    out.raw("{\"role\":\"").raw(result != nullptr ? "tool" : role()).raw('"');
    const auto own = is_own_wire() ? message_.wire()->get("content") : std::nullopt;
    if (own && own->is_array()) {
      out.raw(",\"content\":").raw(own->compact().text());
    } else if (!part.texts.empty() || !part.prefix.empty()) {
      out.raw(",\"content\":\"").raw(part.prefix);
      for (std::size_t i = 0; i < part.texts.size(); ++i) {
        if (i != 0) out.raw("\\n");
        out.raw(part.texts[i]);
      }
      out.raw('"');
      if (part.texts.size() > 1) {
        draft_.note("text_joined", Severity::Info, "joined",
                    said(std::to_string(part.texts.size()) + " texts are joined by newlines into one"));
      }
    }
    put_calls(part);
    const Slice name = result != nullptr ? result->name() : record_.name;
    if (name.present()) out.raw(",\"name\":").quoted(arena_.bytes(name));
    if (result != nullptr && result->id().present()) {
      out.raw(",\"tool_call_id\":").quoted(arena_.bytes(result->id()));
    } else if (const auto id = result == nullptr ? tool_call_id() : std::nullopt) {
      out.raw(",\"tool_call_id\":").raw(id->text());
    }
    if (part.image != nullptr) out.raw(",\"base64_image\":").quoted(arena_.bytes(part.image->data()));
    out.raw('}');
  }

  void put_calls(const Part& part) {
    json::Out& out = draft_.out;
    if (part.calls.empty()) {
      if (record_.has(MessageRecord::kEmptyToolCalls)) out.raw(",\"tool_calls\":[]");
      return;
    }
    out.raw(",\"tool_calls\":[");
    for (std::size_t i = 0; i < part.calls.size(); ++i) {
      const BlockRecord& use = *part.calls[i];
      if (i != 0) out.raw(',');
      out.raw("{\"id\":");
      put_string(out, arena_, use.id());
      out.raw(",\"type\":");
      const auto type = is_own_wire() ? string_member(arena_.value(use.wire), "type") : std::nullopt;
      out.raw(type ? type->text().view() : "\"function\"").raw(",\"function\":{\"name\":");
      put_string(out, arena_, use.name());
      out.raw(",\"arguments\":\"");
      put_arguments_text(draft_, arena_, use);
      out.raw("\"}}");
    }
    out.raw(']');
  }

  // Of a message without a result.
  std::optional<Json> tool_call_id() const {
    if (is_own_wire()) return string_member(*message_.wire(), "tool_call_id");
    if (!record_.metadata.present()) return std::nullopt;
    return string_member(arena_.value(record_.metadata), kToolCallId);
  }

  // Without metadata, if they hold nothing but what is written as a member.
  MessageRecord identity() const {
    MessageRecord out = record_;
    if (record_.metadata.present() && tool_call_id() && arena_.value(record_.metadata).members().size() == 1)
      out.metadata = Slice::absent();
    return out;
  }

  // In the canonical form of OpenManus' own messages every field is where it was, also one that the records
  // do not know: any role may carry any of them.
  bool is_own_wire() const {
    return draft_.form == Form::Canonical && arena_.dialect() == tag(Dialect::OpenManus) &&
           record_.wire.present();
  }
  static std::optional<Json> string_member(const Json& object, std::string_view key) {
    auto member = object.get(key);
    return member && member->is_string() ? member : std::nullopt;
  }

  Draft& draft_;
  const Message& message_;
  const Arena& arena_;
  const MessageRecord& record_;
};

void write_group(Draft& draft, std::span<const Message> group) {
  const Message whole = joined_step(draft, group);
  if (group.size() > 1) note_identity(draft, Arena::of(group.front()), Arena::record_of(group.front()));
  Writer(draft, whole).write();
}

constexpr Sign kSigns[] = {
    {.of = SignOf::Message, .rank = 90, .member = "base64_image"},
    {.of = SignOf::Message, .rank = 110, .member = "tool_calls", .when = SignWhen::OutsideRequest},
    {.of = SignOf::Message, .rank = 110, .member = "tool_call_id", .when = SignWhen::OutsideRequest},
    {.of = SignOf::Fallback, .rank = 0, .when = SignWhen::OutsideRequest},
};

}  // namespace

extern const Format kOpenManus = {
    .info = {Dialect::OpenManus, "openmanus", "OpenManus' Message",
             "text, image (one, inline), tool use, tool result", "a list, one message, a dumped Memory"},
    .read_message = read_message,
    .group = group_step,
    .write_group = write_group,
    .is_plain = true,
    .has_documents = false,
    .signs = kSigns,
};

}  // namespace parley::dialect
