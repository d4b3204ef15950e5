// The stream of OpenAI's Responses. The type stands in the data as well as in the name of the event:
//
//   response.created, response.in_progress, response.queued {"response"}
//   response.output_item.added {"output_index", "item"}, response.output_item.done {"output_index", "item"}
//   response.<part>.delta {"output_index", "content_index"|"summary_index", "delta"}, response.<part>.done
//   response.completed, response.incomplete, response.failed {"response"}
//   error {"code", "message"}
//
// An item is a block: a tool use, thinking, or raw if its type is not known. A message is a block for each of
// its parts. What is "done" is said again as a whole, and the last response says all items again: deltas
// replace what came before only if they are different, so what was said is kept here, too. Thinking is the
// texts of the summary and of the content, with an empty line between two.
#include "dialect/core/stream_decoder.h"

#include <algorithm>
#include <array>

#include "dialect/responses/parts.h"

namespace parley::dialect {
namespace {

// A block is named by its item and, in messages, by its part.
std::uint64_t block_number(std::uint64_t item, std::uint64_t part = 0) { return item << 32 | part; }
constexpr std::uint64_t kMostItems = 0x7FFFFFFF;

// What the deltas of an event are part of.
struct PartRow {
  std::string_view name;  // between "response." and ".delta" or ".done"
  BlockType type;
  bool is_refusal = false;
};
constexpr auto kPartRows = std::to_array<PartRow>({
    {"output_text", BlockType::Text},
    {"refusal", BlockType::Text, true},
    {"function_call_arguments", BlockType::ToolUse},
    {"custom_tool_call_input", BlockType::ToolUse},
    {"reasoning_text", BlockType::Thinking},
    {"reasoning_summary_text", BlockType::Thinking},
});

constexpr auto kLifecycle = std::to_array<std::string_view>(
    {"created", "queued", "in_progress", "completed", "incomplete", "failed"});

stream::DeltaKind kind_of(BlockType type) {
  return type == BlockType::ToolUse    ? stream::DeltaKind::Arguments
         : type == BlockType::Thinking ? stream::DeltaKind::Thinking
                                       : stream::DeltaKind::Text;
}

Text string_of(const Json& object, std::string_view member) {
  const auto found = object.get(member);
  return (found ? found->as_string() : std::nullopt).value_or(Text());
}

class ResponsesDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  struct Said {
    std::string text;
    Text signature;
    std::uint64_t part = 0;  // of thinking: the part that was added to last
    bool has_part = false;
  };

