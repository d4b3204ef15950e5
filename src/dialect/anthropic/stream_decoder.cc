// Anthropic's stream. The type stands in the data as well as in the name of the event:
//
//   message_start {"message": {"id", "model", "usage"}}
//   content_block_start {"index", "content_block"}
//   content_block_delta {"index", "delta": {"type", ...}}
//   content_block_stop {"index"}
//   message_delta {"delta": {"stop_reason", "stop_details"}, "usage"}
//   message_stop, ping, error {"error": {"type", "message"}}
//
// The input of a tool use comes in deltas; what its start has is a placeholder unless no delta comes.
// Blocks of other types than text, thinking and tool_use are kept as they start, with what their deltas add
// (the input of a server's tool, the content of a summary) put in when they are whole.
#include "dialect/core/stream_decoder.h"

#include <map>

#include "dialect/anthropic/parts.h"
#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

class AnthropicDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  // What deltas say of a member: texts are joined, of other values the last one counts.
  struct Added {
    Json last;
    std::string text;
    Json value() const { return last.is_string() ? Json::string(text) : last; }
  };
  // A block whose start must be remembered until its end.
  struct Held {
    Json start;
    std::string input;
    std::map<std::string, Added> added = {};  // members of deltas
  };

  bool read(const Chunk&) override {
    type_ = id_ = model_ = usage_ = block_ = error_ = delta_ = {};
    delta_type_ = text_ = thinking_ = signature_ = input_ = stop_reason_ = stop_details_ = {};
    index_.reset();
    if (cursor.peek() != '{') return wrong_type("event", "an object");
    const std::uint32_t from = cursor.offset();
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "type") return text(type_, key);
      if (key == "index") return number(index_, key);
      if (key == "delta") return read_delta();
      if (key == "content_block") return value(block_);
      if (key == "usage") return value(usage_);
      if (key == "message" && cursor.peek() == '{') return read_message();
      return key == "error" ? value(error_) : skip();
    });
    whole_ = {from, cursor.offset() - from};
    return good;
  }

  bool read_delta() {
    const std::uint32_t from = cursor.offset();
    const bool good = object("delta", [&](std::string_view key) {
      if (key == "type") return text(delta_type_, key);
      if (key == "text") return text(text_, key);
      if (key == "thinking") return text(thinking_, key);
      if (key == "partial_json") return text(input_, key);
      if (key == "signature") return text(signature_, key);
      if (key == "stop_reason") return text(stop_reason_, key);
      return key == "stop_details" ? value(stop_details_) : skip();
    });
    delta_ = {from, cursor.offset() - from};
    return good;
  }

  bool read_message() {
    return cursor.object([&](std::string_view key) {
      if (key == "id") return text(id_, key);
      if (key == "model") return text(model_, key);
      return key == "usage" ? value(usage_) : skip();
    });
  }

  void act(const Chunk& chunk) override {
    const std::string_view type = type_.present() ? cursor.bytes(type_) : chunk.name;
    const std::uint64_t block = index_.value_or(0);
    if (type == "content_block_delta") return act_delta(block);
    if (type == "content_block_start") return act_start(block);
    if (type == "content_block_stop") return act_stop(block);
    if (type == "message_start" || type == "message_delta") {
      start(id_, model_);
      if (stop_reason_.present()) finish_word = plain(stop_reason_);
      if (finish_word == "refusal" && stop_details_.present()) finish_is = Finish::Refused;
      if (usage_.present()) say_usage(json(usage_));
      return;
    }
    if (type == "message_stop") return done();
    if (type == "error") return wire_error(json(error_));
    if (type != "ping") unknown(type, json(whole_));
  }

  void act_delta(std::uint64_t block) {
    const std::string_view type = cursor.bytes(delta_type_.present() ? delta_type_ : Slice{0, 0});
    if (type == "text_delta") {
      delta(block, BlockType::Text, stream::DeltaKind::Text, plain(text_));
    } else if (type == "thinking_delta") {
      delta(block, BlockType::Thinking, stream::DeltaKind::Thinking, plain(thinking_));
    } else if (type == "signature_delta") {
      delta(block, BlockType::Thinking, stream::DeltaKind::Signature, plain(signature_));
    } else if (const BlockState* state = find(block); state != nullptr && state->type == BlockType::Raw) {
      type == "input_json_delta" ? (void)held_[block].input.append(plain(input_)) : add(held_[block]);
    } else if (type != "input_json_delta") {
      unknown("content_block_delta", json(whole_));
    } else {
      delta(block, BlockType::ToolUse, stream::DeltaKind::Arguments, plain(input_));
    }
  }

  void add(Held& held) {
    for (const Json::Member& each : json(delta_).members()) {
      if (each.key.view() == "type") continue;
      const auto [known, is_new] = held.added.try_emplace(each.key.str());
      Added& added = known->second;
      if (is_new) added.text = held.start.get(each.key).value_or(Json()).as_string().value_or(Text()).str();
      added.last = each.value;
      if (const auto more = each.value.as_string()) added.text.append(more->view());
    }
  }

  void act_start(std::uint64_t block) {
    if (is_open(block)) return;
    Json content = json(block_);
    const auto member = [&](std::string_view name) {
      const auto found = content.get(name);
      return (found ? found->as_string() : std::nullopt).value_or(Text());
    };
    const Text type = member("type");
    if (type == Text("text")) {
      open(block, BlockType::Text);
      delta(block, BlockType::Text, stream::DeltaKind::Text, member("text"));
    } else if (type == Text("thinking")) {
      open(block, BlockType::Thinking);
      delta(block, BlockType::Thinking, stream::DeltaKind::Thinking, member("thinking"));
      delta(block, BlockType::Thinking, stream::DeltaKind::Signature, member("signature"));
    } else {
      const bool is_call = type == Text("tool_use");
      open(block, is_call ? BlockType::ToolUse : BlockType::Raw, member("id"), member("name"));
      held_[block].start = std::move(content);
    }
  }

  void act_stop(std::uint64_t block) {
    const BlockState* state = find(block);
    if (state == nullptr) return;
    if (state->type == BlockType::Raw) say_raw(block);
    if (state->type == BlockType::ToolUse && !state->has_deltas) {
      const auto input = held_[block].start.get("input");
      const Json given = input && input->is_object() ? *input : Json::trusted("{}");
      delta(block, BlockType::ToolUse, stream::DeltaKind::Arguments, given.text());
    }
    held_.erase(block);
    close(block);
  }

  void say_raw(std::uint64_t block) {
    Held& held = held_[block];
    if (const auto input = Json::parse(held.input)) {
      held.added["input"] = {*input, input->as_string().value_or(Text()).str()};
    }
    if (held.added.empty() || !held.start.is_object()) return raw_block(block, held.start);
    json::Writer out;
    out.begin_object();
    for (const Json::Member& each : held.start.members()) {
      const auto added = held.added.find(each.key.str());
      out.key(each.key).value(added != held.added.end() ? added->second.value() : each.value);
      if (added != held.added.end()) held.added.erase(added);
    }
    for (const auto& [key, added] : held.added) out.key(key).value(added.value());
    raw_block(block, out.end_object().take());
  }

  void before_end() override {
    for (const auto& entry : held_) {
      const BlockState* state = find(entry.first);
      if (state != nullptr && state->type == BlockType::Raw) say_raw(entry.first);
    }
  }

  Slice type_, id_, model_, usage_, block_, error_, whole_;
  Slice delta_, delta_type_, text_, thinking_, signature_, input_, stop_reason_, stop_details_;
  std::optional<std::uint64_t> index_;
  std::map<std::uint64_t, Held> held_;
};

}  // namespace

std::unique_ptr<Decoder> anthropic_decoder(Dialect dialect, const json::Limits& limits) {
  return std::make_unique<AnthropicDecoder>(dialect, limits);
}

}  // namespace parley::dialect
