#include "dialect/core/opaque_blocks.h"

#include <algorithm>
#include <array>

#include "dialect/core/write_blocks.h"
#include "json/walk.h"
#include "message/edit.h"

namespace parley::dialect {
namespace {

using Kind = OpaqueKind;

// How each kind is noted where it cannot stand: left out, and said in words.
struct Told {
  Kind kind;
  std::string_view dropped;
  Severity loss;
  std::string_view said;
  Severity change;
};
constexpr auto kTold = std::to_array<Told>({
    {Kind::Unknown, "raw_dropped", Severity::Major, "", Severity::Major},
    {Kind::Opaque, "opaque_dropped", Severity::Minor, "", Severity::Minor},
    {Kind::Compaction, "opaque_dropped", Severity::Minor, "compaction_as_text", Severity::Info},
    {Kind::SearchResult, "raw_dropped", Severity::Major, "search_result_as_text", Severity::Info},
    {Kind::Citations, "raw_dropped", Severity::Major, "citations_dropped", Severity::Minor},
    {Kind::ServerTool, "raw_dropped", Severity::Major, "server_tool_as_text", Severity::Major},
    {Kind::Spoken, "raw_dropped", Severity::Major, "audio_as_text", Severity::Minor},
    {Kind::ToolReference, "raw_dropped", Severity::Major, "tool_reference_as_text", Severity::Info},
    {Kind::CacheMark, "cache_mark_dropped", Severity::Info, "", Severity::Info},
});
const Told& told(Kind kind) { return *std::ranges::find(kTold, kind, &Told::kind); }

bool is_named(std::string_view pattern, std::string_view name) {
  return pattern.starts_with('*') ? name.ends_with(pattern.substr(1)) : name == pattern;
}

struct Known {
  Kind kind = Kind::Unknown;
  std::string name;  // the type, or the member
  Json inner;        // what the member holds, or all of it
};

Known known(const Arena& arena, const BlockRecord& raw) {
  if (!raw.raw_value().present()) return {};
  const Json value = arena.value(raw.raw_value());
  const std::string dialect(raw.raw_dialect().present() ? arena.bytes(raw.raw_dialect())
                                                        : arena.dialect_name());
  const std::string type = text_at(value, "/type").str();
  const Format* format = format_named(dialect);
  if (format == nullptr) return {};
  const bool is_alike = format->opaque_blocks.empty() && format->like != nullptr;
  for (const OpaqueBlock& row : is_alike ? format->like->opaque_blocks : format->opaque_blocks) {
    if (!type.empty() && is_named(row.name, type)) return {row.kind, type, value};
    auto member = type.empty() ? value.get(row.name) : std::nullopt;
    if (member) return {row.kind, std::string(row.name), *std::move(member)};
  }
  return {};
}

std::string string_of(const Json& object, std::string_view key) {
  return object.get(key).value_or(Json()).as_string().value_or(Text()).str();
}

std::string texts_of(const Json& list, std::string_view between) {
  std::string out;
  for (const Json& each : list.elements()) {
    const std::string text = string_of(each, "text");
    if (!text.empty()) out.append(out.empty() ? "" : between).append(text);
  }
  return out;
}

// What a person would want to know of a call that a provider ran itself, or of what came out of it: the
// strings under these names, and arguments as JSON. What a client ran has its arguments under other names.
std::string summary(const Known& block) {
  constexpr std::array<std::string_view, 14> kTelling = {
      "name",   "query",  "code",    "title",   "url",     "text",   "stdout",
      "stderr", "output", "outcome", "queries", "content", "result", "error_code"};
  constexpr std::array<std::string_view, 5> kArguments = {"input", "args", "arguments", "response", "json"};
  constexpr std::array<std::string_view, 3> kAsked = {"action", "actions", "operation"};
  const bool is_clients = block.inner.get("call_id").has_value();
  std::string out = "[" + block.name + "]";
  std::vector<std::pair<std::string, Json>> open = {{"", block.inner}};
  while (!open.empty()) {
    const auto [key, value] = std::move(open.back());
    open.pop_back();
    const bool is_arguments = std::ranges::find(kArguments, key) != kArguments.end() ||
                              (is_clients && std::ranges::find(kAsked, key) != kAsked.end());
    const bool is_telling = is_arguments || std::ranges::find(kTelling, key) != kTelling.end();
    const auto text = value.as_string();
    if (is_telling && text && !text->empty()) out.append("\n").append(text->view());
    if (is_arguments && !text) {
      out.append("\n").append(value.compact().text().view());
      continue;
    }
    const std::size_t first = open.size();
    for (const Json& each : value.elements()) open.emplace_back(key, each);
    for (const Json::Member& member : value.members()) open.emplace_back(member.key.str(), member.value);
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
  }
  return out;
}

std::string words_of(const Known& block) {
  switch (block.kind) {
    case Kind::Compaction:
      return string_of(block.inner, "content");
    case Kind::SearchResult: {
      std::string out = "[search result] " + string_of(block.inner, "title");
      out += " (" + string_of(block.inner, "source") + ")\n";
      return out + texts_of(block.inner.get("content").value_or(Json()), "\n");
    }
    case Kind::Citations:
      return texts_of(block.inner.get("content").value_or(Json()), "");
    case Kind::ToolReference:
      return "[tool] " + string_of(block.inner, "tool_name");
    case Kind::ServerTool:
      return summary(block);
    case Kind::Spoken:
      return string_of(block.inner, "transcript");
    default:
      return "";
  }
}

}  // namespace

std::string words_of(const Arena& arena, const BlockRecord& raw) { return words_of(known(arena, raw)); }

void note_dropped_raw(Draft& draft, const Arena& arena, const BlockRecord& raw, std::size_t index) {
  const Told& row = told(known(arena, raw).kind);
  draft.note(row.dropped, row.loss, "dropped",
             row.loss == Severity::Major
                 ? said(std::string(to_string(draft.target)) + " cannot carry this raw block")
                 : Text("the block means something to its maker only"),
             index);
}

namespace {

// What a document is about, which its wire says beside it; "" if nothing.
Text context_of(const Arena& arena, const BlockRecord& document) {
  if (arena.dialect() == 0 || !format_of(static_cast<Dialect>(arena.dialect())).has_document_context)
    return {};
  if (document.type != BlockType::Document || !document.wire.present()) return {};
  const Json wire = arena.value(document.wire);
  const Json inner = wire.get("document").value_or(wire);
  return text_at(inner, "/context");
}

// The row of the dialect's provider.
const Format* provider_of(std::string_view dialect) {
  const Format* format = format_named(dialect);
  return format == nullptr || format->provider == nullptr ? format : format->provider;
}

// The blocks of one message, or of one of its results, with others in place of those that the target lacks.
class OtherBlocks {
 public:
  OtherBlocks(Draft& draft, const Message& message)
      : draft_(draft), arena_(Arena::of(message)), is_users_(message.role() == Role::User) {}

