// Writes the chunks that stream_openai.cc reads. The time is 0: what was not said is not made up. All texts
// of a message are one content, as are all its thoughts.
#include "dialect/stream_encoder.h"

namespace parley::dialect {
namespace {

class OpenAIEncoder : public Encoder {
 public:
  using Encoder::Encoder;

 private:
  // A chunk up to the choices.
  json::Writer chunk() const {
    json::Writer out;
    out.begin_object().key("id").string(names().id).key("object").string("chat.completion.chunk");
    out.key("created").number(0).key("model").string(names().model).key("choices").begin_array();
    return out;
  }
  // A chunk with one choice, at the members of its delta.
  json::Writer choice() const {
    json::Writer out = chunk();
    out.begin_object().key("index").number(0).key("delta").begin_object();
    return out;
  }
  void finish_delta(json::Writer& out, std::string_view word = {}) {
    out.end_object().key("finish_reason");
    word.empty() ? out.null() : out.string(word);
    data(out.end_object().end_array().end_object());
  }

  void start() override {
    json::Writer out = choice();
    finish_delta(out.key("role").string("assistant").key("content").string(""));
  }

  void block(OpenBlock& open) override {
    if (open.type != BlockType::ToolUse) return;
    if (!open.is_written) open.index = calls_++;
    call(open, [&](json::Writer& out) {
      out.key("id").string(open.id).key("type").string("function");
      out.key("function")
          .begin_object()
          .key("name")
          .string(open.name)
          .key("arguments")
          .string("")
          .end_object();
    });
    open.is_written = true;
  }

  template <typename Members>
  void call(const OpenBlock& open, Members members) {
    json::Writer out = choice();
    out.key("tool_calls").begin_array().begin_object();
    out.key("index").number(static_cast<std::int64_t>(open.index));
    members(out);
    finish_delta(out.end_object().end_array());
  }

  void delta(OpenBlock& open, std::string_view text) override {
    if (open.type == BlockType::ToolUse) {
      return call(open, [&](json::Writer& out) {
        out.key("function").begin_object().key("arguments").string(text).end_object();
      });
    }
    const bool is_thinking = open.type == BlockType::Thinking;
    if (is_thinking && dialect() == Dialect::OpenAI) {
      return drop("thinking_dropped", Severity::Minor, "the dialect has no place for thinking");
    }
    open.is_written = true;
    json::Writer out = choice();
    finish_delta(out.key(is_thinking ? "reasoning_content" : "content").string(text));
  }

  void end(OpenBlock& open) override {
    if (open.type == BlockType::Raw)
      drop("raw_dropped", Severity::Major, "the dialect has no unknown blocks");
  }

  void done(std::string_view word) override {
    json::Writer out = choice();
    finish_delta(out, word);
    out = chunk();
    out.end_array().key("usage").begin_object();
    write_usage(out, dialect(), usage());
    if (usage() != Usage{}) data(out.end_object().end_object());
    end_mark();
  }

  void end_mark() {
    json::Writer out;
    data(out.raw("[DONE]"));
  }

  void failed(const stream::Failed& failure) override {
    json::Writer out;
    out.begin_object().key("error").begin_object().key("message").string(failure.error.message);
    out.key("type").string(failure.kind).key("param").null().key("code").null();
    data(out.end_object().end_object());
  }

  std::size_t calls_ = 0;
};

}  // namespace

std::unique_ptr<Encoder> openai_encoder(Dialect dialect, Dialect source) {
  return std::make_unique<OpenAIEncoder>(dialect, source);
}

}  // namespace parley::dialect
