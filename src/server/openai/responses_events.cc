#include "server/openai/responses_events.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "parley/dialect/dialect.h"
#include "server/openai/items.h"
#include "server/openai/responses_object.h"
#include "server/openai/responses_signature.h"
#include "server/turn_id.h"

namespace parley::server {
namespace {

// How the events of a block are called.
struct EventNames {
  std::string_view item;   // the type of the item
  std::string_view delta;  // the event of more text
  std::string_view done;   // the event of all of it,
  std::string_view all;    // and its member
  std::string_view index;  // the member that counts parts; "" without parts
};

const EventNames& event_names(BlockType type, bool is_refusal, bool is_custom) {
  static constexpr EventNames kText = {"message", "response.output_text.delta", "response.output_text.done",
                                       "text", "content_index"};
  static constexpr EventNames kRefusal = {"message", "response.refusal.delta", "response.refusal.done",
                                          "refusal", "content_index"};
  static constexpr EventNames kThinking = {"reasoning", "response.reasoning_summary_text.delta",
                                           "response.reasoning_summary_text.done", "text", "summary_index"};
  static constexpr EventNames kCall = {"function_call", "response.function_call_arguments.delta",
                                       "response.function_call_arguments.done", "arguments", ""};
  static constexpr EventNames kCustom = {"custom_tool_call", "response.custom_tool_call_input.delta",
                                         "response.custom_tool_call_input.done", "input", ""};
  if (type == BlockType::ToolUse) return is_custom ? kCustom : kCall;
  if (type == BlockType::Thinking) return kThinking;
  return is_refusal ? kRefusal : kText;
}

Json summary_part(std::string_view text) {
  json::Writer w;
  return w.begin_object().key("type").string("summary_text").key("text").string(text).end_object().take();
}

// The block of a raw stream block, as the dialect reads it: its own, or media.
std::optional<Block> raw_block_of(std::string_view dialect, std::string_view json) {
  Accumulator accumulator(dialect_named(dialect).value_or(Dialect::Responses));
  accumulator.add(stream::BlockStart{0, BlockType::Raw, {}, {}});
  accumulator.add(stream::Delta{.kind = stream::DeltaKind::Json, .text = json});
  accumulator.add(stream::BlockEnd{});
  const std::vector<Block> blocks = accumulator.take().message.blocks();
  return blocks.empty() ? std::nullopt : std::optional(blocks.front());
}

}  // namespace

ResponsesEvents::ResponsesEvents(std::vector<std::string> include, OnEvent on_event)
    : include_(std::move(include)), on_event_(std::move(on_event)) {}

// ---- The turn

void ResponsesEvents::begin(const TurnState& state) {
  key_ = state.key;
  dialect_ = state.dialect;
  shows_encrypted_ = server::shows_encrypted(state, include_);
  const Json created = to_response(state, ResponseMoment::Created);
  put_response("response.created", created);
  if (state.request.get("background").value_or(Json()).as_bool().value_or(false)) {
    put_response("response.queued", created);
    put_response("response.in_progress", to_response(state, ResponseMoment::InProgress));
  } else {
    put_response("response.in_progress", created);
  }
}

void ResponsesEvents::follow(const Journal& journal) {
  journal.replay(cursor_, [this](const StreamEvent& event) { take(event); });
}

void ResponsesEvents::end(const TurnState& state, const Journal& journal) {
  follow(journal);
  if (journal.empty() && state.answer) replay_answer(*state.answer);
  const Json response = to_response(state, ResponseMoment::Now, include_);
  const std::size_t kept = response.get("output").value_or(Json()).elements().size();
  // An answer that is nothing but an empty text has an item all the same.
  if (items_.empty() && kept == 1 && !blocks_.empty()) {
    auto& [number, block] = *blocks_.begin();
    if (block.type == BlockType::Text) write_block(number, block);
  }
  finish_all(kept, state.status == TurnStatus::Completed);
  put_response(terminal_event(state), response);
}

// ---- The answer

void ResponsesEvents::take(const StreamEvent& event) {
  if (const auto* delta = std::get_if<stream::Delta>(&event)) {
    add_delta(*delta);
  } else if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
    start_block(*start);
  } else if (const auto* ended = std::get_if<stream::BlockEnd>(&event)) {
    end_block(ended->block);
  }
}

// A second start corrects the names, which some servers send late.
void ResponsesEvents::start_block(const stream::BlockStart& start) {
  LiveBlock& block = blocks_[start.block];
  block.id = start.id;
  block.name = start.name;
  if (block.is_written) return;
  block.type = start.type;
  block.is_refusal = start.is_refusal;
  block.is_custom = start.is_custom;
}

void ResponsesEvents::add_delta(const stream::Delta& delta) {
  if (last_ == nullptr || last_number_ != delta.block) {
    const auto found = blocks_.find(delta.block);
    if (found == blocks_.end()) return;  // S3: no reader does this
    last_ = &found->second;
    last_number_ = delta.block;
  }
  if (delta.kind == stream::DeltaKind::Json) {
    last_->text = delta.text;
  } else if (delta.kind == stream::DeltaKind::Signature) {
    last_->signature = delta.text;
    if (!last_->is_written && !delta.text.empty()) write_block(delta.block, *last_);
  } else {
    add_text(delta.block, *last_, delta);
  }
}

