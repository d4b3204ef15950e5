// Writing ShareGPT (see sharegpt.h).
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "dialect/core/arrange.h"
#include "dialect/core/write_blocks.h"
#include "dialect/core/write_messages.h"
#include "dialect/sharegpt/sharegpt.h"
#include "json/walk.h"

namespace parley::dialect::sharegpt {
namespace {

using Lists = std::array<std::vector<std::string>, kMediaRows.size()>;

// The id is one that a reader would make up again, or there is none.
bool is_positional(std::string_view id) {
  if (!id.starts_with("sg_")) return id.empty();
  return std::ranges::all_of(id.substr(3), [](char c) { return (c >= '0' && c <= '9') || c == '_'; });
}

// What readers take for more than text, wherever it stands, and whether trainers leave a sample out for it.
struct Mark {
  std::string_view text;
  bool is_fatal;
};
constexpr Mark kMarks[] = {{"<image>", true},  {"<video>", true},  {"<audio>", true},
                           {"<think>", false}, {"</think>", true}, {"</tool_response>", false}};

// Trainers want what goes into a model and what comes out of it in turns.
enum class Side : std::uint8_t { In, Out };

// The sides of the first and the last thing that a message says.
struct Sides {
  Side first, last;
};
Sides sides_of(const Message& message) {
  const auto blocks = Arena::of(message).blocks(Arena::record_of(message));
  const auto is_result = [](const BlockRecord& block) { return block.type == BlockType::ToolResult; };
  const Side said = is_assistants(message) ? Side::Out : Side::In;
  if (blocks.empty()) return {said, said};
  if (message.role() == Role::Assistant) {
    return {is_result(blocks.front()) ? Side::In : Side::Out,
            is_result(blocks.back()) ? Side::In : Side::Out};
  }
  return {std::ranges::any_of(blocks, is_result) ? Side::In : said,
          std::ranges::all_of(blocks, is_result) ? Side::In : said};
}

bool holds_media(const Message& message) {
  const Arena& arena = Arena::of(message);
  return std::ranges::any_of(arena.blocks(Arena::record_of(message)), [&](const BlockRecord& block) {
    return block.is_media() || std::ranges::any_of(arena.children(block), &BlockRecord::is_media);
  });
}

class Writer {
 public:
  Writer(Draft& draft, Lists& lists) : draft_(draft), lists_(lists) {}

  void write(std::span<const Message> group) {
    const std::size_t position = draft_.position;
    for (std::size_t k = 0; k < group.size();) {
      draft_.position = position + k;
      const std::size_t size = group_step(group.subspan(k));
      wholes_.push_back(joined_step(draft_, group.subspan(k, size)));
      put_message(wholes_.back());
      k += size;
    }
    flush_results();
    flush();
    draft_.position = position;
  }

 private:
  struct Held {
    const Arena* arena;
    const BlockRecord* block;
    std::size_t index, position;
    std::pair<std::size_t, std::size_t> rank;  // of its call, and of itself
  };

  // A message of the wire that is not written yet, because more of its side may follow. All is spelled.
  struct Open {
    std::string_view from;
    std::size_t position;  // of the message it began with
    std::string thinking;
    std::string text;
    std::vector<std::string> calls;
    std::vector<std::pair<std::size_t, std::string>> media;  // of the text: a row of kMediaRows, and the URL
  };

