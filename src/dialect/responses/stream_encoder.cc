// Writes the events that stream_decoder.cc reads. Each block is an item of its own. An item is written
// three times: as it begins, as it ended, and in the last response.
#include "dialect/core/stream_encoder.h"

#include <map>

#include "dialect/responses/parts.h"

namespace parley::dialect {
namespace {

// How the blocks of a type are called: the item, its part, and the events of its text.
struct ItemForm {
  std::string_view prefix;  // of the ids made up here
  std::string_view events;  // "response." + this + ".delta"
  std::string_view all;     // the member of the ".done" event with all of the text
  std::string_view index;   // the member that counts parts; "" without parts
};
const ItemForm& form_of(BlockType type, bool is_refusal, bool is_custom) {
  static constexpr ItemForm kText = {"msg_", "response.output_text", "text", "content_index"};
  static constexpr ItemForm kRefusal = {"msg_", "response.refusal", "refusal", "content_index"};
  static constexpr ItemForm kCustom = {"ctc_", "response.custom_tool_call_input", "input", ""};
  static constexpr ItemForm kThinking = {"rs_", "response.reasoning_summary_text", "text", "summary_index"};
  static constexpr ItemForm kCall = {"fc_", "response.function_call_arguments", "arguments", ""};
  if (type == BlockType::ToolUse) return is_custom ? kCustom : kCall;
  return type == BlockType::Thinking ? kThinking : is_refusal ? kRefusal : kText;
}

class ResponsesEncoder : public Encoder {
 public:
  using Encoder::Encoder;

 private:
  json::Writer typed(std::string_view type) {
    json::Writer out;
    out.begin_object().key("type").string(type).key("sequence_number").number(sequence_++);
    return out;
  }
  void put(std::string_view type, json::Writer& out) { event(type, out.end_object()); }

  json::Writer response(std::string_view type, std::string_view status) {
    json::Writer out = typed(type);
    out.key("response").begin_object().key("id").string(names().id).key("object").string("response");
    out.key("created_at").number(0).key("status").string(status).key("model").string(names().model);
    return out;
  }

  void start() override {
    json::Writer out = response("response.created", "in_progress");
    put("response.created", out.key("output").begin_array().end_array().end_object());
  }

  static const ItemForm& form_of(const OpenBlock& open) {
    return dialect::form_of(open.type, open.is_refusal, open.is_custom);
  }

  // The id of an item; those that were not said are made up from the position.
  static std::string id_of(const OpenBlock& open) {
    const bool has_own = open.type == BlockType::Thinking && !open.id.empty();
    return has_own ? open.id.str() : std::string(form_of(open).prefix) + std::to_string(open.index);
  }

  // The item as it begins, or as it is.
  static Json item_of(const OpenBlock& open, bool is_done) {
    if (open.type == BlockType::Raw) return Json::parse(open.text).value_or(Json());
    const std::string_view status = is_done ? "completed" : "in_progress";
    const std::string_view text = is_done ? std::string_view(open.text) : std::string_view();
    json::Writer out;
    out.begin_object().key("id").string(id_of(open));
    if (open.type == BlockType::ToolUse) {
      out.key("type").string(open.is_custom ? "custom_tool_call" : "function_call");
      out.key("status").string(status).key(form_of(open).all).string(text);
      out.key("call_id").string(open.id).key("name").string(open.name);
    } else if (open.type == BlockType::Thinking) {
      out.key("type").string("reasoning").key("summary").begin_array();
      if (!text.empty()) put_part(out, open, text);
      out.end_array();
      if (is_done && !open.signature.empty()) out.key("encrypted_content").string(open.signature);
    } else {
      out.key("type").string("message").key("status").string(status).key("content").begin_array();
      if (is_done) put_part(out, open, text);
      out.end_array().key("role").string("assistant");
    }
    return out.end_object().take();
  }

  static void put_part(json::Writer& out, const OpenBlock& open, std::string_view text) {
    const bool is_text = open.type == BlockType::Text && !open.is_refusal;
    out.begin_object().key("type").string(open.is_refusal ? "refusal"
                                          : is_text       ? "output_text"
                                                          : "summary_text");
    if (is_text) out.key("annotations").begin_array().end_array();
    out.key(form_of(open).all).string(text).end_object();
  }

