// The stream of Bedrock's Converse. The name of an event is in the headers of its message:
//
//   messageStart {"role"}
//   contentBlockStart {"contentBlockIndex", "start": {"toolUse": {"toolUseId", "name", "type"}}
//                      | {"toolResult": {"toolUseId", "type", "status"}} | {"image": {"format"}}} (none for
//                      texts)
//   contentBlockDelta {"contentBlockIndex", "delta": {"text"} | {"toolUse": {"input": piece of text}}
//                      | {"toolResult": [block]} | {"image": {"source"}}
//                      | {"reasoningContent": {"text"} | {"signature"} | {"redactedContent"}}}
//   contentBlockStop {"contentBlockIndex"}
//   messageStop {"stopReason"}
//   metadata {"usage"}
//
// A call of the type "server_tool_use" is run by the provider: it, its result and images are raw blocks, as a
// whole answer has them. An exception ends the stream. The member "p" is padding.
#include "dialect/core/stream_decoder.h"

#include <map>
#include <string>
#include <vector>

#include "dialect/converse/parts.h"
#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

class ConverseDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  bool read(const Chunk& chunk) override {
    text_ = input_ = thinking_ = signature_ = redacted_ = stop_reason_ = usage_ = whole_ = {};
    start_ = result_ = image_ = {};
    index_.reset();
    has_unknown_ = false;
    if (chunk.is_exception && cursor.peek() == '\0') return true;  // all is said in the headers
    const std::uint32_t from = cursor.offset();
    if (cursor.peek() != '{') return wrong_type("event", "an object");
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "contentBlockIndex") return number(index_, key);
      if (key == "delta") return read_delta();
      if (key == "start") return read_start();
      if (key == "stopReason") return text(stop_reason_, key);
      return key == "usage" ? value(usage_) : skip();
    });
    whole_ = {from, cursor.offset() - from};
    return good;
  }

  bool read_start() {
    const std::uint32_t from = cursor.offset();
    const bool good = object("start", [&](std::string_view key) {
      if (key != "toolUse" && key != "toolResult") return skip();
      return object(key, [&](std::string_view member) {
        Slice known;
        const bool is_known = member == "toolUseId" || member == "name" || member == "type";
        return is_known ? text(known, member) : skip();
      });
    });
    start_ = {from, cursor.offset() - from};
    return good;
  }

  bool read_delta() {
    return object("delta", [&](std::string_view key) {
      if (key == "text") return text(text_, key);
      if (key == "toolUse") {
        return object(
            key, [&](std::string_view member) { return member == "input" ? text(input_, member) : skip(); });
      }
      if (key == "reasoningContent") {
        return object(key, [&](std::string_view member) {
          if (member == "text") return text(thinking_, member);
          if (member == "signature") return text(signature_, member);
          return member == "redactedContent" ? text(redacted_, member) : skip();
        });
      }
      if (key == "toolResult" && cursor.peek() == '[') return value(result_);
      if (key == "image" && cursor.peek() == '{') return value(image_);
      has_unknown_ = true;
      return skip();
    });
  }

  void act(const Chunk& chunk) override {
    if (chunk.is_exception) return wire_error(json(whole_), chunk.name);
    const std::uint64_t block = index_.value_or(0);
    if (chunk.name == "contentBlockDelta") return act_delta(block);
    if (chunk.name == "contentBlockStart") {
      act_start(block, json(start_));
    } else if (chunk.name == "contentBlockStop") {
      say_held(block);
      close_call(block);
    } else if (chunk.name == "messageStop") {
      finish_word = plain(stop_reason_);
      is_finished_ = true;
    } else if (chunk.name == "metadata") {
      if (usage_.present()) say_usage(json(usage_));
      if (is_finished_) done();
    } else if (chunk.name != "messageStart") {
      unknown(chunk.name, json(whole_));
    }
  }

  // A raw block that is known only when it is whole: {"<member>": {what it began with, what was added}}.
  struct Held {
    std::string member;
    Json start;
    std::string text;           // the input of a call, or what is redacted
    std::vector<Json> content;  // of a result
    Json source;                // of an image
  };

  void act_start(std::uint64_t block, const Json& start) {
    for (const Json::Member& each : start.members()) {
      const auto string = [&](std::string_view name) {
        return each.value.get(name).value_or(Json()).as_string().value_or(Text());
      };
      if (each.key.view() == "toolUse" && string("type").view() != "server_tool_use") {
        return open(block, BlockType::ToolUse, string("toolUseId"), string("name"));
      }
      open(block, BlockType::Raw, string("toolUseId"), string("name"));
      held_[block] = {.member = each.key.str(), .start = each.value, .text = {}, .content = {}, .source = {}};
      return;
    }
  }

  void act_delta(std::uint64_t block) {
    const auto held = held_.find(block);
    delta(block, BlockType::Text, stream::DeltaKind::Text, plain(text_));
    if (held == held_.end()) {
      delta(block, BlockType::ToolUse, stream::DeltaKind::Arguments, plain(input_));
    } else {
      held->second.text.append(plain(input_));
      for (const Json& each : json(result_).elements()) held->second.content.push_back(each);
      if (image_.present()) held->second.source = json(image_).get("source").value_or(Json());
    }
    delta(block, BlockType::Thinking, stream::DeltaKind::Thinking, plain(thinking_));
    delta(block, BlockType::Thinking, stream::DeltaKind::Signature, plain(signature_));
    if (redacted_.present()) {
      open(block, BlockType::Raw);
      held_[block].member = "reasoningContent";
      held_[block].text.append(plain(redacted_));
    }
    const bool is_stray = held == held_.end() && (result_.present() || image_.present());
    if (has_unknown_ || is_stray) unknown("contentBlockDelta", json(whole_));
  }

  void say_held(std::uint64_t block) {
    const auto found = held_.find(block);
    if (found == held_.end()) return;
    const Held& held = found->second;
    json::Writer out;
    out.begin_object().key(held.member).begin_object();
    for (const Json::Member& each : held.start.members()) out.key(each.key).value(each.value);
    if (held.member == "reasoningContent") out.key("redactedContent").string(held.text);
    if (held.member == "toolUse") {
      const auto input = Json::parse(held.text.empty() ? "{}" : held.text);
      input ? out.key("input").value(*input) : out.key("input").string(held.text);
    }
    if (held.member == "toolResult") {
      out.key("content").begin_array();
      for (const Json& each : held.content) out.value(each);
      out.end_array();
    }
    if (!held.source.is_null()) out.key("source").value(held.source);
    raw_block(block, out.end_object().end_object().take());
    held_.erase(found);
  }

  void before_end() override {
    while (!held_.empty()) say_held(held_.begin()->first);
  }

  // The usage comes after the end of the message, or not at all.
  void eof() override { is_finished_ ? done() : truncated(); }

  Slice text_, input_, thinking_, signature_, redacted_, stop_reason_, usage_, whole_;
  Slice start_, result_, image_;
  std::optional<std::uint64_t> index_;
  bool has_unknown_ = false;
  bool is_finished_ = false;
  std::map<std::uint64_t, Held> held_;
};

}  // namespace

std::unique_ptr<Decoder> converse_decoder(Dialect dialect, const json::Limits& limits) {
  return std::make_unique<ConverseDecoder>(dialect, limits);
}

}  // namespace parley::dialect
