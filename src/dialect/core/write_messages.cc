// Writing messages: by the dialect's row, with the patches and the notes this takes.
#include "dialect/core/write_messages.h"

#include <algorithm>

#include "dialect/core/envelope.h"
#include "dialect/core/opaque_blocks.h"
#include "dialect/core/patch.h"
#include "dialect/core/write_blocks.h"
#include "message/arena.h"
#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

Json whole(const Json& value) {
  json::Writer w;
  w.begin_object().key("is").value(value.compact()).end_object();
  return w.take();
}

Dialect origin_of(const Message& message) { return static_cast<Dialect>(Arena::of(message).dialect()); }

// The wire is a message in any place. (A string that stands for one is a message only where it stood.)
bool has_object(const Message& message) {
  const Slice wire = Arena::record_of(message).wire;
  return wire.present() && Arena::of(message).bytes(wire).starts_with('{');
}

// The way from a dialect's natural spelling of a message to its wire.
std::optional<Json> patch_to_wire(const Message& message) {
  const Json wire = *message.wire();
  const std::optional<Json> own = natural_message(message, origin_of(message));
  return own ? diff(*own, wire) : whole(wire);
}

// Elsewhere in a conversation the dialect would spell the message in another way.
bool depends_on_others(const Message& message, const Format& format) {
  // Who stands first is known (kMayBeJoined).
  const auto hints_used = static_cast<std::uint8_t>(format.hints_used & ~kIsFirst);
  if (hints_used == 0) return false;
  const auto spelled = [&](std::size_t position, std::uint8_t hints) {
    json::Out out;
    std::vector<Note> ignored;
    Draft draft{format.info.dialect, out, ignored, position};
    draft.hints = hints;
    format.write_group(draft, {&message, 1});
    return out.take();
  };
  return spelled(0, 0) != spelled(1, hints_used);
}

// What `parley` must remember to give a wire back. Where the dialect would join a message to the one before,
// put it elsewhere, or refuse a broken history, even a patch that changes nothing says that the wire was like
// this.
std::optional<Json> remembered_patch(const Message& message, const Draft& draft) {
  if (auto patch = patch_to_wire(message)) return patch;
  const Format& format = format_of(origin_of(message));
  const bool is_system = message.role() == Role::System || message.role() == Role::Developer;
  const bool may_move = is_system && format.envelope.system_form != SystemForm::Message;
  const bool is_told = draft.is(kMayBeJoined) || draft.is(kIsBroken) || may_move;
  if (!is_told && !depends_on_others(message, format)) return std::nullopt;
  return Json::trusted(Text(R"({"in":{}})"));
}

// The first few names, and how many more there are.
std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    out += (i == 0 ? "" : ", ") + (names[i].empty() ? "members of the whole message" : names[i]);
  }
  if (names.size() > kShown) out += " and " + std::to_string(names.size() - kShown) + " more";
  return out;
}

// A place at or beneath one that a pattern names.
bool is_at(std::string_view place, std::string_view pattern) {
  while (!pattern.empty()) {
    const std::size_t size = pattern.find('/', 1), length = place.find('/', 1);
    const std::string_view wanted = pattern.substr(0, size);
    if (place.empty() || (wanted != "/*" && wanted != place.substr(0, length))) return false;
    pattern.remove_prefix(std::min(size, pattern.size()));
    place.remove_prefix(std::min(length, place.size()));
  }
  return true;
}

// What a dialect's reader takes as a text is said, though its members are no longer there.
IsSaid said_as_text(Dialect dialect) {
  return [&format = format_of(dialect)](std::string_view place) {
    return std::ranges::any_of(format.as_text, [&](std::string_view each) { return is_at(place, each); });
  };
}

// A patch that was made by hand may lead to anything; what it leads to must still be a message.
std::optional<Message> read_again(const Json& wire, Dialect dialect) {
  auto message = from_dict(wire, dialect, {.limits = kNoLimits});
  if (!message) return std::nullopt;
  return *std::move(message);
}

// Results may have their names from the calls before them, and what they answer.
std::vector<Block> without_result_names(const Message& message) {
  std::vector<Block> blocks = message.blocks();
  for (Block& block : blocks) {
    if (auto* result = std::get_if<ToolResultBlock>(&static_cast<BlockVariant&>(block))) {
      result->name = {};
      result->is_custom = false;
    }
  }
  return blocks;
}

bool says_all_of(const Message& wire, const Message& message) {
  return wire.role() == message.role() && wire.name() == message.name() &&
         wire.metadata() == message.metadata() && wire.id() == message.id() &&
         wire.timestamp() == message.timestamp() && wire.invocation_id() == message.invocation_id() &&
         without_result_names(wire) == without_result_names(message);
}

