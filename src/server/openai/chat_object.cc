#include "server/openai/chat_object.h"

#include <utility>
#include <variant>

#include "parley/dialect/dialect.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

std::int64_t count_or_zero(const std::optional<std::uint64_t>& count) {
  return static_cast<std::int64_t>(count.value_or(0));
}

void put_chat_usage(json::Writer& w, const Usage& usage) {
  const std::int64_t input = count_or_zero(usage.input), output = count_or_zero(usage.output);
  w.begin_object().key("prompt_tokens").number(input).key("completion_tokens").number(output);
  w.key("total_tokens").number(input + output);
  w.key("prompt_tokens_details").begin_object();
  w.key("cached_tokens").number(count_or_zero(usage.cache_read));
  w.key("cache_write_tokens")
      .number(count_or_zero(usage.cache_write))
      .key("audio_tokens")
      .number(0)
      .end_object();
  w.key("completion_tokens_details").begin_object();
  w.key("reasoning_tokens").number(count_or_zero(usage.reasoning)).key("audio_tokens").number(0);
  w.key("accepted_prediction_tokens").number(0).key("rejected_prediction_tokens").number(0).end_object();
  w.end_object();
}

// The texts of the blocks of one kind, joined as a stream joins them; nullopt: there is no such block.
template <typename Pick>
std::optional<std::string> joined_texts(const std::vector<Block>& blocks, Pick pick) {
  std::optional<std::string> out;
  for (const Block& block : blocks) {
    const std::optional<std::string_view> text = pick(block);
    if (!text) continue;
    if (out && !out->empty() && !text->empty()) *out += '\n';
    out = out.value_or("").append(*text);
  }
  return out;
}

void put_text_or_null(json::Writer& w, std::string_view key, const std::optional<std::string>& text) {
  w.key(key);
  if (text) {
    w.string(*text);
  } else {
    w.null();
  }
}

void put_tool_calls(json::Writer& w, const std::vector<Block>& blocks) {
  bool is_first = true;
  for (const Block& block : blocks) {
    const auto* use = block.as<ToolUseBlock>();
    if (use == nullptr) continue;
    if (std::exchange(is_first, false)) w.key("tool_calls").begin_array();
    const std::string_view kind = use->is_custom ? "custom" : "function";
    w.begin_object().key("id").string(use->id).key("type").string(kind).key(kind).begin_object();
    w.key("name").string(use->name).key(use->is_custom ? "input" : "arguments").string(use->arguments);
    w.end_object().end_object();
  }
  if (!is_first) w.end_array();
}

// Members of the answer's own wire that have no block: annotations with their places in the text, audio.
void put_wire_members(json::Writer& w, const Message& answer) {
  const Text text = answer.wire().value_or(Json()).text();
  const bool has_some = text.view().contains("\"annotations\"") || text.view().contains("\"audio\"");
  const Result<Json> wire = has_some ? to_dict(answer, Dialect::OpenAI) : Result<Json>(Json());
  const auto annotations = wire ? wire->get("annotations") : std::nullopt;
  w.key("annotations");
  if (annotations && annotations->is_array()) {
    w.value(annotations->compact());
  } else {
    w.begin_array().end_array();
  }
  if (const auto audio = wire ? wire->get("audio") : std::nullopt; audio && audio->is_object()) {
    w.key("audio").value(audio->compact());
  }
}

void put_message(json::Writer& w, const Message& answer) {
  const std::vector<Block> blocks = answer.blocks();
  const auto texts_of = [](bool is_refusal) {
    return [is_refusal](const Block& block) -> std::optional<std::string_view> {
      const auto* text = block.as<TextBlock>();
      return text != nullptr && text->is_refusal == is_refusal ? std::optional(text->text.view())
                                                               : std::nullopt;
    };
  };
  w.begin_object().key("role").string("assistant");
  put_text_or_null(w, "content", joined_texts(blocks, texts_of(false)));
  put_text_or_null(w, "refusal", joined_texts(blocks, texts_of(true)));
  put_wire_members(w, answer);
  const auto thinking = joined_texts(blocks, [](const Block& block) -> std::optional<std::string_view> {
    const auto* thought = block.as<ThinkingBlock>();
    return thought != nullptr && !thought->thinking.empty() ? std::optional(thought->thinking.view())
                                                            : std::nullopt;
  });
  if (thinking) w.key("reasoning_content").string(*thinking);
  put_tool_calls(w, blocks);
  w.end_object();
}

void put_head(json::Writer& w, std::string_view id, std::string_view object, std::int64_t created_s,
              std::string_view model) {
  w.begin_object().key("id").string(id).key("object").string(object).key("created").number(created_s);
  w.key("model").string(model).key("service_tier").string("default").key("system_fingerprint").null();
}

}  // namespace

std::string_view finish_reason(const TurnState& state) {
  if (state.reason == "content_filter") return "content_filter";
  if (state.reason == "max_output_tokens") return "length";
  switch (state.outcome.finish) {
    case Finish::Length:
    case Finish::ContextFull:
      return "length";
    case Finish::Filtered:
      return "content_filter";
    default:
      break;
  }
  return state.answer && state.answer->has_content_blocks(BlockType::ToolUse) ? "tool_calls" : "stop";
}

