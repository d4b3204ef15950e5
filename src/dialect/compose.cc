// Writing documents: wires and kept fragments are reused, the rest is written once by the dialect's row.
#include <algorithm>
#include <iterator>
#include <set>

#include "dialect/arrange.h"
#include "dialect/format.h"
#include "dialect/fragments.h"
#include "dialect/frame.h"
#include "dialect/patch.h"
#include "dialect/pieces.h"
#include "dialect/write.h"
#include "message/arena.h"
#include "parley/dialect/dialect.h"
#include "parley/json/pointer.h"
#include "parley/message/validate.h"

namespace parley {
namespace {

using dialect::Draft;
using dialect::Format;
using dialect::format_of;
using dialect::is_wire_of;
using dialect::kept_fragment;
using dialect::Made;
using dialect::media_apart;
using dialect::Names;
using dialect::natural_frame;
using dialect::Place;
using dialect::said;
using dialect::stored_patch;
using dialect::SystemForm;
using dialect::tag;

using Notes = std::vector<Note>;

// Puts the document together, either into one buffer or as a list of pieces.
class Composer {
 public:
  Composer(const Conversation& conversation, Dialect target, const WriteOptions& options, Gathering* pieces)
      : conversation_(conversation),
        messages_(conversation.messages()),
        format_(format_of(target)),
        target_(target),
        options_(options),
        pieces_(pieces) {}

