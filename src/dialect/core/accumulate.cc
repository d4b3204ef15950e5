#include <utility>

#include "base/append_large.h"
#include "dialect/format.h"
#include "message/edit.h"
#include "parley/base/text.h"
#include "parley/dialect/stream.h"
#include "parley/json/writer.h"

namespace parley {
namespace {

// Media that a stream has as a raw block, read as those of an answer in one piece; nothing if the block is no
// media, or says more than a media block can.
std::optional<Block> media_of(const Json& raw, Dialect dialect) {
  const dialect::StreamFormat* stream = dialect::stream_of(dialect);
  if (stream == nullptr || !stream->has_raw_media) return std::nullopt;
  const auto& envelope = dialect::format_of(dialect).envelope;
  const Json role = Json::parse(envelope.no_message).value_or(Json()).get(envelope.role).value_or(Json());
  json::Writer message;
  message.begin_object().key(envelope.role).value(role);
  message.key(envelope.content).begin_array().value(raw).end_array().end_object();
  const Result<Message> read = from_dict(message.take(), dialect);
  if (!read || has_more(*read)) return std::nullopt;
  std::vector<Block> media =
      read->get_content_blocks({BlockType::Image, BlockType::Audio, BlockType::Video, BlockType::Document});
  return media.size() == 1 ? std::optional(std::move(media.front())) : std::nullopt;
}

constexpr std::size_t kNoteBytes = 4096;  // of arguments, in a note

}  // namespace

void Accumulator::add_delta(const stream::Delta& delta) {
  if (last_ == nullptr || last_number_ != delta.block) {
    const auto found = blocks_.find(delta.block);
    if (found == blocks_.end()) return;  // S3: no reader does this
    last_ = &found->second;
    last_number_ = delta.block;
  }
  std::string& text = delta.kind == stream::DeltaKind::Signature ? last_->signature : last_->text;
  if (delta.replaces) text.clear();
  append_large(text, delta.text);
}

void Accumulator::add(const StreamEvent& event) {
  if (const auto* delta = std::get_if<stream::Delta>(&event)) {
    add_delta(*delta);
  } else if (const auto* start = std::get_if<stream::Start>(&event)) {
    outcome_.id = start->id;
    outcome_.model = start->model;
  } else if (const auto* block = std::get_if<stream::BlockStart>(&event)) {
    Growing& growing = blocks_[block->block];
    growing.type = block->type;
    growing.id = block->id;
    growing.name = block->name;
    growing.is_refusal = block->is_refusal;
    growing.is_custom = block->is_custom;
    newest_ = block->block;
  } else if (const auto* ended = std::get_if<stream::BlockEnd>(&event)) {
    if (const auto found = blocks_.find(ended->block); found != blocks_.end()) found->second.has_ended = true;
  } else if (const auto* usage = std::get_if<stream::UsageUpdate>(&event)) {
    outcome_.usage = usage->usage;
  } else if (const auto* done = std::get_if<stream::Done>(&event)) {
    outcome_.finish = done->finish;
    outcome_.raw_finish = done->raw;
    is_done_ = true;
  } else if (const auto* failed = std::get_if<stream::Failed>(&event)) {
    failure_ = *failed;
  }
}

void Accumulator::shorten(std::size_t most_bytes) {
  auto kept = blocks_.begin();
  for (; kept != blocks_.end(); ++kept) {
    Growing& growing = kept->second;
    const std::size_t size = growing.text.size() + growing.signature.size();
    if (size > most_bytes) {
      if (growing.type != BlockType::Text) break;
      const std::string head = growing.text.substr(0, most_bytes + 1);
      growing.text = is_utf8(growing.text) ? head.substr(0, utf8_floor(growing.text, most_bytes)) : head;
      ++kept;
      break;
    }
    most_bytes -= size;
  }
  blocks_.erase(kept, blocks_.end());
  last_ = nullptr;
}

// A block that was not ended and cannot be taken for whole.
bool Accumulator::is_cut(std::uint64_t number, const Growing& growing) const {
  if (growing.has_ended) return false;
  switch (growing.type) {
    case BlockType::ToolUse:
      return growing.is_custom || !Json::parse(growing.text).has_value();
    case BlockType::Thinking:
      // Some dialects end nothing before the end, so what another block follows is whole.
      return growing.signature.empty() && number == newest_;
    default:
      return false;
  }
}

// Nothing for a raw block whose JSON never came.
std::optional<Block> Accumulator::block_of(Growing& growing) const {
  // Deltas are UTF-8 each (S6), and so is their sum; events from elsewhere might be anything.
  const auto text_of = [](std::string& bytes) {
    return is_utf8(bytes) ? Text::checked(std::move(bytes)).value_or(Text()) : Text(bytes);
  };
  const Text origin = Text::trusted(nullptr, to_string(dialect_));
  switch (growing.type) {
    case BlockType::Thinking:
      return ThinkingBlock{text_of(growing.text), text_of(growing.signature), origin};
    case BlockType::ToolUse:
      return ToolUseBlock{growing.id, growing.name, text_of(growing.text), growing.is_custom};
    case BlockType::Raw: {
      auto json = Json::parse(growing.text);
      if (!json) return std::nullopt;
      if (auto media = media_of(*json, dialect_)) return media;
      return RawBlock{origin, *std::move(json)};
    }
    default:
      return TextBlock{text_of(growing.text), growing.is_refusal};
  }
}

Note Accumulator::note_of(const Growing& growing, std::size_t position) const {
  const bool is_call = growing.type == BlockType::ToolUse;
  std::string detail = is_call ? "the stream ended within the arguments of a call of '" + growing.name.str() +
                                     "': " + growing.text.substr(0, kNoteBytes)
                               : "the stream ended within thinking that is not signed";
  return {is_call ? "call_incomplete" : "thinking_incomplete",
          is_call ? Severity::Major : Severity::Minor,
          std::nullopt,
          position,
          to_string(dialect_),
          "dropped",
          Text(detail)};
}

Accumulated Accumulator::take() {
  std::vector<Block> blocks;
  std::vector<Note> notes;
  blocks.reserve(blocks_.size());
  std::size_t position = 0;
  for (auto& [number, growing] : blocks_) {
    if (!is_done_ && is_cut(number, growing)) {
      notes.push_back(note_of(growing, position++));
      continue;
    }
    ++position;
    if (auto block = block_of(growing)) blocks.push_back(*std::move(block));
  }
  // A message of such blocks can always be built.
  Accumulated out{MessageBuilder(Role::Assistant).blocks(std::move(blocks)).build().value(),
                  std::exchange(outcome_, {}), !std::exchange(is_done_, false),
                  std::exchange(failure_, std::nullopt), std::move(notes)};
  blocks_.clear();
  last_ = nullptr;
  newest_ = 0;
  return out;
}

}  // namespace parley
