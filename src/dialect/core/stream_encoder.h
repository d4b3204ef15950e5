// Encoder is what the writers of all streams share: the blocks there are, and notes. A dialect adds its
// bytes.
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/core/outcome.h"
#include "parley/dialect/stream.h"
#include "parley/json/writer.h"

namespace parley::dialect {

class Encoder {
 public:
  Encoder(Dialect dialect, Dialect source) : dialect_(dialect), source_(source) {}
  virtual ~Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void write(const StreamEvent& event, std::string& out);

  std::vector<Note> notes;

 protected:
  struct OpenBlock {
    BlockType type = BlockType::Text;
    Text id, name;
    std::string text, signature;  // `text`: whatever the block mostly holds; all of it so far
    bool is_refusal = false;
    bool is_custom = false;
    std::size_t index = 0;    // in the order of starts
    bool is_written = false;  // something of it is on the wire
  };

  virtual void start() = 0;  // before anything else; names() may be empty
  virtual void block(OpenBlock&) {}
  // A delta, which the block's text has by now. Not called for what replaces, for signatures, or for the
  // JSON of raw blocks.
  virtual void delta(OpenBlock&, std::string_view) {}
  virtual void end(OpenBlock&) {}
  virtual void done(std::string_view word) = 0;
  virtual void failed(const stream::Failed& failed) = 0;
  // Text that was written already is replaced.
  virtual void replaced(OpenBlock&) {
    drop("text_replaced", Severity::Major, "text that was sent is not sent again");
  }

  // ---- Writing

  void data(json::Writer& json);                          // an event of server-sent events
  void event(std::string_view name, json::Writer& json);  // the same with its name
  void line(json::Writer& json);

  const stream::Start& names() const { return names_; }
  const Usage& usage() const { return usage_; }
  Dialect dialect() const { return dialect_; }
  bool is_own() const { return source_ == dialect_; }  // opaque values may go back
  Finish finish() const { return finish_; }

  // Notes what is dropped, or done instead, each kind once.
  void drop(std::string_view code, Severity severity, Text detail, std::string_view action = "dropped");
  // Whether a raw block may be written; notes it if not.
  bool keeps_raw();
  // The JSON object of a tool use: its arguments, {} if there are none, {"_raw": text} if they are no object,
  // {"input": text} of a custom tool.
  Json input_of(const OpenBlock& use);
  // Notes that a dialect without them has a text in place of a refusal, an argument in place of a text.
  void note_refusal();
  void note_custom_call();

 private:
  void ensure_start();
  void write(const stream::BlockStart& start);
  void write(const stream::Delta& delta);
  void write_done(const stream::Done& done);

  Dialect dialect_, source_;
  stream::Start names_;
  Usage usage_;
  Finish finish_ = Finish::Unknown;
  bool has_started_ = false;
  std::map<std::uint64_t, OpenBlock> blocks_;
  std::string* out_ = nullptr;
};

}  // namespace parley::dialect