void ResponsesEvents::add_text(std::uint64_t number, LiveBlock& block, const stream::Delta& delta) {
  if (block.is_done) return;  // the last response has it
  std::string_view more = delta.text;
  bool is_more = true;
  if (delta.replaces) {
    is_more = delta.text.starts_with(block.text);
    if (is_more) more.remove_prefix(block.text.size());
    block.text = delta.text;
  } else {
    block.text += delta.text;
  }
  if (block.text.empty()) return;
  if (!block.is_written) write_block(number, block);
  if (is_more && !more.empty()) write_delta(block, more);
}

void ResponsesEvents::end_block(std::uint64_t number) {
  const auto found = blocks_.find(number);
  if (found == blocks_.end()) return;
  LiveBlock& block = found->second;
  block.has_ended = true;
  if (block.type == BlockType::Raw && !std::exchange(block.is_written, true)) {
    if (const auto other = raw_block_of(dialect_, block.text)) write_other(*other);
  }
  if (block.type == BlockType::ToolUse && !block.is_written) write_block(number, block);
}

void ResponsesEvents::replay_answer(const Message& answer) {
  std::uint64_t number = 0;
  for (const Block& block : answer.blocks()) {
    stream::BlockStart start{number, block.type(), {}, {}};
    const auto add = [&](stream::DeltaKind kind, const Text& text) {
      take(start);
      take(stream::Delta{number, kind, text.view()});
    };
    if (const auto* text = block.as<TextBlock>()) {
      start.is_refusal = text->is_refusal;
      add(stream::DeltaKind::Text, text->text);
    } else if (const auto* thinking = block.as<ThinkingBlock>()) {
      add(stream::DeltaKind::Thinking, thinking->thinking);
      take(stream::Delta{number, stream::DeltaKind::Signature, thinking->signature.view(), true});
    } else if (const auto* use = block.as<ToolUseBlock>()) {
      start.id = use->id;
      start.name = use->name;
      start.is_custom = use->is_custom;
      add(stream::DeltaKind::Arguments, use->arguments);
    } else {
      write_other(block);
    }
    take(stream::BlockEnd{number++});
  }
}

// ---- Items

// The first content of a block: it is one more part of the last item, or an item (ITEM4).
void ResponsesEvents::write_block(std::uint64_t number, LiveBlock& block) {
  block.is_written = true;
  const bool has_parts = block.type != BlockType::ToolUse;
  bool joins = has_parts && !items_.empty() && items_.back().type == block.type && !items_.back().is_done;
  if (joins) {
    LiveBlock& before = blocks_[items_.back().blocks.back()];
    joins = before.signature.empty();  // a signature ends the run
    if (joins) finish_part(before);
  }
  if (!joins) {
    finish_before_next();
    begin_item(block);
  }
  items_.back().blocks.push_back(number);
  block.item = items_.size() - 1;
  block.part = items_.back().parts;
  json::Writer place;
  put_place(place.begin_object(), block);
  block.place = place.view().substr(1);
  if (has_parts && (block.type == BlockType::Text || !block.text.empty())) begin_part(block);
}

void ResponsesEvents::begin_item(const LiveBlock& block) {
  const std::string_view type = event_names(block.type, block.is_refusal, block.is_custom).item;
  items_.push_back({.type = block.type, .id = item_id(type)});
  const ItemParts item{.type = block.type,
                       .id = items_.back().id,
                       .status = ItemStatus::InProgress,
                       .call_id = block.id,
                       .name = block.name,
                       .is_custom = block.is_custom};
  put_item("response.output_item.added", items_.size() - 1, to_item(item));
}

void ResponsesEvents::begin_part(LiveBlock& block) {
  block.has_part = true;
  ++items_.back().parts;
  const bool is_summary = block.type == BlockType::Thinking;
  const std::string_view type =
      is_summary ? "response.reasoning_summary_part.added" : "response.content_part.added";
  json::Writer w = part_event(type, block);
  put(type, w.key("part").value(is_summary ? summary_part("") : to_part({{}, block.is_refusal})));
}

void ResponsesEvents::write_delta(const LiveBlock& block, std::string_view text) {
  const std::string_view type = event_names(block.type, block.is_refusal, block.is_custom).delta;
  json_.assign("{\"type\":\"").append(type).append("\",\"sequence_number\":");
  json_.append(std::to_string(sequence_)).append(",").append(block.place).append(",\"delta\":");
  json::append_string(json_, text);
  json_ += block.type == BlockType::Text && !block.is_refusal ? ",\"logprobs\":[]}" : "}";
  send(type, json_);
}

