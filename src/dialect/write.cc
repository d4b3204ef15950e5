// Writing conversations: wires and kept fragments are reused, the rest is written once by the dialect's row.
#include <algorithm>

#include "dialect/format.h"
#include "dialect/patch.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"
#include "parley/json/writer.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

using dialect::Draft;
using dialect::Format;
using dialect::format_of;
using dialect::said;
using dialect::tag;

using Notes = std::vector<Note>;
using NoteRange = std::span<const Note>;

bool is_wire_of(const Message& message, Dialect dialect) {
  return Arena::of(message).dialect() == tag(dialect) && Arena::record_of(message).wire.present();
}

// A message in its own dialect's natural spelling, if that is exactly one message.
std::optional<Json> natural(const Message& message, Dialect dialect, Form form) {
  json::Out out;
  Notes ignored;
  Draft draft{dialect, out, ignored};
  draft.form = form;
  format_of(dialect).write_group(draft, {&message, 1});
  if (draft.written != 1) return std::nullopt;
  return Json::trusted(out.take());
}

Json whole(const Json& value) {
  json::Writer w;
  w.begin_object().key("is").value(value.compact()).end_object();
  return w.take();
}

Dialect origin_of(const Message& message) { return static_cast<Dialect>(Arena::of(message).dialect()); }

// The way from a dialect's natural spelling of a message to its wire.
std::optional<Json> patch_to_wire(const Message& message, Form form = Form::AsRead) {
  const Json wire = *message.wire();
  const std::optional<Json> own = natural(message, origin_of(message), form);
  return own ? dialect::diff(*own, wire) : whole(wire);
}

// What `parley` must remember to give a wire back. Where the dialect would join a message of results to the
// one before, or refuse a broken history, even a patch that changes nothing says that the wire was like this.
std::optional<Json> remembered_patch(const Message& message, bool is_broken) {
  if (auto patch = patch_to_wire(message)) return patch;
  const bool may_be_joined =
      format_of(origin_of(message)).group != dialect::one_by_one && message.role() == Role::Tool;
  if (!may_be_joined && !is_broken) return std::nullopt;
  return Json::trusted(Text(R"({"in":{}})"));
}

// The patch that a `parley` message holds for a dialect. One that leads to no object was not made here.
std::optional<Json> stored_patch(const Message& message, Dialect dialect) {
  if (!is_wire_of(message, Dialect::Parley) || !Arena::record_of(message).has(MessageRecord::kHasMore))
    return {};
  const auto extra = message.wire()->get("extra");
  auto patch = extra ? extra->get(to_string(dialect)) : std::nullopt;
  const auto value = patch ? patch->get("is") : std::nullopt;
  if (value && !value->is_object()) return std::nullopt;
  return patch;
}

// The first few names, and how many more there are.
std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) out += " and " + std::to_string(names.size() - kShown) + " more";
  return out;
}

void note_places(Draft& draft, const Json& patch, std::string_view except = {}) {
  dialect::PatchedPlaces places = dialect::places(patch);
  if (!except.empty())
    std::erase_if(places.values, [&](const std::string& each) { return each.starts_with(except); });
  if (!places.values.empty()) {
    draft.note("member_dropped", Severity::Minor, "dropped",
               said("members the target does not know are left out: " + joined(places.values)));
  }
  if (!places.nulls.empty()) {
    draft.note("null_dropped", Severity::Info, "dropped",
               said("members that are null are left out: " + joined(places.nulls)));
  }
}

// Notes what an `extra` remembers about other dialects than the target.
void note_other_patches(Draft& draft, const Json& extra) {
  for (const Json::Member& member : extra.members()) {
    if (member.key.view() != to_string(draft.target)) note_places(draft, member.value);
  }
}

// Notes the members of a wire that go nowhere when it is written in another dialect, or in its own dialect's
// natural spelling.
void note_lost_members(Draft& draft, const Message& message) {
  if (!Arena::record_of(message).has(MessageRecord::kHasMore)) return;
  const Form form = is_wire_of(message, draft.target) ? draft.form : Form::AsRead;
  if (const auto patch = patch_to_wire(message, form)) note_places(draft, *patch);
  if (is_wire_of(message, Dialect::Parley)) {
    note_other_patches(draft, message.wire()->get("extra").value_or(Json()));
  }
}

