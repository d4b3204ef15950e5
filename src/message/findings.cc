#include "message/findings.h"

#include <algorithm>
#include <map>

#include "json/pointer.h"
#include "message/arena.h"

namespace parley {
namespace {

// Where a place is in its document: the block if the wire had it in one piece, else the message.
std::uint32_t offset_of(const Arena& arena, const MessageRecord& record, Place place) {
  if (place.block == kWholeMessage) return record.wire.offset;
  const BlockRecord& block = arena.blocks(record)[place.block];
  if (place.child != kWholeMessage) {
    const BlockRecord& child = arena.children(block)[place.child];
    if (child.wire.present()) return child.wire.offset;
  }
  return block.wire.present() ? block.wire.offset : record.wire.offset;
}

std::string built_path(Place place) {
  std::string path = "/" + std::to_string(place.message);
  if (place.block != kWholeMessage) path += "/content/" + std::to_string(place.block);
  return path;
}

}  // namespace

void Findings::add(Findings more) {
  found_.insert(found_.end(), std::make_move_iterator(more.found_.begin()),
                std::make_move_iterator(more.found_.end()));
}

std::vector<Finding> Findings::finish(std::span<const Message> messages) {
  std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
    return std::pair(a.place.message, a.place.block + 1) < std::pair(b.place.message, b.place.block + 1);
  });
  std::vector<Finding> out;
  std::map<const Arena*, std::vector<std::pair<std::size_t, std::size_t>>> by_document;  // offset, finding
  for (Found& found : found_) {
    const Message& message = messages[found.place.message];
    const Arena& arena = Arena::of(message);
    const MessageRecord& record = Arena::record_of(message);
    if (record.wire.present())
      by_document[&arena].emplace_back(offset_of(arena, record, found.place), out.size());
    Finding finding{std::move(found.code), found.level, found.place.message,
                    std::nullopt,          {},          std::move(found.sentence)};
    if (found.place.block != kWholeMessage) finding.block_index = found.place.block;
    if (!record.wire.present()) finding.path = built_path(found.place);
    out.push_back(std::move(finding));
  }
  for (auto& [arena, places] : by_document) {
    std::sort(places.begin(), places.end());
    std::vector<std::size_t> offsets;
    for (const auto& place : places) offsets.push_back(place.first);
    std::vector<std::string> pointers = json::pointers_at(arena->text(), offsets);
    for (std::size_t i = 0; i < places.size(); ++i) out[places[i].second].path = std::move(pointers[i]);
  }
  return out;
}

}  // namespace parley
