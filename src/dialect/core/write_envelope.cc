// What a DocumentWriter writes around the messages: the envelope of a request or of an answer.
#include <algorithm>
#include <iterator>
#include <set>

#include "dialect/core/arrange.h"
#include "dialect/core/patch.h"
#include "dialect/core/setting_limits.h"
#include "dialect/core/write.h"
#include "dialect/core/write_messages.h"
#include "message/arena.h"
#include "message/edit.h"

namespace parley::dialect {

Json DocumentWriter::envelope(std::string& extra) {
  Json envelope = natural_envelope(conversation_, target_, messages_.first(system_count_));
  const Arena* document = conversation_.document().get();
  const bool has_frame = document != nullptr && (document->shape() == DocumentShape::Envelope ||
                                                 document->shape() == DocumentShape::Response);
  if (!has_frame) return envelope;
  const auto origin = static_cast<Dialect>(document->dialect());
  const Json wire = wire_envelope(*document, target_ == kCanonical);
  const std::size_t first_note = notes.size();
  Draft draft{target_, out_, notes};
  if (origin == kCanonical) {
    envelope = parley_envelope(draft, wire, std::move(envelope), extra);
  } else if (target_ != kCanonical) {
    note_lost_envelope(draft, origin, wire);
  } else if (const auto patch = diff(natural_envelope(conversation_, origin), wire)) {
    extra = ",\"extra\":{\"" + std::string(to_string(origin)) + "\":" + patch->text().str() + "}";
  }
  for (std::size_t i = first_note; i < notes.size(); ++i) notes[i].message_index.reset();
  return envelope;
}

namespace {

// The system part says nothing but the blocks of a message, in whatever form.
bool says_all_of_system(Dialect origin, const Json& wire) {
  Conversation read;
  read.set_shape(DocumentShape::Envelope);
  return read_envelope(origin, wire, read) && read.system() && !has_more(*read.system());
}

}  // namespace

// A name or a number that does not fit the dialect is noted as such, and is no member that the target does
// not know: what is natural has them as they are.
void DocumentWriter::note_lost_envelope(Draft& draft, Dialect origin, const Json& wire) const {
  const Envelope& own = format_of(origin).envelope;
  const Json natural = natural_envelope(conversation_, origin, {}, Names::AsTheyAre);
  const Json spelled = as_usual(own, wire);
  const auto patch = diff(natural, spelled);
  if (!patch) return;
  const std::string messages = pointer_to(own, place_of(own, conversation_.shape()));
  const std::string system = "/" + std::string(own.system);
  note_places(draft, *patch, [&](std::string_view place) {
    return place == messages || (place == system && says_all_of_system(origin, wire)) ||
           is_said_otherwise(own, place, natural, spelled) || is_in_settings(own, place, spelled);
  });
}

bool DocumentWriter::is_in_settings(const Envelope& envelope, std::string_view place,
                                    const Json& wire) const {
  return std::ranges::any_of(envelope.settings, [&](const SettingRow& row) {
    const bool is_here = !place.empty() && place.substr(1) == row.path;
    const auto member = is_here ? wire.at(place) : std::nullopt;
    if (!member) return false;
    Settings read;
    row.from(*member, read);
    if (!conversation_.envelope_is_intact()) return !read.empty();
    const bool is_whole = !member->is_object() && !read.empty();
    return is_whole && std::ranges::all_of(read.all(), [&](const auto& each) {
             return conversation_.settings().get(each.first) == each.second;
           });
  });
}

void DocumentWriter::put_envelope() {
  writes_envelope_ = true;
  std::string extra;
  const Json around = envelope(extra);
  const MessagesLocation& place = place_in(format_.envelope, conversation_.shape(), around);
  note_moved_system();
  const std::optional<Conversation> again = read_again(around);
  if (!again || again->system() != conversation_.system()) note_system(conversation_, target_, notes);
  if (!again || !says_all(*again)) {
    note_envelope(conversation_, target_, false, notes);
    note_outcome(conversation_, target_, with_messages(around, place), notes);
    note_tool_names(around);
  }
  note_model();
  const Text& text = around.text();
  const std::optional<Json> found = around.at(pointer_to(format_.envelope, place));
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

Json DocumentWriter::with_messages(const Json& around, const MessagesLocation& place) const {
  const std::optional<Json> list = around.at(pointer_to(format_.envelope, place));
  if (!conversation_.outcome() || !list || !list->is_array()) return around;
  std::string text = "[";
  for (const Message& message : messages_) {
    for (const Json& dict : to_dicts(message, target_, options_.form)) {
      text.append(text.size() > 1 ? "," : "").append(dict.text().view());
    }
  }
  const auto at = static_cast<std::size_t>(list->text().data() - around.text().data());
  std::string whole = around.text().str();
  whole.replace(at, list->text().size(), text + "]");
  return Json::trusted(*Text::checked(whole));
}

std::optional<std::string_view> DocumentWriter::only_text() const {
  if (messages_.size() != 1) return std::nullopt;
  const Message& message = messages_.front();
  const auto& arena = Arena::of(message);
  const bool is_plain =
      message.role() == Role::User && message.content_shape() == ContentShape::String && !message.name();
  if (!is_plain) return std::nullopt;
  return arena.bytes(arena.blocks(Arena::record_of(message)).front().text());
}

bool DocumentWriter::is_same(const Settings& a, const Settings& b) {
  return a.all().size() == b.all().size() &&
         std::ranges::all_of(a.all(), [&](const auto& each) { return b.get(each.first) == each.second; });
}

std::optional<Conversation> DocumentWriter::read_again(const Json& around) const {
  Conversation again;
  again.set_shape(place_of(format_.envelope, conversation_.shape()).shape);
  if (!read_envelope(target_, around, again)) return std::nullopt;
  return again;
}

bool DocumentWriter::says_all(const Conversation& again) const {
  return std::ranges::equal(again.tools(), conversation_.tools()) &&
         is_same(again.settings(), conversation_.settings()) && again.outcome() == conversation_.outcome();
}

void DocumentWriter::note_tool_names(const Json& around) {
  const auto read = format_.envelope.read_tools;
  const auto fit = format_.envelope.fit_name;
  if (read == nullptr || fit == nullptr) return;
  std::set<std::string, std::less<>> declared;
  for (const Tool& tool : read(around).value_or(std::vector<Tool>())) declared.insert(tool.name.str());
  for (const Tool& tool : conversation_.tools()) {
    const std::string name = fit(tool.name);
    if (name == tool.name.view() || !declared.contains(name)) continue;
    notes.push_back({"name_mapped", Severity::Info, std::nullopt, std::nullopt, to_string(target_), "mapped",
                     said("a name does not fit and is written as " + name)});
  }
}

// A model that the document named, not one that was set since.
void DocumentWriter::note_model() {
  const Arena* document = conversation_.document().get();
  const bool is_request = document != nullptr && document->shape() == DocumentShape::Envelope &&
                          conversation_.shape() == DocumentShape::Envelope;
  if (!is_request || !conversation_.envelope_is_intact()) return;
  if (conversation_.settings().empty() && conversation_.tools().empty()) return;
  dialect::note_model(conversation_.settings(), static_cast<Dialect>(document->dialect()), target_, notes);
}

void DocumentWriter::put_the_message(const MessagesLocation& place) {
  std::vector<Message> own;
  std::ranges::copy_if(messages_, std::back_inserter(own), [&](const Message& message) {
    return is_assistants(message) || stands_apart(message);
  });
  const std::size_t others = messages_.size() - own.size();
  Conversation alone(std::move(own));
  alone.set_shape(DocumentShape::Response);
  WriteOptions options = options_;
  options.keep = false;
  DocumentWriter inner(alone, target_, options, nullptr);
  inner.out_ = json::Out(inner.expected_size());
  inner.put_messages();
  notes.insert(notes.end(), inner.notes.begin(), inner.notes.end());
  const Json messages = Json::trusted(*Text::checked("[" + std::string(inner.out_.view()) + "]"));
  const std::vector<Json> all = messages.elements();
  if (all.size() > 1 || others != 0) {
    notes.push_back({"message_dropped", Severity::Major, std::nullopt, std::nullopt, to_string(target_),
                     "dropped",
                     said("an answer has one message; of " + std::to_string(all.size() + others) +
                          " the assistant's last is left")});
  }
  Json one = all.empty() ? Json::trusted(*Text::checked(format_.envelope.no_message)) : all.back();
  if (place.path.empty()) one = one.get(format_.envelope.content).value_or(Json::trusted(Text("[]")));
  out_.raw(one.text());
  count_ = 1;
}

Json DocumentWriter::parley_envelope(Draft& draft, const Json& wire, Json envelope,
                                     std::string& extra) const {
  const auto remembered = wire.get("extra");
  if (target_ == kCanonical && remembered) extra = ",\"extra\":" + remembered->compact().text().str();
  if (const auto patch = diff(natural_envelope(conversation_, kCanonical), wire)) {
    note_places(draft, *patch, [](std::string_view place) { return is_beneath(place, "/extra"); });
  }
  if (!remembered || target_ == kCanonical) return envelope;
  for (const Json::Member& member : remembered->members()) {
    const auto origin = dialect_named(member.key);
    if (origin == target_) continue;
    if (origin && *origin != kCanonical) {
      note_lost_envelope(draft, *origin,
                         dialect::patched(natural_envelope(conversation_, *origin), member.value));
    } else {
      note_places(draft, member.value);
    }
  }
  const auto patch = remembered->get(to_string(target_));
  if (!patch || options_.form == Form::Canonical) return envelope;
  const Json patched = dialect::patched(envelope, *patch);
  // A patch that leaves no place for the messages was not made here.
  const MessagesLocation& place = place_in(format_.envelope, conversation_.shape(), patched);
  const Json list = patched.at(pointer_to(format_.envelope, place)).value_or(Json());
  const bool says_nothing = std::ranges::all_of(
      messages_, [](const Message& message) { return Arena::record_of(message).block_count == 0; });
  const bool is_silent_answer = says_nothing && conversation_.shape() == DocumentShape::Response &&
                                list.is_null() && read(patched.text(), target_);
  const bool is_text = place.may_be_text && list.as_string().has_value();
  return is_silent_answer || list.is_array() || is_text ? patched : envelope;
}

void DocumentWriter::note_moved_system() {
  for (std::size_t i = 0; i < system_count_; ++i) {
    Draft draft{target_, out_, notes, i};
    draft.note("system_moved", Severity::Info, "moved", "the message is written as the system part");
    json::Out ignored;
    std::vector<Note> own;
    Draft apart{target_, ignored, own, i};
    write_messages(apart, messages_.subspan(i, 1));  // for its notes
    note_string(apart, messages_[i]);
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
  const bool has_no_envelope =
      conversation_.shape() == DocumentShape::List || conversation_.shape() == DocumentShape::Single;
  if (has_no_envelope) {
    notes.push_back({"shape_changed", Severity::Info, std::nullopt, std::nullopt, to_string(target_), "moved",
                     "it is written as a request, because its system part or media have members there"});
  }
}

void DocumentWriter::put_system() {
  if (!conversation_.system()) return;
  if (writes_envelope_ && format_.envelope.system_form != SystemForm::Message) return;
  comma();
  const std::size_t first_note = notes.size();
  Draft draft{target_, out_, notes};
  draft.note("system_moved", Severity::Info, "moved", "the system part is written as a message");
  format_.write_group(draft, {&*conversation_.system(), 1});
  count_ += draft.written - 1;
  for (std::size_t i = first_note; i < notes.size(); ++i) notes[i].message_index.reset();
}
}  // namespace parley::dialect
