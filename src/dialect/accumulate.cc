#include "parley/dialect/accumulate.h"

#include <utility>

namespace parley {

void Accumulator::add_delta(const stream::Delta& delta) {
  if (last_ == nullptr || last_number_ != delta.block) {
    const auto found = parts_.find(delta.block);
    if (found == parts_.end()) return;  // S3: no reader does this
    last_ = &found->second;
    last_number_ = delta.block;
  }
  std::string& text = delta.kind == stream::Fragment::Signature ? last_->signature : last_->text;
  if (delta.replaces) text.clear();
  text.append(delta.text);
}

void Accumulator::add(const StreamEvent& event) {
  if (const auto* delta = std::get_if<stream::Delta>(&event)) {
    add_delta(*delta);
  } else if (const auto* start = std::get_if<stream::Start>(&event)) {
    outcome_.id = start->id;
    outcome_.model = start->model;
  } else if (const auto* block = std::get_if<stream::BlockStart>(&event)) {
    Part& part = parts_[block->block];
    part.type = block->type;
    part.id = block->id;
    part.name = block->name;
    newest_ = block->block;
  } else if (const auto* ended = std::get_if<stream::BlockEnd>(&event)) {
    if (const auto found = parts_.find(ended->block); found != parts_.end()) found->second.has_ended = true;
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

// A block that was not ended and cannot be taken for whole.
bool Accumulator::is_cut(std::uint64_t number, const Part& part) const {
  if (part.has_ended) return false;
  switch (part.type) {
    case BlockType::ToolUse:
      return !Json::parse(part.text).has_value();
    case BlockType::Thinking:
      // Some dialects end nothing before the end, so what another block follows is whole.
      return part.signature.empty() && number == newest_;
    default:
      return false;
  }
}

// Nothing for a raw block whose JSON never came. Fragments are UTF-8 each (S6), and so is their sum.
std::optional<Block> Accumulator::block_of(Part& part) const {
  const auto text_of = [](std::string& bytes) { return Text::adopt(std::move(bytes)).value_or(Text()); };
  const Text origin = Text::trusted(nullptr, to_string(dialect_));
  switch (part.type) {
    case BlockType::Thinking:
      return ThinkingBlock{text_of(part.text), text_of(part.signature), origin};
    case BlockType::ToolUse:
      return ToolUseBlock{part.id, part.name, text_of(part.text)};
    case BlockType::Raw:
      if (part.text.empty()) return std::nullopt;
      return RawBlock{origin, Json::trusted(text_of(part.text))};
    default:
      return TextBlock{text_of(part.text)};
  }
}

Note Accumulator::note_of(const Part& part, std::size_t position) const {
  const bool is_call = part.type == BlockType::ToolUse;
  std::string detail =
      is_call ? "the stream ended within the arguments of a call of '" + part.name.str() + "': " + part.text
              : "the stream ended within thinking that is not signed";
  return {is_call ? "call_incomplete" : "thinking_incomplete",
          is_call ? Severity::Major : Severity::Minor,
          std::nullopt,
          position,
          to_string(dialect_),
          "dropped",
          Text::repaired(detail)};
}

Accumulated Accumulator::take() {
  std::vector<Block> blocks;
  std::vector<Note> notes;
  blocks.reserve(parts_.size());
  std::size_t position = 0;
  for (auto& [number, part] : parts_) {
    if (!is_done_ && is_cut(number, part)) {
      notes.push_back(note_of(part, position++));
      continue;
    }
    ++position;
    if (auto block = block_of(part)) blocks.push_back(*std::move(block));
  }
  // A message of such blocks can always be built.
  Accumulated out{MessageBuilder(Role::Assistant).blocks(std::move(blocks)).build().value(),
                  std::exchange(outcome_, {}), !std::exchange(is_done_, false),
                  std::exchange(failure_, std::nullopt), std::move(notes)};
  parts_.clear();
  last_ = nullptr;
  newest_ = 0;
  return out;
}

}  // namespace parley
