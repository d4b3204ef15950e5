#include "dialect/repair/provider_limits.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "dialect/core/arrange.h"
#include "dialect/core/envelope.h"
#include "dialect/core/patch.h"
#include "dialect/core/write_blocks.h"
#include "dialect/core/write_messages.h"
#include "parley/media/data_url.h"

namespace parley::dialect {
namespace {

bool thinks_only(const Message& message) {
  const auto blocks = Arena::of(message).blocks(Arena::record_of(message));
  return !blocks.empty() && std::ranges::all_of(blocks, [](const BlockRecord& block) {
    return block.type == BlockType::Thinking;
  });
}

bool is_signed(const BlockRecord& thinking) {
  return thinking.signature().present() && thinking.signature().length != 0;
}

class Fitter {
 public:
  Fitter(const Conversation& conversation, const Format& format)
      : conversation_(conversation),
        format_(format),
        traits_(*format.traits),
        messages_(conversation.messages().begin(), conversation.messages().end()),
        positions_(messages_.size()) {
    std::iota(positions_.begin(), positions_.end(), std::size_t{0});
  }

  Repairing run() {
    const bool is_request = conversation_.shape() != DocumentShape::Response;
    for (const MediaLimit& limit : traits_.limits) limit_media(limit);
    if (traits_.keeps_thinking_id && is_request) pair_thinking();
    if (traits_.steps_think_first && is_request) drop_unsigned();
    if (!traits_.thinking_member.empty() && is_request) fill_thinking();
    if (traits_.ends_with_user) end_with_user();
    Repairing out{conversation_, {}};
    settle_envelope(out.conversation);
    if (!notes_.empty()) out.conversation.set_messages(std::move(messages_));
    out.notes = std::move(notes_);
    return out;
  }

 private:
  void note(std::string_view code, Severity severity, std::string_view action, std::size_t message,
            std::optional<std::size_t> block, Text detail) {
    notes_.push_back({code, severity, positions_[message], block, to_string(format_.info.dialect), action,
                      std::move(detail)});
  }

