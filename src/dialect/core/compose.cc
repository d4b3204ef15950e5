// Writing documents and messages.
#include "dialect/core/composer.h"
#include "dialect/core/write.h"
#include "dialect/format.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"

namespace parley {
namespace {

using dialect::Composer;
using dialect::Draft;
using dialect::format_of;
using dialect::is_wire_of;
using dialect::tag;

// The whole document as it was read, if nothing about the conversation changed.
std::optional<Text> untouched(const Conversation& conversation, Dialect target, const WriteOptions& options) {
  const Arena* document = conversation.document().get();
  if (document == nullptr || options.form != Form::AsRead || document->dialect() != tag(target) ||
      !conversation.frame_is_intact() || conversation.size() != document->messages().size()) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < conversation.size(); ++i) {
    const Message& message = conversation.messages()[i];
    if (&Arena::of(message) != document || Arena::index_of(message) != i) return std::nullopt;
  }
  const std::string_view all = document->text();
  const std::size_t mark = all.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  return document->spelled({static_cast<std::uint32_t>(mark), static_cast<std::uint32_t>(all.size() - mark)});
}

}  // namespace

Result<Writing> write(const Conversation& conversation, Dialect dialect, const WriteOptions& options) {
  if (auto text = untouched(conversation, dialect, options)) return Writing{*std::move(text), {}};
  Composer composer(conversation, dialect, options, nullptr);
  PARLEY_CHECK(composer.run());
  return Writing{composer.take(), std::move(composer.notes)};
}

Result<Gathering> gather(const Conversation& conversation, Dialect dialect, const WriteOptions& options) {
  Gathering gathering;
  if (auto text = untouched(conversation, dialect, options)) {
    gathering.pieces.push_back(*text);
    gathering.kept.push_back(*std::move(text));
    return gathering;
  }
  Composer composer(conversation, dialect, options, &gathering);
  PARLEY_CHECK(composer.run());
  gathering.notes = std::move(composer.notes);
  return gathering;
}

std::vector<Json> to_dicts(const Message& message, Dialect dialect, Form form) {
  if (form == Form::AsRead && is_wire_of(message, dialect)) return {*message.wire()};
  json::Out out;
  out.raw('[');
  std::vector<Note> notes;
  Draft draft{dialect, out, notes};
  draft.form = form;
  if (form == Form::Canonical) {
    format_of(dialect).write_group(draft, {&message, 1});
  } else {
    dialect::write_group(draft, {&message, 1});
  }
  out.raw(']');
  return Json::trusted(out.take()).elements();
}

Result<Json> to_dict(const Message& message, Dialect dialect, Form form) {
  std::vector<Json> dicts = to_dicts(message, dialect, form);
  if (dicts.size() == 1) return std::move(dicts.front());
  return fail(Code::Unsupported, "the message becomes " + std::to_string(dicts.size()) + " messages in " +
                                     std::string(to_string(dialect)) + "; write a conversation instead");
}

}  // namespace parley