  Result<void> run() {
    look_around();
    PARLEY_CHECK(check_history());
    if (pieces_ == nullptr) {
      out_ = json::Out(expected_size());
    } else {
      pieces_->pieces.reserve(2 * messages_.size() + 3);  // each message and a comma, and what is around them
    }
    const DocumentShape shape = conversation_.shape();
    const bool has_place = format_.frame.system_form != SystemForm::Message && target_ != Dialect::Parley;
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

  Text take() { return std::move(text_); }
  Notes notes;

 private:
  // The document this conversation came from, if its frame can be written as it is.
  const Arena* own_document() const {
    const Arena* document = conversation_.document().get();
    const bool is_own = document != nullptr && options_.form == Form::AsRead &&
                        document->dialect() == tag(target_) && conversation_.frame_is_intact() &&
                        document->list().present();
    // Where one message stood, that one must stand; and nothing may have to go into the frame.
    const bool fits = is_own && system_count_ == 0 &&
                      (document->text()[document->list().offset] != '{' ||
                       (messages_.size() == 1 && reuses_wire(messages_.front())));
    return fits && dialect::media_are_the_same(format_.frame, *document, messages_) ? document : nullptr;
  }

  bool reuses_wire(const Message& message) const {
    return options_.form == Form::AsRead && is_wire_of(message, target_);
  }

  // A message that is reused as it is, or whose wire is remembered, belongs to no group and to no other
  // place.
  bool stands_apart(const Message& message) const {
    return reuses_wire(message) || (options_.form == Form::AsRead && stored_patch(message, target_));
  }

  // Read in another dialect, and without a memory of having been this one's.
  bool is_foreign(const Message& message) const {
    return Arena::of(message).dialect() != tag(target_) && Arena::record_of(message).wire.present() &&
           !stored_patch(message, target_);
  }

  // What was read in this dialect is written as it is, and what is being built is the builder's to answer
  // for. The calls of an answer wait for their results: that is what it is for.
  Result<void> check_history() {
    if (format_.carries_broken_history) return {};
    const auto foreign = [&](const Message& message) { return is_foreign(message); };
    if (std::none_of(messages_.begin(), messages_.end(), foreign)) return {};
    const std::size_t known = found_whole();
    const auto has_calls = [](const Message& message) {
      return message.has_content_blocks({BlockType::ToolUse, BlockType::ToolResult});
    };
    if (known == 0 || std::ranges::any_of(messages_.subspan(known), has_calls)) PARLEY_CHECK(check_calls());
    for (std::size_t i = known; format_.refuses_empty && i < messages_.size(); ++i) {
      if (!is_foreign(messages_[i]) || !dialect::says_nothing(messages_[i])) continue;
      return fail(
          Code::BrokenHistory, "empty_message: the message says nothing, which the target refuses",
          json::pointer_at(Arena::of(messages_[i]).text(), Arena::record_of(messages_[i]).wire.offset));
    }
    return {};
  }

  Result<void> check_calls() {
    std::vector<Finding> findings = validate_history(messages_);
    is_whole_ = findings.empty();
    for (Finding& finding : findings) {
      const bool is_pending = finding.level == FindingLevel::Warning;
      if (is_pending && conversation_.shape() == DocumentShape::Response) continue;
      return fail(Code::BrokenHistory, finding.code + ": " + finding.sentence, std::move(finding.path));
    }
    return {};
  }

  // The messages from the first on that the last writing found whole.
  std::size_t found_whole() {
    if (options_.form != Form::AsRead || system_count_ == messages_.size()) return 0;
    const std::size_t size = group_size(system_count_);
    const std::uint8_t orders = orders_for(system_count_, size);
    const Fragment* kept = kept_fragment(messages_, system_count_, size, target_, orders);
    return kept == nullptr ? 0 : dialect::found_whole(*kept, messages_);
  }

  // What the conversation as a whole says about its messages.
  void look_around() {
    const bool is_odd_answer = conversation_.shape() == DocumentShape::Response &&
                               !std::ranges::all_of(messages_, dialect::is_assistants);
    if (target_ == Dialect::Parley && (is_odd_answer || !validate_history(messages_).empty()))
      orders_ |= dialect::kIsBroken;
    const auto is_instruction = [](const Message& message) {
      return message.role() == Role::System || message.role() == Role::Developer;
    };
    first_spoken_ =
        static_cast<std::size_t>(std::ranges::find_if_not(messages_, is_instruction) - messages_.begin());
    if ((format_.heeds & dialect::kNamesSpeakers) != 0 && several_users_speak()) {
      orders_ |= dialect::kNamesSpeakers;
    }
    if (has_system_inside()) orders_ |= dialect::kSystemInside;
    has_media_apart_ = format_.frame.write_media != nullptr &&
                       media_apart(format_.frame, messages_) != Json::trusted(Text("{}"));
    const bool is_single = conversation_.shape() == DocumentShape::Single;
    if (format_.frame.system_form == SystemForm::Message || target_ == Dialect::Parley || is_single) return;
    const auto is_system = [&](const Message& message) {
      const bool calls = message.has_content_blocks({BlockType::ToolUse, BlockType::ToolResult});
      return is_instruction(message) && !calls && !stands_apart(message);
    };
    while (system_count_ < messages_.size() && is_system(messages_[system_count_])) ++system_count_;
  }

  bool has_system_inside() const {
    const auto ask = format_.frame.has_system_inside;
    const auto model = conversation_.settings().get(Setting::Model);
    return ask != nullptr && model && ask(model->as_string().value_or(Text()));
  }

  bool several_users_speak() const {
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

  std::uint8_t orders_for(std::size_t i, std::size_t size) const {
    unsigned orders = orders_;
    const bool is_request = conversation_.shape() != DocumentShape::Response;
    if (i + size == messages_.size() && is_request) orders |= dialect::kIsLast;
    if (!is_request) orders |= dialect::kIsAnswer;
    if (count_ == 0 && is_request && conversation_.shape() != DocumentShape::Single)
      orders |= dialect::kIsFirst;
    if (target_ == Dialect::Parley && may_be_joined(i)) orders |= dialect::kMayBeJoined;
    const bool goes_on = i + size < messages_.size() && !dialect::is_assistants(messages_[i + size]);
    if (goes_on) orders &= ~static_cast<unsigned>(dialect::kSystemInside);
    return static_cast<std::uint8_t>(orders & (format_.heeds | dialect::kIsBroken | dialect::kMayBeJoined));
  }

  // The dialect of its wire would write this message together with the one before, or put another before it.
  bool may_be_joined(std::size_t i) const {
    const DialectTag origin = Arena::of(messages_[i]).dialect();
    if (origin == 0) return false;
    const Format& format = format_of(static_cast<Dialect>(origin));
    if ((format.heeds & dialect::kIsFirst) != 0 && i <= first_spoken_) return true;
    if (i == 0 || Arena::of(messages_[i - 1]).dialect() != origin) return false;
    return format.joins && format.group(messages_.subspan(i - 1, 2)) > 1;
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

  void put_own_document(const Arena& document) {
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

  void put_messages() {
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

  std::size_t group_size(std::size_t from) {
    if (format_.group == dialect::one_by_one) return 1;
    // Each message is asked once, however the groups fall.
    if (next_apart_ <= from) {
      next_apart_ = from;
      while (next_apart_ < messages_.size() && !stands_apart(messages_[next_apart_])) ++next_apart_;
    }
    return next_apart_ == from ? 1 : format_.group(messages_.subspan(from, next_apart_ - from));
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
    end_run();
    comma();
    count_ += count - 1;
    put(arena.bytes({head.offset, tail.end() - head.offset}));
    return from + count;
  }

  // Fragments that were written one behind the other are put with the commas between them, all at once.
  void put_fragment(const Fragment& kept) {
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

  void end_run() {
    put(run_);
    run_ = {};
    run_owner_ = nullptr;
  }

  bool put_kept(std::size_t i, std::size_t size) {
    if (options_.form != Form::AsRead) return false;
    const Fragment* kept = kept_fragment(messages_, i, size, target_, orders_for(i, size));
    if (kept == nullptr) return false;
    if (!kept->text.empty()) put_fragment(*kept);
    const std::span<const Note> noted = dialect::notes_of(*kept);
    notes.insert(notes.end(), noted.begin(), noted.end());
    return true;
  }

  void put_written(std::size_t i, std::size_t size) {
    end_run();
    const std::size_t before = out_.size();
    const std::size_t count = count_;
    const std::uint8_t orders = orders_for(i, size);
    comma();
    const std::size_t start = out_.size();
    const std::size_t first_note = notes.size();
    Draft draft{target_, out_, notes, i};
    draft.form = options_.form;
    draft.orders = orders;
    dialect::write_group(draft, messages_.subspan(i, size));
    count_ += draft.written - 1;
    if (draft.written == 0) {  // nothing was left to say, and no comma either
      if (pieces_ == nullptr) out_.shrink_to(before);
      if (pieces_ != nullptr && count != 0) pieces_->pieces.pop_back();
      count_ = count;
      return;
    }
    if (options_.form == Form::AsRead) {
      made_.push_back({i, size, start, out_.size() - start, draft.written, first_note,
                       notes.size() - first_note, draft.orders});
    }
  }

  // The frame of the target, as it is remembered or as it is natural, and what `parley` remembers of others.
  Json frame(std::string& extra) {
    Json frame = natural_frame(conversation_, target_, messages_.first(system_count_));
    const Arena* document = conversation_.document().get();
    const bool has_frame = document != nullptr && (document->shape() == DocumentShape::Envelope ||
                                                   document->shape() == DocumentShape::Response);
    if (!has_frame) return frame;
    const auto origin = static_cast<Dialect>(document->dialect());
    const Json wire = dialect::wire_frame(*document, target_ == Dialect::Parley);
    const std::size_t first_note = notes.size();
    Draft draft{target_, out_, notes};
    if (origin == Dialect::Parley) {
      frame = parley_frame(draft, wire, std::move(frame), extra);
    } else {
      // A name that does not fit is noted as such, and is no member that the target does not know.
      const Names names = target_ == Dialect::Parley ? Names::Fitted : Names::AsTheyAre;
      const Json natural = natural_frame(conversation_, origin, {}, names);
      const auto patch = dialect::diff(natural, wire);
      if (patch && target_ == Dialect::Parley) {
        extra = ",\"extra\":{\"" + std::string(to_string(origin)) + "\":" + patch->text().str() + "}";
      } else if (patch) {
        dialect::note_places(draft, *patch, dialect::respelled(format_of(origin).frame, natural, wire));
      }
    }
    for (std::size_t i = first_note; i < notes.size(); ++i) notes[i].message.reset();
    return frame;
  }

  void put_envelope() {
    writes_frame_ = true;
    std::string extra;
    const Json around = frame(extra);
    const Place& place = dialect::place_in(format_.frame, conversation_.shape(), around);
    note_moved_system();
    const std::optional<Conversation> again = read_again(around);
    if (!again || again->system() != conversation_.system())
      dialect::note_system(conversation_, target_, notes);
    if (!again || !says_all(*again)) {
      dialect::note_frame(conversation_, target_, false, notes);
      dialect::note_outcome(conversation_, target_, around, notes);
      note_tool_names(around);
    }
    const Text& text = around.text();
    const std::optional<Json> found = around.at(dialect::pointer_to(format_.frame, place));
    if (!found || found->is_null()) {  // nothing was said there, as it was
      out_.raw(text.view().substr(0, text.size() - 1)).raw(extra).raw('}');
      return;
    }
    const Json& list = *found;
    const auto at = static_cast<std::size_t>(list.text().data() - text.data());
    out_.raw(text.view().substr(0, at));
    if (place.is_message) {
      put_the_message(place);
    } else if (const auto only = list.is_string() ? only_text() : std::nullopt) {
      out_.quoted(*only);
    } else {
      out_.raw('[');
      put_system();
      put_messages();
      out_.raw(']');
    }
    std::string_view rest = text.view().substr(at + list.text().size());
    rest.remove_suffix(1);
    out_.raw(rest).raw(extra).raw('}');
  }

  // What a user says, if that is all there is; as spelled.
  std::optional<std::string_view> only_text() const {
    if (messages_.size() != 1) return std::nullopt;
    const Message& message = messages_.front();
    const auto& arena = Arena::of(message);
    const bool is_plain =
        message.role() == Role::User && message.content_shape() == ContentShape::String && !message.name();
    if (!is_plain) return std::nullopt;
    return arena.bytes(arena.blocks(Arena::record_of(message)).front().text());
  }

  static bool is_same(const Settings& a, const Settings& b) {
    return a.all().size() == b.all().size() &&
           std::ranges::all_of(a.all(), [&](const auto& each) { return b.get(each.first) == each.second; });
  }

  // The frame of the target, read again.
  std::optional<Conversation> read_again(const Json& around) const {
    Conversation again;
    again.set_shape(dialect::place_of(format_.frame, conversation_.shape()).shape);
    if (!dialect::read_frame(target_, around, again)) return std::nullopt;
    return again;
  }

  // It has the tools and settings of this conversation.
  bool says_all(const Conversation& again) const {
    return std::ranges::equal(again.tools(), conversation_.tools()) &&
           is_same(again.settings(), conversation_.settings()) && again.outcome() == conversation_.outcome();
  }

  void note_tool_names(const Json& around) {
    const auto read = format_.frame.read_tools;
    const auto fit = format_.frame.fit_name;
    if (read == nullptr || fit == nullptr) return;
    std::set<std::string, std::less<>> declared;
    for (const Tool& tool : read(around).value_or(std::vector<Tool>())) declared.insert(tool.name.str());
    for (const Tool& tool : conversation_.tools()) {
      const std::string name = fit(tool.name);
      if (name == tool.name.view() || !declared.contains(name)) continue;
      notes.push_back({"name_mapped", Severity::Info, std::nullopt, std::nullopt, to_string(target_),
                       "mapped", said("a name does not fit and is written as " + name)});
    }
  }

  // An answer has one message, or the blocks of one. Several are joined as the dialect joins the parts of a
  // step.
  void put_the_message(const Place& place) {
    std::vector<Message> own;
    std::ranges::copy_if(messages_, std::back_inserter(own), [&](const Message& message) {
      return dialect::is_assistants(message) || stands_apart(message);
    });
    const std::size_t others = messages_.size() - own.size();
    Conversation alone(std::move(own));
    alone.set_shape(DocumentShape::Response);
    WriteOptions options = options_;
    options.keep = false;
    Composer inner(alone, target_, options, nullptr);
    inner.out_ = json::Out(inner.expected_size());
    inner.put_messages();
    notes.insert(notes.end(), inner.notes.begin(), inner.notes.end());
    const Json messages = Json::trusted(*Text::copy("[" + std::string(inner.out_.view()) + "]"));
    const std::vector<Json> all = messages.elements();
    if (all.size() > 1 || others != 0) {
      notes.push_back({"message_dropped", Severity::Major, std::nullopt, std::nullopt, to_string(target_),
                       "dropped",
                       said("an answer has one message; of " + std::to_string(all.size() + others) +
                            " the assistant's last is left")});
    }
    Json one = all.empty() ? Json::trusted(*Text::copy(format_.frame.no_message)) : all.back();
    if (place.path.empty()) one = one.get(format_.frame.content).value_or(Json::trusted(Text("[]")));
    out_.raw(one.text());
    count_ = 1;
  }

  // What a `parley` envelope knows about the target's, or keeps for others.
  Json parley_frame(Draft& draft, const Json& wire, Json frame, std::string& extra) const {
    const auto remembered = wire.get("extra");
    if (target_ == Dialect::Parley && remembered) extra = ",\"extra\":" + remembered->compact().text().str();
    if (const auto patch = dialect::diff(natural_frame(conversation_, Dialect::Parley), wire)) {
      dialect::note_places(draft, *patch, "/extra");
    }
    if (!remembered || target_ == Dialect::Parley) return frame;
    dialect::note_other_patches(draft, *remembered);
    const auto patch = remembered->get(to_string(target_));
    if (!patch || options_.form == Form::Canonical) return frame;
    const Json patched = dialect::patched(frame, *patch);
    // A patch that leaves no place for the messages was not made here.
    const Place& place = dialect::place_in(format_.frame, conversation_.shape(), patched);
    const Json list = patched.at(dialect::pointer_to(format_.frame, place)).value_or(Json());
    const bool says_nothing = std::ranges::all_of(
        messages_, [](const Message& message) { return Arena::record_of(message).block_count == 0; });
    const bool is_silent_answer = says_nothing && conversation_.shape() == DocumentShape::Response &&
                                  list.is_null() && read(patched.text(), target_);
    const bool is_text = place.may_be_text && list.as_string().has_value();
    return is_silent_answer || list.is_array() || is_text ? patched : frame;
  }

  void put_list_or_single(DocumentShape shape) {
    dialect::note_frame(conversation_, target_, true, notes);
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

  // Messages that went to the place of the system part.
  void note_moved_system() {
    for (std::size_t i = 0; i < system_count_; ++i) {
      Draft draft{target_, out_, notes, i};
      draft.note("system_moved", Severity::Info, "moved", "the message is written as the system part");
      json::Out ignored;
      Notes own;
      Draft apart{target_, ignored, own, i};
      dialect::write_group(apart, messages_.subspan(i, 1));  // for its notes
      dialect::note_string(apart, messages_[i]);
      // Where messages have names, the system part still has none.
      const auto tells_name = [](const Note& note) {
        return note.code == "name_as_text" ||
               (note.code == "identity_dropped" && note.detail.view().contains("name"));
      };
      if (messages_[i].name() && std::ranges::none_of(own, tells_name)) {
        apart.note("identity_dropped", Severity::Minor, "dropped", "there is no place for: name");
      }
      notes.insert(notes.end(), own.begin(), own.end());
    }
    const bool has_no_frame =
        conversation_.shape() == DocumentShape::List || conversation_.shape() == DocumentShape::Single;
    if (has_no_frame) {
      notes.push_back({"shape_changed", Severity::Info, std::nullopt, std::nullopt, to_string(target_),
                       "moved",
                       "it is written as a request, because its system part or media have members there"});
    }
  }

  // Without a place of its own the system part is a message.
  void put_system() {
    if (!conversation_.system()) return;
    if (writes_frame_ && format_.frame.system_form != SystemForm::Message) return;
    comma();
    const std::size_t first_note = notes.size();
    Draft draft{target_, out_, notes};
    draft.note("system_moved", Severity::Info, "moved", "the system part is written as a message");
    format_.write_group(draft, {&*conversation_.system(), 1});
    count_ += draft.written - 1;
    for (std::size_t i = first_note; i < notes.size(); ++i) notes[i].message.reset();
  }

  Result<void> finish() {
    if (options_.strict) {
      for (const Note& note : notes) {
        if (note.severity == Severity::Major) return fail(Code::Lossy, to_line(note));
      }
    }
    if (pieces_ == nullptr) {
      text_ = out_.take();
      if (options_.keep) dialect::keep_fragments({messages_, target_, text_, notes, made_, is_whole_});
    } else {
      flush();
    }
    return {};
  }

  const Conversation& conversation_;
  std::span<const Message> messages_;
  const Format& format_;
  Dialect target_;
  WriteOptions options_;
  Gathering* pieces_;
  json::Out out_;
  Text text_;
  std::size_t count_ = 0;         // wire messages so far
  std::size_t system_count_ = 0;  // messages at the front that go where the system part has its place
  bool writes_frame_ = false;     // an object around the messages
  std::size_t first_spoken_ = 0;  // the first message that is no system's
  std::size_t next_apart_ = 0;    // the next message that stands apart
  bool has_media_apart_ = false;  // and so there must be members beside the messages
  unsigned orders_ = 0;           // for all messages
  bool is_whole_ = false;         // the history was looked at, and nothing was found
  std::vector<Made> made_;
  std::string_view run_;  // fragments still to be put
  const void* run_owner_ = nullptr;
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
  Notes notes;
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