  bool read(const Chunk&) override {
    type_ = delta_ = all_ = item_ = response_ = error_ = {};
    item_index_.reset();
    part_index_.reset();
    if (cursor.peek() != '{') return wrong_type("event", "an object");
    const std::uint32_t from = cursor.offset();
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "type") return text(type_, key);
      if (key == "delta" && cursor.peek() == '"') return text(delta_, key);
      const bool is_all = key == "text" || key == "refusal" || key == "arguments" || key == "input";
      if (is_all && cursor.peek() == '"') return text(all_, key);
      if (key == "output_index") return number(item_index_, key);
      if (key == "content_index" || key == "summary_index") return number(part_index_, key);
      if (key == "item") return value(item_);
      if (key == "response") return value(response_);
      return key == "error" ? value(error_) : skip();
    });
    whole_ = {from, cursor.offset() - from};
    const bool is_far = item_index_.value_or(0) > kMostItems || part_index_.value_or(0) > kMostItems;
    if (good && is_far) return wrong_type("output_index", "a small number");
    return good;
  }

  void act(const Chunk& chunk) override {
    std::string_view type = type_.present() ? cursor.bytes(type_) : chunk.name;
    if (type == "error") return wire_error(json(error_.present() ? error_ : whole_), error_code());
    if (!type.starts_with("response.")) {
      if (type != "keepalive") unknown(type, json(whole_));
      return;
    }
    type.remove_prefix(std::string_view("response.").size());
    if (type.ends_with(".delta") && act_delta(type.substr(0, type.size() - 6))) return;
    if (type == "output_item.added" || type == "output_item.done") {
      return act_item(item_index_.value_or(0), json(item_), type == "output_item.done");
    }
    const bool is_lifecycle = std::find(kLifecycle.begin(), kLifecycle.end(), type) != kLifecycle.end();
    if (is_lifecycle && response_.present()) return act_response(type, json(response_));
    if (type == "content_part.added" || type == "content_part.done") return;  // the item says it again
    if (type == "reasoning_summary_part.added" || type == "reasoning_summary_part.done") return;
    if (type.ends_with(".done") && act_done(type.substr(0, type.size() - 5))) return;
    unknown(type_.present() ? cursor.bytes(type_) : chunk.name, json(whole_));
  }

  // The flat form has "type": "error", which says nothing.
  Text error_code() const { return error_.present() ? Text() : string_of(json(whole_), "code"); }

  static const PartRow* row_of(std::string_view name) {
    for (const PartRow& row : kPartRows) {
      if (row.name == name) return &row;
    }
    return nullptr;
  }

  // A part that is whole. One part of thinking is not the whole of it: its item says that.
  bool act_done(std::string_view name) {
    const PartRow* row = row_of(name);
    if (row == nullptr) return false;
    const std::uint64_t part = row->type == BlockType::Text ? part_index_.value_or(0) : 0;
    if (row->type != BlockType::Thinking && all_.present()) {
      whole(block_number(item_index_.value_or(0), part), row->type, copy(all_));
    }
    return true;
  }

  bool act_delta(std::string_view name) {
    const PartRow* row = row_of(name);
    if (row == nullptr || !delta_.present()) return false;
    const std::uint64_t item = item_index_.value_or(0), part = part_index_.value_or(0);
    has_refusal |= row->is_refusal;
    if (row->is_refusal) open(block_number(item, part), BlockType::Text, {}, {}, {.is_refusal = true});
    if (row->type != BlockType::Thinking) {
      add(block_number(item, row->type == BlockType::Text ? part : 0), row->type, plain(delta_));
      return true;
    }
    Said& said = said_[block_number(item)];
    if (said.has_part && said.part != part && !said.text.empty()) {
      add(block_number(item), BlockType::Thinking, "\n\n");
    }
    said.part = part;
    said.has_part = true;
    add(block_number(item), BlockType::Thinking, plain(delta_));
    return true;
  }

  void add(std::uint64_t block, BlockType type, std::string_view more) {
    said_[block].text.append(more);
    delta(block, type, kind_of(type), more);
  }

  // All of a block.
  void whole(std::uint64_t block, BlockType type, const Text& text) {
    std::string& said = said_[block].text;
    if (said == text.view()) return;
    const bool replaces = !said.empty();
    said = text.view();
    delta(block, type, kind_of(type), text, replaces);
  }

  // An item as it begins, or as it is.
  void act_item(std::uint64_t index, const Json& item, bool is_done) {
    const Text type = string_of(item, "type");
    const std::uint64_t block = block_number(index);
    if (type == Text("message")) return act_message(index, item, is_done);
    const bool is_custom = type == Text("custom_tool_call");
    if (type == Text("function_call") || is_custom) {
      open(block, BlockType::ToolUse, string_of(item, "call_id"), string_of(item, "name"),
           {.is_custom = is_custom});
      const Text arguments = string_of(item, is_custom ? "input" : "arguments");
      if (is_done || !arguments.empty()) whole(block, BlockType::ToolUse, arguments);
    } else if (type == Text("reasoning")) {
      open(block, BlockType::Thinking, string_of(item, "id"));
      const Text thinking = thinking_of(item);
      if (is_done || !thinking.empty()) whole(block, BlockType::Thinking, thinking);
      const Text signature = string_of(item, "encrypted_content");
      if (is_done && !signature.empty() && said_[block].signature != signature) {
        said_[block].signature = signature;
        delta(block, BlockType::Thinking, stream::DeltaKind::Signature, signature, true);
      }
    } else {
      open(block, BlockType::Raw, string_of(item, "id"));
      raw_[block] = item;
      if (is_done) say_raw(block);
    }
    if (is_done) close(block);
  }

  void say_raw(std::uint64_t block) {
    std::string& said = said_[block].text;
    if (said == raw_[block].text().view()) return;
    said = raw_[block].text().view();
    raw_block(block, raw_[block]);
  }

  void act_message(std::uint64_t index, const Json& item, bool is_done) {
    const auto content = item.get("content");
    if (!content || !is_done) return;
    std::uint64_t part = 0;
    for (const Json& each : content->elements()) {
      const std::uint64_t block = block_number(index, part++);
      const bool is_refusal = string_of(each, "type") == Text("refusal");
      has_refusal |= is_refusal;
      open(block, BlockType::Text, {}, {}, {.is_refusal = is_refusal});
      whole(block, BlockType::Text, string_of(each, is_refusal ? "refusal" : "text"));
      close(block);
    }
  }

  static Text thinking_of(const Json& item) {
    std::string out;
    for (const std::string_view member : {"summary", "content"}) {
      const auto parts = item.get(member);
      if (!parts) continue;
      for (const Json& part : parts->elements()) {
        out.append(out.empty() ? "" : "\n\n").append(string_of(part, "text"));
      }
    }
    return Text(out);
  }

  void act_response(std::string_view type, const Json& response) {
    say_names(response);
    const bool is_last = type == "completed" || type == "incomplete";
    if (const auto usage = response.get("usage"); usage && usage->is_object()) say_usage(*usage);
    if (type == "failed") {
      const auto error = response.get("error");
      return wire_error(error.value_or(Json()));
    }
    if (!is_last) return;
    if (const auto output = response.get("output")) {
      std::uint64_t index = 0;
      for (const Json& item : output->elements()) act_item(index++, item, true);
    }
    // The answer itself says how it ended, also in an event of another name.
    const Text status = string_of(response, "status");
    const std::string_view word = status.empty() ? type : status.view();
    const auto details = response.get("incomplete_details");
    finish_word = word == "incomplete" && details ? string_of(*details, "reason").str() : std::string(word);
    done();
  }

  void say_names(const Json& response) {
    const Text id = string_of(response, "id"), model = string_of(response, "model");
    start(id, model);
  }

  void before_end() override {
    for (const auto& entry : raw_) say_raw(entry.first);
  }

  Slice type_, delta_, all_, item_, response_, error_, whole_;
  std::optional<std::uint64_t> item_index_, part_index_;
  std::map<std::uint64_t, Said> said_;
  std::map<std::uint64_t, Json> raw_;
};

}  // namespace

std::unique_ptr<Decoder> responses_decoder(Dialect dialect, const json::Limits& limits) {
  return std::make_unique<ResponsesDecoder>(dialect, limits);
}

}  // namespace parley::dialect