  // Leaves the messages out that are marked.
  void leave_out(const std::vector<bool>& marked) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (marked[i]) continue;
      positions_[kept] = positions_[i];
      if (kept != i) messages_[kept] = std::move(messages_[i]);
      ++kept;
    }
    messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(kept), messages_.end());
    positions_.resize(kept);
  }

  // ---- Media over a limit

  // A block of a message, or a block of the result that it is.
  struct Spot {
    std::size_t message, block;
    std::optional<std::size_t> child;
  };
  struct Found {
    std::vector<Spot> fitting;
    std::vector<Spot> large;
  };

  void limit_media(const MediaLimit& limit) {
    Found all;
    std::vector<Spot> many;
    const std::span<const Message> messages = messages_;
    for (std::size_t i = 0; i < messages.size();) {
      const std::size_t size = format_.group(messages.subspan(i));
      for (std::size_t k = i; k < i + size; ++k) find_media(limit, k, all);
      i += size;
      const bool is_counted = !limit.of_request || i == messages.size();
      if (!is_counted) continue;
      const std::size_t over = all.fitting.size() > limit.most ? all.fitting.size() - limit.most : 0;
      many.insert(many.end(), all.fitting.begin(), all.fitting.begin() + static_cast<std::ptrdiff_t>(over));
      all.fitting.clear();
    }
    const std::string type(to_string(limit.type));
    omit(all.large, type,
         said("the target takes no " + type + " of this size; a text says that it is missing"));
    omit(many, type,
         said("the target takes at most " + std::to_string(limit.most) + " of type " + type +
              "; a text says that it is missing"));
  }

  void find_media(const MediaLimit& limit, std::size_t message, Found& found) const {
    const Arena& arena = Arena::of(messages_[message]);
    const auto blocks = arena.blocks(Arena::record_of(messages_[message]));
    const Where where = is_assistants(messages_[message]) ? Where::Assistant : Where::User;
    const auto look = [&](const BlockRecord& media, Spot spot) {
      const bool goes_there = traits_.carries(arena, media, spot.child ? Where::Result : where);
      const bool is_sent = goes_there || (spot.child && traits_.carries(arena, media, Where::User));
      if (media.type != limit.type || !is_sent) return;
      (bytes_of(arena, media) > limit.most_bytes ? found.large : found.fitting).push_back(spot);
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].is_media()) look(blocks[i], {message, i, std::nullopt});
      const auto children = arena.children(blocks[i]);
      for (std::size_t k = 0; k < children.size(); ++k) {
        if (children[k].is_media()) look(children[k], {message, i, k});
      }
    }
  }

  static std::size_t bytes_of(const Arena& arena, const BlockRecord& media) {
    if (!is_inline(arena, media)) return 0;
    const std::string_view data = arena.bytes(media.data());
    const DataUrlParts url = split_data_url(data);
    return (url.is_base64 ? url.data : data).size() / 4 * 3;
  }

  void omit(std::span<const Spot> spots, const std::string& type, const Text& reason) {
    const TextBlock stand_in{said("[" + type + " omitted: limit]")};
    for (std::size_t i = 0; i < spots.size();) {
      const std::size_t message = spots[i].message;
      std::vector<Block> blocks = messages_[message].blocks();
      for (; i < spots.size() && spots[i].message == message; ++i) {
        const Spot& spot = spots[i];
        note("media_over_limit", Severity::Major, "replaced", message, spot.block, reason);
        BlockVariant& block = blocks[spot.block];
        auto* result = spot.child ? std::get_if<ToolResultBlock>(&block) : nullptr;
        (result == nullptr ? blocks[spot.block] : std::get<std::vector<Block>>(result->output)[*spot.child]) =
            stand_in;
      }
      rebuild(message, std::move(blocks));
    }
  }

  // The message with other blocks. What only its wire had is gone.
  void rebuild(std::size_t message, std::vector<Block> blocks) {
    if (Arena::record_of(messages_[message]).has(MessageRecord::kHasMore)) {
      note("member_dropped", Severity::Minor, "dropped", message, std::nullopt,
           "members outside the canonical form are left out");
    }
    auto built = MessageBuilder::like(messages_[message]).same_shape(std::move(blocks)).build();
    if (built) messages_[message] = *std::move(built);
  }

  // ---- Thinking that is an item of its own

  void pair_thinking() {
    const auto envelope = target_envelope();
    const bool is_stored = !envelope || envelope->get("store") != Json::boolean(false);
    std::vector<bool> gone(messages_.size());
    std::vector<bool> alone(messages_.size());
    bool leads_on =
        false;  // what stays after it is the assistant's; from the last on, as what goes leads nowhere
    for (std::size_t i = messages_.size(); i-- > 0;) {
      const bool thinks = thinks_only(messages_[i]);
      alone[i] = thinks && !leads_on;
      const bool is_unknown = thinks && !is_stored && is_wire_of(messages_[i], format_.info.dialect) &&
                              !is_encrypted(messages_[i]);
      gone[i] = alone[i] || is_unknown;
      if (!gone[i]) leads_on = is_assistants(messages_[i]);
    }
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (!gone[i]) continue;
      note("thinking_dropped", Severity::Minor, "dropped", i, std::nullopt,
           alone[i] ? Text("what the reasoning led to is not there")
                    : Text("nothing is stored, so that reasoning goes back only if it is encrypted"));
    }
    leave_out(gone);
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      if (lost_its_thinking(i)) strip_id(i);
    }
  }

  static bool is_encrypted(const Message& message) {
    return is_signed(Arena::of(message).blocks(Arena::record_of(message)).back());
  }

  // The item before it in its document was reasoning, and is not before it here.
  bool lost_its_thinking(std::size_t i) const {
    const Message& message = messages_[i];
    const std::uint32_t index = Arena::index_of(message);
    if (!is_wire_of(message, format_.info.dialect) || index == 0 || !message.continues_step()) return false;
    const Arena& arena = Arena::of(message);
    if (!message.wire()->get("id") || !thinks_only(Arena::message(arena.shared_from_this(), index - 1))) {
      return false;
    }
    return i == 0 || &Arena::of(messages_[i - 1]) != &arena || Arena::index_of(messages_[i - 1]) != index - 1;
  }

  // Without its id a message is not one of output, so its text is a string.
  void strip_id(std::size_t i) {
    json::Writer w;
    w.begin_object();
    for (const Json::Member& member : messages_[i].wire()->members()) {
      const bool is_of_output = member.key.view() == "id" || member.key.view() == "status";
      const auto text = messages_[i].get_text_content("\n");
      if (is_of_output) continue;
      w.key(member.key);
      member.key.view() == "content" && text ? w.string(*text) : w.value(member.value);
    }
    auto stripped = from_dict(w.end_object().take(), format_.info.dialect, {.limits = kNoLimits});
    if (!stripped) return;
    note("id_dropped", Severity::Minor, "dropped", i, std::nullopt,
         "the reasoning before it is not there, so it goes without its id");
    messages_[i] = *std::move(stripped);
  }

  // ---- Thinking that goes back signed

  // What a wire of the target has is written as it is, so what is refused must go here.
  void drop_unsigned() {
    std::vector<bool> gone(messages_.size());
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Dialect target = format_.info.dialect;
      if (!is_wire_of(messages_[i], target) && !stored_patch(messages_[i], target)) continue;
      const auto records = Arena::of(messages_[i]).blocks(Arena::record_of(messages_[i]));
      const auto is_refused = [](const BlockRecord& each) {
        return each.type == BlockType::Thinking && !is_signed(each);
      };
      if (std::ranges::none_of(records, is_refused)) continue;
      const std::vector<Block> blocks = messages_[i].blocks();
      std::vector<Block> kept;
      for (std::size_t k = 0; k < blocks.size(); ++k) {
        if (!is_refused(records[k])) {
          kept.push_back(blocks[k]);
        } else {
          note("thinking_dropped", Severity::Minor, "dropped", i, k, "thinking goes back with its signature");
        }
      }
      gone[i] = kept.empty();
      if (!kept.empty()) rebuild(i, std::move(kept));
    }
    leave_out(gone);
  }

  // ---- Thinking that must not be missing

  // A wire of the target is written as it is; to others its writer gives the member beside calls.
  void fill_thinking() {
    const auto envelope = target_envelope();
    const bool is_on = envelope && envelope->at("/thinking/type") == Json::string("enabled");
    const auto thinks = [](const Message& each) { return each.has_content_blocks({BlockType::Thinking}); };
    if (!is_on && std::ranges::none_of(messages_, thinks)) return;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const bool calls = messages_[i].has_content_blocks({BlockType::ToolUse});
      if (!is_assistants(messages_[i]) || thinks(messages_[i])) continue;
      const bool is_own = is_wire_of(messages_[i], format_.info.dialect);
      if (is_own ? !calls && !traits_.thinks_in_all : calls || !traits_.thinks_in_all) continue;
      is_own ? say_no_thinking(i) : think_nothing(i);
    }
  }

  void note_minted(std::size_t i) {
    note("thinking_minted", Severity::Info, "minted", i, std::nullopt,
         "the target wants thinking in every message of the assistant; it is empty");
  }

  void say_no_thinking(std::size_t i) {
    const Json wire = *messages_[i].wire();
    if (wire.get(traits_.thinking_member)) return;
    const Json said = with_value(wire, "/" + std::string(traits_.thinking_member), Json::string(""));
    auto message = from_dict(said, format_.info.dialect, {.limits = kNoLimits});
    if (!message) return;
    note_minted(i);
    messages_[i] = *std::move(message);
  }

  void think_nothing(std::size_t i) {
    std::vector<Block> blocks = messages_[i].blocks();
    blocks.insert(blocks.begin(), ThinkingBlock{});
    note_minted(i);
    rebuild(i, std::move(blocks));
  }

  // ---- The last message

  // A line of a file for training names no model, and ends as it ends.
  void end_with_user() {
    const bool is_request = conversation_.shape() == DocumentShape::Envelope &&
                            conversation_.settings().get(Setting::Model).has_value();
    if (!is_request || messages_.empty() || !is_assistants(messages_.back())) return;
    if (messages_.back().has_content_blocks({BlockType::ToolUse, BlockType::ToolResult})) return;
    // An item of the target's own that is kept as it is (more tools, an approval) is nothing to continue
    // with.
    const Arena& arena = Arena::of(messages_.back());
    const bool is_kept =
        std::ranges::all_of(arena.blocks(Arena::record_of(messages_.back())), [&](const BlockRecord& block) {
          return block.type == BlockType::Raw && raw_belongs_to(arena, block, format_.info.dialect);
        });
    if (is_kept) return;
    note("prefill_unsupported", Severity::Minor, "added", messages_.size() - 1, std::nullopt,
         "the target does not continue the last message of the assistant; a user message asks it to");
    messages_.push_back(*MessageBuilder(Role::User).anonymous().content(Text("Continue.")).build());
    positions_.push_back(positions_.back());
  }

  // ---- What the envelope says about thinking

  // The envelope in the target's words, as far as more of it is known than what all providers have.
  std::optional<Json> target_envelope() const {
    const Arena* document = conversation_.document().get();
    if (document == nullptr || !conversation_.envelope_is_intact() ||
        document->shape() != DocumentShape::Envelope) {
      return std::nullopt;
    }
    Json wire = wire_envelope(*document, false);
    if (document->dialect() == tag(format_.info.dialect)) return wire;
    if (document->dialect() != tag(kCanonical)) return std::nullopt;
    const auto patch = wire.get("extra").value_or(Json()).get(to_string(format_.info.dialect));
    if (!patch) return std::nullopt;
    return patched(natural_envelope(conversation_, format_.info.dialect), *patch);
  }

  void settle_envelope(Conversation& conversation) {
    std::optional<Json> envelope = target_envelope();
    const std::size_t before = notes_.size();
    declare_server_tools(envelope);
    if (!envelope) return;
    if (traits_.fit_request != nullptr) envelope = traits_.fit_request(*envelope, notes_);
    settle_thinking(envelope);
    if (notes_.size() != before) set_envelope(conversation, *envelope);
  }

  // Some providers refuse a history with calls of tools that they ran themselves, unless they are declared.
  void declare_server_tools(std::optional<Json>& envelope) {
    if (traits_.server_tools == nullptr || !conversation_.tools().empty()) return;
    const std::set<std::string> names = traits_.server_tools(messages_);
    const Arena* document = conversation_.document().get();
    const bool is_request = document != nullptr && conversation_.envelope_is_intact() &&
                            document->shape() == DocumentShape::Envelope &&
                            (envelope || document->dialect() == tag(kCanonical));
    if (names.empty() || !is_request) return;
    const Json natural = natural_envelope(conversation_, format_.info.dialect);
    if (!envelope) envelope = natural;
    auto declared = traits_.with_server_tools(*envelope, natural, names);
    if (!declared) return;
    envelope = std::move(declared);
    notes_.push_back(
        {"tools_added", Severity::Info, std::nullopt, std::nullopt, to_string(format_.info.dialect), "minted",
         "the history calls tools of the provider that are not declared; they are declared by name"});
  }

  void settle_thinking(std::optional<Json>& envelope) {
    const std::string thinking(traits_.thinking_switch);
    const bool is_enabled = envelope->at(thinking + "/type") == Json::string("enabled");
    const auto about_envelope = [&](std::string_view code, Text detail) {
      notes_.push_back({code, Severity::Minor, std::nullopt, std::nullopt, to_string(format_.info.dialect),
                        "mapped", std::move(detail)});
    };
    if (is_enabled && traits_.steps_think_first && opens_without_thinking()) {
      about_envelope("thinking_disabled",
                     "the step that the request continues starts without thinking, so thinking is off");
      envelope = with_value(*envelope, thinking, Json::trusted(Text(R"({"type":"disabled"})")));
      return;
    }
    if (is_enabled && traits_.forces_or_thinks && is_forced(*envelope)) {
      about_envelope("tool_choice_downgraded", "while the model thinks no tool can be forced; it may choose");
      free_choice(*envelope);
    }
    if (traits_.fit_thinking != nullptr) envelope = traits_.fit_thinking(*envelope, notes_);
  }

  Settings settings_of(const Json& envelope) const {
    Conversation seen;
    seen.set_shape(DocumentShape::Envelope);
    return read_envelope(format_.info.dialect, envelope, seen) ? seen.settings() : Settings();
  }

  // All but two words are a demand, or taken for one.
  bool is_forced(const Json& envelope) const {
    const auto choice = settings_of(envelope).get(Setting::ToolChoice);
    return choice && *choice != Json::string("auto") && *choice != Json::string("none");
  }

  void free_choice(Json& envelope) const {
    Settings settings = settings_of(envelope);
    settings.set(Setting::ToolChoice, Json::string("auto"));
    const auto row = std::ranges::find_if(format_.envelope.settings, [](const SettingRow& each) {
      return (each.carries & bit(Setting::ToolChoice)) != 0;
    });
    envelope = with_value(envelope, "/" + std::string(row->path), row->to(settings).value_or(Json()));
  }

  // Results are the last that was said, or the assistant's own words are; and its step starts with something
  // else than thinking.
  bool opens_without_thinking() const {
    std::size_t last = messages_.size();
    bool is_answered = false;
    while (last > 0 && !is_assistants(messages_[last - 1])) {
      is_answered = is_answered || messages_[last - 1].has_content_blocks({BlockType::ToolResult});
      --last;
    }
    if (last == 0 || (!is_answered && last != messages_.size())) return false;
    std::size_t first = last - 1;
    while (first > 0 && is_assistants(messages_[first - 1])) --first;
    json::Out ignored;
    std::vector<Note> unheard;
    Draft draft{format_.info.dialect, ignored, unheard, first};
    for (const Turn& turn : arrange(draft, traits_, std::span(messages_).subspan(first, last - first))) {
      if (turn.role != Role::Assistant || turn.pieces.empty()) continue;
      const Piece& piece = turn.pieces.front();
      const bool is_redacted = piece.kind == Piece::Kind::Raw &&
                               piece.arena->bytes(piece.block->raw_type()) == "redacted_thinking";
      return piece.kind != Piece::Kind::Thinking && !is_redacted;
    }
    return false;
  }

  // A envelope in the target's words becomes that of the document, or what `parley` remembers of it.
  void set_envelope(Conversation& conversation, const Json& envelope) const {
    const Arena& document = *conversation_.document();
    Json whole = envelope;
    if (document.dialect() == tag(kCanonical)) {
      const Json wire = wire_envelope(document, false);
      const auto patch = diff(natural_envelope(conversation_, format_.info.dialect), envelope);
      const Json kept = patch.value_or(Json::trusted(Text(R"({"in":{}})")));
      whole = with_value(wire, "/extra/" + std::string(to_string(format_.info.dialect)), kept);
    }
    const auto reading = read(whole.text(), static_cast<Dialect>(document.dialect()), {.limits = kNoLimits});
    if (reading) conversation = reading->conversation;
    conversation.set_messages(messages_);
  }

  const Conversation& conversation_;
  const Format& format_;
  const ProviderTraits& traits_;
  std::vector<Message> messages_;
  std::vector<std::size_t> positions_;  // of the messages in the conversation
  std::vector<Note> notes_;
};

}  // namespace

Repairing fit(const Conversation& conversation, Dialect target) {
  const Format& format = format_of(target);
  if (format.traits == nullptr) return {conversation, {}};
  return Fitter(conversation, format).run();
}

}  // namespace parley::dialect
