#include "dialect/core/arrange.h"

#include <algorithm>

#include "dialect/core/opaque_blocks.h"
#include "dialect/core/write_blocks.h"
#include "dialect/core/write_messages.h"

namespace parley::dialect {
namespace {

bool belongs_to(const Arena& arena, const BlockRecord& thinking, Dialect dialect) {
  return thinking.origin().present() && arena.bytes(thinking.origin()) == to_string(dialect);
}

class Arranger {
 public:
  Arranger(Draft& draft, const ProviderTraits& traits) : draft_(draft), traits_(traits) {}

  std::vector<Turn> run(std::span<const Message> group) {
    const std::size_t position = draft_.position;
    for (std::size_t k = 0; k < group.size(); ++k) {
      draft_.position = position + k;
      message(group[k]);
    }
    flush_moved(group.back());
    place_held(group.back());
    draft_.position = position;
    merge_turns();
    for (Turn& turn : turns_) {
      note_joined(turn);
      order(turn);
    }
    if (!traits_.ends_in_thinking) cut_last_thinking();
    if (traits_.is_prefilled && draft_.is(kIsLast)) trim_prefill();
    drop_silent();
    for (const Turn& turn : turns_) note_empty(turn);
    if (traits_.refuses_empty_text)
      std::erase_if(turns_, [](const Turn& turn) { return turn.pieces.empty(); });
    if (traits_.opens_with_user && draft_.is(kIsFirst)) open_with_user();
    return std::move(turns_);
  }

