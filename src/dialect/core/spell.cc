// What the writers of providers' dialects spell alike: texts, and arguments as an object.
#include "dialect/core/arrange.h"
#include "dialect/core/opaque_blocks.h"
#include "dialect/core/writer_helpers.h"
#include "json/compact.h"

namespace parley::dialect {

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

// The exact text of the arguments has no place beside the object; that matters if it says something else.
void note_other_arguments(Draft& draft, const Piece& use) {
  if (!use.block->arguments().present()) return;
  const Result<Json> parsed = Json::parse(use.arena->string(use.block->arguments()));
  if (parsed && Json::equal(*parsed, use.arena->value(use.block->input()))) return;
  draft.notes.push_back({"raw_input_dropped", Severity::Minor, use.position, use.index,
                         to_string(draft.target), "dropped",
                         "the raw arguments differ from the parsed ones"});
}

}  // namespace

void note_cache_ttl(Draft& draft, const Piece& piece) {
  draft.notes.push_back({"cache_ttl_dropped", Severity::Info, piece.position, piece.index,
                         to_string(draft.target), "dropped",
                         "there is no place for how long a cache is to live"});
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
      draft.notes.push_back({"arguments_compacted", Severity::Info, use.position, use.index,
                             to_string(draft.target), "mapped",
                             "the arguments are written without white space"});
      return;
    }
    out.shrink_to(start);
    if (is_empty) {
      out.raw("{}");
      return;
    }
  }
  draft.notes.push_back({"arguments_wrapped", Severity::Minor, use.position, use.index,
                         to_string(draft.target), "moved",
                         "the arguments are no JSON object; their text is in \"_raw\""});
  out.raw("{\"_raw\":\"");
  put_arguments_text(draft, arena, block);
  out.raw("\"}");
}

}  // namespace parley::dialect
