// Ids of calls and names of tools as a provider takes them, and ids where a wire has none.
//
// What fits stays; what does not is mapped by a function of itself alone, so that a call and its result, and
// two requests of one conversation, agree without a table.
//
// Pure functions; safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/format.h"

namespace parley::dialect {

struct NameRule {
  bool any_character = false;  // else ASCII letters, digits, '_', '-' and `also`
  std::string_view also = {};
  bool starts_with_letter = false;  // or '_'
  std::size_t most_bytes = 64;
};

bool fits(std::string_view plain, const NameRule& rule);

// An id that does not fit becomes "p_" and 22 digits of its SHA-256 in base 62.
std::string mapped_id(std::string_view plain);
// Each run of characters a name cannot have becomes '_', and six digits of its SHA-256 keep names apart that
// would otherwise meet.
std::string mapped_name(std::string_view plain, const NameRule& rule);

// The name itself if it fits, else the mapped one.
std::string fitted_name(std::string_view plain, const NameRule& rule);

// The JSON string of an id or a name, mapped if it must be, with a note.
void put_id(Draft& draft, const Arena& arena, Slice id, const NameRule& rule, std::size_t block);
void put_name(Draft& draft, const Arena& arena, Slice name, const NameRule& rule,
              std::optional<std::size_t> block = {});

// An id that a reader, of a document or a stream, made up for a wire without one: "made_" and a number.
// No other program knows it, so it is written only where the wire needs an id.
std::string made_up_id(std::size_t number);
std::optional<std::size_t> number_of_made_up(std::string_view id);
inline bool is_made_up(std::string_view id) { return number_of_made_up(id).has_value(); }

// The id of a message that has none: it derives from where the message stands and what it says.
void put_minted_id(json::Out& out, const Arena& arena, const MessageRecord& message, std::size_t position);

}  // namespace parley::dialect