 private:
  // What an assistant says keeps its order around the results in it; in any other message they come first.
  void message(const Message& message) {
    message_ = &message;
    arena_ = &Arena::of(message);
    record_ = &Arena::record_of(message);
    note_what_is_not_said();
    if (record_->has(MessageRecord::kEmptyToolCalls)) note_empty_tool_calls(draft_);
    const auto blocks = arena_->blocks(*record_);
    const std::size_t before = turns_.size();
    const bool in_order = is_assistants(message);
    speaker_ = told_speaker();
    if (in_order && record_->role != Role::Assistant) {
      draft_.note("role_mapped", Severity::Info, "mapped",
                  "only an assistant asks for tools, so it is one's message");
    }
    if (!in_order) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].type == BlockType::ToolResult) result(blocks[i], i);
      }
    }
    speaks_first_ = true;
    const bool has_rest =
        std::ranges::any_of(blocks, [](const BlockRecord& b) { return b.type != BlockType::ToolResult; });
    if (has_rest || blocks.empty()) open(speaker());
    // Results that are still to come must follow the calls directly: then nothing is said between those here.
    const bool is_open = in_order && has_open_calls(blocks);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].type != BlockType::ToolResult) {
        block(blocks[i], i);
      } else if (in_order && !is_open) {
        result(blocks[i], i);
      }
    }
    for (std::size_t i = 0; is_open && i < blocks.size(); ++i) {
      if (blocks[i].type == BlockType::ToolResult) result(blocks[i], i);
    }
    if (traits_.speaker_name == SpeakerName::Prefix && shows_speaker() && has_name() && speaks_first_) {
      draft_.note("name_dropped", Severity::Minor, "dropped",
                  "there is no text to put the speaker's name before");
    }
    if (turns_.size() > before + 1) {
      draft_.note("message_split", Severity::Info, "split",
                  said("the message became " + std::to_string(turns_.size() - before) + " messages"));
    }
  }

  // Some call of the message has its result elsewhere.
  static bool has_open_calls(std::span<const BlockRecord> blocks) {
    std::size_t calls = 0;
    std::size_t answered = 0;
    for (const BlockRecord& block : blocks) {
      if (block.type == BlockType::ToolUse) ++calls;
      if (block.type == BlockType::ToolResult && calls != 0) ++answered;
    }
    return answered != 0 && answered < calls;
  }

  void note_what_is_not_said() {
    const bool is_prefixed = traits_.speaker_name == SpeakerName::Prefix;
    const bool loses_speaker =
        is_prefixed && record_->name.present() && record_->role != Role::Tool && !shows_speaker();
    const auto blocks = arena_->blocks(*record_);
    const bool keeps_id = traits_.keeps_thinking_id && !blocks.empty() &&
                          std::ranges::all_of(blocks, [](const BlockRecord& block) {
                            return block.type == BlockType::Thinking;
                          });
    MessageRecord seen = *record_;
    if (keeps_id) seen.id = Slice::absent();
    if (record_->role == Role::Developer && !traits_.has_developer) {
      draft_.note("role_mapped", Severity::Info, "mapped", "the role developer is written as system");
    }
    note_identity(draft_, *arena_, seen, loses_name(*arena_, *record_) || loses_speaker);
  }

  bool has_name() const { return record_->name.present() && record_->name.length != 0; }
  bool shows_speaker() const { return draft_.is(kNamesSpeakers) && record_->role == Role::User; }

  Role speaker() const { return speaker_; }
  Role told_speaker() const {
    if (is_assistants(*message_)) return Role::Assistant;
    if (record_->role == Role::User || record_->role == Role::Tool) return Role::User;
    return traits_.has_system_messages || draft_.position == 0 ? record_->role : Role::User;
  }

  // The turn that what comes next belongs to.
  Turn& open(Role role) {
    if (role != Role::Tool) flush_moved(*message_);
    const bool goes_on = !turns_.empty() && turns_.back().role == role && !ends_turn(turns_.back());
    if (!goes_on) {
      turns_.push_back({role, message_, {}});
      turns_.back().pieces.reserve(record_->block_count);
    }
    return turns_.back();
  }

  bool ends_turn(const Turn& turn) const {
    if (traits_.results == Results::Apart) return turn.role != Role::Assistant && turn.message != message_;
    return traits_.results == Results::Alone && !turn.pieces.empty() &&
           turn.pieces.front().kind == Piece::Kind::Result;
  }

  Piece piece(Piece::Kind kind, const BlockRecord& block, std::size_t index, bool in_result = false) {
    Piece out{kind, arena_, &block, index, draft_.position};
    const bool is_assistants_own = speaker() == Role::Assistant && !in_result;
    if (block.cache != CacheMark::None) {
      const bool is_part = (kind == Piece::Kind::Text || kind == Piece::Kind::Media) && !in_result;
      const bool fits = (traits_.marks == Marks::Parts && is_part && !is_assistants_own) ||
                        (traits_.marks == Marks::Outside && !in_result) || traits_.marks == Marks::All;
      if (fits) out.cache = block.cache;
      if (!fits) note_cache_mark(draft_, index);
    }
    if (block.is_refusal) {
      out.is_refusal = traits_.has_refusals && is_assistants_own;
      if (!out.is_refusal) note_refusal(draft_, index);
    }
    return out;
  }
  void add(Piece piece) { open(speaker()).pieces.push_back(std::move(piece)); }

  void block(const BlockRecord& block, std::size_t index) {
    switch (block.type) {
      case BlockType::Text:
        text(block, index);
        return;
      case BlockType::Thinking:
        thinking(block, index);
        return;
      case BlockType::ToolUse:
        add(piece(Piece::Kind::Use, block, index));
        return;
      case BlockType::Raw:
        if (raw_belongs_to(*arena_, block, traits_.dialect)) {
          add(piece(Piece::Kind::Raw, block, index));
        } else {
          note_dropped_block(draft_, *arena_, block, index);
        }
        return;
      default:
        media(block, index);
    }
  }

  void text(const BlockRecord& block, std::size_t index) {
    if (!block.text().present()) return;
    // Where each text is an item, an empty item beside others has no meaning.
    const bool is_item = traits_.keeps_thinking_id && speaker() == Role::Assistant && holds_more_than_text();
    if ((traits_.refuses_empty_text || is_item) && is_blank(arena_->bytes(block.text()))) {
      draft_.note("empty_dropped", Severity::Info, "dropped", "a text that says nothing is left out", index);
      return;
    }
    Piece said_here = piece(Piece::Kind::Text, block, index);
    const bool is_system = record_->role == Role::System || record_->role == Role::Developer;
    if (is_system && speaker() == Role::User) {
      if (draft_.is(kSystemInside)) {
        held_.push_back(std::move(said_here));
        return;
      }
      remind(said_here);
    }
    if (traits_.speaker_name == SpeakerName::Prefix && shows_speaker() && has_name() && speaks_first_) {
      said_here.made = std::string(arena_->bytes(record_->name)) + ": ";
      draft_.note("name_as_text", Severity::Info, "moved", "the name of the speaker stands before the text",
                  index);
    }
    speaks_first_ = false;
    add(std::move(said_here));
  }

  bool holds_more_than_text() const {
    return std::ranges::any_of(arena_->blocks(*record_),
                               [](const BlockRecord& each) { return each.type != BlockType::Text; });
  }

  // A text of the system that a user must say.
  void remind(Piece& text) {
    note_piece(draft_, text, "system_as_text", Severity::Minor, "moved",
               "a system message after the first is written as a user's reminder");
    text.made = "<system-reminder>\\n" + std::string(text.text()) + "\\n</system-reminder>";
    text.block = nullptr;
  }

  // System messages stand after what a user said, and before the assistant or at the end: after all of the
  // group, which ends there.
  void place_held(const Message& message) {
    if (held_.empty()) return;
    const auto last =
        std::find_if(turns_.rbegin(), turns_.rend(), [](const Turn& turn) { return !turn.pieces.empty(); });
    const bool has_user = last != turns_.rend() && last->role == Role::User;
    if (has_user && last->pieces.back().position > held_.front().position) {
      draft_.notes.push_back({"order_changed", Severity::Info, held_.front().position, std::nullopt,
                              to_string(draft_.target), "moved",
                              "system messages are moved after what the user says"});
    }
    if (!has_user) {
      for (Piece& text : held_) remind(text);
    }
    turns_.push_back({has_user ? Role::System : Role::User, &message, std::move(held_)});
    held_.clear();
  }

  void thinking(const BlockRecord& block, std::size_t index) {
    const bool is_own = belongs_to(*arena_, block, traits_.dialect);
    const bool is_signed = is_own && block.signature().present() && block.signature().length != 0;
    const bool fits = traits_.thinking == Thinking::Plain || (traits_.thinking == Thinking::Own && is_own) ||
                      (traits_.thinking == Thinking::Signed && is_signed);
    if (fits) {
      if (traits_.thinking == Thinking::Plain && block.signature().present() && !is_own) {
        draft_.note("signature_dropped", Severity::Minor, "dropped",
                    "a signature is sent only to the provider that made it", index);
      }
      add(piece(Piece::Kind::Thinking, block, index));
      return;
    }
    const bool never = traits_.thinking == Thinking::Never;
    draft_.note("thinking_dropped", is_own ? Severity::Info : Severity::Minor, "dropped",
                never ? Text("the provider takes no thinking back")
                      : Text("thinking is sent only to the provider that made it, with its signature"),
                index);
  }

  void note_url_type(const BlockRecord& media, std::size_t index) {
    if (traits_.types_urls || !media.media_type().present() || is_inline(*arena_, media)) return;
    draft_.note("media_type_dropped", Severity::Minor, "dropped",
                "there is no place for the media type beside a URL", index);
  }

  void media(const BlockRecord& block, std::size_t index) {
    const bool is_system = record_->role == Role::System || record_->role == Role::Developer;
    const Where where = speaker() == Role::Assistant ? Where::Assistant : Where::User;
    if (!is_system && traits_.carries(*arena_, block, where)) {
      note_url_type(block, index);
      note_name(block, index);
      add(piece(Piece::Kind::Media, block, index));
      return;
    }
    add(stand_in(block, index));
  }

  Piece made_text(std::size_t index, std::string made = {}) const {
    return {Piece::Kind::Text, arena_, nullptr, index, draft_.position, std::move(made)};
  }

  // The text in place of media: what it says, if it is a document of text, or that it is missing.
  Piece stand_in(const BlockRecord& media, std::size_t index) {
    if (const auto text = document_text(*arena_, media)) {
      draft_.note("document_as_text", Severity::Info, "moved", "the document is written as a text", index);
      return made_text(index, fenced(*arena_, media, *text));
    }
    note_omitted(draft_, media, index);
    return made_text(index, std::string(omitted_text(media.type)));
  }

  void note_name(const BlockRecord& media, std::size_t index) {
    const bool is_kept = media.type == BlockType::Document || traits_.names_media;
    if (media.media_name().present() && media.media_name().length != 0 && !is_kept)
      note_media_name(draft_, index);
  }

  // ---- Results

  void result(const BlockRecord& block, std::size_t index) {
    Piece out = piece(Piece::Kind::Result, block, index);
    out.is_error = block.is_error == Tristate::True;
    std::size_t number = 0;
    if (!block.is_list && block.output().present()) {
      Piece text = made_text(index);
      text.output = arena_->bytes(block.output());
      out.children.push_back(std::move(text));
    }
    for (const BlockRecord& child : arena_->children(block)) {
      if (child.type == BlockType::Text) {
        if (child.text().present()) out.children.push_back(piece(Piece::Kind::Text, child, index, true));
      } else if (child.is_media()) {
        out.children.push_back(media_of_result(block, child, out.is_error, ++number, index));
      } else if (child.type == BlockType::Raw && raw_belongs_to(*arena_, child, traits_.dialect)) {
        out.children.push_back(piece(Piece::Kind::Raw, child, index, true));
      } else {
        note_dropped_block(draft_, *arena_, child, index);
      }
    }
    if (out.children.empty() && traits_.results != Results::Joined) note_output_minted(draft_, index);
    fill(out, index);
    const bool is_apart = traits_.results == Results::Apart;
    if (is_apart) {
      turns_.push_back({Role::Tool, message_, {}});
      turns_.back().pieces.push_back(std::move(out));
    } else {
      results_turn().pieces.push_back(std::move(out));
    }
  }

  // Results are a user's; where they stand alone they end what stood before.
  Turn& results_turn() {
    const bool goes_on = !turns_.empty() && turns_.back().role == Role::User &&
                         (traits_.results == Results::Joined || turns_.back().pieces.empty() ||
                          turns_.back().pieces.front().kind == Piece::Kind::Result);
    if (!goes_on) turns_.push_back({Role::User, message_, {}});
    return turns_.back();
  }

  // What a result says where it says nothing, or cannot say that it failed.
  void fill(Piece& result, std::size_t index) {
    auto& texts = result.children;
    if (traits_.refuses_empty_text) {
      std::erase_if(texts, [](const Piece& each) {
        return each.kind == Piece::Kind::Text && each.made.empty() && each.output.empty() &&
               is_blank(each.text());
      });
      const bool is_empty = texts.empty() || (texts.size() == 1 && texts[0].block == nullptr &&
                                              texts[0].kind == Piece::Kind::Text && is_blank(texts[0].made) &&
                                              is_blank(texts[0].output));
      if (is_empty && (result.is_error || !texts.empty() || traits_.results == Results::Apart)) {
        texts.clear();
        texts.push_back(
            made_text(index, result.is_error ? "(the tool failed without output)" : "(no output)"));
        draft_.note("output_minted", Severity::Info, "minted", "a result without output says so", index);
      }
    }
    if (!result.is_error || traits_.has_error_flag) return;
    const auto text = std::ranges::find(texts, Piece::Kind::Text, &Piece::kind);
    std::vector<std::string_view> first;
    if (text != texts.end())
      first.push_back(text->made.empty() ? text->text() : std::string_view(text->made));
    const std::string prefix(error_prefix(draft_, first, index));
    if (text != texts.end()) {
      text->made.insert(0, prefix);
    } else {
      texts.insert(texts.begin(), made_text(index, prefix));
    }
  }

  // Media that the result can hold, or the text that stands in their place.
  Piece media_of_result(const BlockRecord& result, const BlockRecord& media, bool is_error,
                        std::size_t number, std::size_t index) {
    const bool fits =
        traits_.carries(*arena_, media, Where::Result) && (!is_error || traits_.error_takes_media);
    if (fits) {
      note_url_type(media, index);
      return piece(Piece::Kind::Media, media, index, true);
    }
    const bool is_shown = traits_.carries(*arena_, media, Where::User);
    if (!is_shown || document_text(*arena_, media)) return stand_in(media, index);
    draft_.note("result_media_moved", Severity::Info, "moved",
                "the result cannot hold its media; they are in the next user message", index);
    const std::string type(to_string(media.type));
    const auto spelled = [&](Slice slice) {
      return slice.present() ? std::string(arena_->bytes(slice)) : std::string();
    };
    Piece lead = made_text(index);
    lead.made = type + " " + std::to_string(number) + " from the result of call " + spelled(result.id());
    lead.made[0] = static_cast<char>(lead.made[0] - 'a' + 'A');
    if (result.name().present()) lead.made += " (" + spelled(result.name()) + ")";
    lead.made += ":";
    moved_.push_back(std::move(lead));
    moved_.push_back(piece(Piece::Kind::Media, media, index, true));
    return made_text(
        index, "[" + type + " " + std::to_string(number) + " of this result is in the next user message]");
  }

  // Before anything else is said, the media of the results are shown.
  void flush_moved(const Message& message) {
    if (moved_.empty()) return;
    const bool joins =
        traits_.results == Results::Joined && !turns_.empty() && turns_.back().role == Role::User;
    if (!joins) turns_.push_back({Role::User, &message, {}});
    for (Piece& each : moved_) turns_.back().pieces.push_back(std::move(each));
    moved_.clear();
  }

  // Turns that nothing is left of are gone, and those of one role beside each other are one.
  void merge_turns() {
    if (!traits_.refuses_empty_text) return;
    std::vector<Turn> merged;
    for (Turn& turn : turns_) {
      if (turn.pieces.empty()) continue;
      const bool goes_on = !merged.empty() && merged.back().role == turn.role &&
                           traits_.results != Results::Apart && !stand_apart(merged.back(), turn);
      if (!goes_on) {
        merged.push_back(std::move(turn));
        continue;
      }
      for (Piece& piece : turn.pieces) merged.back().pieces.push_back(std::move(piece));
    }
    turns_ = std::move(merged);
  }

  // Results that must be alone.
  bool stand_apart(const Turn& a, const Turn& b) const {
    const auto has_results = [](const Turn& turn) { return turn.pieces.front().kind == Piece::Kind::Result; };
    return traits_.results == Results::Alone && has_results(a) != has_results(b);
  }

  // An assistant of whom nothing is left does not speak. A text alone stays, even an empty one.
  void drop_silent() {
    std::erase_if(turns_, [&](const Turn& turn) {
      const auto blocks = Arena::of(*turn.message).blocks(Arena::record_of(*turn.message));
      const bool is_text = blocks.empty() || (blocks.size() == 1 && blocks.front().type == BlockType::Text);
      if (turn.role != Role::Assistant || is_text || !is_silent(turn)) return false;
      for (const Piece& piece : turn.pieces) {
        const bool is_thinking = piece.kind == Piece::Kind::Thinking;
        note_piece(draft_, piece, is_thinking ? "thinking_dropped" : "empty_dropped", Severity::Info,
                   "dropped", "a message that says nothing else is left out");
      }
      return true;
    });
  }

  bool is_silent(const Turn& turn) const {
    return std::ranges::all_of(turn.pieces, [&](const Piece& piece) {
      if (piece.kind == Piece::Kind::Thinking) return !traits_.thinks_alone;
      return piece.kind == Piece::Kind::Text && piece.made.empty() && is_blank(piece.text());
    });
  }

  void note_empty(const Turn& turn) {
    const bool is_text = Arena::record_of(*turn.message).shape == ContentShape::String;
    if (turn.pieces.empty() && !is_text && !traits_.refuses_empty_text) note_empty_content(draft_);
  }

  void note_joined(const Turn& turn) {
    std::size_t last = turn.pieces.empty() ? 0 : turn.pieces.front().position;
    for (const Piece& piece : turn.pieces) {
      if (piece.position == last) continue;
      last = piece.position;
      draft_.notes.push_back({"message_joined", Severity::Info, last, std::nullopt, to_string(draft_.target),
                              "joined", "the message is written as one with the message before it"});
    }
  }

  // ---- The end of a turn

  void cut_last_thinking() {
    for (Turn& turn : turns_) {
      while (!turn.pieces.empty() && turn.pieces.back().kind == Piece::Kind::Thinking) {
        const Piece& last = turn.pieces.back();
        note_piece(draft_, last, "thinking_dropped", Severity::Info, "dropped",
                   "a message must not end in thinking");
        turn.pieces.pop_back();
      }
    }
  }

  void open_with_user() {
    if (turns_.empty() || turns_.front().role != Role::Assistant) return;
    Piece made{Piece::Kind::Text, turns_.front().pieces.front().arena, nullptr, 0, draft_.position};
    made.made = "(conversation continues)";
    draft_.note("user_added", Severity::Info, "minted",
                "a user must speak first; a message says that the conversation continues");
    turns_.insert(turns_.begin(), Turn{Role::User, turns_.front().message, {}});
    turns_.front().pieces.push_back(std::move(made));
  }

  void trim_prefill() {
    if (turns_.empty() || turns_.back().role != Role::Assistant || turns_.back().pieces.empty()) return;
    Piece& last = turns_.back().pieces.back();
    if (last.kind != Piece::Kind::Text) return;
    std::string text = last.made + std::string(last.text());
    const std::size_t size = text.size();
    while (!text.empty()) {
      const bool is_escape = text.size() > 1 && text[text.size() - 2] == '\\' &&
                             is_blank(text.substr(text.size() - 2)) &&
                             (text.size() < 3 || text[text.size() - 3] != '\\');
      if (text.back() != ' ' && !is_escape) break;
      text.resize(text.size() - (text.back() == ' ' ? 1 : 2));
    }
    if (text.size() == size) return;
    note_piece(draft_, last, "prefill_trimmed", Severity::Info, "dropped",
               "a last message of the assistant must not end in white space");
    last.made = std::move(text);
    last.block = nullptr;
  }

  // ---- The order within a turn

  static int rank(const Piece& piece) {
    if (piece.kind == Piece::Kind::Result) return 0;
    return piece.kind == Piece::Kind::Use ? 2 : 1;
  }

  void order(Turn& turn) {
    if (std::ranges::is_sorted(turn.pieces, {}, rank)) return;
    const auto late = std::ranges::is_sorted_until(turn.pieces, {}, rank);
    note_piece(draft_, *late, "order_changed", Severity::Info, "moved",
               "results are written first, then what was said, then tool uses");
    std::vector<Piece> sorted;
    sorted.reserve(turn.pieces.size());
    for (int wanted = 0; wanted <= 2; ++wanted) {
      for (Piece& each : turn.pieces) {
        if (rank(each) == wanted) sorted.push_back(std::move(each));
      }
    }
    turn.pieces = std::move(sorted);
  }

  Draft& draft_;
  const ProviderTraits& traits_;
  const Message* message_ = nullptr;
  const Arena* arena_ = nullptr;
  const MessageRecord* record_ = nullptr;
  Role speaker_ = Role::User;  // of the message
  bool speaks_first_ = true;
  std::vector<Turn> turns_;
  std::vector<Piece> moved_;
  std::vector<Piece> held_;  // what the system says, where it may say it
};

