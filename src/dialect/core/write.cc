#include "dialect/core/write.h"

#include <algorithm>

#include "dialect/core/arrange.h"
#include "dialect/core/write_messages.h"
#include "dialect/repair/unique_ids.h"
#include "json/pointer.h"
#include "message/arena.h"
#include "parley/message/validate.h"

namespace parley::dialect {

Result<void> DocumentWriter::run() {
  look_around();
  PARLEY_CHECK(check_history());
  if (pieces_ == nullptr) {
    out_ = json::Out(expected_size());
  } else {
    pieces_->pieces.reserve(2 * messages_.size() + 3);  // each message and a comma, and what is around them
  }
  const DocumentShape shape = conversation_.shape();
  const bool has_place = format_.envelope.system_form != SystemForm::Message && target_ != kCanonical;
  const bool has_system = system_count_ != 0 || (conversation_.system().has_value() && has_place);
  const bool needs_envelope = (has_system && shape == DocumentShape::List) || has_media_apart_;
  if (own_document() != nullptr && shape != DocumentShape::Single) {
    put_own_document(*own_document());
  } else if (needs_envelope || shape == DocumentShape::Envelope || shape == DocumentShape::Response) {
    put_envelope();
  } else {
    put_list_or_single(shape);
  }
  return finish();
}

const Arena* DocumentWriter::own_document() const {
  const Arena* document = conversation_.document().get();
  const bool is_own = document != nullptr && options_.form == Form::AsRead &&
                      document->dialect() == tag(target_) && conversation_.envelope_is_intact() &&
                      document->list().present();
  // Where one message stood, that one must stand; and nothing may have to go into the envelope.
  const bool fits = is_own && system_count_ == 0 &&
                    (document->text()[document->list().offset] != '{' ||
                     (messages_.size() == 1 && reuses_wire(messages_.front())));
  return fits && media_are_the_same(format_.envelope, *document, messages_) ? document : nullptr;
}

bool DocumentWriter::reuses_wire(const Message& message) const {
  return options_.form == Form::AsRead && is_wire_of(message, target_);
}

bool DocumentWriter::stands_apart(const Message& message) const {
  return reuses_wire(message) || (options_.form == Form::AsRead && stored_patch(message, target_));
}

bool DocumentWriter::is_foreign(const Message& message) const {
  return Arena::of(message).dialect() != tag(target_) && Arena::record_of(message).wire.present() &&
         !stored_patch(message, target_);
}

Result<void> DocumentWriter::check_history() {
  if (format_.carries_broken_history) return {};
  const auto foreign = [&](const Message& message) { return is_foreign(message); };
  if (std::none_of(messages_.begin(), messages_.end(), foreign)) return {};
  const std::size_t known = found_whole();
  const auto has_calls = [](const Message& message) {
    return message.has_content_blocks({BlockType::ToolUse, BlockType::ToolResult});
  };
  if (known == 0 || std::ranges::any_of(messages_.subspan(known), has_calls)) PARLEY_CHECK(check_calls());
  for (std::size_t i = known; format_.refuses_empty && i < messages_.size(); ++i) {
    if (!is_foreign(messages_[i]) || !says_nothing(messages_[i])) continue;
    return fail(Code::BrokenHistory, "empty_message: the message says nothing, which the target refuses",
                json::pointer_at(Arena::of(messages_[i]).text(), Arena::record_of(messages_[i]).wire.offset));
  }
  return {};
}

Result<void> DocumentWriter::check_calls() {
  std::vector<Finding> findings = validate_history(messages_);
  is_whole_ = findings.empty();
  bool shares_ids = false;
  for (Finding& finding : findings) {
    const bool is_shared = finding.code == "duplicate_call";
    shares_ids = shares_ids || is_shared;
    const bool is_pending = finding.level == FindingLevel::Warning && !is_shared;
    if (is_shared || (is_pending && conversation_.shape() == DocumentShape::Response)) continue;
    return fail(Code::BrokenHistory, finding.code + ": " + finding.sentence, std::move(finding.path));
  }
  if (shares_ids) part_ids();
  return {};
}

void DocumentWriter::part_ids() {
  renamed_ = with_unique_ids(messages_, target_, notes);
  if (!renamed_.empty()) messages_ = renamed_;
}

std::size_t DocumentWriter::found_whole() {
  if (options_.form != Form::AsRead || system_count_ == messages_.size()) return 0;
  const std::size_t size = group_size(system_count_);
  const std::uint8_t hints = hints_for(system_count_, size);
  const Fragment* kept = kept_fragment(messages_, system_count_, size, target_, hints);
  return kept == nullptr ? 0 : dialect::found_whole(*kept, messages_);
}

void DocumentWriter::look_around() {
  const bool is_odd_answer =
      conversation_.shape() == DocumentShape::Response && !std::ranges::all_of(messages_, is_assistants);
  if (target_ == kCanonical && (is_odd_answer || !validate_history(messages_).empty())) hints_ |= kIsBroken;
  const auto is_instruction = [](const Message& message) {
    return message.role() == Role::System || message.role() == Role::Developer;
  };
  first_spoken_ =
      static_cast<std::size_t>(std::ranges::find_if_not(messages_, is_instruction) - messages_.begin());
  if ((format_.hints_used & kNamesSpeakers) != 0 && several_users_speak()) {
    hints_ |= kNamesSpeakers;
  }
  if (has_system_inside()) hints_ |= kSystemInside;
  has_media_apart_ = format_.envelope.write_media != nullptr &&
                     media_apart(format_.envelope, messages_) != Json::trusted(Text("{}"));
  const bool is_single = conversation_.shape() == DocumentShape::Single;
  if (format_.envelope.system_form == SystemForm::Message || target_ == kCanonical || is_single) return;
  const auto is_system = [&](const Message& message) {
    const bool calls = message.has_content_blocks({BlockType::ToolUse, BlockType::ToolResult});
    return is_instruction(message) && !calls && !stands_apart(message);
  };
  while (system_count_ < messages_.size() && is_system(messages_[system_count_])) ++system_count_;
}

bool DocumentWriter::has_system_inside() const {
  const auto ask = format_.envelope.has_system_inside;
  const auto model = conversation_.settings().get(Setting::Model);
  return ask != nullptr && model && ask(model->as_string().value_or(Text()));
}

bool DocumentWriter::several_users_speak() const {
  std::optional<Text> first;
  for (const Message& message : messages_) {
    if (message.role() != Role::User) continue;
    const std::optional<Text> name = message.name();
    if (!name || name->empty()) continue;
    if (first && *first != *name) return true;
    first = name;
  }
  return false;
}

std::uint8_t DocumentWriter::hints_for(std::size_t i, std::size_t size) const {
  unsigned hints = hints_;
  const bool is_request = conversation_.shape() != DocumentShape::Response;
  if (i + size == messages_.size() && is_request) hints |= kIsLast;
  if (!is_request) hints |= kIsAnswer;
  if (count_ == 0 && is_request && conversation_.shape() != DocumentShape::Single) hints |= kIsFirst;
  if (target_ == kCanonical && may_be_joined(i)) hints |= kMayBeJoined;
  const bool goes_on = i + size < messages_.size() && !is_assistants(messages_[i + size]);
  if (goes_on) hints &= ~static_cast<unsigned>(kSystemInside);
  return static_cast<std::uint8_t>(hints & (format_.hints_used | kIsBroken | kMayBeJoined | kIsAnswer));
}

bool DocumentWriter::may_be_joined(std::size_t i) const {
  const DialectTag origin = Arena::of(messages_[i]).dialect();
  if (origin == 0) return false;
  const Format& format = format_of(static_cast<Dialect>(origin));
  if ((format.hints_used & kIsFirst) != 0 && i <= first_spoken_) return true;
  if (i == 0 || Arena::of(messages_[i - 1]).dialect() != origin) return false;
  return format.joins && format.group(messages_.subspan(i - 1, 2)) > 1;
}

std::size_t DocumentWriter::expected_size() const {
  std::size_t bytes = 64;
  for (const Message& message : messages_) {
    const Slice wire = Arena::record_of(message).wire;
    const std::size_t own = wire.present() ? wire.length : Arena::of(message).buffer().size();
    // Another envelope is a little longer, and arguments may stand twice in it. Too much costs nothing, too
    // little a copy of everything.
    bytes += reuses_wire(message) ? own + 1 : own + own / 4 + 256;
  }
  return bytes;
}

void DocumentWriter::put(std::string_view bytes) {
  if (bytes.empty()) return;
  if (pieces_ == nullptr) {
    out_.raw(bytes);
  } else {
    if (out_.size() != 0) flush();
    pieces_->pieces.push_back(bytes);
  }
}

void DocumentWriter::flush() {
  if (pieces_ == nullptr || out_.size() == 0) return;
  pieces_->kept.push_back(out_.take());
  pieces_->pieces.push_back(pieces_->kept.back());
}

void DocumentWriter::comma() {
  if (count_++ == 0) return;
  // After what was just written, so that groups written one after the other stay together.
  if (out_.size() != 0) {
    out_.raw(',');
  } else {
    put(",");
  }
}

void DocumentWriter::put_own_document(const Arena& document) {
  const std::string_view all = document.text();
  const Slice whole = document.document();
  const Slice list = document.list();
  const std::size_t bracket = all[list.offset] == '[' ? 1 : 0;
  const bool was_text = all[list.offset] == '"';
  put(all.substr(whole.offset, list.offset + bracket - whole.offset));
  if (was_text) put("[");
  put_messages();
  if (was_text) put("]");
  put(all.substr(list.end() - bracket, whole.end() - (list.end() - bracket)));
}

void DocumentWriter::put_messages() {
  for (std::size_t i = system_count_; i < messages_.size();) {
    if (reuses_wire(messages_[i])) {
      i = put_run(i);
      continue;
    }
    if (notes.capacity() == 0) notes.reserve(messages_.size());  // about one each
    const std::size_t size = group_size(i);
    if (!put_kept(i, size)) put_written(i, size);
    i += size;
  }
  end_run();
}

std::size_t DocumentWriter::group_size(std::size_t from) {
  if (format_.group == one_by_one) return 1;
  // Each message is asked once, however the groups fall.
  if (next_apart_ <= from) {
    next_apart_ = from;
    while (next_apart_ < messages_.size() && !stands_apart(messages_[next_apart_])) ++next_apart_;
  }
  return next_apart_ == from ? 1 : format_.group(messages_.subspan(from, next_apart_ - from));
}

std::size_t DocumentWriter::put_run(std::size_t from) {
  const Arena& arena = Arena::of(messages_[from]);
  const std::uint32_t first = Arena::index_of(messages_[from]);
  std::size_t count = 1;
  while (from + count < messages_.size() && &Arena::of(messages_[from + count]) == &arena &&
         Arena::index_of(messages_[from + count]) == first + count) {
    ++count;
  }
  const Slice head = arena.messages()[first].wire;
  const Slice tail = arena.messages()[first + count - 1].wire;
  end_run();
  comma();
  count_ += count - 1;
  put(arena.bytes({head.offset, tail.end() - head.offset}));
  return from + count;
}

void DocumentWriter::put_fragment(const Fragment& kept) {
  if (kept.owner.get() == run_owner_ && kept.text.data() == run_.data() + run_.size() + 1) {
    run_ = {run_.data(), run_.size() + 1 + kept.text.size()};
    count_ += kept.count;
    return;
  }
  end_run();
  comma();
  count_ += kept.count - 1;
  run_ = kept.text;
  run_owner_ = kept.owner.get();
}

void DocumentWriter::end_run() {
  put(run_);
  run_ = {};
  run_owner_ = nullptr;
}

bool DocumentWriter::put_kept(std::size_t i, std::size_t size) {
  if (options_.form != Form::AsRead) return false;
  const Fragment* kept = kept_fragment(messages_, i, size, target_, hints_for(i, size));
  if (kept == nullptr) return false;
  if (!kept->text.empty()) put_fragment(*kept);
  const std::span<const Note> noted = notes_of(*kept);
  notes.insert(notes.end(), noted.begin(), noted.end());
  return true;
}

void DocumentWriter::put_written(std::size_t i, std::size_t size) {
  end_run();
  const std::size_t before = out_.size();
  const std::size_t count = count_;
  const std::uint8_t hints = hints_for(i, size);
  comma();
  const std::size_t start = out_.size();
  const std::size_t first_note = notes.size();
  Draft draft{target_, out_, notes, i};
  draft.form = options_.form;
  draft.hints = hints;
  write_messages(draft, messages_.subspan(i, size));
  count_ += draft.written - 1;
  if (draft.written == 0) {  // nothing was left to say, and no comma either
    if (pieces_ != nullptr && before == 0 && count != 0) pieces_->pieces.pop_back();
    out_.shrink_to(before);
    count_ = count;
    return;
  }
  if (options_.form == Form::AsRead) {
    made_.push_back({i, size, pieces_ == nullptr ? 0 : pieces_->kept.size(), start, out_.size() - start,
                     draft.written, first_note, notes.size() - first_note, draft.hints});
  }
}

void DocumentWriter::put_list_or_single(DocumentShape shape) {
  note_envelope(conversation_, target_, true, notes);
  // Whether one message stays one is known only when it is written, so the bracket may go again.
  const bool is_single = shape == DocumentShape::Single && messages_.size() == 1;
  if (!is_single) out_.raw('[');
  put_system();
  put_messages();
  if (!is_single) out_.raw(']');
  if (is_single && count_ != 1) {
    if (pieces_ == nullptr) {
      json::Out list;
      list.raw('[').raw(out_.view()).raw(']');
      out_ = std::move(list);
    } else {
      flush();
      pieces_->pieces.insert(pieces_->pieces.begin(), "[");
      out_.raw(']');
    }
    made_.clear();
    notes.push_back({"shape_changed", Severity::Info, 0, std::nullopt, to_string(target_), "split",
                     said("the message became " + std::to_string(count_) + " messages, written as a list")});
  }
}

Result<void> DocumentWriter::finish() {
  if (options_.strict) {
    for (const Note& note : notes) {
      if (note.severity == Severity::Major) return fail(Code::Lossy, to_line(note));
    }
  }
  if (pieces_ == nullptr) {
    text_ = out_.take();
  } else {
    flush();
  }
  if (options_.keep) keep_made();
  return {};
}

// Each text has its own fragments, so that one which is kept holds no more than was written with it.
void DocumentWriter::keep_made() {
  for (auto first = made_.cbegin(); first != made_.cend();) {
    const auto end =
        std::find_if(first, made_.cend(), [&](const Made& made) { return made.text != first->text; });
    const Text& text = pieces_ == nullptr ? text_ : pieces_->kept[first->text];
    keep_fragments({messages_, target_, text, notes, {first, end}, is_whole_});
    first = end;
  }
}

}  // namespace parley::dialect

namespace parley {
namespace {

using dialect::DocumentWriter;
using dialect::Draft;
using dialect::format_of;
using dialect::is_wire_of;
using dialect::tag;

// The whole document as it was read, if nothing about the conversation changed.
std::optional<Text> untouched(const Conversation& conversation, Dialect target, const WriteOptions& options) {
  const Arena* document = conversation.document().get();
  if (document == nullptr || options.form != Form::AsRead || document->dialect() != tag(target) ||
      !conversation.envelope_is_intact() || conversation.size() != document->messages().size()) {
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
  DocumentWriter writer(conversation, dialect, options, nullptr);
  PARLEY_CHECK(writer.run());
  return Writing{writer.take(), std::move(writer.notes)};
}

Result<Gathering> gather(const Conversation& conversation, Dialect dialect, const WriteOptions& options) {
  Gathering gathering;
  if (auto text = untouched(conversation, dialect, options)) {
    gathering.pieces.push_back(*text);
    gathering.kept.push_back(*std::move(text));
    return gathering;
  }
  DocumentWriter writer(conversation, dialect, options, &gathering);
  PARLEY_CHECK(writer.run());
  gathering.notes = std::move(writer.notes);
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
    dialect::write_messages(draft, {&message, 1});
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