// A patch that was made by hand may lead to anything; what it leads to must still be a message.
bool is_readable(const Json& wire, Dialect dialect) {
  constexpr std::size_t kAny = 0xFFFFFFF0;
  return from_dict(wire, dialect, {.limits = {.bytes = kAny, .string = kAny, .depth = kAny}}).has_value();
}

// Writes a group of messages as the target's wire messages, with the patches and notes this takes.
void write_group(Draft& draft, std::span<const Message> group) {
  const Format& format = format_of(draft.target);
  const Message& first = group.front();
  if (draft.target == Dialect::Parley) {
    const bool has_wire = first.wire().has_value() && !is_wire_of(first, Dialect::Parley);
    const std::optional<Json> patch = has_wire ? remembered_patch(first, draft.is_broken) : std::nullopt;
    if (patch) {
      draft.extra = patch->text();
      draft.extra_of = to_string(origin_of(first));
    }
    // Own messages get here for their natural spelling only, which keeps what they remember.
    const auto lost = !has_wire && first.wire() ? patch_to_wire(first) : std::nullopt;
    if (lost) note_places(draft, *lost);
    format.write_group(draft, group);
    draft.extra = {};
    return;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    Draft each{draft.target, draft.out, draft.notes, draft.position + i};
    each.form = draft.form;
    note_lost_members(each, group[i]);
  }
  const bool is_as_read = draft.form == Form::AsRead && group.size() == 1;
  const std::optional<Json> patch = is_as_read ? stored_patch(first, draft.target) : std::nullopt;
  if (!patch) {
    format.write_group(draft, group);
    return;
  }
  json::Out out;
  Notes notes;
  Draft own{draft.target, out, notes, draft.position};
  format.write_group(own, group);
  const bool is_whole = patch->get("is").has_value();
  if (own.written == 1 || is_whole) {
    const Json value = Json::trusted(*Text::copy(out.view()));
    const Json wire = dialect::patched(value, *patch).compact();
    draft.next().raw(is_readable(wire, draft.target) ? wire.text().view() : out.view());
  } else {
    draft.next().raw(out.view());
    draft.written += own.written - 1;
  }
  // The patch undoes what was only made up or spelled otherwise; what was lost before it stays lost.
  for (Note& note : notes) {
    const bool is_lost = note.action == "dropped" && note.severity != Severity::Info;
    if (is_lost && !is_whole) draft.notes.push_back(std::move(note));
  }
}

// The object around the messages, with "[]" where the list goes, in the target's natural form.
Json natural_frame(const Conversation& conversation, Dialect dialect) {
  json::Writer w;
  w.begin_object();
  if (dialect == Dialect::Parley) {
    w.key("parley").number(1);
    if (conversation.system()) {
      const auto message = to_dict(*conversation.system(), Dialect::Parley);
      w.key("system").value(message->get("content").value_or(Json()));
    }
    if (!conversation.tools().empty()) {
      w.key("tools").begin_array();
      for (const Tool& tool : conversation.tools()) {
        w.begin_object().key("name").string(tool.name).key("description").string(tool.description);
        w.key("parameters").value(tool.parameters.compact()).end_object();
      }
      w.end_array();
    }
  }
  w.key("messages").begin_array().end_array().end_object();
  return w.take();
}

// The object that was around the messages, with "[]" where the list was.
Json wire_frame(const Arena& document) {
  const std::string_view all = document.buffer().view();
  std::string frame(
      all.substr(document.document().offset, document.list().offset - document.document().offset));
  frame += "[]";
  frame += all.substr(document.list().end(), document.document().end() - document.list().end());
  return Json::trusted(*Text::adopt(std::move(frame)));  // its bytes were validated, whatever the limits were
}