bool is_presentable(const TurnState& state) {
  if (state.status == TurnStatus::Completed) return true;
  return state.status == TurnStatus::Incomplete &&
         (state.reason == "max_output_tokens" || state.reason == "content_filter");
}

std::string completion_id(const TurnKey& key) {
  return to_id(kCompletionPrefix, {.session = key.session.session, .turn = key.id});
}

Json to_completion(const TurnState& state, const Json& metadata) {
  json::Writer w;
  put_head(w, completion_id(state.key), "chat.completion", state.created_ms / 1000, state.model);
  if (metadata.is_object()) w.key("metadata").value(metadata);
  w.key("choices").begin_array().begin_object().key("index").number(0).key("message");
  if (state.answer) {
    put_message(w, *state.answer);
  } else {
    put_message(w, Message::assistant_message(""));
  }
  w.key("logprobs").null().key("finish_reason").string(finish_reason(state)).end_object().end_array();
  put_chat_usage(w.key("usage"), state.outcome.usage);
  return w.end_object().take();
}

ChunkWriter::ChunkWriter(const TurnState& state, bool has_usage, Put put)
    : id_(completion_id(state.key)),
      model_(state.model),
      created_s_(state.created_ms / 1000),
      has_usage_(has_usage),
      put_(std::move(put)),
      before_delta_(choice().view()),
      after_delta_(R"(},"logprobs":null,"finish_reason":null}])") {
  after_delta_ += has_usage_ ? R"(,"usage":null})" : "}";
}

// A chunk up to its choices.
json::Writer ChunkWriter::chunk() const {
  json::Writer w;
  put_head(w, id_, "chat.completion.chunk", created_s_, model_);
  w.key("choices").begin_array();
  return w;
}

// A chunk up to the members of its delta.
json::Writer ChunkWriter::choice() const {
  json::Writer w = chunk();
  w.begin_object().key("index").number(0).key("delta").begin_object();
  return w;
}

void ChunkWriter::finish(json::Writer& w, std::string_view reason) {
  w.end_object().key("logprobs").null().key("finish_reason");
  if (reason.empty()) {
    w.null();
  } else {
    w.string(reason);
  }
  w.end_object().end_array();
  if (has_usage_) w.key("usage").null();
  put_(w.end_object().view());
}

void ChunkWriter::begin() {
  json::Writer w = choice();
  w.key("role").string("assistant").key("content").string("").key("refusal").null();
  finish(w);
}

// Most chunks are of this kind, so that what they share is written once.
void ChunkWriter::put_delta(std::string_view member, std::string_view text) {
  std::string out = before_delta_;
  out.append(1, '"').append(member).append("\":");
  json::append_string(out, text);
  put_(out.append(after_delta_));
}

// The first piece has the id and the name (CHAT4).
void ChunkWriter::put_call(OpenBlock& block, std::string_view arguments) {
  const bool is_first = !std::exchange(block.is_begun, true);
  if (is_first) block.call = calls_++;
  const std::string_view kind = block.is_custom ? "custom" : "function";
  json::Writer w = choice();
  w.key("tool_calls").begin_array().begin_object().key("index").number(block.call);
  if (is_first) w.key("id").string(block.id).key("type").string(kind);
  w.key(kind).begin_object();
  if (is_first) w.key("name").string(block.name);
  w.key(block.is_custom ? "input" : "arguments").string(arguments).end_object().end_object().end_array();
  finish(w);
}

void ChunkWriter::write(const StreamEvent& event) {
  if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
    OpenBlock& block = blocks_[start->block];
    block.type = start->type;
    block.is_refusal = start->is_refusal;
    block.is_custom = start->is_custom;
    block.id = start->id.str();
    block.name = start->name.str();
  } else if (const auto* delta = std::get_if<stream::Delta>(&event)) {
    write_delta(*delta);
  } else if (const auto* end = std::get_if<stream::BlockEnd>(&event)) {
    OpenBlock& block = blocks_[end->block];
    if (block.type == BlockType::ToolUse && !block.is_begun) put_call(block, "");
  }
}

void ChunkWriter::write_delta(const stream::Delta& delta) {
  OpenBlock& block = blocks_[delta.block];
  // What is sent stays sent: a text that replaces it is in the stored answer.
  if (delta.replaces && block.is_begun) return;
  if (delta.kind == stream::DeltaKind::Arguments) return put_call(block, delta.text);
  const bool is_thinking = delta.kind == stream::DeltaKind::Thinking;
  if ((!is_thinking && delta.kind != stream::DeltaKind::Text) || delta.text.empty()) return;
  block.is_begun = true;
  auto& last = is_thinking ? thinking_ : block.is_refusal ? refusal_ : text_;
  const bool is_next = last && *last != delta.block;  // a further text (CHAT3)
  last = delta.block;
  const std::string_view member = is_thinking        ? "reasoning_content"
                                  : block.is_refusal ? "refusal"
                                                     : "content";
  put_delta(member, is_next ? "\n" + std::string(delta.text) : std::string(delta.text));
}

void ChunkWriter::end(const TurnState& state) {
  json::Writer last = choice();
  finish(last, finish_reason(state));
  if (!has_usage_) return;
  json::Writer w = chunk();
  put_chat_usage(w.end_array().key("usage"), state.outcome.usage);
  put_(w.end_object().view());
}

}  // namespace parley::server
