// The streams of OpenAI's Chat Completions and of the servers that imitate them:
//
//   data: {"id", "model", "choices": [{"index", "delta": delta, "finish_reason"}], "usage"}
//   data: {"error": {"message", "type", "code"}}
//   data: [DONE]
//   delta = {"role", "content", "refusal", "reasoning_content"|"reasoning", "tool_calls": [call]}
//   call  = {"index", "id", "type", "function": {"name", "arguments"} | "custom": {"name", "input"}}
//
// Blocks are numbered as the message of a response has them: thinking, content, refusal, calls. Nothing tells
// where one ends, so all end with [DONE]. Azure's chunks without choices say nothing. Some servers leave out
// the index of a call: a call with a new id is a new one then, and one without an id continues with the last.
//
// The chunks of a stream are alike, but for the delta and OpenAI's padding (the member "obfuscation"): what
// stands before and after the delta of one chunk was validated with it, and where the next one has the same
// bytes it is compared, not read again. That is most of the bytes, and half of the time (bench/stream).
#include "dialect/core/stream_decoder.h"

#include <algorithm>
#include <vector>

#include "dialect/openai/parts.h"

namespace parley::dialect {
namespace {

constexpr std::uint64_t kThinking = 0, kContent = 1, kRefusalBlock = 2, kFirstCall = 3;
constexpr std::uint64_t kOldCall = 0xFFFFFFFF;  // the one of "function_call", after all others

class OpenAIDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  struct Call {
    std::optional<std::uint64_t> index;
    Slice id, name, arguments;
    bool is_custom = false;
  };
  struct Choice {
    std::optional<std::uint64_t> index;
    Slice whole, delta, content, refusal, reasoning, other_reasoning, finish, usage;
    std::size_t first_call = 0, end_call = 0;
    bool has_unknown = false;
  };

  bool is_end(const Chunk& chunk) override { return chunk.data == "[DONE]"; }

  void clear() {
    id_ = model_ = usage_ = error_ = message_ = {};
    choices_.clear();
    calls_.clear();
  }

  bool read(const Chunk&) override {
    clear();
    if (cursor.peek() != '{') return wrong_type("chunk", "an object");
    const bool good = read_members();
    if (good) remember();
    return good;
  }

  bool read_members() {
    return cursor.object([&](std::string_view key) {
      if (key == "choices") return list(key, [&](std::uint32_t) { return read_choice(); });
      if (key == "id") return text(id_, key);
      if (key == "model") return text(model_, key);
      if (key == "usage") return value(usage_);
      if (key == "error") return value(error_);
      return key == "message" ? value(message_) : skip();
    });
  }

  // Keeps what stands around the delta, if it says nothing itself.
  void remember() {
    head_.clear();
    if (choices_.size() != 1) return;
    const Choice& choice = choices_.front();
    const bool is_silent = !usage_.present() && !error_.present() && !choice.finish.present() &&
                           !choice.usage.present() && choice.index.value_or(0) == 0;
    if (!is_silent || !choice.delta.present()) return;
    head_ = loaded().substr(0, choice.delta.offset);
    tail_ = loaded().substr(choice.delta.end());
    padding_ = tail_.find(kPaddingMember);
    if (padding_ == std::string::npos) return;
    padding_ += kPaddingMember.size() - 1;
    if (!is_padding(std::string_view(tail_).substr(padding_))) padding_ = std::string::npos;
  }

  bool read_again(const Chunk& chunk) override {
    if (head_.empty() || !chunk.data.starts_with(head_)) return false;
    clear();
    load(chunk.data.substr(head_.size()), kDepth);
    if (cursor.peek() != '{' || !read_delta(choices_.emplace_back())) return false;
    choices_.back().end_call = calls_.size();
    const std::string_view rest = loaded().substr(cursor.offset());
    if (rest == tail_) return true;
    return padding_ != std::string::npos && rest.starts_with(std::string_view(tail_).substr(0, padding_)) &&
           is_padding(rest.substr(padding_));
  }

  // The end of a chunk whose last member is a string of letters and digits.
  static bool is_padding(std::string_view rest) {
    if (!rest.starts_with('"') || !rest.ends_with("\"}")) return false;
    const std::string_view text = rest.substr(1, rest.size() - 3);
    return rest.size() >= 3 && std::all_of(text.begin(), text.end(), [](char c) {
             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
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
      call.is_custom |= key == "custom" && cursor.peek() == '{';
      return key == "function" || key == "custom" ? read_function(call, key) : skip();
    });
  }

  bool read_function(Call& call, std::string_view member) {
    return object(member, [&](std::string_view key) {
      if (key == "name") return text(call.name, key);
      return key == "arguments" || key == "input" ? text(call.arguments, key) : skip();
    });
  }

  void act(const Chunk& chunk) override {
    if (error_.present()) return wire_error(json(error_));
    if (chunk.name == "error") return wire_error(json(message_));
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
    delta(kThinking, BlockType::Thinking, stream::DeltaKind::Thinking, plain(reasoning));
    delta(kContent, BlockType::Text, stream::DeltaKind::Text, plain(choice.content));
    const bool refuses = choice.refusal.length != 0 && choice.refusal.present();
    has_refusal |= refuses;
    if (refuses) open(kRefusalBlock, BlockType::Text, {}, {}, {.is_refusal = true});
    delta(kRefusalBlock, BlockType::Text, stream::DeltaKind::Text, plain(choice.refusal));
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
    open(call_, BlockType::ToolUse, id, copy(call.name), {.is_custom = call.is_custom});
    delta(call_, BlockType::ToolUse, stream::DeltaKind::Arguments, plain(call.arguments));
  }

  static constexpr std::size_t kDepth = 3;  // of a delta: in a choice, in the list of them, in the chunk
  static constexpr std::string_view kPaddingMember = "\"obfuscation\":\"";

  std::string head_, tail_;                  // of the last chunk that said nothing beside its delta
  std::size_t padding_ = std::string::npos;  // where the padding begins in the tail, at its quote
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