// Puts the document together, either into one buffer or as a list of pieces.
class Composer {
 public:
  Composer(const Conversation& conversation, Dialect target, const WriteOptions& options, Gathering* pieces)
      : conversation_(conversation),
        messages_(conversation.messages()),
        target_(target),
        options_(options),
        pieces_(pieces) {}

  Result<void> run() {
    PARLEY_CHECK(check_history());
    is_broken_ = target_ == Dialect::Parley && !validate_history(messages_).empty();
    if (pieces_ == nullptr) {
      out_ = json::Out(expected_size());
    } else {
      pieces_->pieces.reserve(2 * messages_.size() + 3);  // each message and a comma, and what is around them
    }
    const DocumentShape shape = conversation_.shape();
    if (own_document() != nullptr && shape != DocumentShape::Single) {
      const Arena& document = *own_document();
      const std::string_view all = document.buffer().view();
      put(all.substr(document.document().offset, document.list().offset + 1 - document.document().offset));
      put_messages();
      put(all.substr(document.list().end() - 1, document.document().end() + 1 - document.list().end()));
    } else if (shape == DocumentShape::Envelope) {
      put_envelope();
    } else {
      put_list_or_single(shape);
    }
    return finish();
  }

  Text take() { return std::move(text_); }
  Notes notes;

 private:
  // The document this conversation came from, if its frame can be written as it is.
  const Arena* own_document() const {
    const Arena* document = conversation_.document().get();
    const bool is_own = document != nullptr && options_.form == Form::AsRead &&
                        document->dialect() == tag(target_) && conversation_.frame_is_intact();
    return is_own ? document : nullptr;
  }

  bool reuses_wire(const Message& message) const {
    return options_.form == Form::AsRead && is_wire_of(message, target_);
  }

  // Read in another dialect, and without a memory of having been this one's.
  bool is_foreign(const Message& message) const {
    return Arena::of(message).dialect() != tag(target_) && Arena::record_of(message).wire.present() &&
           !stored_patch(message, target_);
  }

  // What was read in this dialect is written as it is, and what is being built is the builder's to answer
  // for.
  Result<void> check_history() const {
    if (format_of(target_).carries_broken_history) return {};
    const auto foreign = [&](const Message& message) { return is_foreign(message); };
    if (std::none_of(messages_.begin(), messages_.end(), foreign)) return {};
    for (Finding& finding : validate_history(messages_)) {
      return fail(Code::BrokenHistory, finding.code + ": " + finding.sentence, std::move(finding.path));
    }
    return {};
  }

  std::size_t expected_size() const {
    std::size_t bytes = 64;
    for (const Message& message : messages_) {
      const Slice wire = Arena::record_of(message).wire;
      const std::size_t own = wire.present() ? wire.length : Arena::of(message).buffer().size();
      // Another frame is a little longer, and arguments may stand twice in it. Too much costs nothing, too
      // little a copy of everything.
      bytes += reuses_wire(message) ? own + 1 : own + own / 4 + 256;
    }
    return bytes;
  }

  // Bytes that live elsewhere: copied into the one buffer, or named as a piece.
  void put(std::string_view bytes) {
    if (bytes.empty()) return;
    if (pieces_ == nullptr) {
      out_.raw(bytes);
    } else {
      if (out_.size() != 0) flush();
      pieces_->pieces.push_back(bytes);
    }
  }

  // In a list of pieces, what was written here becomes a piece of its own.
  void flush() {
    if (pieces_ == nullptr || out_.size() == 0) return;
    pieces_->kept.push_back(out_.take());
    pieces_->pieces.push_back(pieces_->kept.back());
  }

  void comma() {
    if (count_++ != 0) put(",");
  }

  void put_messages() {
    for (std::size_t i = 0; i < messages_.size();) {
      if (reuses_wire(messages_[i])) {
        i = put_run(i);
        continue;
      }
      const std::size_t size = std::min(group_size(i), messages_.size() - i);
      if (!put_kept(i, size)) put_written(i, size);
      i += size;
    }
  }

