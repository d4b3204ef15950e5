// Writes the events that stream_anthropic.cc reads.
#include "dialect/core/stream_encoder.h"

#include "dialect/anthropic/parts.h"

namespace parley::dialect {
namespace {

class AnthropicEncoder : public Encoder {
 public:
  using Encoder::Encoder;

 private:
  static json::Writer typed(std::string_view type) {
    json::Writer out;
    out.begin_object().key("type").string(type);
    return out;
  }
  static json::Writer at(std::string_view type, const OpenBlock& open) {
    json::Writer out = typed(type);
    out.key("index").number(static_cast<std::int64_t>(open.index));
    return out;
  }

  // Clients want counters of both kinds, known or not.
  void put_usage(json::Writer& out) {
    Usage known = usage();
    known.input = known.input.value_or(0);
    known.output = known.output.value_or(0);
    out.key("usage").begin_object();
    write_usage(out, dialect(), known);
    out.end_object();
  }

  void start() override {
    json::Writer out = typed("message_start");
    out.key("message").begin_object().key("id").string(names().id).key("type").string("message");
    out.key("role").string("assistant").key("content").begin_array().end_array();
    out.key("model").string(names().model).key("stop_reason").null().key("stop_sequence").null();
    put_usage(out);
    event("message_start", out.end_object().end_object());
  }

  // A block begins when something is known of it: late names of calls are not late then.
  void begin(OpenBlock& open) {
    if (open.is_written) return;
    open.is_written = true;
    open.index = begun_++;
    json::Writer out = at("content_block_start", open);
    out.key("content_block");
    if (open.type == BlockType::Raw) {
      out.raw(open.text);
    } else if (open.type == BlockType::ToolUse) {
      out.begin_object()
          .key("type")
          .string("tool_use")
          .key("id")
          .string(open.id)
          .key("name")
          .string(open.name);
      out.key("input").begin_object().end_object().end_object();
    } else if (open.type == BlockType::Thinking) {
      out.begin_object()
          .key("type")
          .string("thinking")
          .key("thinking")
          .string("")
          .key("signature")
          .string("");
      out.end_object();
    } else {
      out.begin_object().key("type").string("text").key("text").string("").end_object();
    }
    event("content_block_start", out.end_object());
  }

  void block(OpenBlock& open) override {
    if (open.is_written) drop("name_late", Severity::Major, "a name came when the call had begun");
  }

  void put_delta(const OpenBlock& open, std::string_view type, std::string_view member,
                 std::string_view text) {
    json::Writer out = at("content_block_delta", open);
    out.key("delta").begin_object().key("type").string(type).key(member).string(text).end_object();
    event("content_block_delta", out.end_object());
  }

  void put_input(const OpenBlock& open, std::string_view json) {
    put_delta(open, "input_json_delta", "partial_json", json);
  }

  // The input of a call is a JSON object. Arguments that begin like another thing are held back.
  static bool is_object(const OpenBlock& open) {
    const std::size_t first = open.text.find_first_not_of(" \t\r\n");
    return first != std::string::npos && open.text[first] == '{' && !open.is_custom;
  }

  void delta(OpenBlock& open, std::string_view text) override {
    begin(open);
    if (open.type == BlockType::ToolUse) {
      if (is_object(open)) put_input(open, text);
      return;
    }
    if (open.is_refusal) note_refusal();
    const bool is_thinking = open.type == BlockType::Thinking;
    put_delta(open, is_thinking ? "thinking_delta" : "text_delta", is_thinking ? "thinking" : "text", text);
  }

  void end(OpenBlock& open) override {
    if (open.type == BlockType::Raw && !keeps_raw()) return;
    begin(open);
    if (open.type == BlockType::ToolUse) end_input(open);
    if (!open.signature.empty()) put_delta(open, "signature_delta", "signature", open.signature);
    json::Writer out = at("content_block_stop", open);
    event("content_block_stop", out.end_object());
  }

  void end_input(const OpenBlock& open) {
    if (!is_object(open)) {
      if (!open.text.empty()) put_input(open, input_of(open).text());
    } else if (!Json::parse(open.text)) {
      drop("arguments_not_json", Severity::Major, "arguments that are no JSON were sent as they are", "kept");
    }
  }

  void done(std::string_view word) override {
    json::Writer out = typed("message_delta");
    out.key("delta").begin_object().key("stop_reason");
    word.empty() ? out.null() : out.string(word);
    out.key("stop_sequence").null();
    if (finish() == Finish::Refused) {
      out.key("stop_details").begin_object().key("type").string("refusal").end_object();
    }
    out.end_object();
    put_usage(out);
    event("message_delta", out.end_object());
    out = typed("message_stop");
    event("message_stop", out.end_object());
  }

  void failed(const stream::Failed& failure) override {
    json::Writer out = typed("error");
    out.key("error").begin_object().key("type").string(failure.kind.empty() ? "api_error"
                                                                            : failure.kind.view());
    out.key("message").string(failure.error.message).end_object();
    event("error", out.end_object());
  }

  std::size_t begun_ = 0;
};

}  // namespace

std::unique_ptr<Encoder> anthropic_encoder(Dialect dialect, Dialect source) {
  return std::make_unique<AnthropicEncoder>(dialect, source);
}

}  // namespace parley::dialect