  bool has_changed() const { return has_changed_; }

  std::vector<Block> of(const std::vector<Block>& blocks, std::span<const BlockRecord> records) {
    std::vector<Block> out;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      index_ = i;
      put(blocks[i], records[i], false, out);
    }
    return out;
  }

 private:
  void put(const Block& block, const BlockRecord& record, bool in_result, std::vector<Block>& out) {
    if (const auto* result = block.as<ToolResultBlock>()) {
      out.push_back(block);
      const auto* parts = std::get_if<std::vector<Block>>(&result->output);
      if (parts == nullptr) return;
      const auto records = arena_.children(record);
      std::vector<Block> others;
      for (std::size_t i = 0; i < parts->size(); ++i) put((*parts)[i], records[i], true, others);
      std::get<ToolResultBlock>(static_cast<BlockVariant&>(out.back())).output = std::move(others);
      return;
    }
    if (const auto* raw = block.as<RawBlock>()) return put_raw(block, *raw, in_result, out);
    put_context(context_of(arena_, record), out);
    const bool is_kept = format_of(draft_.target).has_documents;
    const auto text = is_kept ? std::nullopt : document_text(arena_, record);
    if (!text) {
      out.push_back(block);
      return;
    }
    note("document_as_text", Severity::Info, "moved", "the document is written as a text");
    out.push_back(TextBlock{json::unescaped(*Text::checked(fenced(arena_, record, *text)))});
    out.back().cache = block.cache;
  }

