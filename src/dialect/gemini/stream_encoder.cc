// Writes the events that stream_gemini.cc reads. A signature belongs to one whole part: a thought that may
// be signed, and what follows a signature, are held back until they end. Calls come whole.
#include "dialect/core/stream_encoder.h"

#include "dialect/core/names.h"
#include "dialect/gemini/parts.h"

namespace parley::dialect {
namespace {

class GeminiEncoder : public Encoder {
 public:
  using Encoder::Encoder;

 private:
  // An event up to the members of its candidate.
  json::Writer candidate() const {
    json::Writer out;
    out.begin_object().key("candidates").begin_array().begin_object();
    return out;
  }
  void finish_candidate(json::Writer& out, bool has_usage = false) {
    out.key("index").number(0).end_object().end_array();
    if (has_usage) {
      out.key("usageMetadata").begin_object();
      write_usage(out, dialect(), usage());
      out.end_object();
    }
    if (!names().model.empty()) out.key("modelVersion").string(names().model);
    if (!names().id.empty()) out.key("responseId").string(names().id);
    data(out.end_object());
  }
  void put_part(std::string_view json) {
    json::Writer out = candidate();
    out.key("content").begin_object().key("role").string("model").key("parts").begin_array().raw(json);
    finish_candidate(out.end_array().end_object());
  }

  void put_text(std::string_view text, bool is_thought, std::string_view signature = {}) {
    json::Writer out;
    out.begin_object().key("text").string(text);
    if (is_thought) out.key("thought").boolean(true);
    if (!signature.empty()) out.key("thoughtSignature").string(signature);
    put_part(out.end_object().view());
  }

  bool is_held(const OpenBlock& open) const {
    if (open.type == BlockType::Thinking) return is_own();
    return open.type != BlockType::Text || !next_signature_.empty();
  }

  void start() override {}

  void delta(OpenBlock& open, std::string_view text) override {
    if (is_held(open)) return;
    open.is_written = true;
    if (open.is_refusal) note_refusal();
    put_text(text, open.type == BlockType::Thinking);
  }

  void end(OpenBlock& open) override {
    if (open.is_written) return;
    open.is_written = true;
    if (open.type == BlockType::Thinking) {
      // One that only has a signature is that of the next part.
      if (!open.text.empty()) return put_text(open.text, true, open.signature);
      flush_signature();
      next_signature_ = open.signature;
    } else if (open.type == BlockType::ToolUse) {
      put_call(open);
    } else if (open.type == BlockType::Raw) {
      if (keeps_raw()) put_part(open.text);
    } else if (!open.text.empty()) {
      if (open.is_refusal) note_refusal();
      put_text(open.text, false, std::exchange(next_signature_, {}));
    }
  }

  void put_call(const OpenBlock& open) {
    json::Writer out;
    out.begin_object().key("functionCall").begin_object();
    // An id that a reader would make up is not written.
    const bool is_minted = open.id.empty() || open.id.view() == made_up_id(minted_);
    if (is_minted) ++minted_;
    if (!is_minted) out.key("id").string(open.id);
    out.key("name").string(open.name).key("args").value(input_of(open)).end_object();
    if (!next_signature_.empty()) out.key("thoughtSignature").string(std::exchange(next_signature_, {}));
    put_part(out.end_object().view());
  }

  void flush_signature() {
    if (!next_signature_.empty()) put_text("", false, std::exchange(next_signature_, {}));
  }

  void done(std::string_view word) override {
    flush_signature();
    json::Writer out = candidate();
    out.key("finishReason").string(word.empty() ? "FINISH_REASON_UNSPECIFIED" : word);
    finish_candidate(out, usage() != Usage{});
  }

  void failed(const stream::Failed& failure) override {
    json::Writer out;
    out.begin_object().key("error").begin_object().key("code").number(500);
    out.key("message").string(failure.error.message);
    out.key("status").string(failure.kind.empty() ? "INTERNAL" : failure.kind.view());
    data(out.end_object().end_object());
  }

  std::string next_signature_;
  std::size_t minted_ = 0;
};

}  // namespace

std::unique_ptr<Encoder> gemini_encoder(Dialect dialect, Dialect source) {
  return std::make_unique<GeminiEncoder>(dialect, source);
}

}  // namespace parley::dialect
