// Writes the chunks that stream_openai.cc reads. The time is 0: what was not said is not made up. All texts
// of a message are one content, as are all its thoughts.
#include "dialect/core/stream_encoder.h"

#include "dialect/core/arrange.h"
#include "dialect/openai/parts.h"

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
    const bool is_custom = is_custom_here(open);
    call(open, [&](json::Writer& out) {
      const std::string_view type = is_custom ? "custom" : "function";
      out.key("id").string(open.id).key("type").string(type).key(type).begin_object();
      out.key("name").string(open.name).key(is_custom ? "input" : "arguments").string("").end_object();
    });
    open.is_written = true;
  }

  // Servers that imitate OpenAI have no custom tools: the text for one is an argument, when it is whole.
  bool is_custom_here(const OpenBlock& open) const { return open.is_custom && traits().has_custom_tools; }
  const ProviderTraits& traits() const { return *format_of(dialect()).traits; }

  void put_arguments(const OpenBlock& open, std::string_view text) {
    const bool is_custom = is_custom_here(open);
    call(open, [&](json::Writer& out) {
      out.key(is_custom ? "custom" : "function").begin_object();
      out.key(is_custom ? "input" : "arguments").string(text).end_object();
    });
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
      if (!open.is_custom || is_custom_here(open)) put_arguments(open, text);
      return;
    }
    const bool is_thinking = open.type == BlockType::Thinking;
    const bool is_refusal = open.is_refusal && traits().has_refusals;
    if (open.is_refusal && !is_refusal) note_refusal();
    if (is_thinking && traits().thinking == Thinking::Never) {
      return drop("thinking_dropped", Severity::Minor, "the dialect has no place for thinking");
    }
    open.is_written = true;
    json::Writer out = choice();
    finish_delta(out.key(is_thinking  ? "reasoning_content"
                         : is_refusal ? "refusal"
                                      : "content")
                     .string(text));
  }

  void end(OpenBlock& open) override {
    if (open.type == BlockType::Raw)
      drop("raw_dropped", Severity::Major, "the dialect has no unknown blocks");
    if (open.is_custom && !is_custom_here(open)) put_arguments(open, input_of(open).text());
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