// The same for the calls and results that OpenAI had before there were lists of them, and for the id, which
// has a note of its own where it is lost.
IsSaid said_in_blocks(const Message& message, Dialect dialect, const Json& wire) {
  const bool is_function = wire.get("role") == Json::string("function");
  const bool has_list = !wire.get("tool_calls").value_or(Json()).elements().empty();
  const bool has_id = message.id() && wire.get("id").value_or(Json()).as_string() == *message.id();
  return [as_text = said_as_text(dialect), is_function, has_list, has_id](std::string_view place) {
    return as_text(place) || (place == "/function_call" && !has_list) || (place == "/id" && has_id) ||
           (is_function && (place == "/role" || place == "/name"));
  };
}

// What a part says that a string would say, too: its type and the text. A list that is empty says nothing.
void put_text_part(json::Writer& w, const Json& part) {
  w.begin_object();
  for (const Json::Member& member : part.members()) {
    const bool is_empty = member.value.is_array() && member.value.elements().empty();
    const bool is_said = member.key.view() == "type" || member.key.view() == "text" || is_empty;
    if (is_said) w.key(member.key).value(member.value);
  }
  w.end_object();
}

// A part whose text says nothing: some writers leave it out.
bool is_blank_part(const Json& part) {
  const auto text = part.get("text").value_or(Json()).as_string();
  return text && text->view().find_first_not_of(" \n\r\t\f\v") == std::string_view::npos;
}

void put_text_parts(json::Writer& w, const std::vector<Json>& parts) {
  w.begin_array();
  for (const Json& part : parts) put_text_part(w, part);
  w.end_array();
}

// The parts that were written, with those of the wire between them that say nothing.
void put_with_blank_parts(json::Writer& w, const std::vector<Json>& written, const std::vector<Json>& parts) {
  w.begin_array();
  auto next = written.begin();
  for (const Json& part : parts)
    is_blank_part(part) ? put_text_part(w, part) : static_cast<void>(w.value(*next++));
  w.end_array();
}

// The natural spelling with texts as the wire has them: in a string or in a list of parts, and with those
// that say nothing. `name` is the member that holds them.
Json with_texts_as(const Json& wire, const Json& natural, const Message& message, std::string_view name) {
  const auto said = wire.get(name), own = natural.get(name);
  if (!said || !own) return natural;
  const auto blocks = Arena::of(message).blocks(Arena::record_of(message));
  const bool are_texts = std::ranges::all_of(
      blocks, [](const BlockRecord& block) { return block.type == BlockType::Text && !block.is_refusal; });
  const std::vector<Json> parts = said->elements(), written = own->elements();
  const auto blanks = static_cast<std::size_t>(std::ranges::count_if(parts, is_blank_part));
  const bool is_list = are_texts && said->is_array() && own->is_string() && parts.size() == blocks.size();
  const bool is_string = are_texts && said->is_string() && own->is_array() && blocks.size() <= 1;
  const bool has_blanks = own->is_array() && blanks != 0 && written.size() + blanks == parts.size();
  if (!is_list && !is_string && !has_blanks) return natural;
  json::Writer w;
  w.begin_object();
  for (const Json::Member& member : natural.members()) {
    w.key(member.key);
    if (member.key.view() != name || is_string) {
      w.value(member.key.view() == name ? *said : member.value);
    } else {
      is_list ? put_text_parts(w, parts) : put_with_blank_parts(w, written, parts);
    }
  }
  return w.end_object().take();
}

// Notes what the wire of a message in a dialect has beside what that dialect writes of the message itself.
void note_members_of(Draft& draft, const Message& message, Dialect dialect, const Json& wire,
                     const std::optional<Json>& natural) {
  const Envelope& envelope = format_of(dialect).envelope;
  const Json usual = as_usual(envelope, wire);
  const auto patch =
      natural ? diff(with_texts_as(usual, *natural, message, envelope.content), usual) : whole(usual);
  if (patch) note_places(draft, *patch, said_in_blocks(message, dialect, usual));
}

// The message that a wire is, alone or as the only one of an answer.
std::optional<Message> message_of(const Json& wire, Dialect dialect, bool is_answer) {
  const auto answer = is_answer ? read(wire.text(), dialect, {.limits = kNoLimits}) : fail(Code::Missing, "");
  if (answer && answer->conversation.messages().size() == 1) return answer->conversation.messages().front();
  return read_again(wire, dialect);
}