  void put_raw(const Block& block, const RawBlock& raw, bool in_result, std::vector<Block>& out) {
    const bool may_stand = raw.dialect.view() != to_string(draft_.target) && (is_users_ || in_result);
    const Format* origin = may_stand ? format_named(raw.dialect) : nullptr;
    const FileBlocks* target = format_of(draft_.target).files;
    const bool has_files = origin != nullptr && origin->files != nullptr && target != nullptr;
    const auto file = has_files ? origin->files->read(raw.json) : std::nullopt;
    const auto named = file ? target->write(*file, in_result) : std::nullopt;
    if (!named) {
      out.push_back(block);
      return;
    }
    if (!format_of(draft_.target).has_document_context) put_context(file->context, out);
    has_changed_ = true;
    if (provider_of(raw.dialect) != provider_of(to_string(draft_.target))) {
      note("file_id_kept", Severity::Minor, "kept",
           "a file is named by its id, which must be one of the target's");
    }
    out.push_back(RawBlock{Text::trusted(nullptr, to_string(draft_.target)), *named});
  }

  void put_context(const Text& context, std::vector<Block>& out) {
    if (context.empty()) return;
    note("context_as_text", Severity::Info, "mapped",
         "the context of a document is written as a text before it");
    out.push_back(TextBlock{context});
  }

  void note(std::string_view code, Severity severity, std::string_view action, Text detail) {
    has_changed_ = true;
    draft_.note(code, severity, action, std::move(detail), index_);
  }

  Draft& draft_;
  const Arena& arena_;
  bool is_users_;
  bool has_changed_ = false;
  std::size_t index_ = 0;
};

bool may_have_other(const Arena& arena, const BlockRecord& block) {
  if (block.type == BlockType::Raw || block.type == BlockType::Document) return true;
  return block.type == BlockType::ToolResult &&
         std::ranges::any_of(arena.children(block),
                             [&](const BlockRecord& child) { return may_have_other(arena, child); });
}

}  // namespace

std::vector<Message> in_other_blocks(Draft& draft, std::span<const Message> group) {
  std::vector<Message> out;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Arena& arena = Arena::of(group[k]);
    const auto records = arena.blocks(Arena::record_of(group[k]));
    const auto has_one = [&](const BlockRecord& block) { return may_have_other(arena, block); };
    if (arena.dialect() == tag(draft.target) || std::ranges::none_of(records, has_one)) continue;
    Draft each{draft.target, draft.out, draft.notes, draft.position + k};
    OtherBlocks others(each, group[k]);
    std::vector<Block> blocks = others.of(group[k].blocks(), records);
    if (!others.has_changed()) continue;
    auto built = MessageBuilder::like(group[k]).blocks(std::move(blocks)).build();
    if (!built) continue;
    if (out.empty()) out.assign(group.begin(), group.end());
    out[k] = *std::move(built);
  }
  return out;
}

std::vector<Message> in_words(Draft& draft, std::span<const Message> group) {
  std::vector<Message> out;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Arena& arena = Arena::of(group[k]);
    const auto has_words = [&](const BlockRecord& block) {
      return block.type == BlockType::Raw && !raw_belongs_to(arena, block, draft.target) &&
             !words_of(arena, block).empty();
    };
    const bool has_any =
        std::ranges::any_of(arena.blocks(Arena::record_of(group[k])), [&](const BlockRecord& block) {
          return has_words(block) || std::ranges::any_of(arena.children(block), has_words);
        });
    if (!has_any) continue;
    if (out.empty()) out.assign(group.begin(), group.end());
    Draft each{draft.target, draft.out, draft.notes, draft.position + k};
    out[k] =
        with_words(group[k], [&](const BlockRecord& raw, std::size_t index) -> std::optional<std::string> {
          if (!has_words(raw)) return std::nullopt;
          const Known block = known(arena, raw);
          const Told& row = told(block.kind);
          each.note(row.said, row.change, "mapped", said("the block is written as text: " + block.name),
                    index);
          json::Out spelled;
          return std::string(spelled.escaped(words_of(block)).view());
        });
  }
  return out;
}

}  // namespace parley::dialect
