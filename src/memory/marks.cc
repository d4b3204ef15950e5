// Marks, pins and removal: whatever names a message means its whole unit.
#include <algorithm>
#include <iterator>
#include <set>

#include "memory/state.h"
#include "parley/memory/memory.h"

namespace parley {
namespace memory {
namespace {

bool insert(CopyOnWrite<Positions>& into, Position unit) {
  const auto place = std::lower_bound(into->begin(), into->end(), unit) - into->begin();
  if (place != std::ssize(*into) && (*into)[static_cast<std::size_t>(place)] == unit) return false;
  Positions& own = into.own();
  own.insert(own.begin() + place, unit);
  return true;
}

bool erase(CopyOnWrite<Positions>& from, Position unit) {
  const auto place = std::lower_bound(from->begin(), from->end(), unit) - from->begin();
  if (place == std::ssize(*from) || (*from)[static_cast<std::size_t>(place)] != unit) return false;
  Positions& own = from.own();
  own.erase(own.begin() + place);
  return true;
}

void make_set(Positions& positions) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
}

}  // namespace

bool State::has_mark(std::string_view mark, Position unit) const {
  const auto found = marks->find(mark);
  return found != marks->end() && std::binary_search(found->second->begin(), found->second->end(), unit);
}

void State::add_mark(const Text& mark, const Positions& units) {
  if (units.empty()) return;
  CopyOnWrite<Positions>& having = marks.own()[mark.str()];
  if (having->empty() || having->back() < units.front()) {
    Positions& own = having.own();
    own.insert(own.end(), units.begin(), units.end());
    return;
  }
  Positions both;
  std::set_union(having->begin(), having->end(), units.begin(), units.end(), std::back_inserter(both));
  having.set(std::move(both));
}

void State::remove_mark(const Text& mark, const Positions& units) {
  if (units.empty()) return;
  CopyOnWrite<Positions>& having = marks.own()[mark.str()];
  Positions left;
  std::set_difference(having->begin(), having->end(), units.begin(), units.end(), std::back_inserter(left));
  if (left.empty()) {
    marks.own().erase(mark.str());
  } else {
    having.set(std::move(left));
  }
}

Result<void> State::pin(const Text& id, bool is_pinned) {
  const Positions units = units_of_ids({&id, 1});
  if (units.empty()) return fail(Code::NotFound, "the window has no message with id '" + id.str() + "'");
  for (const Position unit : units) is_pinned ? insert(pins, unit) : erase(pins, unit);
  return {};
}

Positions State::units_of_ids(std::span<const Text> ids) const {
  Positions units;
  if (has_repeated_ids_) {
    const std::set<std::string_view> wanted(ids.begin(), ids.end());
    view.each([&](Position position) {
      const auto id = view.log[position].message.id();
      if (id && wanted.contains(id->view())) units.push_back(view.log[position].unit);
      return true;
    });
  } else {
    for (const Text& id : ids) {
      const std::optional<Position> position = find(id);
      if (position && view.holds(*position)) units.push_back(view.log[*position].unit);
    }
  }
  make_set(units);
  return units;
}

Positions State::units_of_marks(std::span<const Text> of) const {
  Positions units;
  for (const Text& mark : of) {
    const auto found = marks->find(mark.view());
    if (found == marks->end()) continue;
    for (const Position unit : *found->second) {
      if (view.holds(unit)) units.push_back(unit);
    }
  }
  make_set(units);
  return units;
}

Result<Change> State::remove(const Positions& units) {
  if (open.is_open() && std::binary_search(units.begin(), units.end(), open.unit)) {
    return fail(Code::Invalid, "the exchange is open: its calls wait for results");
  }
  Change change;
  change.evicted = apply(without_units(units), Fate::Removed);
  change.count = change.evicted.size();
  settle();
  return change;
}

}  // namespace memory

using memory::Position;
using memory::Positions;
using memory::State;

Result<Change> Memory::remove(std::size_t index) {
  State& s = *state_;
  std::size_t at = index;
  if (const auto& summary = s.view.summary) {
    const std::size_t place = s.view.count_before(static_cast<Position>(summary->first));
    if (index == place) {
      Change change{1, 0, {summary->message}, summary->count};
      s.set_summary(std::nullopt);
      return change;
    }
    if (index > place) --at;
  }
  const std::optional<Position> position = s.view.at(at);
  if (!position) return fail(Code::NotFound, "the window has no message " + std::to_string(index));
  return s.remove(Positions{s.view.log[*position].unit});
}

Result<Change> Memory::remove(std::span<const Text> ids) { return state_->remove(state_->units_of_ids(ids)); }

Result<Change> Memory::remove_by_mark(std::span<const Text> marks) {
  return state_->remove(state_->units_of_marks(marks));
}

std::size_t Memory::update_messages_mark(const Text& new_mark, const Text& old_mark,
                                         std::optional<std::span<const Text>> ids) {
  State& s = *state_;
  if (new_mark == old_mark) return 0;  // nothing to change, or a mark replaced by itself
  Positions units;
  if (ids) {
    units = s.units_of_ids(*ids);
  } else if (!old_mark.empty()) {
    units = s.units_of_marks({&old_mark, 1});
  } else {
    s.view.each([&](Position position) {
      if (s.view.log[position].unit == position) units.push_back(position);
      return true;
    });
  }
  // A unit that has the new mark and none of the old ones does not change.
  std::erase_if(units, [&](Position unit) {
    const bool loses = !old_mark.empty() && s.has_mark(old_mark, unit);
    const bool gains = !new_mark.empty() && !s.has_mark(new_mark, unit);
    return !old_mark.empty() ? !loses : !gains;
  });
  if (!old_mark.empty()) s.remove_mark(old_mark, units);
  if (!new_mark.empty()) s.add_mark(new_mark, units);
  std::size_t count = 0;
  for (const Position unit : units) count += s.unit_end(unit) - unit;
  return count;
}

Result<void> Memory::pin(const Text& id) { return state_->pin(id, true); }
Result<void> Memory::unpin(const Text& id) { return state_->pin(id, false); }

}  // namespace parley
