#include "schema/json_key.h"

#include <algorithm>

#include "parley/json/writer.h"
#include "schema/decimal.h"

namespace parley {
namespace {

// Recurses at most `depth` times.
bool append_key(std::string& out, const Json& value, std::size_t depth) {
  switch (value.type()) {
    case Json::Type::Number:
      out += Decimal::of(value.text()).key();
      return true;
    case Json::Type::String:
      json::append_string(out, *value.as_string());
      return true;
    case Json::Type::Array:
      if (depth == 0) return false;
      out += '[';
      for (const Json& element : value.elements()) {
        if (!append_key(out, element, depth - 1)) return false;
        out += ',';
      }
      out += ']';
      return true;
    case Json::Type::Object:
      if (depth == 0) return false;
      out += '{';
      for (const Json::Member& member : sorted_members(value)) {
        json::append_string(out, member.key);
        out += ':';
        if (!append_key(out, member.value, depth - 1)) return false;
        out += ',';
      }
      out += '}';
      return true;
    default:
      out += value.text();
      return true;
  }
}

}  // namespace

std::vector<Json::Member> sorted_members(const Json& object) {
  std::vector<Json::Member> members = object.members();
  std::ranges::stable_sort(members, {}, &Json::Member::key);
  std::vector<Json::Member> unique;
  unique.reserve(members.size());
  for (Json::Member& member : members) {
    if (!unique.empty() && unique.back().key == member.key) unique.pop_back();
    unique.push_back(std::move(member));
  }
  return unique;
}

std::optional<std::string> json_key(const Json& value, std::size_t depth) {
  std::string out;
  if (!append_key(out, value, depth)) return std::nullopt;
  return out;
}

}  // namespace parley