  // What an assistant says keeps its order around the results in it; in any other message they come first.
  void put_message(const Message& message) {
    arena_ = &Arena::of(message);
    record_ = &Arena::record_of(message);
    note_losses();
    const auto blocks = arena_->blocks(*record_);
    const bool in_order = record_->role == Role::Assistant;
    std::size_t parts = 0;
    bool in_results = false;
    std::vector<std::size_t> said;
    const auto result = [&](std::size_t i) {
      if (!in_results) ++parts;
      in_results = true;
      hold(blocks[i], i);
    };
    for (std::size_t i = 0; i < blocks.size() && !in_order; ++i) {
      if (blocks[i].type == BlockType::ToolResult) result(i);
    }
    const auto say = [&] {
      ++parts;
      in_results = false;
      put_said(said);
      said.clear();
    };
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].type != BlockType::ToolResult) {
        said.push_back(i);
      } else if (in_order) {
        if (!said.empty()) say();
        result(i);
      }
    }
    if (!said.empty() || parts == 0) say();
    if (parts > 1) {
      draft_.note("message_split", Severity::Info, "split",
                  dialect::said("the message became " + std::to_string(parts) + " messages"));
    }
  }

  void note_losses() {
    note_identity(draft_, *arena_, *record_,
                  record_->role == Role::Tool ? loses_name(*arena_, *record_) : record_->name.present());
    if (record_->has(MessageRecord::kEmptyToolCalls)) note_empty_tool_calls(draft_);
    if (record_->role == Role::Developer)
      draft_.note("role_mapped", Severity::Info, "mapped", "the role developer is written as system");
    if (is_system() && draft_.position != 0) {
      draft_.note("system_as_text", Severity::Minor, "moved",
                  "a system message after the first is written as a user's reminder");
    }
  }

  bool is_system() const { return record_->role == Role::System || record_->role == Role::Developer; }

  static Side side_of(std::string_view from) {
    return from == "human" || from == "observation" ? Side::In : Side::Out;
  }

  // Opens a message, or continues with the one that is open if it is of the same side.
  Open& begin(std::string_view from) {
    const bool goes_on =
        open_ && from != "system" && open_->from != "system" && side_of(open_->from) == side_of(from);
    if (!goes_on) {
      flush();
      open_ = Open{from, draft_.position, {}, {}, {}, {}};
      return *open_;
    }
    // What a user says after results stands where trainers take it for their end.
    const bool is_same = open_->from == from;
    draft_.note("message_joined", is_same ? Severity::Info : Severity::Minor, "joined",
                "the message is written as one with the message before it, of the same side");
    if (from == "function_call") open_->from = from;
    return *open_;
  }

  void flush() {
    if (!open_) return;
    json::Out& out = draft_.out;
    const bool is_first = draft_.is(kIsFirst) && draft_.written == 0;
    if (is_first && open_->from != "system" && side_of(open_->from) == Side::Out) {
      draft_.next().raw(R"json({"from":"human","value":"(conversation continues)"})json");
      draft_.notes.push_back({"user_added", Severity::Info, open_->position, std::nullopt,
                              to_string(draft_.target), "minted",
                              "a user must speak first; a message says that the conversation continues"});
    }
    draft_.next().raw("{\"from\":").quoted(open_->from).raw(",\"value\":\"");
    if (!open_->thinking.empty()) out.raw(kThink).raw(open_->thinking).raw(kEndThink);
    if (open_->calls.empty()) {
      out.raw(open_->text);
      for (auto& [row, url] : open_->media) lists_[row].push_back(std::move(url));
    } else {
      if (!open_->text.empty()) note_beside_call(open_->position, std::nullopt);
      std::string list;
      for (const std::string& call : open_->calls) list.append(list.empty() ? "" : ",").append(call);
      out.escaped(open_->calls.size() > 1 ? "[" + list + "]" : list);
    }
    out.raw("\"}");
    open_.reset();
  }

  void put_said(std::span<const std::size_t> said) {
    flush_results();
    const auto blocks = arena_->blocks(*record_);
    const auto is_call = [&](std::size_t i) { return blocks[i].type == BlockType::ToolUse; };
    const bool calls = std::ranges::any_of(said, is_call);
    const bool is_assistant = record_->role == Role::Assistant || calls;
    const bool is_first_system = is_system() && draft_.position == 0;
    Open& open = begin(calls ? "function_call" : is_assistant ? "gpt" : is_first_system ? "system" : "human");
    if (said.empty()) note_empty_content(draft_);
    put_thinking(open, said, is_assistant);
    if (calls) {
      put_calls(open, said);
      return;
    }
    begin_text();
    json::Out text;
    out_ = &text;
    for (const std::size_t i : said) {
      if (blocks[i].type != BlockType::Thinking) put_block(blocks[i], i);
    }
    end_text();
    add_text(open, is_system() && !is_first_system && text.size() != 0
                       ? "<system-reminder>\\n" + std::string(text.view()) + "\\n</system-reminder>"
                       : std::string(text.view()));
  }

  static void add_text(Open& open, std::string_view text) {
    if (!open.text.empty() && !text.empty()) open.text += "\\n";
    open.text += text;
  }

  // All thinking stands at the front, in one piece.
  void put_thinking(Open& open, std::span<const std::size_t> said, bool has_place) {
    const auto blocks = arena_->blocks(*record_);
    for (std::size_t k = 0; k < said.size(); ++k) {
      const BlockRecord& block = blocks[said[k]];
      if (block.type != BlockType::Thinking) continue;
      if (!has_place) {
        draft_.note("thinking_dropped", Severity::Minor, "dropped", "only a model's messages have thinking",
                    said[k]);
        continue;
      }
      if (block.signature().present()) {
        draft_.note("signature_dropped", Severity::Minor, "dropped",
                    "a signature is sent only to the provider that made it", said[k]);
      }
      if (block.origin().present()) note_origin(draft_, said[k]);
      if (k != 0 || !open.text.empty()) {
        draft_.note("order_changed", Severity::Info, "moved", "thinking is written first, in one piece",
                    said[k]);
      }
      json::Out text;
      out_ = &text;
      if (block.text().present()) put_plain(arena_->bytes(block.text()), said[k]);
      open.thinking.append(open.thinking.empty() ? "" : "\\n").append(text.view());
    }
  }

  void note_beside_call(std::size_t position, std::optional<std::size_t> index) {
    draft_.notes.push_back({"text_beside_call", Severity::Major, position, index, to_string(draft_.target),
                            "dropped", "a message of calls has no place for anything else but thinking"});
  }

  void put_calls(Open& open, std::span<const std::size_t> said) {
    const auto blocks = arena_->blocks(*record_);
    if (open.calls.empty()) ranks_.clear();
    for (const std::size_t i : said) {
      const BlockRecord& block = blocks[i];
      if (block.type == BlockType::Thinking) continue;
      if (block.type != BlockType::ToolUse) {
        note_beside_call(draft_.position, i);
        continue;
      }
      const std::string id = id_of(block);
      if (!is_positional(id)) note_id(i);
      ranks_.emplace(id, open.calls.size());
      std::string call = call_text(block);
      if (holds_mark(call)) note_mark("kept", i);
      open.calls.push_back(std::move(call));
    }
  }

  std::string id_of(const BlockRecord& block) const {
    return arena_->optional_string(block.id()).value_or(Text()).str();
  }
  void note_id(std::size_t index) {
    draft_.note("id_dropped", Severity::Minor, "dropped", "calls have no ids; their order tells them apart",
                index);
  }

  // A call as the JSON that stands in the text.
  std::string call_text(const BlockRecord& use) {
    json::Writer w;
    w.begin_object().key("name").string(arena_->optional_string(use.name()).value_or(Text()));
    w.key("arguments");
    if (use.input().present() || use.arguments().present()) {
      json::Out& out = draft_.out;
      const std::size_t start = out.size();
      put_arguments_text(draft_, *arena_, use);
      const Text arguments = json::unescaped(Text::trusted(nullptr, out.view().substr(start)));
      is_embedded(arguments) ? w.raw(arguments) : w.string(arguments);
      out.shrink_to(start);
    } else {
      w.raw("{}");  // trainers want some
    }
    return w.end_object().take_string();
  }

  // ---- Texts with media in them

  void begin_text() {
    joined_ = 0;
    is_behind_text_ = false;
  }
  void end_text() {
    if (joined_ != 0) {
      draft_.note("text_joined", Severity::Info, "joined",
                  dialect::said(std::to_string(joined_ + 1) + " texts are joined by newlines into one"));
    }
  }

  void put_text(std::string_view text, std::size_t index) {
    if (is_behind_text_) {
      out_->raw("\\n");
      ++joined_;
    }
    put_plain(text, index);
    is_behind_text_ = true;
  }

  // There is no way to say that a mark is text. Where it was one before, it stays one.
  bool holds_mark(std::string_view text) const {
    const auto is_held = [&](const Mark& mark) { return text.find(mark.text) != std::string_view::npos; };
    const bool may_be_own =
        arena_->dialect() == tag(Dialect::ShareGPT) || arena_->dialect() == tag(Dialect::Parley);
    return !may_be_own && std::ranges::any_of(kMarks, is_held);
  }

  void note_mark(std::string_view action, std::size_t index) {
    draft_.note("mark_in_text", Severity::Minor, action, "the text holds what trainers take for a mark",
                index);
  }

  // Marks that trainers count are broken by a space.
  void put_plain(std::string_view text, std::size_t index) {
    if (!holds_mark(text)) {
      out_->raw(text);
      return;
    }
    note_mark("mapped", index);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto begins = [&](const Mark& mark) {
        return mark.is_fatal && text.substr(i).starts_with(mark.text);
      };
      out_->raw(text[i]);
      if (text[i] == '<' && std::ranges::any_of(kMarks, begins)) out_->raw(' ');
    }
  }

  void put_block(const BlockRecord& block, std::size_t index) {
    if (block.type == BlockType::Text) {
      if (block.text().present()) put_text(arena_->bytes(block.text()), index);
    } else if (block.is_media()) {
      put_media(block, index);
    } else {
      note_dropped_block(draft_, *arena_, block, index);
    }
  }

  void put_media(const BlockRecord& media, std::size_t index) {
    const auto row = std::ranges::find(kMediaRows, media.type, &MediaRow::type);
    if (row == kMediaRows.end() || !media.data().present() || is_system()) {
      note_omitted(draft_, media, index);
      put_text(omitted_text(media.type), index);
      return;
    }
    if (media.media_name().present()) note_media_name(draft_, index);
    std::string url(arena_->bytes(media.data()));
    if (media.source == SourceKind::Base64 && is_inline(*arena_, media)) {
      const InlineMedia shown = inline_media(draft_, *arena_, media, index);
      url = "data:" + std::string(shown.media_type) + ";base64," + std::string(shown.data);
    } else if (media.media_type().present()) {
      draft_.note("media_type_dropped", Severity::Minor, "dropped",
                  "there is no place for the media type beside a URL", index);
    }
    open_->media.emplace_back(static_cast<std::size_t>(row - kMediaRows.begin()), std::move(url));
    out_->raw(row->mark);
    is_behind_text_ = false;
  }

  // ---- Results

  // Keeps a result until all results of the step are there.
  void hold(const BlockRecord& block, std::size_t index) {
    const std::string id = id_of(block);
    if (!is_positional(id)) note_id(index);
    const auto known = ranks_.find(id);
    const std::size_t rank = known != ranks_.end() ? known->second : ranks_.size();
    if (!results_.empty() && results_.back().position != draft_.position) {
      draft_.note("results_joined", Severity::Info, "joined",
                  "all results of a step are written as one message", index);
    }
    results_.push_back({arena_, &block, index, draft_.position, {rank, results_.size()}});
  }

  // Results are distinguished by their order, which is that of the calls.
  void flush_results() {
    if (results_.empty()) return;
    const Arena* arena = arena_;
    const MessageRecord* record = record_;
    const std::size_t position = draft_.position;
    draft_.position = results_.front().position;
    if (!std::ranges::is_sorted(results_, {}, &Held::rank)) {
      draft_.note("order_changed", Severity::Info, "moved",
                  "results are written in the order of their calls");
      std::ranges::sort(results_, {}, &Held::rank);
    }
    Open& open = begin("observation");
    json::Out text;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (i != 0) text.escaped(kBetweenResults);
      out_ = &text;
      arena_ = results_[i].arena;
      draft_.position = results_[i].position;
      put_result(*results_[i].block, results_[i].index);
    }
    add_text(open, text.view());
    results_.clear();
    arena_ = arena;
    record_ = record;
    draft_.position = position;
  }

  void put_result(const BlockRecord& result, std::size_t index) {
    const auto children = arena_->children(result);
    begin_text();
    if (result.is_error == Tristate::True) put_error(result, index);
    if (result.output().present()) put_plain(arena_->bytes(result.output()), index);
    for (const BlockRecord& child : children) put_block(child, index);
    end_text();
    if (!result.is_list && !result.output().present()) note_output_minted(draft_, index);
    if (result.is_list && std::ranges::none_of(children, &BlockRecord::is_media)) {
      draft_.note("output_as_text", Severity::Info, "mapped", "the blocks of a result are written as a text",
                  index);
    }
  }

  void put_error(const BlockRecord& result, std::size_t index) {
    std::vector<std::string_view> texts;
    if (result.output().present()) texts.push_back(arena_->bytes(result.output()));
    for (const BlockRecord& child : arena_->children(result)) {
      if (child.type == BlockType::Text && child.text().present())
        texts.push_back(arena_->bytes(child.text()));
    }
    out_->raw(error_prefix(draft_, texts, index));
  }

  Draft& draft_;
  json::Out* out_ = nullptr;    // where texts go
  std::deque<Message> wholes_;  // steps, whose blocks are pointed at
  Lists& lists_;
  const Arena* arena_ = nullptr;
  const MessageRecord* record_ = nullptr;
  std::optional<Open> open_;
  std::unordered_map<std::string, std::size_t> ranks_;  // of the last calls, by id
  std::vector<Held> results_;                           // not written yet
  std::size_t joined_ = 0;
  bool is_behind_text_ = false;
};

}  // namespace

