// The streams of OpenAI's Chat Completions and of the servers that imitate them:
//
//   data: {"id", "model", "choices": [{"index", "delta": delta, "finish_reason"}], "usage"}
//   data: {"error": {"message", "type", "code"}}
//   data: [DONE]
//   delta = {"role", "content", "refusal", "reasoning_content"|"reasoning", "tool_calls": [call]}
//   call  = {"index", "id", "type", "function": {"name", "arguments"}}
//
// Blocks are numbered as the message of a response has them: thinking, content, refusal, calls. Nothing tells
// where one ends, so all end with [DONE]. Azure's chunks without choices say nothing. Some servers leave out
// the index of a call: a call with a new id is a new one then, and one without an id goes on with the last.
#include <vector>

#include "dialect/stream_decoder.h"

namespace parley::dialect {
namespace {

constexpr std::uint64_t kThinking = 0, kContent = 1, kRefusal = 2, kFirstCall = 3;
constexpr std::uint64_t kOldCall = 0xFFFFFFFF;  // the one of "function_call", behind all others

class OpenAIDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  struct Call {
    std::optional<std::uint64_t> index;
    Slice id, name, arguments;
  };
  struct Choice {
    std::optional<std::uint64_t> index;
    Slice whole, delta, content, refusal, reasoning, other_reasoning, finish, usage;
    std::size_t first_call = 0, end_call = 0;
    bool has_unknown = false;
  };

  bool is_end(const Frame& frame) override { return frame.data == "[DONE]"; }

  bool read(const Frame&) override {
    id_ = model_ = usage_ = error_ = message_ = {};
    choices_.clear();
    calls_.clear();
    if (cursor.peek() != '{') return wrong_type("chunk", "an object");
    return cursor.object([&](std::string_view key) {
      if (key == "choices") return list(key, [&](std::uint32_t) { return read_choice(); });
      if (key == "id") return text(id_, key);
      if (key == "model") return text(model_, key);
      if (key == "usage") return value(usage_);
      if (key == "error") return value(error_);
      return key == "message" ? value(message_) : skip();
    });
  }

  bool read_choice() {
    Choice& choice = choices_.emplace_back();
    choice.first_call = calls_.size();
    const std::uint32_t from = cursor.offset();
    if (cursor.peek() != '{') return wrong_type("choices", "a list of objects");
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "delta") return read_delta(choice);
      if (key == "index") return number(choice.index, key);
      if (key == "finish_reason") return text(choice.finish, key);
      return key == "usage" ? value(choice.usage) : skip();
    });
    choice.whole = {from, cursor.offset() - from};
    choice.end_call = calls_.size();
    return good;
  }

  bool read_delta(Choice& choice) {
    const std::uint32_t from = cursor.offset();
    const bool good = object("delta", [&](std::string_view key) {
      if (key == "content") return text(choice.content, key);
      if (key == "role") return skip();
      if (key == "tool_calls") return list(key, [&](std::uint32_t) { return read_call(); });
      if (key == "refusal") return text(choice.refusal, key);
      if (key == "reasoning_content") return text(choice.reasoning, key);
      // What others have under these names are not always texts.
      if (key == "reasoning" && cursor.peek() == '"') return text(choice.other_reasoning, key);
      if (key == "function_call" && cursor.peek() == '{') {
        calls_.emplace_back().index = kOldCall;
        return read_function(calls_.back(), key);
      }
      choice.has_unknown |= cursor.peek() != 'n';
      return skip();
    });
    choice.delta = {from, cursor.offset() - from};
    return good;
  }

  bool read_call() {
    if (cursor.peek() != '{') return wrong_type("tool_calls", "a list of objects");
    Call& call = calls_.emplace_back();
    return cursor.object([&](std::string_view key) {
      if (key == "index") return number(call.index, key);
      if (key == "id") return text(call.id, key);
      return key == "function" || key == "custom" ? read_function(call, key) : skip();
    });
  }

  bool read_function(Call& call, std::string_view member) {
    return object(member, [&](std::string_view key) {
      if (key == "name") return text(call.name, key);
      return key == "arguments" || key == "input" ? text(call.arguments, key) : skip();
    });
  }

  void act(const Frame& frame) override {
    if (error_.present()) return wire_error(json(error_));
    if (frame.name == "error") return wire_error(json(message_));
    start(id_, model_);
    for (const Choice& choice : choices_) {
      if (choice.index.value_or(0) == 0) {
        act(choice);
      } else {
        unknown("choice", json(choice.whole));
      }
    }
    if (usage_.present()) say_usage(json(usage_));
  }

  void act(const Choice& choice) {
    const Slice reasoning = choice.reasoning.present() ? choice.reasoning : choice.other_reasoning;
    delta(kThinking, BlockType::Thinking, stream::Fragment::Thinking, plain(reasoning));
    delta(kContent, BlockType::Text, stream::Fragment::Text, plain(choice.content));
    has_refusal |= choice.refusal.length != 0 && choice.refusal.present();
    delta(kRefusal, BlockType::Text, stream::Fragment::Text, plain(choice.refusal));
    for (std::size_t i = choice.first_call; i < choice.end_call; ++i) act(calls_[i]);
    if (choice.has_unknown) unknown("delta", json(choice.delta));
    if (choice.usage.present()) say_usage(json(choice.usage));
    if (choice.finish.present()) finish_word = plain(choice.finish);
  }

  void act(const Call& call) {
    const Text id = copy(call.id);
    if (call.index) {
      call_ = kFirstCall + *call.index;
    } else if (call_ == 0 || (!id.empty() && find(call_)->id != id)) {
      call_ = next_call_;
    }
    next_call_ = std::max(next_call_, call_ + 1);
    open(call_, BlockType::ToolUse, id, copy(call.name));
    delta(call_, BlockType::ToolUse, stream::Fragment::Arguments, plain(call.arguments));
  }

  Slice id_, model_, usage_, error_, message_;
  std::vector<Choice> choices_;
  std::vector<Call> calls_;
  std::uint64_t call_ = 0, next_call_ = kFirstCall;  // the block of the last call, and of the next new one
};

}  // namespace

std::unique_ptr<Decoder> openai_decoder(Dialect dialect, const json::Limits& limits) {
  return std::make_unique<OpenAIDecoder>(dialect, limits);
}

}  // namespace parley::dialect
