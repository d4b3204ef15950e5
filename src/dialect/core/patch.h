// What the canonical form cannot say about a wire, as a difference: how `parley` gives every wire back.
//
// A patch leads from a dialect's natural spelling of a message to the exact value that was on the wire:
//
//   patch = {"is": value}                                   replace the whole value
//         | {"order": [key, ...], "in": {key: patch, ...}}  an object: its keys in order (if they differ)
//                                                            and the members that differ
//         | {"in": {"3": patch, ...}}                       an array of the same length
//
// So unknown members, their order, explicit nulls and odd values survive without any dialect naming them.
// Pure functions; safe from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parley/json/json.h"

namespace parley::dialect {

// The patch from `natural` to `wire`; nothing if they are equal values. Of duplicate keys the last counts.
std::optional<Json> diff(const Json& natural, const Json& wire);

// The inverse: patched(natural, diff(natural, wire)) is equal to wire. A patch that does not fit (edited by
// hand) changes nothing where it does not fit.
Json patched(const Json& natural, const Json& patch);

// The object with another value at a JSON Pointer, added if it is missing; without it if there is no value.
// Every value on the way is an object or missing. Keys with '~' or '/' are not taken.
Json with_value(const Json& object, std::string_view pointer, const std::optional<Json>& value);

// The JSON Pointers of the values a patch adds or replaces; apart from them those whose value says nothing:
// null, an empty string or list, an object of these.
struct PatchedPlaces {
  std::vector<std::string> values, empty;
};
PatchedPlaces places(const Json& patch);

}  // namespace parley::dialect
