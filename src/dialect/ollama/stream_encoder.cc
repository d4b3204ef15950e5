// Writes the lines that stream_decoder.cc reads. Calls come whole; each line has the time at which it is
// written. All texts of a message are one content, as are all its thoughts.
#include "dialect/core/stream_encoder.h"

#include "dialect/ollama/parts.h"
#include "parley/base/clock.h"

namespace parley::dialect {
namespace {

class OllamaEncoder : public Encoder {
 public:
  using Encoder::Encoder;

 private:
  // A line at the members of its message.
  json::Writer message(std::string_view content) const {
    json::Writer out;
    out.begin_object().key("model").string(names().model);
    out.key("created_at").string(utc_timestamp(now_ms()));
    out.key("message").begin_object().key("role").string("assistant").key("content").string(content);
    return out;
  }
  void finish_line(json::Writer& out) { line(out.end_object().key("done").boolean(false).end_object()); }

  void start() override {}

  void delta(OpenBlock& open, std::string_view text) override {
    if (open.type == BlockType::ToolUse) return;
    open.is_written = true;
    if (open.is_refusal) note_refusal();
    const bool is_thinking = open.type == BlockType::Thinking;
    json::Writer out = message(is_thinking ? std::string_view() : text);
    if (is_thinking) out.key("thinking").string(text);
    finish_line(out);
  }

  void end(OpenBlock& open) override {
    if (open.type == BlockType::Raw)
      drop("raw_dropped", Severity::Major, "the dialect has no unknown blocks");
    if (!open.signature.empty()) drop("signature_dropped", Severity::Minor, "the dialect has no signatures");
    if (open.type != BlockType::ToolUse) return;
    open.is_written = true;
    json::Writer out = message("");
    out.key("tool_calls").begin_array().begin_object();
    if (!open.id.empty()) out.key("id").string(open.id);
    out.key("function").begin_object().key("index").number(calls_++).key("name").string(open.name);
    out.key("arguments").value(input_of(open)).end_object();
    finish_line(out.end_object().end_array());
  }

  void done(std::string_view word) override {
    json::Writer out = message("");
    out.end_object().key("done").boolean(true).key("done_reason").string(word);
    write_usage(out, dialect(), usage());
    line(out.end_object());
  }

  void failed(const stream::Failed& failure) override {
    json::Writer out;
    line(out.begin_object().key("error").string(failure.error.message).end_object());
  }

  std::int64_t calls_ = 0;
};

}  // namespace

std::unique_ptr<Encoder> ollama_encoder(Dialect dialect, Dialect source) {
  return std::make_unique<OllamaEncoder>(dialect, source);
}

}  // namespace parley::dialect
