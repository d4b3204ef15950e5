// The stream of Bedrock's Converse. The name of an event is in the headers of its message:
//
//   messageStart {"role"}
//   contentBlockStart {"contentBlockIndex", "start": {"toolUse": {"toolUseId", "name"}}}   (none for texts)
//   contentBlockDelta {"contentBlockIndex", "delta": {"text"} | {"toolUse": {"input": piece of text}}
//                      | {"reasoningContent": {"text"} | {"signature"} | {"redactedContent"}}}
//   contentBlockStop {"contentBlockIndex"}
//   messageStop {"stopReason"}
//   metadata {"usage"}
//
// An exception ends the stream. The member "p" is padding.
#include <map>

#include "dialect/stream_decoder.h"
#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

class ConverseDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  bool read(const Chunk& chunk) override {
    id_ = name_ = text_ = input_ = thinking_ = signature_ = redacted_ = stop_reason_ = usage_ = whole_ = {};
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
    return object("start", [&](std::string_view key) {
      if (key != "toolUse") return skip();
      return object(key, [&](std::string_view member) {
        return member == "toolUseId" ? text(id_, member) : member == "name" ? text(name_, member) : skip();
      });
    });
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
      has_unknown_ = true;
      return skip();
    });
  }

  void act(const Chunk& chunk) override {
    if (chunk.is_exception) return wire_error(json(whole_), chunk.name);
    const std::uint64_t block = index_.value_or(0);
    if (chunk.name == "contentBlockDelta") return act_delta(block);
    if (chunk.name == "contentBlockStart") {
      if (id_.present() || name_.present()) {
        const Text id = copy(id_);
        open(block, BlockType::ToolUse, id, copy(name_));
      }
    } else if (chunk.name == "contentBlockStop") {
      say_redacted(block);
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

  void act_delta(std::uint64_t block) {
    delta(block, BlockType::Text, stream::DeltaKind::Text, plain(text_));
    delta(block, BlockType::ToolUse, stream::DeltaKind::Arguments, plain(input_));
    delta(block, BlockType::Thinking, stream::DeltaKind::Thinking, plain(thinking_));
    delta(block, BlockType::Thinking, stream::DeltaKind::Signature, plain(signature_));
    if (redacted_.present()) {
      open(block, BlockType::Raw);
      redactions_[block].append(plain(redacted_));
    }
    if (has_unknown_) unknown("contentBlockDelta", json(whole_));
  }

  // Redacted thinking is known only when it is whole.
  void say_redacted(std::uint64_t block) {
    const auto found = redactions_.find(block);
    if (found == redactions_.end()) return;
    json::Writer out;
    out.begin_object().key("reasoningContent").begin_object().key("redactedContent").string(found->second);
    raw_block(block, out.end_object().end_object().take());
    redactions_.erase(found);
  }

  void before_end() override {
    while (!redactions_.empty()) say_redacted(redactions_.begin()->first);
  }

  // The usage comes behind the end of the message, or not at all.
  void eof() override { is_finished_ ? done() : truncated(); }

  Slice id_, name_, text_, input_, thinking_, signature_, redacted_, stop_reason_, usage_, whole_;
  std::optional<std::uint64_t> index_;
  bool has_unknown_ = false;
  bool is_finished_ = false;
  std::map<std::uint64_t, std::string> redactions_;
};

}  // namespace

std::unique_ptr<Decoder> converse_decoder(Dialect dialect, const json::Limits& limits) {
  return std::make_unique<ConverseDecoder>(dialect, limits);
}

}  // namespace parley::dialect