  // A message that is reused as it is, or whose wire is remembered, belongs to no group.
  std::size_t group_size(std::size_t from) const {
    const auto stands_apart = [&](const Message& message) {
      return reuses_wire(message) || (options_.form == Form::AsRead && stored_patch(message, target_));
    };
    const std::size_t wanted = format_of(target_).group(messages_.subspan(from));
    if (wanted > 1 && stands_apart(messages_[from])) return 1;
    for (std::size_t k = 1; k < wanted; ++k) {
      if (stands_apart(messages_[from + k])) return k;
    }
    return wanted;
  }

  // Messages that stood one behind the other in one document are copied with what stood between them.
  std::size_t put_run(std::size_t from) {
    const Arena& arena = Arena::of(messages_[from]);
    const std::uint32_t first = Arena::index_of(messages_[from]);
    std::size_t count = 1;
    while (from + count < messages_.size() && &Arena::of(messages_[from + count]) == &arena &&
           Arena::index_of(messages_[from + count]) == first + count) {
      ++count;
    }
    const Slice head = arena.messages()[first].wire;
    const Slice tail = arena.messages()[first + count - 1].wire;
    comma();
    count_ += count - 1;
    put(arena.bytes({head.offset, tail.end() - head.offset}));
    return from + count;
  }

  bool put_kept(std::size_t i, std::size_t size) {
    if (size != 1 || options_.form != Form::AsRead || is_broken_) return false;
    const Fragment* kept =
        Arena::of(messages_[i])
            .fragment(Arena::index_of(messages_[i]), tag(target_), static_cast<std::uint32_t>(i));
    if (kept == nullptr) return false;
    if (!kept->text.empty()) {
      comma();
      count_ += kept->count - 1;
      put(kept->text);
    }
    if (kept->notes != nullptr) {
      const NoteRange noted = *static_cast<const NoteRange*>(kept->notes);
      notes.insert(notes.end(), noted.begin(), noted.end());
    }
    return true;
  }

  void put_written(std::size_t i, std::size_t size) {
    comma();
    const std::size_t start = out_.size();
    const std::size_t first_note = notes.size();
    Draft draft{target_, out_, notes, i};
    draft.form = options_.form;
    draft.is_broken = is_broken_;
    write_group(draft, messages_.subspan(i, size));
    count_ += draft.written - 1;
    if (draft.written == 0 && start != 0) out_.shrink_to(start);
    if (size == 1 && options_.form == Form::AsRead && !is_broken_) {
      made_.push_back({i, start, out_.size() - start, draft.written, first_note, notes.size() - first_note});
    }
  }

  void put_envelope() {
    Json frame = natural_frame(conversation_, target_);
    const Arena* document = conversation_.document().get();
    std::string extra;
    if (document != nullptr && document->shape() == DocumentShape::Envelope) {
      const auto origin = static_cast<Dialect>(document->dialect());
      const Json wire = wire_frame(*document);
      Draft draft{target_, out_, notes};
      if (origin == Dialect::Parley) {
        frame = parley_frame(draft, wire, std::move(frame), extra);
      } else if (const auto patch = dialect::diff(natural_frame(Conversation(), origin), wire)) {
        if (target_ == Dialect::Parley) {
          extra = ",\"extra\":{\"" + std::string(to_string(origin)) + "\":" + patch->text().str() + "}";
        } else {
          note_places(draft, *patch);
        }
      }
      for (Note& note : notes) note.message.reset();
    }
    note_frame();
    const Text text = frame.text();
    const Json list = frame.get("messages").value_or(Json());
    const auto at = static_cast<std::size_t>(list.text().data() - text.data());
    out_.raw(text.view().substr(0, at)).raw('[');
    put_system();
    put_messages();
    std::string_view rest = text.view().substr(at + list.text().size());
    rest.remove_suffix(1);
    out_.raw(']').raw(rest).raw(extra).raw('}');
  }

