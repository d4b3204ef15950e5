#include "dialect/core/patch.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "json/pointer.h"
#include "parley/json/writer.h"

namespace parley::dialect {
namespace {

// Natural spellings nest six levels at most (message, content, block, output, block, source); below that
// only whole values differ.
constexpr int kDeepest = 8;

// The members of an object with duplicates resolved (the first one's place, the last one's value), found by
// name in constant time: an object may have as many members as a document has room for.
class Members {
 public:
  explicit Members(const Json& object) {
    for (Json::Member& member : object.members()) {
      const auto [known, is_new] = places_.try_emplace(member.key.view(), list_.size());
      if (is_new) {
        list_.push_back(std::move(member));  // the key's bytes stay where they are
      } else {
        list_[known->second].value = std::move(member.value);
      }
    }
  }

  const std::vector<Json::Member>& list() const { return list_; }
  const Json* find(std::string_view key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? nullptr : &list_[found->second].value;
  }

 private:
  std::vector<Json::Member> list_;
  std::unordered_map<std::string_view, std::size_t> places_;
};

Json replacement(const Json& value) {
  json::Writer w;
  w.begin_object().key("is").value(value.compact()).end_object();
  return w.take();
}

std::optional<Json> difference(const Json& natural, const Json& wire, int depth);

Json object_difference(const Json& natural, const Json& wire, int depth) {
  const Members before(natural);
  const Members after(wire);
  const bool same_keys =
      std::ranges::equal(before.list(), after.list(), {}, &Json::Member::key, &Json::Member::key);
  json::Writer w;
  w.begin_object();
  if (!same_keys) {
    w.key("order").begin_array();
    for (const auto& member : after.list()) w.string(member.key);
    w.end_array();
  }
  w.key("in").begin_object();
  for (const auto& member : after.list()) {
    const Json* old = before.find(member.key);
    const std::optional<Json> change =
        old != nullptr ? difference(*old, member.value, depth + 1) : replacement(member.value);
    if (change) w.key(member.key).value(*change);
  }
  w.end_object().end_object();
  return w.take();
}

Json array_difference(const std::vector<Json>& before, const std::vector<Json>& after, int depth) {
  json::Writer w;
  w.begin_object().key("in").begin_object();
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (const auto change = difference(before[i], after[i], depth + 1))
      w.key(std::to_string(i)).value(*change);
  }
  w.end_object().end_object();
  return w.take();
}

std::optional<Json> difference(const Json& natural, const Json& wire, int depth) {
  if (Json::equal(natural, wire)) return std::nullopt;
  if (depth < kDeepest && natural.is_object() && wire.is_object())
    return object_difference(natural, wire, depth);
  if (depth < kDeepest && natural.is_array() && wire.is_array()) {
    const std::vector<Json> before = natural.elements();
    const std::vector<Json> after = wire.elements();
    if (before.size() == after.size()) return array_difference(before, after, depth);
  }
  return replacement(wire);
}

Json apply(const Json& natural, const Json& patch, int depth);

Json apply_to_object(const Json& natural, const Json& patch, int depth) {
  const Members before(natural);
  const Members changes(patch.get("in").value_or(Json()));
  std::vector<Text> order;
  if (const auto keys = patch.get("order"); keys && keys->is_array()) {
    for (const Json& key : keys->elements()) {
      if (auto name = key.as_string()) order.push_back(*std::move(name));
    }
  } else {
    for (const auto& member : before.list()) order.push_back(member.key);
  }
  json::Writer w;
  w.begin_object();
  for (const Text& key : order) {
    const Json* old = before.find(key);
    const Json* change = changes.find(key);
    if (old == nullptr && change == nullptr) continue;
    const Json value = change == nullptr ? *old : apply(old != nullptr ? *old : Json(), *change, depth + 1);
    w.key(key).value(value);
  }
  w.end_object();
  return w.take();
}

Json apply(const Json& natural, const Json& patch, int depth) {
  if (depth > kDeepest) return natural;
  if (auto value = patch.get("is")) return *std::move(value);
  if (natural.is_object()) return apply_to_object(natural, patch, depth);
  if (!natural.is_array()) return natural;
  const Members changes(patch.get("in").value_or(Json()));
  json::Writer w;
  w.begin_array();
  const std::vector<Json> elements = natural.elements();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const Json* change = changes.find(std::to_string(i));
    w.value(change != nullptr ? apply(elements[i], *change, depth + 1) : elements[i]);
  }
  w.end_array();
  return w.take();
}

// Null, a string or a list that is empty, or an object that holds nothing else.
bool says_nothing(const Json& value, int depth) {
  if (value.is_null() || value.text() == Text(R"("")")) return true;
  if (value.is_array()) return value.elements().empty();
  if (depth > kDeepest || !value.is_object()) return false;
  return std::ranges::all_of(
      value.members(), [&](const Json::Member& member) { return says_nothing(member.value, depth + 1); });
}

void collect(const Json& patch, const std::string& pointer, int depth, PatchedPlaces& out) {
  if (const auto value = patch.get("is")) {
    (says_nothing(*value, depth) ? out.empty : out.values).push_back(pointer);
    return;
  }
  constexpr std::size_t kLongest = 4096;  // a place that a person would look at
  if (depth > kDeepest) return;
  if (pointer.size() > kLongest) {
    out.values.push_back(pointer.substr(0, kLongest) + "...");
    return;
  }
  for (const auto& member : patch.get("in").value_or(Json()).members()) {
    collect(member.value, pointer + "/" + json::escape_pointer(member.key), depth + 1, out);
  }
}

}  // namespace

std::optional<Json> diff(const Json& natural, const Json& wire) { return difference(natural, wire, 0); }

Json patched(const Json& natural, const Json& patch) { return apply(natural, patch, 0); }

Json with_value(const Json& object, std::string_view pointer, const std::optional<Json>& value) {
  const std::size_t end = pointer.find('/', 1);
  const std::string_view key = pointer.substr(1, end == std::string_view::npos ? end : end - 1);
  const auto put = [&](const Json& old) {
    return end == std::string_view::npos ? value : with_value(old, pointer.substr(end), value);
  };
  json::Writer w;
  w.begin_object();
  bool is_there = false;
  for (const Json::Member& member : object.members()) {
    const bool is_it = member.key.view() == key;
    is_there = is_there || is_it;
    const std::optional<Json> kept = is_it ? put(member.value) : member.value;
    if (kept) w.key(member.key).value(*kept);
  }
  const std::optional<Json> added = is_there || !value ? std::nullopt : put(Json());
  if (added) w.key(key).value(*added);
  return w.end_object().take();
}

PatchedPlaces places(const Json& patch) {
  PatchedPlaces out;
  collect(patch, "", 0, out);
  return out;
}

}  // namespace parley::dialect