// Notes what a message of `parley` remembers about other dialects than the target, as if it came from there.
void note_other_patches(Draft& draft, const Message& message) {
  const Json extra = message.wire()->get("extra").value_or(Json());
  for (const Json::Member& member : extra.members()) {
    if (member.key.view() == to_string(draft.target)) continue;
    const auto dialect = dialect_named(member.key);
    if (!dialect || *dialect == kCanonical) {
      note_places(draft, member.value);
      continue;
    }
    const auto natural = natural_message(message, *dialect);
    const Json wire = patched(natural.value_or(Json()), member.value).compact();
    const auto known = message_of(wire, *dialect, draft.is(kIsAnswer));
    // A call that was claimed by its result is raw if it is read alone.
    const bool is_raw =
        known && known->has_content_blocks({BlockType::Raw}) && !message.has_content_blocks({BlockType::Raw});
    const bool is_all = known && !is_raw && !Arena::record_of(*known).has(MessageRecord::kHasMore);
    if (!is_all) note_members_of(draft, message, *dialect, wire, natural);
  }
}

// Notes the members of a wire that go nowhere when it is written in another dialect, or in its own dialect's
// natural spelling.
void note_lost_members(Draft& draft, const Message& message) {
  if (!Arena::record_of(message).has(MessageRecord::kHasMore)) return;
  const Form form = is_wire_of(message, draft.target) ? draft.form : Form::AsRead;
  const Dialect origin = origin_of(message);
  note_members_of(draft, message, origin, *message.wire(), natural_message(message, origin, form));
  if (is_wire_of(message, kCanonical)) note_other_patches(draft, message);
}

// Notes what a dialect without refusals and cache marks loses: refusals are texts, marks are dropped.
void note_plain(Draft& draft, std::span<const Message> group) {
  for (std::size_t k = 0; k < group.size(); ++k) {
    Draft each{draft.target, draft.out, draft.notes, draft.position + k};
    const Arena& arena = Arena::of(group[k]);
    const auto blocks = arena.blocks(Arena::record_of(group[k]));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto note = [&](const BlockRecord& block) {
        if (block.is_refusal) note_refusal(each, i);
        if (block.cache != CacheMark::None) note_cache_mark(each, i);
      };
      note(blocks[i]);
      std::ranges::for_each(arena.children(blocks[i]), note);
    }
  }
}

// Writes a message whose wire is remembered. Patches lead from the spelling of a message that stands alone.
void write_patched(Draft& draft, const Message& message, const Json& patch) {
  json::Out out;
  std::vector<Note> notes;
  Draft own{draft.target, out, notes};
  format_of(draft.target).write_group(own, {&message, 1});
  const bool is_whole = patch.get("is").has_value();
  if (own.written == 1 || is_whole) {
    const Json value = own.written == 0 ? Json() : Json::trusted(*Text::checked(out.view()));
    const Json wire = patched(value, patch).compact();
    const std::optional<Message> again = read_again(wire, draft.target);
    if (again || own.written != 0) draft.next().raw(again ? wire.text().view() : out.view());
    if (again && says_all_of(*again, message)) return;
  } else {
    draft.next().raw(out.view());
    draft.written += own.written - 1;
  }
  // The patch undoes what was only made up or spelled otherwise; what was lost before it stays lost.
  for (Note& note : notes) {
    const bool is_lost = note.action == "dropped" && note.severity != Severity::Info;
    note.message_index = draft.position;
    if (is_lost && !is_whole) draft.notes.push_back(std::move(note));
  }
}

}  // namespace

bool is_wire_of(const Message& message, Dialect dialect) {
  return Arena::of(message).dialect() == tag(dialect) && has_object(message);
}

std::optional<Json> stored_patch(const Message& message, Dialect dialect) {
  if (!is_wire_of(message, kCanonical) || !Arena::record_of(message).has(MessageRecord::kHasMore)) return {};
  const auto extra = message.wire()->get("extra");
  auto patch = extra ? extra->get(to_string(dialect)) : std::nullopt;
  const auto value = patch ? patch->get("is") : std::nullopt;
  if (value && !value->is_object()) return std::nullopt;
  return patch;
}

void note_places(Draft& draft, const Json& patch, const IsSaid& is_said) {
  PatchedPlaces places = dialect::places(patch);
  if (is_said) {
    std::erase_if(places.values, is_said);
    std::erase_if(places.empty, is_said);
  }
  if (!places.values.empty()) {
    draft.note("member_dropped", Severity::Minor, "dropped",
               said("members the target does not know are left out: " + joined(places.values)));
  }
  if (!places.empty.empty()) {
    draft.note("null_dropped", Severity::Info, "dropped",
               said("members that are null or empty are left out: " + joined(places.empty)));
  }
}

