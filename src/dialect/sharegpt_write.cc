// Writing ShareGPT (see sharegpt.h).
#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "dialect/pieces.h"
#include "dialect/sharegpt.h"
#include "json/walk.h"

namespace parley::dialect::sharegpt {
namespace {

using Lists = std::array<std::vector<std::string>, kMediaRows.size()>;

// The id is one that a reader would make up again, or there is none.
bool is_positional(std::string_view id) {
  if (!id.starts_with("sg_")) return id.empty();
  return std::ranges::all_of(id.substr(3), [](char c) { return (c >= '0' && c <= '9') || c == '_'; });
}

// What readers take for more than text, wherever it stands.
constexpr std::string_view kMarks[] = {"<image>", "<video>",  "<audio>",
                                       "<think>", "</think>", "</tool_response>"};

bool holds_media(const Message& message) {
  const Arena& arena = Arena::of(message);
  return std::ranges::any_of(arena.blocks(Arena::record_of(message)), [&](const BlockRecord& block) {
    return block.is_media() || std::ranges::any_of(arena.children(block), &BlockRecord::is_media);
  });
}

class Writer {
 public:
  Writer(Draft& draft, Lists& lists) : draft_(draft), out_(draft.out), lists_(lists) {}

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
    draft_.position = position;
  }

 private:
  struct Held {
    const Arena* arena;
    const BlockRecord* block;
    std::size_t index, position;
    std::pair<std::size_t, std::size_t> rank;  // of its call, and of itself
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
      draft_.note("system_not_first", Severity::Minor, "kept",
                  "trainers take a system message at the start only");
    }
  }

  bool is_system() const { return record_->role == Role::System || record_->role == Role::Developer; }

  // Trainers want what goes into a model and what comes out of it in turns.
  void begin(std::string_view from) {
    const int side = from == "system" ? 2 : from == "human" || from == "observation" ? 0 : 1;
    if (side == side_ && side != 2) {
      draft_.note("roles_do_not_alternate", Severity::Info, "kept",
                  "two messages of one side stand one behind the other");
    }
    side_ = side;
    draft_.next().raw("{\"from\":").quoted(from).raw(",\"value\":\"");
  }

  void put_said(std::span<const std::size_t> said) {
    flush_results();
    const auto blocks = arena_->blocks(*record_);
    const auto is_call = [&](std::size_t i) { return blocks[i].type == BlockType::ToolUse; };
    const bool calls = std::ranges::any_of(said, is_call);
    const bool is_assistant = record_->role == Role::Assistant || calls;
    begin(calls ? "function_call" : is_assistant ? "gpt" : is_system() ? "system" : "human");
    if (said.empty()) note_empty_content(draft_);
    put_thinking(said, is_assistant);
    if (calls) {
      put_calls(said);
    } else {
      begin_text();
      for (const std::size_t i : said) {
        if (blocks[i].type != BlockType::Thinking) put_block(blocks[i], i);
      }
      end_text();
    }
    out_.raw("\"}");
  }

  // All thinking stands at the front, in one piece.
  void put_thinking(std::span<const std::size_t> said, bool has_place) {
    const auto blocks = arena_->blocks(*record_);
    std::size_t count = 0;
    for (std::size_t k = 0; k < said.size(); ++k) {
      const BlockRecord& block = blocks[said[k]];
      if (block.type != BlockType::Thinking) continue;
      if (!has_place) {
        draft_.note("thinking_dropped", Severity::Minor, "dropped", "only a model's messages have thinking",
                    said[k]);
        continue;
      }
      if (block.signature().present()) {
        draft_.note("signature_dropped", Severity::Minor, "dropped", "a signature goes to its maker only",
                    said[k]);
      }
      if (block.origin().present()) note_origin(draft_, said[k]);
      if (k != 0) {
        draft_.note("order_changed", Severity::Info, "moved", "thinking is written first, in one piece",
                    said[k]);
      }
      out_.raw(count++ == 0 ? kThink : "\\n");
      if (block.text().present()) put_plain(arena_->bytes(block.text()), said[k]);
    }
    if (count != 0) out_.raw(kEndThink);
  }

  void put_calls(std::span<const std::size_t> said) {
    const auto blocks = arena_->blocks(*record_);
    ranks_.clear();
    std::string text;
    std::size_t count = 0;
    for (const std::size_t i : said) {
      const BlockRecord& block = blocks[i];
      if (block.type == BlockType::Thinking) continue;
      if (block.type != BlockType::ToolUse) {
        draft_.note("text_beside_call", Severity::Major, "dropped",
                    "a message of calls has no place for anything else but thinking", i);
        continue;
      }
      const std::string id = id_of(block);
      if (!is_positional(id)) note_id(i);
      ranks_.emplace(id, count);
      if (count++ != 0) text += ',';
      text += call_text(block);
    }
    out_.escaped(count > 1 ? "[" + text + "]" : text);
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
    if (use.input().present() || use.arguments().present()) {
      const std::size_t start = out_.size();
      put_arguments_text(draft_, *arena_, use);
      const Text arguments = json::unescaped(Text::trusted(nullptr, out_.view().substr(start)));
      w.key("arguments");
      is_embedded(arguments) ? w.raw(arguments) : w.string(arguments);
      out_.shrink_to(start);
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
      out_.raw("\\n");
      ++joined_;
    }
    put_plain(text, index);
    is_behind_text_ = true;
  }

  // There is no way to say that a mark is text. Where it was one before, it stays one.
  void put_plain(std::string_view text, std::size_t index) {
    const auto is_held = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
    const bool may_be_own =
        arena_->dialect() == tag(Dialect::ShareGPT) || arena_->dialect() == tag(Dialect::Parley);
    if (!may_be_own && std::ranges::any_of(kMarks, is_held)) {
      draft_.note("mark_in_text", Severity::Minor, "kept", "the text holds what trainers take for a mark",
                  index);
    }
    out_.raw(text);
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
    lists_[static_cast<std::size_t>(row - kMediaRows.begin())].push_back(std::move(url));
    out_.raw(row->mark);
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

  // Results are told apart by their order, which is that of the calls.
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
    begin("observation");
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (i != 0) out_.escaped(kBetweenResults);
      arena_ = results_[i].arena;
      draft_.position = results_[i].position;
      put_result(*results_[i].block, results_[i].index);
    }
    out_.raw("\"}");
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
    out_.raw(error_prefix(draft_, texts, index));
  }

  Draft& draft_;
  json::Out& out_;
  std::deque<Message> wholes_;  // steps, whose blocks are pointed at
  Lists& lists_;
  const Arena* arena_ = nullptr;
  const MessageRecord* record_ = nullptr;
  int side_ = -1;                                       // of the last message
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

// Messages that stand together: a step's calls with their results, and messages of one side, which a note is
// about.
std::size_t group(std::span<const Message> rest) {
  const auto side = [](const Message& message, bool at_end) {
    if (message.role() == Role::System || message.role() == Role::Developer) return 2;
    if (message.role() != Role::Assistant) return 0;
    const auto blocks = Arena::of(message).blocks(Arena::record_of(message));
    return at_end && !blocks.empty() && blocks.back().type == BlockType::ToolResult ? 0 : 1;
  };
  std::size_t count = 1;
  for (; count < rest.size(); ++count) {
    const int next = side(rest[count], false);
    if (next == 2 || (next != side(rest[count - 1], true) && rest[count].role() != Role::Tool)) break;
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
