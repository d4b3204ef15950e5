// Notes say what a conversion could not carry as it was: nothing is lost in silence. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parley/base/text.h"
#include "parley/json/json.h"

namespace parley {

enum class Severity : std::uint8_t {
  Info,   // the same content in another form
  Minor,  // metadata is lost
  Major,  // content a model would have seen is lost or changed
};
std::string_view to_string(Severity severity);  // "info", "minor", "major"

// Cheap to make and to copy, because a conversion may have one for every message: names are views of static
// strings and most sentences are literals.
struct Note {
  std::string_view code;  // e.g. "thinking_dropped"
  Severity severity = Severity::Info;
  std::optional<std::size_t> message_index;  // 0-based index in the source conversation
  std::optional<std::size_t> block_index;    // 0-based index of the block in the message
  std::string_view dialect;                  // the dialect that could not carry it
  std::string_view action;                   // what was done: "dropped", "minted", "joined", ...
  Text detail;                               // a sentence
  std::optional<std::size_t> line = {};      // of a JSON Lines file, from 1
  std::string path = {};                     // JSON Pointer into the source, where reading noted something
  bool operator==(const Note&) const = default;
};

// {"code","severity","line"?,"message","block","dialect","action","detail"}
Json to_json(const Note& note);

// One line for people: "thinking_dropped (minor, message 3, block 0): ...".
std::string to_line(const Note& note);

}  // namespace parley