void write_messages(Draft& draft, std::span<const Message> group) {
  const Format& format = format_of(draft.target);
  const Message& first = group.front();
  if (draft.target == kCanonical) {
    const bool has_wire = has_object(first) && !is_wire_of(first, kCanonical);
    const std::optional<Json> patch = has_wire ? remembered_patch(first, draft) : std::nullopt;
    if (patch) {
      draft.extra = patch->text();
      draft.extra_of = to_string(origin_of(first));
    }
    // Own messages get here for their natural spelling only, which keeps what they remember.
    const auto lost = is_wire_of(first, kCanonical) ? patch_to_wire(first) : std::nullopt;
    if (lost) note_places(draft, *lost);
    format.write_group(draft, group);
    draft.extra = {};
    return;
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    Draft each{draft.target, draft.out, draft.notes, draft.position + i};
    each.form = draft.form;
    each.hints = draft.hints;
    note_lost_members(each, group[i]);
  }
  const bool is_as_read = draft.form == Form::AsRead && group.size() == 1;
  const std::optional<Json> patch = is_as_read ? stored_patch(first, draft.target) : std::nullopt;
  if (patch) {
    write_patched(draft, first, *patch);
    return;
  }
  const std::size_t start = draft.out.size();
  const std::size_t first_note = draft.notes.size();
  const std::size_t written = draft.written;
  if (format.is_plain) note_plain(draft, group);
  const std::vector<Message> others = in_other_blocks(draft, group);
  if (!others.empty()) group = others;
  const std::vector<Message> words = in_words(draft, group);
  format.write_group(draft, words.empty() ? group : words);
  // What comes back from `parley` as it went there has nothing to note.
  const bool may_be_same = is_as_read && is_wire_of(first, kCanonical) && draft.written == written + 1 &&
                           !Arena::record_of(first).has(MessageRecord::kEmptyToolCalls);
  if (!may_be_same || draft.notes.size() == first_note) return;
  std::string_view own = draft.out.view().substr(start);
  if (own.starts_with(',')) own.remove_prefix(1);
  const std::optional<Message> again = read_again(Json::trusted(*Text::checked(own)), draft.target);
  if (again && says_all_of(*again, first)) draft.notes.resize(first_note);
}

std::size_t group_step(std::span<const Message> rest) {
  std::size_t count = 1;
  if (rest.front().role() != Role::Assistant) return count;
  while (count < rest.size() && rest[count].continues_step()) ++count;
  return count;
}

Message joined_step(Draft& draft, std::span<const Message> group) {
  if (group.size() == 1) return group.front();
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const std::vector<Block> own = group[k].blocks();
    blocks.insert(blocks.end(), own.begin(), own.end());
    if (k == 0) continue;
    Draft each{draft.target, draft.out, draft.notes, draft.position + k};
    note_identity(each, Arena::of(group[k]), Arena::record_of(group[k]));
    draft.notes.push_back({"message_joined", Severity::Info, draft.position + k, std::nullopt,
                           to_string(draft.target), "joined",
                           "the message is written as one with the message before it"});
  }
  return *MessageBuilder::like(group.front()).blocks(std::move(blocks)).build();
}

bool says_nothing(const Message& message) {
  const Arena& arena = Arena::of(message);
  return std::ranges::all_of(arena.blocks(Arena::record_of(message)), [&](const BlockRecord& block) {
    if (block.type != BlockType::Text) return false;
    return !block.text().present() || is_blank(arena.bytes(block.text()));
  });
}

bool says_more(const Message& message) {
  if (!Arena::record_of(message).has(MessageRecord::kHasMore) || !message.wire()) return false;
  static constexpr std::string_view kEnvelope[] = {
      "role",    "wire_role",     "name",      "id",     "type",      "status",      "index",
      "content", "parts",         "from",      "value",  "timestamp", "extra",       "metadata",
      "usage",   "finish_reason", "continues", "parley", "phase",     "annotations", "stop_reason"};
  return std::ranges::any_of(message.wire()->members(), [](const Json::Member& member) {
    const std::string_view text = member.value.text();
    const bool is_said = !member.value.is_null() && text != "\"\"" && text != "[]" && text != "{}" &&
                         text != "false" &&
                         std::ranges::find(kEnvelope, member.key.view()) == std::end(kEnvelope);
    return is_said;
  });
}

}  // namespace parley::dialect
