// The operations of a journal are varints: seven bits a byte, lowest first. The low three bits say what it
// is:
//
//   0  a delta of the selected block: the rest is its length in bytes
//   1  the end of a block: the rest is its place in blocks_
//   2  the start of a block: the rest is its place in starts_
//   3  a delta with a text of its own: the rest is its place in literals_
//   4  another block is selected: the rest is its place in blocks_
//
// So most deltas take one byte. Encoded:
//
//   journal  = version(1) count block* count start* count literal* string(operations)
//   block    = number source [string]      source 0: the text follows; N + 1: it is that of block N of the
//   message start    = block type flags string(id) string(name) literal  = block kind replaces string(text)
//   string   = length bytes                all numbers are varints
#include "parley/server/journal.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <variant>

namespace parley::server {
namespace {

enum Operation : std::uint64_t { kDelta, kEnd, kStart, kLiteral, kSelect };
constexpr std::uint64_t kVersion = 1;

void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
  out += static_cast<char>(value);
}

void put_operation(std::string& out, Operation operation, std::size_t value) {
  put_number(out, (std::uint64_t{value} << 3) | operation);
}

void put_string(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

// Reads what was put; a value that is not there makes it bad, and 0 or "".
class Source {
 public:
  explicit Source(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t out = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      out |= static_cast<std::uint64_t>(byte & 127) << shift;
      if (byte < 128) return out;
    }
    is_good_ = false;
    return 0;
  }
  // A number of things that take a byte each, at least.
  std::size_t count() {
    const std::uint64_t out = number();
    if (out <= rest_.size()) return out;
    is_good_ = false;
    return 0;
  }
  std::string string() {
    const std::size_t size = count();
    std::string out(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

stream::DeltaKind kind_of(BlockType type) {
  switch (type) {
    case BlockType::Thinking:
      return stream::DeltaKind::Thinking;
    case BlockType::ToolUse:
      return stream::DeltaKind::Arguments;
    case BlockType::Raw:
      return stream::DeltaKind::Json;
    default:
      return stream::DeltaKind::Text;
  }
}

// What the deltas of a block make, if a stored message has it to the byte: a raw block is stored in another
// spelling.
std::optional<Text> text_of(const Block& block) {
  if (const auto* text = std::get_if<TextBlock>(&block)) return text->text;
  if (const auto* thinking = std::get_if<ThinkingBlock>(&block)) return thinking->thinking;
  if (const auto* use = std::get_if<ToolUseBlock>(&block)) return use->arguments;
  return std::nullopt;
}

std::vector<Text> texts_of(const Message* message) {
  std::vector<Text> out;
  if (message == nullptr) return out;
  for (const Block& block : message->blocks()) out.push_back(text_of(block).value_or(Text()));
  return out;
}

std::unexpected<Error> damaged() { return fail(Code::Damaged, "the journal of an answer is damaged"); }

}  // namespace

std::size_t Journal::block_of(std::uint64_t number) {
  for (std::size_t i = blocks_.size(); i-- > 0;) {
    if (blocks_[i].number == number) return i;
  }
  blocks_.push_back({.number = number});
  return blocks_.size() - 1;
}

void Journal::select(std::size_t block) {
  if (block == block_) return;
  put_operation(operations_, kSelect, block);
  block_ = block;
}

void Journal::add(const StreamEvent& event) {
  if (const auto* delta = std::get_if<stream::Delta>(&event)) {
    add_delta(*delta);
  } else if (const auto* start = std::get_if<stream::BlockStart>(&event)) {
    add_start(*start);
  } else if (const auto* end = std::get_if<stream::BlockEnd>(&event)) {
    put_operation(operations_, kEnd, block_of(end->block));
  }
}

void Journal::add_start(const stream::BlockStart& start) {
  put_operation(operations_, kStart, starts_.size());
  starts_.push_back({block_of(start.block), start.type, start.is_refusal, start.is_custom, start.id.str(),
                     start.name.str()});
}

void Journal::add_delta(const stream::Delta& delta) {
  const std::size_t block = block_of(delta.block);
  const auto start = std::ranges::find(starts_, block, &Start::block);
  text_bytes_ += delta.text.size();
  if (delta.replaces || start == starts_.end() || kind_of(start->type) != delta.kind) {
    put_operation(operations_, kLiteral, literals_.size());
    literals_.push_back({block, delta.kind, delta.replaces, std::string(delta.text)});
    return;
  }
  select(block);
  blocks_[block].text += delta.text;
  put_operation(operations_, kDelta, delta.text.size());
}

void Journal::replay(Cursor& cursor, const OnStreamEvent& on_event) const {
  cursor.texts_.resize(blocks_.size());
  Source source(std::string_view(operations_).substr(cursor.at_));
  while (!source.is_at_end()) {
    const std::uint64_t operation = source.number();
    cursor.at_ = operations_.size() - source.left();
    const auto value = static_cast<std::size_t>(operation >> 3);
    switch (operation & 7) {
      case kDelta: {
        const GrowingBlock& block = blocks_[cursor.block_];
        std::size_t& at = cursor.texts_[cursor.block_];
        const auto start = std::ranges::find(starts_, cursor.block_, &Start::block);
        on_event(stream::Delta{block.number, kind_of(start->type),
                               std::string_view(block.text).substr(at, value), false});
        at += value;
        break;
      }
      case kEnd:
        on_event(stream::BlockEnd{blocks_[value].number});
        break;
      case kStart: {
        const Start& start = starts_[value];
        on_event(stream::BlockStart{blocks_[start.block].number, start.type, Text(start.id), Text(start.name),
                                    start.is_refusal, start.is_custom});
        break;
      }
      case kLiteral: {
        const Literal& literal = literals_[value];
        on_event(stream::Delta{blocks_[literal.block].number, literal.kind, literal.text, literal.replaces});
        break;
      }
      default:
        cursor.block_ = value;
    }
  }
}

std::size_t Journal::bytes() const {
  return sizeof(*this) + text_bytes_ + operations_.capacity() + blocks_.size() * sizeof(GrowingBlock) +
         starts_.size() * sizeof(Start) + literals_.size() * sizeof(Literal);
}

std::string Journal::encode(const Message* message) const {
  // Blocks stand in a message in the order of their numbers; it may lack some.
  std::vector<std::size_t> order(blocks_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [this](std::size_t i) { return blocks_[i].number; });
  const std::vector<Text> texts = texts_of(message);
  std::vector<std::size_t> sources(blocks_.size(), 0);
  std::size_t next = 0;
  for (const std::size_t i : order) {
    const auto found = std::find_if(texts.begin() + static_cast<std::ptrdiff_t>(next), texts.end(),
                                    [&](const Text& text) { return text.view() == blocks_[i].text; });
    if (found == texts.end() || blocks_[i].text.empty()) continue;
    next = static_cast<std::size_t>(found - texts.begin()) + 1;
    sources[i] = next;
  }

  std::string out;
  put_number(out, kVersion);
  put_number(out, blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    put_number(out, blocks_[i].number);
    put_number(out, sources[i]);
    if (sources[i] == 0) put_string(out, blocks_[i].text);
  }
  put_number(out, starts_.size());
  for (const Start& start : starts_) {
    put_number(out, start.block);
    put_number(out, static_cast<std::uint64_t>(start.type));
    put_number(out, (start.is_refusal ? 1U : 0U) | (start.is_custom ? 2U : 0U));
    put_string(out, start.id);
    put_string(out, start.name);
  }
  put_number(out, literals_.size());
  for (const Literal& literal : literals_) {
    put_number(out, literal.block);
    put_number(out, static_cast<std::uint64_t>(literal.kind));
    put_number(out, literal.replaces ? 1 : 0);
    put_string(out, literal.text);
  }
  put_string(out, operations_);
  return out;
}

Result<Journal> Journal::decode(std::string_view bytes, const Message* message) {
  Source source(bytes);
  const std::vector<Text> texts = texts_of(message);
  Journal out;
  if (source.number() != kVersion) return damaged();
  for (std::size_t i = source.count(); i > 0 && source.is_good(); --i) {
    GrowingBlock block{.number = source.number()};
    const std::uint64_t place = source.number();
    if (place > texts.size()) return damaged();
    block.text = place == 0 ? source.string() : texts[place - 1].str();
    out.text_bytes_ += block.text.size();
    out.blocks_.push_back(std::move(block));
  }
  for (std::size_t i = source.count(); i > 0 && source.is_good(); --i) {
    Start start{.block = static_cast<std::size_t>(source.number()),
                .type = static_cast<BlockType>(source.number())};
    const std::uint64_t flags = source.number();
    start.is_refusal = (flags & 1) != 0;
    start.is_custom = (flags & 2) != 0;
    start.id = source.string();
    start.name = source.string();
    out.starts_.push_back(std::move(start));
  }
  for (std::size_t i = source.count(); i > 0 && source.is_good(); --i) {
    Literal literal{.block = static_cast<std::size_t>(source.number()),
                    .kind = static_cast<stream::DeltaKind>(source.number())};
    literal.replaces = source.number() != 0;
    literal.text = source.string();
    out.text_bytes_ += literal.text.size();
    out.literals_.push_back(std::move(literal));
  }
  out.operations_ = source.string();
  if (!source.is_good() || !source.is_at_end()) return damaged();
  PARLEY_CHECK(out.check());
  return out;
}

// Whether replay() stays within the blocks. Finds the selected block, too.
Result<void> Journal::check() {
  std::vector<std::size_t> lengths(blocks_.size());
  const auto has_block = [this](std::size_t block) { return block < blocks_.size(); };
  for (const Start& start : starts_) {
    if (!has_block(start.block) || start.type > BlockType::Raw) return damaged();
  }
  for (const Literal& literal : literals_) {
    if (!has_block(literal.block) || literal.kind > stream::DeltaKind::Json) return damaged();
  }
  Source source(operations_);
  while (source.is_good() && !source.is_at_end()) {
    const std::uint64_t operation = source.number();
    const std::uint64_t value = operation >> 3;
    switch (operation & 7) {
      case kDelta:
        if (!has_block(block_) || value > blocks_[block_].text.size() - lengths[block_] ||
            std::ranges::find(starts_, block_, &Start::block) == starts_.end()) {
          return damaged();
        }
        lengths[block_] += static_cast<std::size_t>(value);
        break;
      case kStart:
        if (value >= starts_.size()) return damaged();
        break;
      case kLiteral:
        if (value >= literals_.size()) return damaged();
        break;
      case kSelect:
      case kEnd:
        if (value >= blocks_.size()) return damaged();
        if ((operation & 7) == kSelect) block_ = static_cast<std::size_t>(value);
        break;
      default:
        return damaged();
    }
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (lengths[i] != blocks_[i].text.size()) return damaged();
  }
  return source.is_good() ? Result<void>() : damaged();
}

}  // namespace parley::server
