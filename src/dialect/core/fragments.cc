#include "dialect/core/fragments.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "dialect/format.h"

namespace parley::dialect {
namespace {

using NoteRange = std::span<const Note>;

// What the fragments of one writing share. Each refers to its own notes.
struct Kept {
  Text document;
  std::vector<Note> notes;
  std::vector<NoteRange> ranges;
  std::size_t whole = 0;  // messages from the first of their document on whose history was found whole
};

// The messages are the first ones of one document.
bool are_first_of_one(std::span<const Message> messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const bool is_next =
        &Arena::of(messages[i]) == &Arena::of(messages[0]) && Arena::index_of(messages[i]) == i;
    if (!is_next) return false;
  }
  return true;
}

// The messages after the first are those that the fragment was written with.
bool is_of(const Fragment& fragment, std::span<const Message> group) {
  if (fragment.others.size() + 1 != group.size()) return false;
  for (std::size_t k = 1; k < group.size(); ++k) {
    const Fragment::Other& other = fragment.others[k - 1];
    const std::weak_ptr<const Arena> arena = Arena::of(group[k]).weak_from_this();
    const bool is_same = !other.arena.owner_before(arena) && !arena.owner_before(other.arena);
    if (!is_same || other.index != Arena::index_of(group[k])) return false;
  }
  return true;
}

}  // namespace

void keep_fragments(const Written& written) {
  auto kept = std::make_shared<Kept>();
  kept->document = written.document;
  if (written.is_whole && are_first_of_one(written.messages)) kept->whole = written.messages.size();
  std::size_t note_count = 0;
  for (const Made& made : written.made) note_count += made.note_count;
  kept->notes.reserve(note_count);
  kept->ranges.reserve(written.made.size());
  for (const Made& made : written.made) {
    const NoteRange own = written.notes.subspan(made.first_note, made.note_count);
    kept->notes.insert(kept->notes.end(), own.begin(), own.end());
    if (!own.empty()) kept->ranges.push_back(NoteRange(kept->notes).last(own.size()));
    const Message& message = written.messages[made.message];
    Fragment fragment{.dialect = tag(written.target),
                      .hints = made.hints,
                      .position = static_cast<std::uint32_t>(made.message),
                      .count = static_cast<std::uint32_t>(made.written),
                      .text = written.document.view().substr(made.start, made.size),
                      .others = {},
                      .notes = own.empty() ? nullptr : &kept->ranges.back(),
                      .owner = kept,
                      .next = nullptr};
    fragment.others.reserve(made.messages - 1);
    for (const Message& other : written.messages.subspan(made.message + 1, made.messages - 1)) {
      fragment.others.push_back({Arena::of(other).weak_from_this(), Arena::index_of(other)});
    }
    Arena::of(message).keep_fragment(Arena::index_of(message), std::move(fragment));
  }
}

const Fragment* kept_fragment(std::span<const Message> messages, std::size_t first, std::size_t size,
                              Dialect target, std::uint8_t hints) {
  const Message& message = messages[first];
  const auto position = static_cast<std::uint32_t>(first);
  const Fragment* kept = Arena::of(message).fragment(Arena::index_of(message), tag(target), hints, position);
  while (kept != nullptr && !is_of(*kept, messages.subspan(first, size))) {
    kept = Arena::next(kept, tag(target), hints, position);
  }
  return kept;
}

std::span<const Note> notes_of(const Fragment& fragment) {
  return fragment.notes == nullptr ? NoteRange() : *static_cast<const NoteRange*>(fragment.notes);
}

std::size_t found_whole(const Fragment& fragment, std::span<const Message> messages) {
  const std::size_t whole = static_cast<const Kept*>(fragment.owner.get())->whole;
  // The fragment is of the document that the messages are then all of.
  const bool is_known = fragment.position < whole && whole <= messages.size();
  return is_known && are_first_of_one(messages.first(whole)) ? whole : 0;
}

}  // namespace parley::dialect