  // What a `parley` envelope knows about the target's, or keeps for others.
  Json parley_frame(Draft& draft, const Json& wire, Json frame, std::string& extra) const {
    const auto remembered = wire.get("extra");
    if (target_ == Dialect::Parley && remembered) extra = ",\"extra\":" + remembered->compact().text().str();
    if (const auto patch = dialect::diff(natural_frame(conversation_, Dialect::Parley), wire)) {
      note_places(draft, *patch, "/extra");
    }
    if (!remembered || target_ == Dialect::Parley) return frame;
    note_other_patches(draft, *remembered);
    const auto patch = remembered->get(to_string(target_));
    if (!patch || options_.form == Form::Canonical) return frame;
    const Json patched = dialect::patched(frame, *patch);
    // A patch that leaves no place for the messages was not made here.
    return patched.get("messages") ? patched : frame;
  }

  void put_list_or_single(DocumentShape shape) {
    note_frame();
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
      notes.push_back(
          {"shape_changed", Severity::Info, 0, std::nullopt, to_string(target_), "split",
           said("the message became " + std::to_string(count_) + " messages, written as a list")});
    }
  }

  // Outside the envelope of `parley` the system part is a message and tools have no place.
  void put_system() {
    if (!conversation_.system()) return;
    if (target_ == Dialect::Parley && conversation_.shape() == DocumentShape::Envelope) return;
    comma();
    const std::size_t first_note = notes.size();
    Draft draft{target_, out_, notes};
    draft.note("system_moved", Severity::Info, "moved", "the system part is written as a message");
    format_of(target_).write_group(draft, {&*conversation_.system(), 1});
    count_ += draft.written - 1;
    for (std::size_t i = first_note; i < notes.size(); ++i) notes[i].message.reset();
  }
  void note_frame() {
    const bool is_envelope = conversation_.shape() == DocumentShape::Envelope;
    if (!conversation_.tools().empty() && !(target_ == Dialect::Parley && is_envelope)) {
      notes.push_back({"tools_dropped", Severity::Major, std::nullopt, std::nullopt, to_string(target_),
                       "dropped", "there is no place for the list of tools"});
    }
  }

  Result<void> finish() {
    if (options_.strict) {
      for (const Note& note : notes) {
        if (note.severity == Severity::Major) return fail(Code::Lossy, to_line(note));
      }
    }
    if (pieces_ == nullptr) {
      text_ = out_.take();
      keep_fragments(text_);
    } else {
      flush();
    }
    return {};
  }

  struct Made {
    std::size_t message, start, size, written, first_note, note_count;
  };

  // The next write of these messages in this dialect takes them from here.
  void keep_fragments(const Text& text) {
    if (!options_.keep) return;
    // Text and notes are kept once for all; each fragment refers to its own.
    struct Kept {
      Text text;
      Notes all;
      std::vector<NoteRange> ranges;
    };
    auto kept = std::make_shared<Kept>(text, notes);
    kept->ranges.reserve(made_.size());
    for (const Made& made : made_) {
      const NoteRange noted = NoteRange(kept->all).subspan(made.first_note, made.note_count);
      if (!noted.empty()) kept->ranges.push_back(noted);
      const Message& message = messages_[made.message];
      Arena::of(message).keep_fragment(Arena::index_of(message),
                                       {.dialect = tag(target_),
                                        .position = static_cast<std::uint32_t>(made.message),
                                        .count = static_cast<std::uint32_t>(made.written),
                                        .text = text.view().substr(made.start, made.size),
                                        .notes = noted.empty() ? nullptr : &kept->ranges.back(),
                                        .owner = kept,
                                        .next = nullptr});
    }
  }

  const Conversation& conversation_;
  std::span<const Message> messages_;
  Dialect target_;
  WriteOptions options_;
  Gathering* pieces_;
  json::Out out_;
  Text text_;
  std::size_t count_ = 0;   // wire messages so far
  bool is_broken_ = false;  // a history that only `parley` carries
  std::vector<Made> made_;
};

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
  const std::string_view all = document->buffer().view();
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
  Notes notes;
  Draft draft{dialect, out, notes};
  draft.form = form;
  if (form == Form::Canonical) {
    format_of(dialect).write_group(draft, {&message, 1});
  } else {
    write_group(draft, {&message, 1});
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