bool is_embedded(std::string_view arguments) {
  const Result<Json> json = Json::parse(arguments);
  return json && !json->is_string() && json->text().view() == arguments;
}

// Messages that stand together: a step's calls with their results, and messages of one side, which become
// one.
std::size_t group(std::span<const Message> rest) {
  std::size_t count = 1;
  Side last = sides_of(rest.front()).last;
  for (; count < rest.size(); ++count) {
    const Sides next = sides_of(rest[count]);
    if (next.first != last && rest[count].role() != Role::Tool) break;
    last = next.last;
  }
  return count;
}

void write_group(Draft& draft, std::span<const Message> messages) {
  Lists ignored;
  Writer(draft, ignored).write(messages);
}

void write_media(json::Writer& out, std::span<const Message> messages) {
  if (std::ranges::none_of(messages, holds_media)) return;
  Lists lists;
  for (std::size_t i = 0; i < messages.size();) {
    const std::size_t size = group(messages.subspan(i));
    json::Out ignored;
    std::vector<Note> notes;
    Draft draft{Dialect::ShareGPT, ignored, notes, i};
    Writer(draft, lists).write(messages.subspan(i, size));
    i += size;
  }
  for (std::size_t kind = 0; kind < kMediaRows.size(); ++kind) {
    if (lists[kind].empty()) continue;
    out.key(kMediaRows[kind].list).begin_array();
    for (const std::string& url : lists[kind]) out.raw("\"" + url + "\"");
    out.end_array();
  }
}

}  // namespace parley::dialect::sharegpt