// Nothing of the message is left when it is arranged by the traits.
bool is_silent(const ProviderTraits& traits, const Message& message) {
  if (!traits.refuses_empty_text) return false;
  const Arena& arena = Arena::of(message);
  const auto blocks = arena.blocks(Arena::record_of(message));
  // The types are looked at first: the texts may be far away.
  const auto may_be_silent = [](const BlockRecord& block) {
    return block.type == BlockType::Text || block.type == BlockType::Thinking || block.type == BlockType::Raw;
  };
  if (!std::ranges::all_of(blocks, may_be_silent)) return false;
  return std::ranges::all_of(blocks, [&](const BlockRecord& block) {
    if (block.type == BlockType::Text) return !block.text().present() || is_blank(arena.bytes(block.text()));
    if (block.type == BlockType::Raw)
      return !raw_belongs_to(arena, block, traits.dialect) && words_of(arena, block).empty();
    return !traits.ends_in_thinking || !belongs_to(arena, block, traits.dialect);
  });
}

bool holds_media(const Message& message) {
  const Arena& arena = Arena::of(message);
  for (const BlockRecord& block : arena.blocks(Arena::record_of(message))) {
    for (const BlockRecord& child : arena.children(block)) {
      if (child.is_media()) return true;
    }
  }
  return false;
}

}  // namespace

