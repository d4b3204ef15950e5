// Gemini's stream. Each event is a whole response with a piece of the answer:
//
//   data: {"candidates": [{"content": {"parts": [part]}, "finishReason", "index"}], "usageMetadata",
//          "modelVersion", "responseId", "promptFeedback": {"blockReason"}}
//   data: {"error": {"code", "message", "status"}}
//   part = {"text", "thought", "thoughtSignature"} | {"functionCall": {"id", "name", "args"},
//          "thoughtSignature"} | any other, kept raw
//
// The arguments of a call may come in pieces, in the parts that follow, up to one that does not say that more
// will come:
//
//   part  = {"functionCall": {"id", "name", "partialArgs": [piece], "willContinue": bool}}
//   piece = {"jsonPath", "stringValue"|"numberValue"|"boolValue"|"nullValue", "willContinue"}
//
// The end of the connection is the end of the answer, if a reason to finish was given. A text continues with
// the text before it if both are plain and of one kind; a signature stands for its own part. The signature of
// a part that is no thought becomes a thinking block without text before it.
#include "dialect/core/stream_decoder.h"

#include <vector>

#include "dialect/core/names.h"
#include "dialect/gemini/partial_arguments.h"
#include "dialect/gemini/parts.h"

namespace parley::dialect {
namespace {

class GeminiDecoder : public Decoder {
 public:
  using Decoder::Decoder;

 private:
  struct Piece {
    Slice path, text, literal;
    bool has_null = false;
  };
  struct Part {
    Slice whole, text, signature, id, name, args;
    bool is_thought = false, is_call = false, is_plain = true, is_other = false;
    bool goes_on = false;
    std::vector<Piece> pieces;
  };

  bool read(const Chunk&) override {
    id_ = model_ = usage_ = error_ = finish_ = block_reason_ = {};
    others_.clear();
    parts_.clear();
    // An error may stand in a list.
    if (cursor.peek() == '[') return cursor.array([&](std::uint32_t) { return read_response(); });
    return read_response();
  }

  bool read_response() {
    if (cursor.peek() != '{') return wrong_type("response", "an object");
    return cursor.object([&](std::string_view key) {
      if (key == "candidates") return list(key, [&](std::uint32_t) { return read_candidate(); });
      if (key == "responseId") return text(id_, key);
      if (key == "modelVersion") return text(model_, key);
      if (key == "usageMetadata") return value(usage_);
      if (key == "error") return value(error_);
      if (key != "promptFeedback") return skip();
      return object(key, [&](std::string_view name) {
        return name == "blockReason" ? text(block_reason_, name) : skip();
      });
    });
  }

