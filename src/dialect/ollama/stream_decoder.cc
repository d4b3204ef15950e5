// Ollama's stream, one object a line:
//
//   {"model", "message": {"content", "thinking", "tool_calls": [call]}, "done": false}
//   {"model", "message": ..., "done": true, "done_reason", "prompt_eval_count", "eval_count"}
//   {"error": string}
//   call = {"id", "function": {"name", "arguments": object}}
//
// Calls come whole. Blocks are numbered as the message has them: thinking, content, calls.
#include "dialect/core/stream_decoder.h"

#include <vector>

#include "dialect/ollama/parts.h"

namespace parley::dialect {
namespace {

constexpr std::uint64_t kThinking = 0, kContent = 1, kFirstCall = 2;

class OllamaDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  struct Call {
    Slice id, name, arguments;
  };

  bool read(const Chunk&) override {
    model_ = content_ = thinking_ = reason_ = error_ = {};
    is_last_ = false;
    calls_.clear();
    if (cursor.peek() != '{') return wrong_type("line", "an object");
    const std::uint32_t from = cursor.offset();
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "message") return read_message();
      if (key == "model") return text(model_, key);
      if (key == "done") return flag(is_last_, key);
      if (key == "done_reason") return text(reason_, key);
      return key == "error" ? value(error_) : skip();
    });
    whole_ = {from, cursor.offset() - from};
    return good;
  }

  bool read_message() {
    return object("message", [&](std::string_view key) {
      if (key == "content") return text(content_, key);
      if (key == "thinking") return text(thinking_, key);
      return key == "tool_calls" ? list(key, [&](std::uint32_t) { return read_call(); }) : skip();
    });
  }

  bool read_call() {
    if (cursor.peek() != '{') return wrong_type("tool_calls", "a list of objects");
    Call& call = calls_.emplace_back();
    return cursor.object([&](std::string_view key) {
      if (key == "id") return text(call.id, key);
      if (key != "function") return skip();
      return object(key, [&](std::string_view name) {
        return name == "name" ? text(call.name, name) : name == "arguments" ? value(call.arguments) : skip();
      });
    });
  }

  void act(const Chunk&) override {
    if (error_.present()) return wire_error(json(error_));
    start({}, model_);
    delta(kThinking, BlockType::Thinking, stream::DeltaKind::Thinking, plain(thinking_));
    delta(kContent, BlockType::Text, stream::DeltaKind::Text, plain(content_));
    for (const Call& call : calls_) {
      open(next_call_, BlockType::ToolUse, copy(call.id), copy(call.name));
      if (call.arguments.present()) {
        delta(next_call_, BlockType::ToolUse, stream::DeltaKind::Arguments, cursor.bytes(call.arguments));
      }
      close_call(next_call_++);
    }
    if (!is_last_) return;
    say_usage(json(whole_));
    finish_word = plain(reason_);
    done();
  }

  Slice model_, content_, thinking_, reason_, error_, whole_;
  bool is_last_ = false;
  std::vector<Call> calls_;
  std::uint64_t next_call_ = kFirstCall;
};

}  // namespace

std::unique_ptr<Decoder> ollama_decoder(Dialect dialect, const json::Limits& limits) {
  return std::make_unique<OllamaDecoder>(dialect, limits);
}

}  // namespace parley::dialect