bool is_assistants(const Message& message) {
  if (message.role() == Role::Assistant) return true;
  return std::ranges::any_of(Arena::of(message).blocks(Arena::record_of(message)),
                             [](const BlockRecord& block) { return block.type == BlockType::ToolUse; });
}

std::vector<Turn> arrange(Draft& draft, const ProviderTraits& traits, std::span<const Message> group) {
  return Arranger(draft, traits).run(group);
}

std::size_t group_by(const ProviderTraits& traits, std::span<const Message> rest) {
  std::size_t count = 1;
  if (traits.results != Results::Apart) {
    const auto role = [&](const Message& message) {
      if (is_assistants(message)) return 'a';
      return message.role() == Role::Tool && traits.results == Results::Alone ? 't' : 'u';
    };
    std::size_t first = 0;
    while (first + 1 < rest.size() && is_silent(traits, rest[first])) ++first;
    count = first + 1;
    bool is_answered =
        false;  // in an assistant's message itself, so that what answers the rest belongs to it
    const auto belongs = [&](const Message& message) {
      const char own = role(message);
      const bool answers = is_answered && own != 'a' && (own == 't' || traits.results == Results::Joined);
      return own == role(rest[first]) || answers || is_silent(traits, message);
    };
    is_answered = role(rest[first]) == 'a' && rest[first].has_content_blocks({BlockType::ToolResult});
    while (count < rest.size() && belongs(rest[count])) {
      is_answered = is_answered ||
                    (role(rest[count]) == 'a' && rest[count].has_content_blocks({BlockType::ToolResult}));
      ++count;
    }
    return count;
  }
  if (is_assistants(rest[0])) {
    count = group_step(rest);
    const bool is_answered = rest[count - 1].has_content_blocks({BlockType::ToolResult});
    while (is_answered && count < rest.size() && rest[count].role() == Role::Tool) ++count;
    return count;
  }
  // Results before the first with media can stand by themselves.
  if (!holds_media(rest[0])) return 1;
  while (count < rest.size() && rest[count].role() == Role::Tool) ++count;
  return count;
}

}  // namespace parley::dialect