void ResponsesEvents::write_other(const Block& block) {
  const auto message = MessageBuilder(Role::Assistant).anonymous().block(block).build();
  if (!message) return;
  const TurnId turn{key_.session.session, key_.id};
  std::vector<Json> items = answer_items(*message, turn);
  if (items.empty()) return;
  Json& item = items.front();
  // An item that has no id of its own has that of the first item.
  const std::string type = item_type(item);
  const bool is_derived =
      item.get("id").value_or(Json()).as_string() == to_id(item_prefix(type), {turn.session, turn.turn, "0"});
  if (is_derived) item = with_item_id(item, item_id(type));
  finish_before_next();
  items_.push_back({.type = BlockType::Raw, .is_done = true});
  put_item("response.output_item.added", items_.size() - 1, item);
  put_item("response.output_item.done", items_.size() - 1, item);
}

void ResponsesEvents::finish_part(LiveBlock& block) {
  if (std::exchange(block.is_done, true)) return;
  const bool is_call = block.type == BlockType::ToolUse;
  if (!is_call && !block.has_part) return;
  const EventNames& names = event_names(block.type, block.is_refusal, block.is_custom);
  json::Writer all = part_event(names.done, block);
  all.key(names.all).string(block.text);
  if (block.type == BlockType::Text && !block.is_refusal) all.key("logprobs").begin_array().end_array();
  put(names.done, all);
  if (is_call) return;
  const bool is_summary = block.type == BlockType::Thinking;
  const std::string_view type =
      is_summary ? "response.reasoning_summary_part.done" : "response.content_part.done";
  json::Writer w = part_event(type, block);
  put(type,
      w.key("part").value(is_summary ? summary_part(block.text) : to_part({block.text, block.is_refusal})));
}

void ResponsesEvents::finish_item(std::size_t index, ItemStatus status) {
  LiveItem& item = items_[index];
  if (std::exchange(item.is_done, true)) return;
  for (const std::uint64_t number : item.blocks) finish_part(blocks_[number]);
  put_item("response.output_item.done", index, item_json(item, status));
  for (const std::uint64_t number : item.blocks) std::string().swap(blocks_[number].text);
}

// Something else begins. A call is whole only at its end: its client may run it.
void ResponsesEvents::finish_before_next() {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].is_done) continue;
    if (items_[i].type == BlockType::ToolUse && !blocks_[items_[i].blocks.front()].has_ended) continue;
    finish_item(i, ItemStatus::Completed);
  }
}

// `kept`: the number of items that the answer has.
void ResponsesEvents::finish_all(std::size_t kept, bool is_whole) {
  for (std::size_t i = 0; i < std::min(items_.size(), kept); ++i) {
    const bool is_last = i + 1 == kept;
    finish_item(i, is_last && !is_whole ? ItemStatus::Incomplete : ItemStatus::Completed);
  }
}

// ---- JSON

Json ResponsesEvents::item_json(const LiveItem& item, ItemStatus status) const {
  ItemParts out{.type = item.type, .id = item.id, .status = status};
  std::string sealed;
  for (const std::uint64_t number : item.blocks) {
    const LiveBlock& block = blocks_.at(number);
    if (block.has_part) out.parts.push_back({block.text, block.is_refusal});
    if (shows_encrypted_) sealed = sealed_signature(dialect_, block.signature);
    if (item.type != BlockType::ToolUse) continue;
    out.call_id = block.id;
    out.name = block.name;
    out.arguments = block.text;
    out.is_custom = block.is_custom;
  }
  out.encrypted = sealed;
  return to_item(out);
}

std::string ResponsesEvents::item_id(std::string_view type) const {
  return to_id(item_prefix(type), {key_.session.session, key_.id, std::to_string(items_.size())});
}

json::Writer ResponsesEvents::event(std::string_view type) {
  json::Writer w;
  w.begin_object().key("type").string(type).key("sequence_number").number(sequence_);
  return w;
}

json::Writer ResponsesEvents::part_event(std::string_view type, const LiveBlock& block) {
  json::Writer w = event(type);
  put_place(w, block);
  return w;
}

void ResponsesEvents::put_place(json::Writer& w, const LiveBlock& block) const {
  w.key("item_id").string(items_[block.item].id);
  w.key("output_index").number(static_cast<std::int64_t>(block.item));
  const std::string_view index = event_names(block.type, block.is_refusal, block.is_custom).index;
  if (!index.empty()) w.key(index).number(static_cast<std::int64_t>(block.part));
}

void ResponsesEvents::put(std::string_view type, json::Writer& event) {
  send(type, event.end_object().view());
}

void ResponsesEvents::put_response(std::string_view type, const Json& response) {
  json::Writer w = event(type);
  put(type, w.key("response").value(response));
}

void ResponsesEvents::put_item(std::string_view type, std::size_t index, const Json& item) {
  json::Writer w = event(type);
  put(type, w.key("output_index").number(static_cast<std::int64_t>(index)).key("item").value(item));
}

void ResponsesEvents::send(std::string_view type, std::string_view json) {
  on_event_(type, sequence_++, json);
}

}  // namespace parley::server