  void put_item(std::string_view type, const OpenBlock& open, bool is_done) {
    json::Writer out = typed(type);
    put(type, out.key("output_index").number(number(open)).key("item").value(item_of(open, is_done)));
  }
  static std::int64_t number(const OpenBlock& open) { return static_cast<std::int64_t>(open.index); }

  // An event about the part of a block.
  json::Writer at(std::string_view type, const OpenBlock& open) {
    json::Writer out = typed(type);
    out.key("item_id").string(id_of(open)).key("output_index").number(number(open));
    if (const auto index = form_of(open).index; !index.empty()) out.key(index).number(0);
    return out;
  }
  void put_part_event(const OpenBlock& open, std::string_view when, std::string_view text) {
    if (open.type == BlockType::ToolUse) return;
    const bool is_thinking = open.type == BlockType::Thinking;
    const std::string type =
        std::string(is_thinking ? "response.reasoning_summary_part." : "response.content_part.").append(when);
    json::Writer out = at(type, open);
    put_part(out.key("part"), open, text);
    put(type, out);
  }

  // An item begins when something is known of it: late names of calls are not late then.
  void begin(OpenBlock& open) {
    if (open.is_written) return;
    open.is_written = true;
    open.index = items_.size();
    items_.emplace_back();
    put_item("response.output_item.added", open, false);
  }

  void delta(OpenBlock& open, std::string_view text) override {
    const bool is_first = !open.is_written;
    begin(open);
    if (is_first) put_part_event(open, "added", "");
    const std::string type = std::string(form_of(open).events) + ".delta";
    json::Writer out = at(type, open);
    put(type, out.key("delta").string(text));
  }

  void end(OpenBlock& open) override {
    if (open.type == BlockType::Raw && !keeps_raw()) return;
    const bool is_first = !open.is_written;
    begin(open);
    if (open.type != BlockType::Raw && (!open.text.empty() || open.type == BlockType::Text)) {
      if (is_first) put_part_event(open, "added", "");
      const std::string type = std::string(form_of(open).events) + ".done";
      json::Writer out = at(type, open);
      put(type, out.key(form_of(open).all).string(open.text));
      put_part_event(open, "done", open.text);
    }
    put_item("response.output_item.done", open, true);
    items_[open.index] = item_of(open, true);
  }

  // The last response has it.
  void replaced(OpenBlock& open) override {
    if (!items_[open.index].is_null()) items_[open.index] = item_of(open, true);
  }

  void done(std::string_view word) override {
    const bool is_whole = word == "completed" || word.empty();
    const bool is_failed = word == "failed";
    const std::string_view status = is_whole ? "completed" : is_failed ? "failed" : "incomplete";
    const std::string type = "response." + std::string(status);
    json::Writer out = response(type, status);
    out.key("error");
    if (is_failed) {
      out.begin_object()
          .key("code")
          .string("server_error")
          .key("message")
          .string("the model failed")
          .end_object();
    } else {
      out.null();
    }
    out.key("incomplete_details");
    if (is_whole || is_failed) {
      out.null();
    } else {
      out.begin_object().key("reason").string(word).end_object();
    }
    out.key("output").begin_array();
    for (const Json& item : items_) {
      if (!item.is_null()) out.value(item);
    }
    out.end_array();
    if (usage() != Usage{}) {
      out.key("usage").begin_object();
      write_usage(out, dialect(), usage());
      out.end_object();
    }
    put(type, out.end_object());
  }

  void failed(const stream::Failed& failure) override {
    json::Writer out = typed("error");
    out.key("code").string(failure.kind).key("message").string(failure.error.message).key("param").null();
    put("error", out);
  }

  std::int64_t sequence_ = 0;
  std::vector<Json> items_;  // those that have ended; null until then
};

}  // namespace

std::unique_ptr<Encoder> responses_encoder(Dialect dialect, Dialect source) {
  return std::make_unique<ResponsesEncoder>(dialect, source);
}

}  // namespace parley::dialect