  bool read_candidate() {
    std::optional<std::uint64_t> index;
    Slice finish;
    const std::size_t first = parts_.size();
    const std::uint32_t from = cursor.offset();
    if (cursor.peek() != '{') return wrong_type("candidates", "a list of objects");
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "content") return read_content();
      if (key == "index") return number(index, key);
      return key == "finishReason" ? text(finish, key) : skip();
    });
    if (index.value_or(0) == 0) {
      if (finish.present()) finish_ = finish;
      return good;
    }
    parts_.resize(first);
    others_.push_back({from, cursor.offset() - from});
    return good;
  }

  bool read_content() {
    return object("content", [&](std::string_view key) {
      return key == "parts" ? list(key, [&](std::uint32_t) { return read_part(); }) : skip();
    });
  }

  bool read_part() {
    if (cursor.peek() != '{') return wrong_type("parts", "a list of objects");
    Part& part = parts_.emplace_back();
    const std::uint32_t from = cursor.offset();
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "text") return text(part.text, key);
      if (key == "thought") return flag(part.is_thought, key);
      part.is_plain = false;
      if (key == "thoughtSignature") return text(part.signature, key);
      if (key == "functionCall") return read_call(part);
      part.is_other = true;
      return skip();
    });
    part.whole = {from, cursor.offset() - from};
    return good;
  }

  bool read_call(Part& part) {
    part.is_call = true;
    return object("functionCall", [&](std::string_view key) {
      if (key == "id") return text(part.id, key);
      if (key == "name") return text(part.name, key);
      if (key == "args") return value(part.args);
      if (key == "willContinue") return flag(part.goes_on, key);
      return key == "partialArgs" ? list(key, [&](std::uint32_t) { return read_piece(part); }) : skip();
    });
  }

  bool read_piece(Part& part) {
    if (cursor.peek() != '{') return wrong_type("partialArgs", "a list of objects");
    Piece& piece = part.pieces.emplace_back();
    const bool good = cursor.object([&](std::string_view key) {
      if (key == "jsonPath") return text(piece.path, key);
      if (key == "stringValue") return text(piece.text, key);
      if (key == "numberValue" || key == "boolValue") return value(piece.literal);
      piece.has_null |= key == "nullValue";
      return skip();
    });
    if (!good) return false;
    if (piece.path.present() && PartialArguments::takes(plain(piece.path))) return true;
    return wrong_type("jsonPath", "the path of an argument, such as $.city");
  }

  void act(const Chunk&) override {
    if (error_.present()) return wire_error(json(error_));
    start(id_, model_);
    for (const Part& part : parts_) act(part);
    for (const Slice other : others_) unknown("choice", json(other));
    if (usage_.present()) say_usage(json(usage_));
    const Slice reason = finish_.present() ? finish_ : block_reason_;
    if (!reason.present()) return;
    finish_word = plain(reason);
    if (!finish_.present()) finish_is = Finish::Filtered;  // the prompt was blocked
    is_finished_ = true;
  }

  void act(const Part& part) {
    if (part.is_other || (!part.is_call && !part.text.present())) {
      begin(BlockType::Raw);
      raw_block(block_, json(part.whole));
      return end_block();
    }
    if (part.is_call) return act_call(part);
    const BlockType type = part.is_thought ? BlockType::Thinking : BlockType::Text;
    const bool goes_on = is_open_ && part.is_plain && type_ == type;
    if (!part.is_thought) sign(part);
    const bool says_something = part.text.length != 0 || (part.is_thought && part.signature.present());
    if (!says_something) return;
    if (!goes_on) begin(type);
    delta(block_, type, part.is_thought ? stream::DeltaKind::Thinking : stream::DeltaKind::Text,
          plain(part.text));
    if (part.is_thought && part.signature.present()) {
      delta(block_, type, stream::DeltaKind::Signature, plain(part.signature));
    }
    if (!part.is_plain) end_block();
  }

  void act_call(const Part& part) {
    const bool is_new = !partial_ || (part.name.present() && copy(part.name) != find(partial_block_)->name);
    if (is_new) end_partial(false);
    if (partial_ || part.goes_on || !part.pieces.empty()) return act_partial(part);
    sign(part);
    Text id = copy(part.id);
    if (id.empty()) id = Text(made_up_id(minted_++));
    const Text name = copy(part.name);
    end_block();
    open(++block_, BlockType::ToolUse, id, name);
    if (part.args.present()) {
      delta(block_, BlockType::ToolUse, stream::DeltaKind::Arguments, cursor.bytes(part.args));
    }
    close_call(block_);
  }

  // One more part of a call whose arguments come in pieces. Its signature may come last and stands before it.
  void act_partial(const Part& part) {
    if (!partial_) {
      end_block();
      partial_.emplace();
      partial_block_ = block_ += 2;
      Text id = copy(part.id);
      if (id.empty()) id = Text(made_up_id(minted_++));
      open(partial_block_, BlockType::ToolUse, id, copy(part.name));
    }
    if (part.signature.present()) {
      delta(partial_block_ - 1, BlockType::Thinking, stream::DeltaKind::Signature, plain(part.signature));
    }
    for (const Piece& piece : part.pieces) add(piece);
    const Json args = json(part.args);
    if (!args.members().empty()) whole_arguments_ = args.text().str();
    if (!part.goes_on) end_partial();
  }

  void add(const Piece& piece) {
    const std::string path(plain(piece.path));
    if (piece.text.present()) {
      partial_->add_text(path, plain(piece.text));
    } else if (piece.literal.present()) {
      partial_->set(path, cursor.bytes(piece.literal));
    } else {
      partial_->touch(path, piece.has_null);
    }
  }

  // The arguments are whole; or the answer continues or ends without the rest of them, and then their object
  // stays open: a client must not take them for whole.
  void end_partial(bool is_whole = true) {
    if (!partial_) return;
    std::string arguments = whole_arguments_.empty() ? partial_->json() : whole_arguments_;
    if (!is_whole || partial_->is_cut()) arguments.pop_back();
    partial_.reset();
    whole_arguments_.clear();
    close(partial_block_ - 1);
    delta(partial_block_, BlockType::ToolUse, stream::DeltaKind::Arguments, arguments);
    close(partial_block_);
  }

  void sign(const Part& part) {
    if (!part.signature.present()) return;
    begin(BlockType::Thinking);
    delta(block_, BlockType::Thinking, stream::DeltaKind::Signature, plain(part.signature));
    end_block();
  }

  void begin(BlockType type) {
    end_block();
    open(++block_, type);
    type_ = type;
    is_open_ = true;
  }
  void end_block() {
    if (std::exchange(is_open_, false)) close(block_);
  }

  // A call that was to continue when the connection ended is not whole.
  void eof() override {
    if (!is_finished_) return truncated();
    end_partial(false);
    done();
  }

  Slice id_, model_, usage_, error_, finish_, block_reason_;
  std::vector<Slice> others_;
  std::vector<Part> parts_;
  std::uint64_t block_ = 0;
  BlockType type_ = BlockType::Text;
  bool is_open_ = false;  // the block at hand can continue
  bool is_finished_ = false;
  std::size_t minted_ = 0;
  std::optional<PartialArguments> partial_;  // of the call whose arguments come in pieces
  std::string whole_arguments_;              // or all of them, if they are said
  std::uint64_t partial_block_ = 0;
};

}  // namespace

std::unique_ptr<Decoder> gemini_decoder(Dialect dialect, const json::Limits& limits) {
  return std::make_unique<GeminiDecoder>(dialect, limits);
}

}  // namespace parley::dialect
